"""A real sshd on a loopback port behind a relay that can break, for the tests of bad input."""
import os
import pathlib
import socket
import struct
import subprocess
import threading

from support.origin import answers, find, free_port, poll


def unavailable_because():
    for program in ("sshd", "ssh-keygen"):
        if not find(program):
            return f"{program} is not installed"
    return ""


class Relay:
    """Passes bytes on; `limit` of them towards the client, then it resets the connection. None: all."""

    def __init__(self, server_port):
        self.server_port, self.limit = server_port, None
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            self.sockets += [client, server]
            threading.Thread(target=self.copy, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, self.limit), daemon=True).start()

    @staticmethod
    def copy(source, target, limit):
        total = 0
        try:
            while data := source.recv(65536):
                total += len(data)
                if limit is not None and total > limit:
                    target.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    target.shutdown(socket.SHUT_RD)  # wakes the other thread, which would keep the socket open
                    target.close()
                    source.close()
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def stop(self):
        for each in [self.listener, *self.sockets]:
            each.close()


class Sshd:
    """It logs in the user who runs the test. `keys` is the user's side: a configuration, a key, known hosts."""

    def __init__(self, directory, more=""):
        self.keys = pathlib.Path(directory)
        self.keys.mkdir(parents=True)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # sshd insists; a booted machine has it
        for name in ("host_key", "id"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.keys / name], check=True)
        port = free_port()
        (self.keys / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {self.keys}/host_key\nPidFile none\n"
            f"AuthorizedKeysFile {self.keys}/id.pub\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"PermitRootLogin yes\nSubsystem sftp internal-sftp\n{more}\n")
        with open(self.keys / "log", "wb") as log:
            self.process = subprocess.Popen([find("sshd"), "-D", "-e", "-f", self.keys / "sshd_config"], stderr=log)
        if not poll(lambda: self.process.poll() is not None or answers(port)) or self.process.poll() is not None:
            raise AssertionError((self.keys / "log").read_text())
        self.relay = Relay(port)
        kind, key = (self.keys / "host_key.pub").read_text().split()[:2]
        (self.keys / "known_hosts").write_text(f"[127.0.0.1]:{self.relay.port} {kind} {key}\n")
        self.config = self.keys / "config"
        self.config.write_text(f"IdentityFile {self.keys}/id\nUserKnownHostsFile {self.keys}/known_hosts\n"
                               "GlobalKnownHostsFile none\n")

    def url(self, path):
        return f"sftp://127.0.0.1:{self.relay.port}{path}"

    def stop(self):
        self.relay.stop()
        self.process.terminate()
        self.process.wait()
