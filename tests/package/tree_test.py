#!/usr/bin/python3
"""A tree that scripts/package has made: its symbols, and a user's way with it, moved.

tree_test.py: the smoke, on this machine; skipped where there is no tree of it.
tree_test.py bare: also in a root of its own with nothing but Debian's smallest base, as an ordinary user with a read-only
home, and the wheel in an environment of each Python at hand (by hand: `scripts/test --part package`; root, mmdebstrap).
tree_test.py foreign ARCH: the tree of another architecture, run by packaging/emulator; skipped without tree or emulator.
SABATH_TREE names another tree.
"""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from support.certificate import Certificate

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BUILT = SOURCE / "build/package"
DISTRIBUTION = pathlib.Path(os.environ.get("SABATH_BINARY") or SOURCE / "build/release/bin/sabath")
SKIPPED, READER, SIZE = 77, 4242, 5_000_000
# Where RHEL has its authorities, so that Debian's place is not the one that is found.
AUTHORITIES = "etc/pki/tls/certs/ca-bundle.crt"
SUITES = ("bullseye", "bookworm")  # glibc 2.31 as long as mirrors have it, 2.36


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def the_tree(arch=platform.machine()):
    if os.environ.get("SABATH_TREE"):
        return pathlib.Path(os.environ["SABATH_TREE"])
    trees = [d for d in BUILT.glob(f"sabath-*-linux-{arch}") if (d / "bin/sabath").is_file()]
    return max(trees, key=lambda d: d.stat().st_mtime) if trees else skip(f"no tree of {arch} in build/package: scripts/package --arch {arch} makes one")


class Origin(http.server.ThreadingHTTPServer):
    """One file by https, with a certificate of its own."""

    def __init__(self, directory):
        self.data = os.urandom(SIZE)
        (directory / "files").mkdir()
        (directory / "files/f").write_bytes(self.data)

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(directory / "files"))

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.certificate = Certificate(directory / "tls", "localhost", "127.0.0.1")
        self.socket = self.certificate.tls().wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):  # a client that has what it wants ends the connection
        pass

    def arguments(self):
        return [f"https://127.0.0.1:{self.server_port}/f", hashlib.sha256(self.data).hexdigest()]


def exchange(programs, directory, origin):
    """What one build has stored, the other reads, and both name the same bytes by one root."""
    url, digest = origin.arguments()
    recipes = directory / "exchanged/datasets"
    recipes.mkdir(parents=True)
    fragment = {"id": "main", "type": "file", "path": "f", "urls": [url], "checksum": {"sha256": digest}}
    (recipes / "data.json").write_text(json.dumps({"schema": 1, "kind": "dataset", "name": "data", "fragments": [fragment]}))
    common = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "SABATH_RECIPES": str(recipes.parent), "SSL_CERT_FILE": str(origin.certificate.file)}

    def run(program, store, *command):
        done = subprocess.run([program, *command], check=True, capture_output=True, text=True, env={**common, "SABATH_CACHE": str(store)})
        return done.stdout

    def kernels(program):  # that hash on this processor
        done = subprocess.run([program, "doctor", "--json"], capture_output=True, text=True, env={**common, "SABATH_CACHE": str(directory / "none")})
        text = next(check["text"] for check in json.loads(done.stdout)["checks"] if check["name"] == "hash kernel")
        return re.findall(r"([a-z][\w+-]*) [\d.]+ [kMGT]?B/s", text)

    assert kernels(programs[0]) == kernels(programs[1]) and len(kernels(programs[0])) > 0, [kernels(program) for program in programs]
    roots = set()
    for number, (writer, reader) in enumerate((programs, programs[::-1])):
        store = directory / f"exchanged/store-{number}"
        run(writer, store, "fetch", "-d", "data")
        record = json.loads(run(reader, store, "fetch", "--json", "-d", "data", "--offline"))
        asset = record["assets"][0]
        assert asset["fetched_bytes"] == 0, record
        assert hashlib.sha256(pathlib.Path(asset["path"], "f").read_bytes()).hexdigest() == digest, record
        run(reader, store, "verify", "data")
        roots.add(run(reader, store, "manifest", "create", directory / "files", "-o", directory / f"exchanged/{number}").strip())
    assert len(roots) == 1, roots
    print("store of the tree and of", programs[1], "exchanged: ok", flush=True)


