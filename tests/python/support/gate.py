"""A gate before a server: a given number of connections passes at once; it treats the others as firewalls and
servers with few workers do."""

import contextlib
import socket
import struct
import threading


class Gate:
    """`limit` connections to `port` pass. `others`: "reset"; "mute": taken, and never answered; or "wait": until one of
    those that passed is closed."""

    def __init__(self, port, limit, others):
        self.behind, self.limit, self.others = port, limit, others
        self.lock = threading.Condition()
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
                if passes or self.others == "wait":
                    threading.Thread(target=self.serve, args=(client, passes), daemon=True).start()
                elif self.others == "mute":
                    self.mute.append(client)
                else:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    client.close()

    def serve(self, client, passes):
        with self.lock:
            if not passes:
                self.lock.wait_for(lambda: self.active < self.limit)
                self.active += 1
        with client, contextlib.suppress(ConnectionRefusedError):  # what waits outlives the server
            with socket.create_connection(("127.0.0.1", self.behind)) as server:
                pairs = ((client, server), (server, client))
                ways = [threading.Thread(target=pump, args=pair, daemon=True) for pair in pairs]
                for way in ways:
                    way.start()
                for way in ways:
                    way.join()
        with self.lock:
            self.active -= 1
            self.lock.notify()

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
