"""Servers that say what they hold: Apache, vsftpd, pyftpdlib, and an old FTP server."""

import contextlib
import importlib.util
import os
import pathlib
import socket
import socketserver
import sys
import threading

from support import servers
from support.origin import find

APACHE = """ServerRoot {dir}
ServerName localhost
PidFile {dir}/pid
Listen 127.0.0.1:{port}
ErrorLog {dir}/error.log
DocumentRoot {root}
Mutex file:{dir} default
User daemon
Group daemon
"""
APACHE_MODULES = ("mpm_event", "authz_core", "dir", "autoindex", "mime", "dav", "dav_fs")
MODULES = pathlib.Path("/usr/lib/apache2/modules")
VSFTPD = """listen=YES
listen_ipv6=NO
listen_address=127.0.0.1
listen_port={port}
background=NO
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
anonymous_enable=YES
no_anon_password=YES
ftp_username=daemon
nopriv_user=nobody
secure_chroot_dir={dir}/empty
anon_root={root}
"""
VSFTPD_TLS = """ssl_enable=YES
implicit_ssl=YES
allow_anon_ssl=YES
force_anon_data_ssl=YES
force_anon_logins_ssl=YES
rsa_cert_file={dir}/cert.pem
rsa_private_key_file={dir}/key.pem
require_ssl_reuse=NO
"""


class Server(servers.Server):
    """One that serves `root`, below a directory that all users may enter."""

    scheme = "http"

    def __init__(self, directory, extra=""):
        self.directory = pathlib.Path(directory)
        self.root = self.directory / "root"
        self.root.mkdir(parents=True)
        for place in (self.directory, self.directory.parent):
            place.chmod(0o755)
        super().__init__(lambda _: self.command(extra), self.directory / "output")

    def url(self, path=""):
        return f"{self.scheme}://127.0.0.1:{self.port}/{path}"


class Apache(Server):
    """Fancy indexes, and WebDAV with -Dav."""

    @staticmethod
    def unavailable_because():
        if not find("apache2"):
            return "apache2 is not installed"
        return "" if os.geteuid() == 0 else "apache2 is started as root here"

    def command(self, extra):
        there = [m for m in APACHE_MODULES if (MODULES / f"mod_{m}.so").exists()]
        modules = "".join(f"LoadModule {m}_module {MODULES}/mod_{m}.so\n" for m in there)
        config = self.directory / "apache.conf"
        options = f"<Directory {self.root}>\nRequire all granted\nOptions Indexes FollowSymLinks\n{extra}\n"
        options += "</Directory>\n"
        lock = f"DavLockDB {self.directory}/lock\n" if "Dav On" in extra else ""
        text = APACHE.format(dir=self.directory, root=self.root, port=self.port)
        config.write_text(modules + text + "TypesConfig /dev/null\n" + lock + options)
        return [find("apache2"), "-f", config, "-DFOREGROUND"]


class Vsftpd(Server):
    scheme = "ftp"

    @staticmethod
    def unavailable_because():
        if not find("vsftpd"):
            return "vsftpd is not installed"
        return "" if os.geteuid() == 0 else "vsftpd must be started by root"

    def command(self, extra):
        (self.directory / "empty").mkdir(exist_ok=True)
        config = self.directory / "vsftpd.conf"
        config.write_text((VSFTPD + extra).format(dir=self.directory, root=self.root, port=self.port))
        return [find("vsftpd"), config]


class Pyftpdlib(Server):
    """Knows MLSD, which vsftpd does not."""

    scheme = "ftp"

    @staticmethod
    def unavailable_because():
        return "" if importlib.util.find_spec("pyftpdlib") else "python3-pyftpdlib is not installed"

    def command(self, extra):
        return [sys.executable, "-m", "pyftpdlib", "-D", "-i", "127.0.0.1", "-p", str(self.port), "-d", self.root]


class OldFtp(socketserver.ThreadingTCPServer):
    """Behind an address translator, with neither EPSV nor MLSD; it lists the directory that it is in, not the one that
    it is asked for, and knows no links. `files`: by their paths, as bytes; `links`: lines of a listing, by their directory."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, files, links):
        super().__init__(("127.0.0.1", 0), OldFtpSession)
        self.files, self.links = files, links
        self.directories = {b"/"} | {path[: path.rindex(b"/") + 1] for path in files}
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def url(self, path=""):
        return f"ftp://127.0.0.1:{self.server_address[1]}/{path}"

    def stop(self):
        self.shutdown()
        self.server_close()
        self.thread.join()

    def listing(self, directory):
        lines = [b"total 9"] + self.links.get(directory, [])
        for path, data in self.files.items():
            if path.startswith(directory) and b"/" not in path[len(directory) :]:
                lines.append(b"-rw-r--r--   1 ftp ftp %9d Nov  2  2025 %s" % (len(data), path[len(directory) :]))
        for path in self.directories - {directory}:
            if path.startswith(directory) and path.count(b"/") == directory.count(b"/") + 1:
                lines.append(b"drwxr-xr-x   2 ftp ftp      4096 Nov  2  2025 " + path[len(directory) : -1])
        return b"".join(line + b"\r\n" for line in lines)


class OldFtpSession(socketserver.StreamRequestHandler):
    def handle(self):
        self.here, self.passive, self.offset = b"/", None, 0
        with contextlib.suppress(OSError):
            self.wfile.write(b"220-Welcome\r\n  230 is not meant here\r\n220 ready\r\n")
            for line in self.rfile:
                word, _, name = line.strip(b"\r\n").partition(b" ")
                self.wfile.write(self.answer(word, name) + b"\r\n")
        self.close_passive()

    def close_passive(self):
        if self.passive:
            self.passive.close()
        self.passive = None

    def answer(self, word, name):
        path = name if name.startswith(b"/") else self.here + name
        known = {b"USER": b"331 go on", b"PASS": b"230 in", b"TYPE": b"200 yes", b"PWD": b'257 "/"', b"QUIT": b"221 bye"}
        if word == b"CWD":
            if path.rstrip(b"/") + b"/" not in self.server.directories:
                return b"550 no such directory"
            self.here = path.rstrip(b"/") + b"/"
            return b"250 there"
        if word == b"PASV":
            self.close_passive()
            self.passive = socket.create_server(("127.0.0.1", 0))
            port = self.passive.getsockname()[1]
            return b"227 here (10,11,12,13,%d,%d)" % (port >> 8, port & 255)
        if word == b"REST":
            self.offset = int(name)
            return b"350 from there"
        if word in (b"SIZE", b"RETR") and path not in self.server.files:
            return b"550 no such file"
        if word == b"SIZE":
            return b"213 %d" % len(self.server.files[path])
        if word in (b"LIST", b"RETR") and self.passive:
            data = self.server.listing(self.here) if word == b"LIST" else self.server.files[path][self.offset :]
            self.wfile.write(b"150 it comes\r\n")
            with self.passive, self.passive.accept()[0] as channel:
                channel.sendall(data)
            self.passive, self.offset = None, 0
            return b"226 done"
        return known.get(word, b"500 unknown")
