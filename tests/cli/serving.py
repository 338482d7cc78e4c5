"""A case with a store that holds an asset, and `sabath serve` of it, asked by curl and by raw sockets."""

import hashlib
import re
import signal
import socket
import subprocess

from support.case import Case
from support.content import seeded


class ServeCase(Case):
    def setUp(self):
        super().setUp()
        self.data = {"f.bin": seeded(9_000_001, 1), "small": seeded(1000, 2), "empty": b""}
        self.origin = self.home / "files"
        self.origin.mkdir()
        for name, data in self.data.items():
            (self.origin / name).write_bytes(data)
        self.sabath.add("asset", [self.fragment(name, f"file://{self.origin}/{name}") for name in self.data])
        self.root = self.fetch("asset")["manifest"].removeprefix("sha256:")

    def fragment(self, name, *urls):
        data = self.data[name]
        return {"id": name.replace(".", "-"), "type": "file", "path": name, "urls": list(urls), "size": len(data),
                "checksum": {"sha256": hashlib.sha256(data).hexdigest()}}

    def object(self, name):
        """The name that the store gave the content: digest.size."""
        size = len(self.data[name])
        (found,) = [f for f in (self.sabath.store / "objects").rglob(f"*.{size}")]
        return found.parent.name + found.name

    def start(self, *arguments, listen="127.0.0.1:0"):
        process = self.sabath.start("serve", "--listen", listen, *arguments)
        self.addCleanup(self.end, process)
        line = process.stderr.readline()
        match = re.search(r"as (sabath(?:\+tls)?://\S+?:(\d+)) ", line)
        self.assertTrue(match, line)
        self.url, self.port = match.group(1), int(match.group(2))
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def ask(self, path, *options, scheme="http"):
        """(status, head, body) by curl."""
        result = subprocess.run(["curl", "-q", "-s", "-i", "--path-as-is", *options, f"{scheme}://127.0.0.1:{self.port}{path}"],
                                capture_output=True, check=False, timeout=300)
        head, _, body = result.stdout.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:] if ": " in line)
        return status, fields, body

    def raw(self, text, seconds=10):
        """What comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as client:
            client.sendall(text)
            got = b""
            try:
                while piece := client.recv(65536):
                    got += piece
            except TimeoutError:
                return got + b"<open>"
            except ConnectionResetError:
                pass
            return got

    def other(self, name="other"):
        """Another user: a store of its own, the same recipes."""
        return {"SABATH_CACHE": str(self.home / name)}
