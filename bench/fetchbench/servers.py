"""The server of the loopback cases: nginx on a free port, with a log of what it sent."""
import os
import pathlib
import pwd
import resource
import shutil
import socket
import subprocess
import time

from support.measure import Skip, die_with_parent

START_S = 10
CONFIGURATION = """
daemon off; worker_processes {workers}; pid {dir}/pid; error_log {dir}/error.log; {user} worker_rlimit_nofile {files};
events {{ worker_connections 2048; }}
http {{
  log_format sent '$body_bytes_sent'; access_log {dir}/access.log sent;
  client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3; uwsgi_temp_path {dir}/t4;
  scgi_temp_path {dir}/t5;
  sendfile on; sendfile_max_chunk 1m; tcp_nopush on; keepalive_requests 1000000; autoindex on;
  open_file_cache max={cached}; default_type application/octet-stream;
  server {{ listen 127.0.0.1:{port} backlog=1024; root {root}; }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LoopbackServer:
    """Use as a context."""

    def __init__(self, root, scratch):
        self.program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not self.program:
            raise Skip("nginx is not installed")
        self.directory = pathlib.Path(scratch) / "nginx"
        self.directory.mkdir(exist_ok=True)
        self.log = self.directory / "access.log"
        self.log.write_bytes(b"")
        self.port = free_port()
        user = f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""
        configuration = self.directory / "nginx.conf"
        files = min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # open files in the cache count, too
        configuration.write_text(CONFIGURATION.format(dir=self.directory, port=self.port, root=root, user=user,
                                                      files=files, cached=min(20000, files // 2),
                                                      workers=min(8, max(2, os.cpu_count() // 2))), encoding="utf-8")
        self.command = [self.program, "-e", self.directory / "error.log", "-p", self.directory, "-c", configuration]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise Skip(f"nginx did not start: {(self.directory / 'error.log').read_text()}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    def sent_bytes(self):
        """Body bytes of all requests that have ended."""
        with open(self.log, encoding="ascii") as lines:
            return sum(int(line) for line in lines)

    def forget_sent(self):
        os.truncate(self.log, 0)
