"""A user's world in a network where public names have addresses of this machine or of its site: `lo` has the addresses,
/etc/hosts the names. The near servers' logs are the witness."""
import shutil
import unittest

from support.ground import Ground, seeded_bytes
from hostile import Hostile
from namespace import PUBLIC

DATA = seeded_bytes(5000)
SITE, PROXY = "10.1.2.3", "192.168.1.1"
HOSTS = {"far.example": PUBLIC, "other.example": "203.0.113.2", "inner.example": "127.0.0.1", "site.example": SITE,
         "metadata.example": "169.254.169.254", "localhost": "127.0.0.1"}


class ReachCase(unittest.TestCase):
    def setUp(self):
        self.ground = Ground(self)
        self.ground.config |= {"stall_timeout_s": 5, "connect_timeout_s": 5}
        self.far = self.serve(PUBLIC)
        self.near = {name: self.serve(host) for name, host in (("inner.example", "127.0.0.1"), ("site.example", SITE))}

    def serve(self, host, answers=None):
        server = Hostile(answers, host)
        self.addCleanup(server.stop)
        return server

    def far_url(self, path):
        return self.far.url(path, "far.example")

    def asked(self):
        return [head for server in self.near.values() for head in server.heads]

    def forget(self):
        shutil.rmtree(self.ground.store, ignore_errors=True)
        for server in (self.far, *self.near.values()):
            server.heads.clear()