def smoke(tree, directory, origin):
    """On this machine: the symbols, then the way, from a place that the tree was moved to, and cannot write."""
    subprocess.run([SOURCE / "packaging/check-tree", tree], check=True)
    moved = directory / "moved once" / "and again"
    moved.parent.mkdir()
    shutil.copytree(tree, moved, symlinks=True)
    ground, home = directory / "ground", directory / "home"
    ground.mkdir()
    home.mkdir(mode=0o555)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SSL_CERT_FILE": str(origin.certificate.file)}
    journey = ["sh", HERE / "journey.sh", moved / "bin/sabath", *origin.arguments()]
    subprocess.run([*journey, ground], check=True, env=environment)
    if shutil.which("cc"):
        older, library = directory / "older", directory / "older_glibc.so"
        older.mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "older_glibc.c", "-ldl"], check=True)
        subprocess.run([*journey, older], check=True, env={**environment, "LD_PRELOAD": str(library)})
    refused = subprocess.run([moved / "bin/sabath", "fetch", "data"], capture_output=True, text=True,
                             env={**environment, "SSL_CERT_FILE": "/etc/hosts", "SABATH_CACHE": str(directory / "other"),
                                  "SABATH_RECIPES": str(ground / "recipes")})  # fmt: skip
    assert refused.returncode not in (0, 14), f"a certificate of no authority was believed: {refused}"
    packages = moved / "share/sabath/python"
    code = "import sabath; print(sabath.library.Library.opened().file, sabath.program.find())"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}).stdout  # fmt: skip
    library, program = said.strip().split(f"{moved}/")[1:]
    assert (library.split()[0], program) == ("share/sabath/python/sabath/../../../../lib/libsabath.so.0", "bin/sabath"), said
    if DISTRIBUTION.is_file():
        exchange((moved / "bin/sabath", DISTRIBUTION), directory, origin)
    print("smoke: ok")


ENTER = """
set -eu
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root/home/reader" 2>/dev/null || { mount --bind "$root/home/reader" "$root/home/reader"; mount -o remount,bind,ro "$root/home/reader"; }
mount --bind "$root/opt" "$root/opt"; mount -o remount,bind,ro "$root/opt"
exec chroot --userspec={reader}:{reader} "$root" env -i PATH=/usr/bin:/bin HOME=/home/reader "$@"
""".replace("{reader}", str(READER))


def bare_root():
    """Debian's smallest base, the oldest that is to be had, made once."""
    root = BUILT / "bare"
    if not (root / "etc/debian_version").is_file():
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            skip("a bare root needs root and mmdebstrap")
        for suite in SUITES:
            shutil.rmtree(root, ignore_errors=True)
            if not subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", suite, root], stdin=subprocess.DEVNULL).returncode:
                break
        else:
            skip("mmdebstrap gets no base")
    print(f"bare root: Debian {(root / 'etc/debian_version').read_text().strip()}", flush=True)
    return root


def bare(tree, origin):
    root = bare_root()
    for name in ("opt", "srv", "home/reader"):
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).mkdir(parents=True)
    with contextlib.suppress(FileNotFoundError):
        (root / "etc/ssl/certs/ca-certificates.crt").unlink()
    (root / AUTHORITIES).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(origin.certificate.file, root / AUTHORITIES)
    shutil.copy(HERE / "journey.sh", root / "srv/journey.sh")
    for place in ("opt/one", "opt/two/deep er"):  # moved twice
        target = root / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if place == "opt/one":
            shutil.copytree(tree, target, symlinks=True)
        else:
            (root / "opt/one").rename(target)
        ground = root / "srv" / place.replace("/", "-")
        ground.mkdir()
        os.chown(ground, READER, READER)
        command = ["sh", "/srv/journey.sh", f"/{place}/bin/sabath", *origin.arguments(), f"/srv/{ground.name}"]
        subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "enter", root, *command], check=True)
        print(f"bare root, /{place}: ok", flush=True)


