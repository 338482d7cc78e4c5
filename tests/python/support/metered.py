"""An HTTP server that counts who is there at once, and gives a quota of requests per window of time."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Metered:
    """`quota`: and its window in seconds: (requests, seconds), told as `headers` say: "draft" or "x"; None: any number."""

    def __init__(self, files, quota=None, headers="draft", hold=0.02):
        self.files, self.quota, self.headers, self.hold = files, quota, headers, hold
        self.lock = threading.Lock()
        self.active = self.most = self.used = self.connections = 0
        self.window_end = None
        self.answers = []  # (monotonic seconds, status, seconds until the window ends if its quota is used up)
        meter = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with meter.lock:
                    meter.connections += 1

            def do_GET(self):
                meter.answer(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 256  # or the kernel lets some connect a second late

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}"

    def take(self):
        """Whether a request is allowed, how many are left, and the seconds until there are more."""
        if self.quota is None:
            return True, None, None
        count, seconds = self.quota
        now = time.monotonic()
        if self.window_end is None or now >= self.window_end:
            self.window_end, self.used = now + seconds, 0
        allowed = self.used < count
        self.used += allowed
        return allowed, count - self.used, self.window_end - now

    def answer(self, handler):
        with self.lock:
            self.active += 1
            self.most = max(self.most, self.active)
            allowed, left, reset = self.take()
            self.answers.append((time.monotonic(), 200 if allowed else 429, reset if left == 0 else None))
        time.sleep(self.hold)
        data = self.files.get(handler.path.lstrip("/"))
        status = 429 if not allowed else 404 if data is None else 200
        body = data if status == 200 else b""
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        if left is not None:
            whole = int(reset) + 1
            if self.headers == "draft":
                handler.send_header("RateLimit", f'"files";r={left};t={whole}')
            else:
                handler.send_header("X-RateLimit-Remaining", str(left))
                handler.send_header("X-RateLimit-Reset", str(int(time.time()) + whole))
        handler.end_headers()
        handler.wfile.write(body)
        with self.lock:
            self.active -= 1

    def requests_while_used_up(self, grace):
        """Those that came when, `grace` seconds after the quota was used up, there was still time to wait."""
        late, until, since = [], 0, 0
        for at, _, reset in self.answers:
            if reset is not None and at > until:
                since, until = at, at + reset
            elif since + grace < at < until:
                late.append(at - since)
        return late

    def refused(self):
        return sum(status == 429 for _, status, _ in self.answers)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
