#!/usr/bin/env python3
"""The parts that a bundled build is made of, by sources.json: each file is pinned by its SHA-256.

  parts.py list                     names, each after what it needs
  parts.py closure NAME...          these and what they need
  parts.py fetch DIR ARCH           what DIR lacks, from where sources.json says; ends with 1 if a file is missing
  parts.py unpack DIR NAME TO ARCH  checks a part's files, unpacks and patches them into the new directory TO
  parts.py key NAME                 changes with what the part is made of
  parts.py licences DIR TO ARCH     each part's licence texts, as TO/NAME/...
  parts.py spdx VERSION             an SPDX 2.3 document on standard output
  parts.py versions                 "name version (date), ..."
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "sources.json"), encoding="utf-8") as stream:
    SOURCES = json.load(stream)
PARTS = {part["name"]: part for part in SOURCES["parts"]}


def fail(text):
    sys.exit("parts.py: " + text)


def need(*programs):
    """Names all of them that are not here, before anything begins."""
    if subprocess.call([os.path.join(HERE, "..", "scripts", "setup"), "--dry-run", "programs", *programs]) != 0:
        sys.exit(1)


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def files_of(part, arch):
    return [file for file in part["files"] if file.get("arch", arch) == arch]


def is_there(directory, file):
    path = os.path.join(directory, file["name"])
    return os.path.isfile(path) and sha256_of(path) == file["sha256"]


def by_url(file, work):
    for url in file["urls"]:
        target = os.path.join(work, file["name"])
        if subprocess.call(["curl", "-fsSL", "--connect-timeout", "10", "--max-time", "600", "-o", target, url], stderr=subprocess.DEVNULL) == 0:
            return


def apt_options(work):
    """An apt configuration of its own: the machine's, with the sources of the same suites."""
    lists, parts, cache = (os.path.join(work, name) for name in ("lists", "parts", "cache"))
    for directory in (os.path.join(lists, "partial"), parts, os.path.join(cache, "archives", "partial")):
        os.makedirs(directory)
    found = False
    directory = "/etc/apt/sources.list.d"
    for name in ["/etc/apt/sources.list"] + sorted(os.path.join(directory, n) for n in os.listdir(directory)):
        if not os.path.isfile(name):
            continue
        with open(name, encoding="utf-8") as stream:
            text = stream.read()
        if "debian" not in text:
            continue
        found = True
        lines = [line.replace("deb ", "deb-src ", 1) if line.startswith("deb ") else line for line in text.split("\n")]
        lines = ["Types: deb-src" if line.startswith("Types:") else line for line in lines]
        with open(os.path.join(parts, os.path.basename(name)), "w", encoding="utf-8") as out:
            out.write("\n".join(lines))
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=" + parts,
               "-o", "Dir::State::lists=" + lists, "-o", "Dir::Cache=" + cache]
    if not found or subprocess.call(["apt-get", *options, "-qq", "update"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) != 0:
        return None
    return options


def by_packages(part, arch, work, state):
    """Through the clients of package registries, as this machine has them configured."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": work}
    if "debian" in part and shutil.which("apt-get"):
        if "apt" not in state:
            state["apt"] = apt_options(tempfile.mkdtemp(dir=state["work"]))
        if state["apt"]:  # it may miss one file and get the others
            subprocess.call(["apt-get", *state["apt"], "-qq", "source", "--download-only", part["debian"]], **quiet)
    if "npm" in part:
        subprocess.call(["npm", "pack", "-s", part["npm"]], **quiet)
    if "pypi" in part:
        subprocess.call([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--only-binary=:all:",
                         "--platform", "manylinux_2_28_" + arch, "-d", work, part["pypi"]], **quiet)


def fetch(directory, arch):
    os.makedirs(directory, exist_ok=True)
    lacking = [part for part in PARTS.values() if not all(is_there(directory, file) for file in files_of(part, arch))]
    need(*(["curl"] if lacking else []), *(["npm"] if any("npm" in part for part in lacking) else []),
         *([sys.executable + "/pip"] if any("pypi" in part for part in lacking) else []))  # fmt: skip
    missing = []
    with tempfile.TemporaryDirectory() as work:
        state = {"work": work}
        for part in lacking:
            wanted = [file for file in files_of(part, arch) if not is_there(directory, file)]
            by_packages(part, arch, work, state)
            for file in wanted:
                if not is_there(work, file):
                    by_url(file, work)
                if is_there(work, file):
                    shutil.move(os.path.join(work, file["name"]), os.path.join(directory, file["name"]))
                else:
                    missing.append("%s (sha256 %s; %s)" % (file["name"], file["sha256"], part["homepage"]))
    if missing:
        fail("put these into %s:\n  %s" % (directory, "\n  ".join(missing)))


def patch(archive, to):
    with tempfile.TemporaryDirectory() as work:
        subprocess.check_call(["tar", "-xf", archive, "-C", work])
        patches = os.path.join(work, "debian", "patches")
        if not os.path.isfile(os.path.join(patches, "series")):
            return
        with open(os.path.join(patches, "series"), encoding="utf-8") as stream:
            names = [line.split("#")[0].split() for line in stream]
        for name in names:
            if name:
                with open(os.path.join(patches, name[0]), "rb") as diff:
                    subprocess.check_call(["patch", "-s", "-p1", "-f", "-d", to], stdin=diff)


def unpack(directory, name, to, arch):
    part = PARTS.get(name) or fail("there is no part %s" % name)
    os.makedirs(to)
    for file in files_of(part, arch):
        path = os.path.join(directory, file["name"])
        if not os.path.isfile(path):
            fail("%s is missing: `scripts/package --fetch` or %s" % (path, part["homepage"]))
        if sha256_of(path) != file["sha256"]:
            fail("%s is not what sources.json names: its SHA-256 must be %s" % (path, file["sha256"]))
        if file.get("patches"):
            patch(path, to)
        elif path.endswith(".whl"):
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(to)
        else:
            subprocess.check_call(["tar", "--no-same-owner", "--strip-components=1", "-xf", path, "-C", to])


def closure(names):
    seen = []

    def add(name):
        if name not in PARTS:
            fail("there is no part %s" % name)
        for need in PARTS[name]["needs"]:
            add(need)
        if name not in seen:
            seen.append(name)

    for name in names:
        add(name)
    return seen


def licences(directory, to, arch):
    for name, part in PARTS.items():
        if part.get("build_only"):
            continue
        with tempfile.TemporaryDirectory() as work:
            tree = os.path.join(work, "tree")
            unpack(directory, name, tree, arch)
            os.makedirs(os.path.join(to, name), exist_ok=True)
            for file in part["licence_files"]:
                shutil.copyfile(os.path.join(tree, file), os.path.join(to, name, os.path.basename(file)))


def spdx(version):
    def package(name, number, licence, home, files=()):
        entry = {"SPDXID": "SPDXRef-" + name, "name": name, "versionInfo": number, "downloadLocation": home or "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION"}
        if files:
            entry["checksums"] = [{"algorithm": "SHA256", "checksumValue": file["sha256"]} for file in files[:1]]
            entry["sourceInfo"] = ", ".join("%s sha256:%s" % (file["name"], file["sha256"]) for file in files)
        return entry

    packages = [package("sabath", version, "BSD-3-Clause", "")]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-sabath"}]
    for name, part in PARTS.items():
        packages.append(package(name, part["version"], part["licence"], part["homepage"], part["files"]))
        kind = "BUILD_DEPENDENCY_OF" if part.get("build_only") else "STATIC_LINK"
        ends = ("SPDXRef-" + name, "SPDXRef-sabath") if part.get("build_only") else ("SPDXRef-sabath", "SPDXRef-" + name)
        relations.append({"spdxElementId": ends[0], "relationshipType": kind, "relatedSpdxElement": ends[1]})
    tool, number = SOURCES["toolchain"]["pypi"].split("==")
    for name, licence in (("libcxx", "Apache-2.0 WITH LLVM-exception"), ("compiler-rt", "MIT")):
        packages.append(package(name, "of %s %s" % (tool, number), licence, "https://ziglang.org"))
        relations.append({"spdxElementId": "SPDXRef-sabath", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "SPDXRef-" + name})
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    import time
    own = {"licenseId": "LicenseRef-xz-public-domain", "name": "liblzma: public domain", "extractedText": "liblzma is in the public domain."}
    hdf5 = {"licenseId": "LicenseRef-HDF5", "name": "HDF5", "extractedText": "See LICENSES/hdf5/COPYING."}
    digest = hashlib.sha256(json.dumps([version, SOURCES], sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "sabath-" + version,
            "documentNamespace": "https://spdx.org/spdxdocs/sabath-%s-%s" % (version, digest),
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "creators": ["Tool: sabath-scripts-package"]},
            "packages": packages, "relationships": relations, "hasExtractedLicensingInfos": [own, hdf5]}


def key_of(name):
    keys = [PARTS[n]["files"] for n in closure([name])]
    return hashlib.sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()


def main(argv):
    verb, rest = argv[0] if argv else "", argv[1:]
    if verb == "list":
        print("\n".join(closure(PARTS)))
    elif verb == "closure":
        print("\n".join(closure(rest)))
    elif verb == "key" and len(rest) == 1:
        print(key_of(rest[0]))
    elif verb == "fetch" and len(rest) == 2:
        fetch(*rest)
    elif verb == "unpack" and len(rest) == 4:
        unpack(*rest)
    elif verb == "licences" and len(rest) == 3:
        licences(*rest)
    elif verb == "spdx" and len(rest) == 1:
        print(json.dumps(spdx(rest[0]), indent=1))
    elif verb == "versions":
        print(", ".join("%s %s (%s)" % (p["name"], p["version"], p["date"]) for p in PARTS.values() if not p.get("build_only")))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
