"""A web server that answers as a test says, byte by byte, and remembers every request head: the witness of what was sent."""
import socket
import threading


class Hostile:
    """`answers`: path -> bytes, or a function of the socket. Anything else is 404."""

    def __init__(self, answers=None, host="127.0.0.1"):
        self.answers = answers or {}
        self.heads = []
        self.host = host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = client.recv(65536)
                    if not piece:
                        return
                    head += piece
                self.heads.append(head.decode("latin-1"))
                path = head.split()[1].decode("latin-1").partition("?")[0]
                answer = self.answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                if callable(answer):
                    answer(client)
                else:
                    client.sendall(answer)
            except OSError:
                pass  # the client has had enough

    def url(self, path, host=None):
        host = host or self.host
        return f"http://{'[%s]' % host if ':' in host else host}:{self.port}{path}"

    def stop(self):
        self.listener.close()


def body(data, *fields, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", "Connection: close", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data


def redirect(location):
    return body(b"", "Location: " + location, status="302 Found")


def endless(first, piece):
    def send(client):
        client.sendall(first)
        while True:
            client.sendall(piece)
    return send
