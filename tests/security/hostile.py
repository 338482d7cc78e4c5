"""A web server that answers as a test says, byte by byte, and remembers every request head: the witness of what was sent.
Spoken answers by Python's HTTP server, which sends nothing that is not HTTP."""
import re
import socket
import threading
import time


class Hostile:
    """`answers`: path -> bytes, or a function of the socket and the request's head. Anything else is 404."""

    def __init__(self, answers=None, host="127.0.0.1", tls=None):
        self.answers = answers or {}
        self.heads, self.callers = [], []
        self.host, self.tls = host, tls
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family)
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def accept(self):
        while True:
            try:
                client, caller = self.listener.accept()
            except OSError:
                return
            self.callers.append(caller)
            threading.Thread(target=self.greet, args=(client,), daemon=True).start()

    def greet(self, client):
        try:
            self.serve(self.tls.wrap_socket(client, server_side=True) if self.tls else client)
        except OSError:
            client.close()  # no handshake

    def serve(self, client):
        with client:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = client.recv(65536)
                    if not piece:
                        return
                    head += piece
                head, _, content = head.partition(b"\r\n\r\n")
                head += b"\r\n\r\n"
                length = re.search(rb"^Content-Length: (\d+)", head, re.IGNORECASE | re.MULTILINE)
                while length and len(content) < int(length[1]):
                    content += client.recv(65536) or b"\n" * int(length[1])
                self.heads.append(head.decode("latin-1"))
                path = head.split()[1].decode("latin-1").partition("?")[0]
                answer = self.answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                if callable(answer):
                    answer(client, head.decode("latin-1"))
                else:
                    client.sendall(answer)
            except OSError:
                pass  # the client has had enough

    def called(self):
        """Who has connected until now; a call of our own comes after all of theirs."""
        with socket.create_connection((self.host, self.port)) as own:
            while own.getsockname() not in self.callers:
                time.sleep(0.01)
            self.callers.remove(own.getsockname())
        return list(self.callers)

    def url(self, path, host=None):
        host = host or self.host
        return f"http{'s' if self.tls else ''}://{'[%s]' % host if ':' in host else host}:{self.port}{path}"

    def stop(self):
        """Its thread ends before its descriptor can become another server's."""
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.acceptor.join()
        self.listener.close()


def body(data, *fields, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", "Connection: close", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data


def redirect(location):
    return body(b"", "Location: " + location, status="302 Found")


def endless(first, piece):
    def send(client, _):
        client.sendall(first)
        while True:
            client.sendall(piece)
    return send


def broken_off(data, *fields):
    """The bytes asked for, of one version of `data`; the connection of the first answer ends half-way."""
    whole_answers = []

    def send(client, head):
        asked = re.search(r"^Range: bytes=(\d+)-(\d*)", head, re.IGNORECASE | re.MULTILINE)
        begin, end = (int(asked[1]), int(asked[2] or len(data) - 1) + 1) if asked else (0, len(data))
        part = data[begin:end]
        said = (f"Content-Range: bytes {begin}-{begin + len(part) - 1}/{len(data)}",) if asked else ("Accept-Ranges: bytes",)
        answer = body(part, *said, *fields, status="206 Partial Content" if asked else "200 OK")
        client.sendall(answer if whole_answers else answer[:-len(part) // 2])
        whole_answers.append(True)
    return send
