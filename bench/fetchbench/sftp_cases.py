"""SFTP from OpenSSH's server: on loopback, and 50 ms away. Peers are OpenSSH's own clients, with the ciphers that they
offer; SABATH goes as it does by itself (the ssh program) and by libssh2.
"""
import json
import os
import pathlib
import shutil
import subprocess
import time

from .loopback_cases import at_least_as_fast, ours, times, wall_bars, wall_of
from support.measure import Skip, die_with_parent
from .servers import START_S, free_port
from support.trial import Tool, Trial

FAR_PORT, FAR_ROUND_TRIP_MS = 2222, 50
CIPHERS = {"usual cipher": (), "aes128-gcm": ("-c", "aes128-gcm@openssh.com")}
CONFIGURATION = """
ListenAddress {address}
Port {port}
HostKey {dir}/host_key
PidFile none
AuthorizedKeysFile {dir}/id.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp internal-sftp
"""


class SshServer:
    """sshd on a port, `enter` before its command, and a client's side to match. Use as a context."""

    def __init__(self, scratch, name, port, enter=()):
        self.program = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not self.program or not shutil.which("sftp"):
            raise Skip("the OpenSSH server and client are not installed")
        self.directory, self.name, self.port, self.enter = pathlib.Path(scratch) / f"sshd-{name}", name, port, enter
        self.directory.mkdir()
        for key in ("host_key", "id"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / key], check=True)
        address = "0.0.0.0" if enter else name
        self.write("sshd_config", CONFIGURATION.format(address=address, port=port, dir=self.directory))
        kind, key = (self.directory / "host_key.pub").read_text(encoding="ascii").split()[:2]
        self.write("known_hosts", f"[{name}]:{port} {kind} {key}\n")
        self.config = self.write("config", f"IdentityFile {self.directory}/id\nUserKnownHostsFile "
                                           f"{self.directory}/known_hosts\nGlobalKnownHostsFile none\n")

    def write(self, name, text):
        (self.directory / name).write_text(text, encoding="utf-8")
        return self.directory / name

    def __enter__(self):
        if os.geteuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # sshd insists; a booted machine has it
        self.process = subprocess.Popen([*self.enter, self.program, "-D", "-e", "-f", self.directory / "sshd_config"],
                                        preexec_fn=die_with_parent, stdin=subprocess.DEVNULL,
                                        stderr=open(self.directory / "log", "wb"))
        deadline = time.monotonic() + START_S
        while "listening" not in (self.directory / "log").read_text(encoding="utf-8"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise Skip(f"sshd did not start: {(self.directory / 'log').read_text()}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def peers(self, one, out):
        def tool(name, *words):
            argv = [words[0], "-q", "-F", str(self.config), "-P", str(self.port), *words[1:],
                    f"{self.name}:{one.path}", out]
            return Tool(name, argv, lambda _: one.same(out))
        return [tool(f"{program} ({cipher})", program, *words) for program in ("sftp", "scp")
                for cipher, words in CIPHERS.items()]

    def ours(self, bench, one, transport):
        name = f"sabath ({transport})"
        recipe = f"sftp-{self.name}-{transport}"
        base = f"sftp://{self.name}:{self.port}{bench.ground.www}"
        bench.sabath.write_recipe(recipe, {"type": "file", "path": "f", "urls": [f"{base}/{one.target}"],
                                           "size": one.size}, (one.root, [f"{base}/{one.manifest_target}"]))
        config = self.write(f"{transport}.json",
                            json.dumps({"ssh_config": str(self.config), "ssh_transport": transport}))
        argv = ["env", f"SABATH_CONFIG={config}", *bench.sabath.fetch(recipe, bench.ground.results / "store")]
        return ours(name, argv, lambda record: one.same(os.path.join(record["path"], "f")), ("pinned",))


def tools_of(bench, server, one):
    return bench.chosen([*(server.ours(bench, one, transport) for transport in ("auto", "libssh2")),
                         *server.peers(one, str(bench.ground.results / "f"))])


def near(bench):
    one = bench.one(bench.sizes.loopback)
    server = bench.stack.enter_context(SshServer(bench.ground.scratch, "127.0.0.1", free_port()))

    def bars(outcome):
        return wall_bars(outcome, "verified, at least 0.9 x as fast as the sftp program's best",
                         times(1 / 0.9, wall_of(outcome.best_peer("sftp"))))
    yield Trial("sftp", one.size, tools_of(bench, server, one), bars, port=server.port)


def far(bench):
    rig, one = bench.rig(), bench.one(bench.sizes.far)
    rig.up(f"srv1,rate=4000mbit,rtt={FAR_ROUND_TRIP_MS}ms,gso=1", "node1")  # by packets the emulator needs a core
    with SshServer(bench.ground.scratch, "srv1", FAR_PORT, rig.enter("srv1")) as server:
        rig.ping("node1", "srv1")

        def bars(outcome):
            return at_least_as_fast(outcome, "sftp", 4, "verified, at least 4 x as fast as the sftp program")
        yield Trial("sftp-far", one.size, tools_of(bench, server, one), bars, port=FAR_PORT,
                    enter=rig.enter("node1"))
    rig.down()


CASES = {"sftp": near, "sftp-far": far}
