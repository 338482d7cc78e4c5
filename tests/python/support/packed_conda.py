"""A test case of `env pack` with conda's packages: what it runs and refuses, and a channel on a loopback port."""

import functools
import http.server
import json
import threading

from support.case import Case
from support.wheels import Quiet


class CondaCase(Case):
    def pack(self, origin, *arguments, name="horn", code=0, **options):
        result = self.expect(self.sabath.run("env", "pack", name, origin, *arguments, "--json", **options), code)
        return json.loads(result.out) if code == 0 else result

    def refused(self, origin, *words, arguments=(), code=12):
        error = self.pack(origin, *arguments, code=code).err
        for word in words:
            self.assertIn(word, error)
        self.assertEqual(list((self.sabath.store / "tmp").rglob("tree")), [], "scratch is left")


class Patient(http.server.ThreadingHTTPServer):
    def handle_error(self, *arguments):
        pass  # a client that has enough ends its connection


class Channel(CondaCase):
    def setUp(self):
        super().setUp()
        self.shelf = self.home / "channel"
        self.shelf.mkdir()
        self.server = Patient(("127.0.0.1", 0), functools.partial(Quiet, directory=str(self.shelf)))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def lock(self, text, name="conda-lock.yml"):
        file = self.home / name
        file.write_text(text)
        return file
