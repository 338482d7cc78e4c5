"""A network namespace of one's own, where "public" and private addresses stand on one loopback device."""
import os
import shutil
import subprocess
import sys
import tempfile

from support.case import SKIPPED

PUBLIC, OTHER = "203.0.113.1", "203.0.113.2"  # TEST-NET-3
NEAR = ("127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "::1", "fe80::1", "fd00::1")


def name_hosts(hosts):
    with tempfile.TemporaryDirectory() as directory:
        for name, text in (("hosts", "".join(f"{address} {name}\n" for name, address in hosts.items())),
                           ("nsswitch.conf", "hosts: files\n")):
            file = os.path.join(directory, name)
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            if os.path.exists(f"/etc/{name}"):
                subprocess.run(["mount", "--bind", file, f"/etc/{name}"], check=True)


def enter_namespace(hosts=None):
    """Runs the calling file again where the addresses above are this machine's; says why it cannot. `hosts`: names that
    are looked up there, with their addresses; no other name has one."""
    if os.environ.get("SABATH_IN_NAMESPACE"):
        if hosts is not None:
            name_hosts(hosts)
        for command in ("ip link set lo up", *(f"ip addr add {a}/{32 if '.' in a else 128} dev lo" for a in
                                               (PUBLIC, OTHER, *NEAR) if a not in ("127.0.0.1", "::1"))):
            subprocess.run(command.split(), check=True)
        return
    if not shutil.which("unshare") or not shutil.which("ip"):
        print("SKIP: unshare or ip is not installed")
        sys.exit(SKIPPED)
    flags = (["-n"] if os.geteuid() == 0 else ["-U", "-r", "-n"]) + (["-m"] if hosts is not None else [])
    if subprocess.run(["unshare", *flags, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode != 0:
        print("SKIP: no network namespace may be made here")
        sys.exit(SKIPPED)
    os.environ["SABATH_IN_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", *flags, sys.executable, "-B", *sys.argv])
