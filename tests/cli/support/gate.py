"""A gate before a server: so many connections pass at once, and what happens to the others is what some firewalls do."""

import contextlib
import socket
import struct
import threading


class Gate:
    """`limit` connections to `port` pass. `others`: "reset", or "mute": taken, and never answered."""

    def __init__(self, port, limit, others):
        self.behind, self.limit, self.others = port, limit, others
        self.lock = threading.Lock()
        self.active = self.turned_away = 0
        self.mute = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                with self.lock:
                    passes = self.active < self.limit
                    self.active += passes
                    self.turned_away += not passes
                if passes:
                    threading.Thread(target=self.serve, args=(client,), daemon=True).start()
                elif self.others == "mute":
                    self.mute.append(client)
                else:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    client.close()

    def serve(self, client):
        server = socket.create_connection(("127.0.0.1", self.behind))
        ways = [threading.Thread(target=pump, args=way, daemon=True) for way in ((client, server), (server, client))]
        for way in ways:
            way.start()
        for way in ways:
            way.join()
        with self.lock:
            self.active -= 1
        client.close()
        server.close()

    def stop(self):
        for each in [self.listener, *self.mute]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


def pump(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 18):
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
