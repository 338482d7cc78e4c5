"""An FTPS server whose control connection is encrypted and whose data comes in clear: it refuses PROT P, and goes on."""

import contextlib
import socket
import ssl
import threading


class ClearDataFtps:
    """One file by any name. `commands` are what it heard, `sent` the bytes that went over the network in clear."""

    def __init__(self, data, certificate, key):
        self.data, self.commands, self.sent = data, [], 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, path):
        return f"ftps://127.0.0.1:{self.listener.getsockname()[1]}/{path}"

    def stop(self):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with contextlib.suppress(OSError), self.context.wrap_socket(client, server_side=True) as control:
            lines = control.makefile("rb")
            passive, offset = None, 0
            control.sendall(b"220 here\r\n")
            for line in lines:
                word, _, argument = line.decode("latin-1").strip().partition(" ")
                self.commands.append(line.decode("latin-1").strip())
                answer = {"USER": "331 go on", "PASS": "230 in", "PBSZ": "200 0", "PROT": "534 no such protection",
                          "PWD": '257 "/"', "TYPE": "200 so be it", "SIZE": f"213 {len(self.data)}",
                          "MDTM": "213 20260101000000", "QUIT": "221 bye"}.get(word, "502 unknown")
                if word == "REST":
                    offset, answer = int(argument), "350 from there"
                elif word == "EPSV":
                    passive = socket.create_server(("127.0.0.1", 0))
                    answer = f"229 here (|||{passive.getsockname()[1]}|)"
                elif word == "RETR" and passive:
                    control.sendall(b"150 it comes\r\n")
                    with passive, passive.accept()[0] as channel:
                        channel.sendall(self.data[offset:])
                    self.sent += len(self.data) - offset
                    passive, offset, answer = None, 0, "226 done"
                control.sendall(answer.encode() + b"\r\n")
