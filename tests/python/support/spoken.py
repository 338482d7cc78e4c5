"""A web server that says what a test wants, request by request, over TLS too."""

import contextlib
import http.server
import threading


def page(body=b"", status=200, **headers):
    """An answer of Spoken's table: `Content_Type` is the field Content-Type."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, headers, body.encode() if isinstance(body, str) else body


class Spoken:
    """Answers what a table says: "METHOD /path?query" or "/path" -> body, or (status, headers, body), or a function
    of the request that gives one; "*" is for all other paths. Ranges are answered by it. Requests are kept. A function
    may set `cut` of its request: the connection is lost after half of the body."""

    def __init__(self, answers_by_path, port=0, certificate=None):
        spoken = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or a body waits 40 ms until its header is acknowledged
            cut = False

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                self.content = self.rfile.read(length)
                spoken.requests.append((f"{self.command} {self.path}", dict(self.headers), self.content))
                found = spoken.table.get(f"{self.command} {self.path}", spoken.table.get(self.path))
                if found is None:
                    found = spoken.table.get(self.path.split("?")[0], spoken.table.get("*", (404, {}, b"")))
                found = found(self) if callable(found) else found
                status, headers, body = found if isinstance(found, tuple) else (200, {}, found)
                whole = body
                byte_range = self.headers.get("Range", "")
                if status == 200 and byte_range.startswith("bytes=") and whole:
                    first, _, last = byte_range[6:].partition("-")
                    last = min(int(last) if last else len(whole) - 1, len(whole) - 1)
                    status, body = 206, whole[int(first) : last + 1]
                    headers = {**headers, "Content-Range": f"bytes {first}-{last}/{len(whole)}"}
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    with contextlib.suppress(OSError):  # it has heard enough
                        self.wfile.write(body[: len(body) // 2] if self.cut else body)
                self.close_connection = self.close_connection or self.cut

            do_GET = do_HEAD = do_POST = do_PROPFIND = answer

            def handle(self):
                with contextlib.suppress(OSError):  # it was cut off between two requests, or refused the certificate
                    super().handle()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256  # or the kernel lets some connect seconds late

        self.table = dict(answers_by_path)
        self.requests = []
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.scheme = "https" if certificate else "http"
        if certificate:  # no handshake in the thread that accepts
            self.server.socket = certificate.tls().wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def url(self, path="", host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}/{path.removeprefix('/')}"

    def asked(self, path):
        """The requests whose path begins so, as (line, headers, body)."""
        return [request for request in self.requests if request[0].split(" ", 1)[1].startswith(path)]
