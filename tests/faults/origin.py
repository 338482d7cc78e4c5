"""A small web server for what the fault server does not say: chosen bodies under chosen paths, over TLS too."""
import http.server
import pathlib
import ssl
import subprocess
import threading


class Page:
    def __init__(self, body=b"", status=200, **headers):
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Origin:
    """Serves `pages` (path -> Page) from a thread; `log` has (path, range header) of every request."""

    def __init__(self, pages, certificate=None):
        self.pages = pages
        self.log = []
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                origin.log.append((self.path, self.headers.get("Range")))
                origin.answer(self)

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass  # the client left, or refused the certificate

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.file, certificate.key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)  # not in the accepting thread
            self.scheme = "https"
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        self.answer_page(request, self.pages.get(request.path, Page("no such page", 404)))

    @staticmethod
    def answer_page(request, page, cut=False):
        """`cut`: the connection is lost after half of the body."""
        body, status, headers = page.body, page.status, dict(page.headers)
        wanted = request.headers.get("Range")
        if wanted and status == 200:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            end = min(int(last) + 1 if last else len(body), len(body))
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{len(body)}"
            body, status = body[int(first):end], 206
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        try:
            request.wfile.write(body[:len(body) // 2] if cut else body)
            request.close_connection = request.close_connection or cut
        except OSError:
            request.close_connection = True  # the client has left

    def url(self, path, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Certificate:
    """A self-signed certificate for `name`, valid from `start` to `end` (YYYYMMDDHHMMSSZ), made by openssl."""

    def __init__(self, directory, name, start="20200101000000Z", end="20991231000000Z"):
        directory = pathlib.Path(directory) / f"{name}-{end}"
        directory.mkdir()
        self.file, self.key = directory / "cert.pem", directory / "key.pem"
        kind = "IP" if name[0].isdigit() else "DNS"
        (directory / "index.txt").write_text("")
        (directory / "ca.conf").write_text(
            "[ca]\ndefault_ca = own\n[own]\npolicy = any\ndefault_md = sha256\nrand_serial = yes\n"
            f"database = {directory}/index.txt\nnew_certs_dir = {directory}\nx509_extensions = names\n"
            f"[any]\ncommonName = supplied\n[names]\nsubjectAltName = {kind}:{name}\n"
        )
        request = directory / "request.pem"
        self._openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                      f"/CN={name}", "-keyout", self.key, "-out", request)
        self._openssl("ca", "-batch", "-selfsign", "-config", directory / "ca.conf", "-keyfile", self.key, "-in",
                      request, "-out", self.file, "-notext", "-startdate", start, "-enddate", end)

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