def wheel(directory):
    """Installed by pip of each Python at hand, into environments without a compiler's name in PATH; and gone again."""
    wheels = list(BUILT.glob(f"sabath-*manylinux*_{platform.machine()}.whl"))
    assert len(wheels) == 1, wheels
    tried = 0
    for python in sorted({pathlib.Path(p).resolve() for n in range(8, 16) for p in [shutil.which(f"python3.{n}")] if p} | {pathlib.Path("/usr/bin/python3").resolve()}):
        environment = directory / f"venv-{python.name}-{tried}"
        if subprocess.run([python, "-m", "venv", environment], capture_output=True).returncode:
            continue
        clean = {"PATH": "/nonexistent", "HOME": str(directory), "PYTHONDONTWRITEBYTECODE": "1"}

        def run(*command, environment=environment, clean=clean):
            return subprocess.run([environment / "bin/python", *command], check=True, capture_output=True, text=True, env=clean).stdout

        before = sorted(p for p in environment.rglob("*"))
        run("-m", "pip", "-q", "install", "--no-index", "--no-deps", wheels[0])
        said = run("-m", "sabath", "--version")
        assert said.startswith("sabath ") and "bundled" in said, said
        said = run("-c", "import sabath, hpcfair; print(sabath.library.Library.opened().file, sabath.library.Library.opened().version)")
        assert str(environment) in said, said
        listed = subprocess.run([environment / "bin/sabath", "list"], check=True, capture_output=True, text=True, env=clean).stdout
        assert "cosmoflow" in listed, listed
        run("-m", "pip", "-q", "uninstall", "-y", "sabath")
        left = [p for p in environment.rglob("*") if p not in before and not p.is_dir() and "__pycache__" not in p.parts]
        assert not left, left
        tried += 1
        print(f"wheel, {python.name}: ok", flush=True)
    assert tried, "no Python here makes environments"


VECTORS = {  # SHA-256 by the examples of FIPS 180-4
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
}


def foreign(arch, tree, directory, origin):
    """Hash vectors, the same root as on this machine, a fetch by https, verify: what an emulator can show."""
    found = subprocess.run([SOURCE / "packaging/emulator", arch], capture_output=True, text=True)
    emulator = found.stdout.split()
    if found.returncode or not emulator:
        skip(found.stderr.strip() or f"{arch} is this machine's own: tree_test.py without a word tries it")
    subprocess.run([SOURCE / "packaging/check-tree", tree], check=True)
    program = [*emulator, tree / "bin/sabath"]
    common = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "SABATH_CACHE": str(directory / "store"),
              "SABATH_RECIPES": str(directory / "recipes"), "SSL_CERT_FILE": str(origin.certificate.file)}  # fmt: skip

    def run(*command, ends=0, by=None):
        done = subprocess.run([*(by or program), *command], capture_output=True, text=True, env=common)
        assert done.returncode == ends, f"{command} ended with {done.returncode}, not {ends}: {done.stdout}{done.stderr}"
        return done.stdout

    assert run("--version").startswith("sabath ")
    small = directory / "small"
    (small / "in side").mkdir(parents=True)
    lengths = [os.urandom(length) for length in (1, 63, 64, 65, 119, 120, 4095, 65535, 65536)]  # one leaf: the plain SHA-256
    for number, data in enumerate([*VECTORS, *lengths, os.urandom(SIZE)]):
        (small / "in side" / f"{number}.bin").write_bytes(data)
    root = run("manifest", "create", small, "-o", directory / "of-the-tree").strip()
    listed = run("manifest", "show", directory / "of-the-tree")
    for digest in [*VECTORS.values(), *(hashlib.sha256(data).hexdigest() for data in lengths)]:
        assert digest in listed, (digest, listed)
    if DISTRIBUTION.is_file():
        assert run("manifest", "create", small, "-o", directory / "of-the-other", by=[DISTRIBUTION]).strip() == root
        assert (directory / "of-the-other").read_bytes() == (directory / "of-the-tree").read_bytes()
        print("one manifest of both builds:", root, flush=True)
    (directory / "recipes/datasets").mkdir(parents=True)
    url, digest = origin.arguments()
    for name, claimed in (("data", digest), ("forged", digest[::-1])):
        fragment = {"id": "main", "type": "file", "path": "f", "urls": [url], "checksum": {"sha256": claimed}}
        recipe = {"schema": 1, "kind": "dataset", "name": name, "fragments": [fragment]}
        (directory / f"recipes/datasets/{name}.json").write_text(json.dumps(recipe))
    record = json.loads(run("fetch", "--json", "-d", "data"))
    assert hashlib.sha256(pathlib.Path(record["assets"][0]["path"], "f").read_bytes()).hexdigest() == digest, record
    run("verify", "data")
    run("fetch", "-d", "forged", ends=7)
    if DISTRIBUTION.is_file():
        run("verify", "data", by=[DISTRIBUTION])
    print(f"{arch} by {emulator[0]}: ok")


def main():
    if sys.argv[1:2] == ["foreign"]:
        arch = sys.argv[2]
        tree = the_tree(arch)
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            foreign(arch, tree, directory, Origin(directory))
        return
    tree = the_tree()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        origin = Origin(directory)
        smoke(tree, directory, origin)
        if sys.argv[1:] == ["bare"]:
            wheel(directory)
            bare(tree, origin)


if __name__ == "__main__":
    main()
