#!/usr/bin/python3
"""What a user sees while a fetch goes on: what an earlier try left counts, a pause is shown, a stop says what stands."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support import program
from support.case import Case, main
from support.content import fragment, seeded

MIB = 1 << 20
SIZE = 40 * MIB
SECONDS = 120


class Holding:
    """A server that sends `allowed` bytes in all, and holds the rest back; `busy`: seconds that it asks for once."""

    def __init__(self, data):
        self.data, self.allowed, self.busy = data, 0, 0
        self.lock = threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a fetch was stopped
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.host = f"127.0.0.1:{self.server.server_port}"

    def allow(self, count):
        with self.lock:
            self.allowed += count
            self.lock.notify_all()

    def answer(self, request):
        with self.lock:
            pause, self.busy = self.busy, 0
        if pause:
            request.send_response(503)
            request.send_header("Retry-After", str(pause))
            request.send_header("Content-Length", "0")
            return request.end_headers()
        begin, end = 0, len(self.data) - 1
        match = re.match(r"bytes=(\d+)-(\d*)", request.headers.get("Range", ""))
        if match:
            begin, end = int(match[1]), min(int(match[2] or end), end)
        request.send_response(206 if match else 200)
        if match:
            request.send_header("Content-Range", f"bytes {begin}-{end}/{len(self.data)}")
        for name, value in (("Accept-Ranges", "bytes"), ("ETag", '"1"'), ("Content-Length", end - begin + 1),
                            ("Content-Type", "application/octet-stream")):  # fmt: skip
            request.send_header(name, str(value))
        request.end_headers()
        while begin <= end:
            with self.lock:
                self.lock.wait_for(lambda: self.allowed > 0)
                count = min(self.allowed, end + 1 - begin, 1 << 16)
                self.allowed -= count
            try:
                request.wfile.write(self.data[begin : begin + count])
            except OSError:
                return
            begin += count


class Directory(BaseHTTPRequestHandler):
    """An index page without sizes, and its files; the last one waits until it is asked to come."""

    protocol_version = "HTTP/1.1"
    files = [f"f{number:02}.bin" for number in range(40)]
    last = threading.Event()

    def do_GET(self):
        name = self.path.rpartition("/")[2]
        page = "".join(f'<a href="{file}">{file}</a>\n' for file in self.files)
        data = name.encode() * 7 if name else f"<html><title>Index of /</title><pre>{page}</pre></html>".encode()
        if name == self.files[-1]:
            self.last.wait(SECONDS)
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream" if name else "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Terminal:
    """A fetch whose standard error is a terminal."""

    def __init__(self, sabath, *arguments):
        self.fd, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.process = subprocess.Popen([program.BINARY, *arguments], stdout=subprocess.DEVNULL, stderr=other,
                                        env={**sabath.environment, "TERM": "xterm"})  # fmt: skip
        os.close(other)
        self.text = ""

    def read_to(self, pattern):
        end = time.monotonic() + SECONDS
        while not (found := re.search(pattern, self.text)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern} in: {re.findall(r' [0-9]+%', self.text)[-3:]} {self.text[-600:]}")
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"no {pattern} before the end of: {self.text[-2000:]}") from None
        return found

    def end(self):
        text = self.text
        while True:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                break
            if not part:
                break
            text += part.decode(errors="replace")
        os.close(self.fd)
        return self.process.wait(timeout=SECONDS), text


class Progress(Case):
    def setUp(self):
        super().setUp()
        self.server = Holding(seeded(SIZE))
        self.addCleanup(self.server.server.server_close)
        self.addCleanup(self.server.server.shutdown)

    def resume(self, pinned):
        url = f"http://{self.server.host}/f.bin"
        self.sabath.add("one", [fragment(url, self.server.data if pinned else None)])
        self.server.allow(SIZE // 2)
        first = Terminal(self.sabath, "fetch", "one", "--lanes", "1")
        # Rounded down, and a connection's buffers may hold a little.
        first.read_to(r" (4[0-9]|50)%  ")
        first.process.send_signal(signal.SIGINT)
        code, text = first.end()
        self.assertEqual(code, 130)
        self.assertRegex(text, r"stopping at (4[0-9]|50)% \([0-9.]+ MB of 41.9 MB\): what is verified is kept, and the same "
                               r"command goes on; a file of a server that gives no parts begins anew \(again to end at once\)")  # fmt: skip
        self.assertNotIn("error:", text)
        with self.server.lock:
            self.server.allowed = 0
        again = Terminal(self.sabath, "fetch", "one", "--lanes", "1")
        again.read_to(r" (3[5-9]|4[0-9]|50)%  ")  # before a byte has come
        self.assertNotRegex(again.text, "left")  # nor is it known when
        self.server.allow(2 * SIZE)
        code, text = again.end()
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"one: 41.9 MB in 1 file, 2[0-9.]+ MB fetched, [12][0-9.]+ MB were here")

    def test_what_an_earlier_try_left_counts(self):
        self.resume(pinned=True)

    def test_the_same_of_a_file_without_a_checksum(self):
        self.resume(pinned=False)

    def test_no_more_files_are_done_than_there_are(self):
        """Sizes that no listing says are learnt one by one: they make no total."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), Directory)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(Directory.last.set)
        url = f"http://127.0.0.1:{server.server_port}/set/"
        self.sabath.add("many", [{"id": "all", "type": "file_list", "urls": [url]}])
        drawn = Terminal(self.sabath, "fetch", "many")
        drawn.read_to(r"(?:[12][0-9]|3[0-9]) of 40 files")
        Directory.last.set()
        code, text = drawn.end()
        self.assertEqual(code, 0, text)
        self.assertEqual(set(re.findall(r"[0-9]+ of ([0-9]+ files?)", text)) - {"1 file"}, {"40 files"})
        for done, total in re.findall(r"([0-9]+) of ([0-9]+) file", text):
            self.assertLessEqual(int(done), int(total))
        self.assertNotRegex(text, r"[0-9]%")  # of a total that is not known

    def test_a_pause_is_said(self):
        self.sabath.add("one", [fragment(f"http://{self.server.host}/f.bin")])
        self.server.allow(2 * SIZE)
        self.server.busy = 2
        result = self.expect(self.sabath.run("fetch", "one"))
        self.assertEqual(result.err.count(f"waiting 2 s: {self.server.host} asked for it\n"), 1, result.err)
        self.server.busy = 2
        drawn = Terminal(self.sabath, "fetch", "one", "--force")
        drawn.read_to(rf"  waiting 2 s: {self.server.host} asked for it")
        self.server.allow(2 * SIZE)
        self.assertEqual(drawn.end()[0], 0)


if __name__ == "__main__":
    main()
