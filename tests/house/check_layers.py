#!/usr/bin/python3
"""The house rules that a reader relies on, checked: who may include whom, where a third-party library may appear, and
what core code may not do. Usage: check_layers.py [TREE]; check_layers.py --self-test.

Each finding is one line, FILE:LINE: what is wrong, what to do instead. The rules are DESIGN.md's.
"""

import pathlib
import re
import sys
import tempfile

# The wings of src are in src/*/CMakeLists.txt, where the compiler refuses what lies above. What no compiler sees is here.
# Public headers of calls that a wing below the front may include, as it does that work. The rest of include/sabath is
# vocabulary for all, or the front's.
CALLS = {
    "fair": "catalogue",
    "hdf5": "data", "inspect": "data",
    "fetch": "transfer", "plan": "transfer", "stage": "transfer",
    "compare": "runs", "metrics": "runs", "report": "runs", "run": "runs",
    "apply": "derived", "convert": "derived", "infer": "derived", "task": "derived",
    "job": "launch",
    "site": "site", "site_solve": "site",
}
HEADERS_OF_FRONT = {"asset_file", "configuration", "session"}  # beside the vocabulary
# The command line parses, calls verbs and renders their records: it opens no store, recipe or manifest.
CLOSED = {"src/front/cli": {"store", "recipe", "manifest", "session", "fetch"}}
# What these decide rests on what they are given: no file, no thread, no clock.
PURE = {"src/transfer/fetch/decide", "src/transfer/stage/plan"}

# Folders below fetchers/ that another one may include, besides curl and base.
SHARED = {
    "ftp": {"resolvers"},
    "globus": {"file", "http", "resolvers"},
    "hf": {"http", "resolvers"},
    "lfs": {"http"},
    "oci": {"http"},
    "peer": {"http"},
    "resolvers": {"http"},
    "s3": {"http", "resolvers"},
}

# Third-party headers and the folders that may include them.
THIRD_PARTY = {
    r"mpi\.h|stdint\.h": {"src/transfer/mpi"},  # a plug-in is C
    r"hdf5\.h|H5\w+\.h|hdf5_hl\.h": {"src/data/hdf5"},
    r"curl/.*": {"fetchers/curl"},
    r"libssh2(_sftp)?\.h": {"fetchers/sftp"},
    r"openssl/.*": {"src/core/base"},
    r"xxhash\.h": {"src/core/base"},
    r"re2/.*": {"src/runs/metrics", "src/catalogue/index", "fetchers/command"},
    r"yaml\.h": {"src/runs/run", "src/catalogue/recipe", "src/derived/environments"},
    r"archive(_entry)?\.h": {"src/transfer/fetch", "src/data/formats"},
    r"microhttpd\.h": {"src/sharing/serve"},
    r"zlib\.h": {"src/data/formats"},
    r"elf\.h": {"src/derived/packing"},
    r"zstd\.h": {"src/core/manifest", "src/storage/store", "src/transfer/fetch"},
    r"CLI/.*": {"src/front/cli"},
}
PUBLIC = {"sabath.h": ("stddef.h", "stdint.h"), "mpi.h": ("mpi.h",)}  # of include/sabath: what other headers may not
IMPURE = r"base/(clock|companion|file|process|spawn|threads)\.h|store/.*|f?stream|filesystem|thread|mutex|condition_variable"
ANY_SOURCE = r"fmt/.*|nlohmann/.*"
SYSTEM = re.compile(
    r"(sys|linux|netinet|arpa|net|asm)/[\w/]+\.h|(unistd|fcntl|dirent|signal|poll|spawn|termios|pwd|grp|sched|pthread|netdb|link"
    r"|immintrin|cpuid|arm_neon|dlfcn|glob|fnmatch|mntent|getopt|ftw|iconv|malloc|ifaddrs|langinfo|locale|endian|byteswap|sysexits)\.h"
)
BANNED = (  # in src/ but for cli, and in fetchers/
    (r"\bstd::(cout|cerr|clog)\b|\bf?printf\s*\(|\bputs\s*\(|fmt::print\b", "core code does not print: emit an event"),
    (r"\b(getenv|secure_getenv|setenv|putenv)\s*\(", "core code does not read the environment: take a setting"),
    (r"\b(system|popen|rand|srand|tmpnam|strtok|gethostbyname)\s*\(", "not here: base/process.h, <random>, base/file.h"),
)
HOSTS = (  # in src/ but for cli and companion, and in fetchers/: a host has threads, and what a process has is the host's
    (r"\bv?fork\s*\(\s*\)", "a host has threads: src/front/companion may, base/companion.h starts it"),
    (r"(?<!\w)::(umask|chdir|fchdir|sigaction|signal|sigprocmask|pthread_sigmask)\s*\(|\bsetlocale\s*\(",
     "this is the host's: src/front/cli or src/front/companion"),
)
# Who may begin a request: each judges by base/reach.h before a packet is sent. A program that asks a host is judged by
# FetcherSet::addresses_of() or admit_program(); the others here ask none, or what this user's own settings name.
REQUESTS = (
    (r"\bgetaddrinfo\s*\(|::connect\s*\(|(?<!\w)::socket\s*\(", "a socket of its own goes around base/reach.h: ask by curl/transport.h",
     {"fetchers/curl/transfer.cc", "fetchers/sftp/connect.cc", "fetchers/set/addresses.cc", "src/sharing/serve/listener.cc"}),
    (r"\bcurl_(easy_perform|multi_add_handle)\s*\(", "goes around base/reach.h: ask by curl/transport.h",
     {"fetchers/curl/transport.cc", "fetchers/curl/streams.cc"}),
    (r"(?<![\w:.])(run_command|spawn)\s*\(|(?<!\w)Child\s*\(", "is a program that may ask a host: judge the host first, then name the file here",
     {"fetchers/command/program.cc", "fetchers/curl/authorization.cc", "fetchers/sftp/child.cc", "fetchers/sftp/child.h",
      "fetchers/sftp/connect.cc", "src/core/base/companion.cc", "src/site/machine/file_stripes.cc", "src/site/machine/quota.cc",
      "src/core/base/process.cc", "src/core/base/process.h", "src/core/base/spawn.cc", "src/core/base/spawn.h", "src/transfer/fetch/git/git.cc",
      "src/transfer/fetch/git/git_program.cc", "src/runs/harness/environment.cc", "src/launch/hosts/ssh_process.cc", "src/launch/jobs/job_queue.cc", "src/runs/report/png_export.cc", "src/site/machine/accelerators.cc",
      "src/runs/run/conda.cc", "src/runs/run/environment.cc", "src/site/machine/machine.cc", "src/runs/run/python.cc", "src/runs/run/source_copy.cc",
      "src/site/machine/walltime.cc", "src/site/software/programs.cc", "src/front/verbs/doctor/doctor_machine.cc"}),
)
# URLs in fetchers/ and src/transfer/fetch that are made of text without `named_by` or `names`: of a fixed host, of the user's settings, or of a
# listing, which src/transfer/fetch/resolve.cc names. Any other knows who named it, or its request would be taken for the user's.
UNNAMED = {
    "fetchers/globus/globus.cc": 2, "fetchers/globus/service.cc": 2, "fetchers/globus/words.cc": 1, "fetchers/hf/hf.cc": 5,
    "fetchers/hf/place.cc": 1, "fetchers/lfs/batch.cc": 1, "fetchers/oci/registry.cc": 3, "fetchers/resolvers/bag.cc": 1,
    "fetchers/resolvers/checksum_lists.cc": 2, "fetchers/resolvers/mirrors.cc": 1, "fetchers/resolvers/records.cc": 3,
    "fetchers/resolvers/repository.cc": 2, "fetchers/s3/place.cc": 6, "fetchers/s3/s3.cc": 3, "fetchers/sftp/sftp.cc": 1,
    "src/transfer/fetch/decide/rewrite.cc": 1, "src/transfer/fetch/git/git.cc": 3, "src/transfer/fetch/git/git_program.cc": 1,
    "src/transfer/fetch/git/lfs_pointer.cc": 1, "src/transfer/fetch/git/submodule.cc": 2, "src/transfer/fetch/hosts/source_key.cc": 1,
    "src/transfer/fetch/ranks/job_parcel.cc": 2,
}
EVERYWHERE = (
    (r"\b(TODO|FIXME|XXX)\b", "say it in an issue, or do it"),
    (r"/work/(?:main|shared|\.library)", "a path of one machine"),
)
FILE_NAMES = re.compile(r"(utils?|common|misc|helpers?)\.\w+")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def wing_of_header(name):
    """Of `verbs/gc` or `error`, below include/sabath: the lowest wing that may include it. The vocabulary is for all."""
    if name.startswith("verbs/"):
        return CALLS.get(name.removeprefix("verbs/"), "front")
    return "front" if name in HEADERS_OF_FRONT else "core"


def folder_of(path):
    """`src/core/base`, `fetchers/http`, `include/sabath`, `tests/...`: what the rules speak of."""
    parts = path.parts
    depth = 3 if parts[0] == "src" else 2
    return "/".join(parts[:depth]) if len(parts) > depth else "/".join(parts[:-1]) or parts[0]


class House:
    def __init__(self, tree):
        self.tree = pathlib.Path(tree)
        self.findings = []
        self.up = 0  # includes that run back up
        self.wings = {}  # those below each, and itself
        self.rooms = {}  # the folders of src that each of them includes
        for file in sorted((self.tree / "src").glob("*/CMakeLists.txt")):
            if match := re.search(r"^sabath_wing\(([\w ]+)\)", file.read_text(encoding="utf-8"), re.M):
                name, *below = match[1].split()
                self.wings[name] = {name, *below}
        while any(more := [(wing, self.wings[other] - seen) for wing, seen in self.wings.items() for other in seen if other in self.wings and self.wings[other] - seen]):
            for wing, others in more:
                self.wings[wing] |= others
        self.wing_of = {room.name: room.parent.name for room in (self.tree / "src").glob("*/*") if room.is_dir()}

    def find(self, path, line, message):
        self.findings.append(f"{path}:{line}: {message}")

    def check(self):
        for top in ("include", "src", "fetchers", "tests", "bench", "python", "scripts", ".ci"):
            for file in sorted((self.tree / top).rglob("*")):
                path = file.relative_to(self.tree)
                if file.is_file() and "corpus" not in path.parts and "__pycache__" not in path.parts:
                    self.check_file(path, file)
        return self.findings

    def check_file(self, path, file):
        code = path.suffix in (".cc", ".h")
        script = path.suffix in (".py", ".sh") or (not path.suffix and path.parts[0] in ("scripts", ".ci"))
        if not (code or script):
            return
        lines = file.read_text(encoding="utf-8").splitlines()
        if FILE_NAMES.fullmatch(path.name):
            self.find(path, 1, "this name says nothing: name the file by what is in it")
        if path.name != "check_layers.py":
            self.check_words(path, lines, EVERYWHERE)
        if not code:
            return
        if path.suffix == ".h" and not any(line == "#pragma once" for line in lines):
            self.find(path, 1, "a header needs #pragma once")
        if path.parts[0] in ("src", "fetchers") and folder_of(path) != "src/front/cli":
            self.check_words(path, lines, BANNED)
            if folder_of(path) != "src/front/companion" and path != pathlib.Path("src/core/base/threads.cc"):  # its own threads
                self.check_words(path, lines, HOSTS)
        if path.parts[0] in ("src", "fetchers"):
            self.check_requests(path, lines)
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                self.check_include(path, number, match.group(1), match.group(2))

    def check_requests(self, path, lines):
        code = [re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0] for line in lines]
        for pattern, advice, owners in REQUESTS:
            for number, line in enumerate(code, 1):
                if (match := re.search(pattern, line)) and str(path) not in owners and folder_of(path) != "src/front/companion":
                    self.find(path, number, f"{match.group(0).strip()}: {advice}")
        text = "\n".join(code)
        found = [match.start() for match in re.finditer(r"\bUrl::(try_)?parse\(", text)] if str(path).startswith(("fetchers/", "src/transfer/fetch/")) else []
        unnamed = [at for at in found if not re.search(r"\bnamed_by\(|\bnames\(", text[max(text.rfind(c, 0, at) for c in ";{}") + 1:text.find(";", at)])]
        if len(unnamed) > UNNAMED.get(str(path), 0):
            self.find(path, text.count("\n", 0, unnamed[-1]) + 1, "this URL does not know who named it: named_by(url.namer()), or say in"
                      " tests/house/check_layers.py why the user did")

    def check_words(self, path, lines, bans):
        for number, line in enumerate(lines, 1):
            text = line if bans is EVERYWHERE else re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0])
            for pattern, advice in bans:
                if match := re.search(pattern, text):
                    self.find(path, number, f"{match.group(0).strip()}: {advice}")

    def check_include(self, path, number, quoted, angled):
        folder = folder_of(path)
        if folder.split("/")[0] in ("tests", "bench"):
            return
        if str(path.parent) in PURE:
            self.check_pure(path, number, quoted, angled)
        if angled:
            self.check_angled(path, number, folder, angled)
        elif not self.may_include(path, folder, quoted):
            self.up += 1
            self.find(path, number, f'{path.parent} may not include "{quoted}": see the include direction in DESIGN.md')

    def may_include(self, path, folder, quoted):
        target = quoted.split("/")[0]
        if target == "sabath":
            return self.may_call(path, quoted.removeprefix("sabath/").removesuffix(".h"))
        if "/" not in quoted or folder == "include/sabath":
            return False  # always name the folder; the vocabulary stands on its own
        if path.parts[0] == "src":
            self.rooms.setdefault(pathlib.Path(*path.parent.parts[2:]).as_posix(), set()).add(quoted.rpartition("/")[0])
            return self.wing_of.get(target) in self.wings.get(path.parts[1], set()) and target not in CLOSED.get(folder, set())
        if path == pathlib.Path("fetchers/all.cc"):
            return target == "base" or (self.tree / "fetchers" / target).is_dir()
        # A fetcher sees base, its own folder, and the transport that several share; many answers are HTTP's, and
        # directories are walked alike.
        shared = SHARED.get(path.parts[1], set())
        return target in {"base", "curl", "set", path.parts[1]} | shared

    def may_call(self, path, header):
        """Headers of calls include each other downwards, too."""
        if path.parts[0] not in ("src", "include", "fetchers"):
            return True
        wing = path.parts[1] if path.parts[0] == "src" else "core"
        if path.parts[0] == "include":
            wing = wing_of_header(path.relative_to("include/sabath").with_suffix("").as_posix())
        return wing_of_header(header) in self.wings.get(wing, {wing, "core"})

    def check_pure(self, path, number, quoted, angled):
        header = quoted or angled
        if re.fullmatch(IMPURE, header) or (angled and SYSTEM.fullmatch(angled)):
            self.find(path, number, f"{header}: {path.parent} decides by what it is given: no file, no thread, no clock")

    def check_angled(self, path, number, folder, header):
        if "." not in header and "/" not in header:
            return  # the standard library
        if folder == "include/sabath":
            if header in PUBLIC.get(path.name, ()):
                return
            self.find(path, number, f"<{header}>: include/sabath uses the standard library only")
            return
        for pattern, owners in THIRD_PARTY.items():
            if re.fullmatch(pattern, header):
                if folder not in owners:
                    self.find(path, number, f"<{header}> belongs to {' and '.join(sorted(owners))}: call that folder")
                return
        if re.fullmatch(ANY_SOURCE, header):
            if path.suffix == ".h" and header == "nlohmann/json.hpp":
                self.find(path, number, f"<{header}> is slow to read: <nlohmann/json_fwd.hpp> in a header")
        elif not SYSTEM.fullmatch(header):
            self.find(path, number, f"<{header}>: no folder owns this library: say which in tests/house/check_layers.py")


SAMPLES = {  # path: (text, what the finding must say); None: a good one
    "include/sabath/good.h": ("#pragma once\n#include <string>\n", None),
    "include/sabath/json.h": ("#pragma once\n#include <nlohmann/json.hpp>\n", "standard library only"),
    "include/sabath/up.h": ('#pragma once\n#include "base/text.h"\n', "may not include"),
    "include/sabath/bare.h": ("#include <string>\n", "#pragma once"),
    "src/core/base/good.cc": ('#include "base/text.h"\n#include <openssl/evp.h>\n#include <sys/stat.h>\n', None),
    "src/core/base/up.cc": ('#include "store/store.h"\n', "may not include"),
    "src/storage/store/disk/good.cc": ('#include "store/disk/layout.h"\n#include "base/file.h"\n', None),
    "src/storage/store/verify/good.cc": ('#include "store/store.h"\n#include "store/disk/layout.h"\n', None),
    "src/storage/store/down.cc": ('#include "store/disk/layout.h"\n', None),
    "src/transfer/fetch/decide/good.cc": ('#include "fetch/decide/job.h"\n#include <cmath>\n', None),
    "src/transfer/fetch/decide/file.cc": ('#include "base/file.h"\n', "no file"),
    "src/transfer/fetch/decide/lock.cc": ("#include <mutex>\n", "no thread"),
    "src/transfer/fetch/decide/stat.cc": ("#include <sys/stat.h>\n", "no file"),
    "src/storage/store/hash.cc": ("#include <openssl/sha.h>\n", "belongs to src/core/base"),
    "src/storage/store/unknown.cc": ("#include <boost/any.hpp>\n", "no folder owns"),
    "src/transfer/fetch/good.cc": ('#include "store/store.h"\n#include <archive.h>\n#include <fmt/core.h>\n', None),
    "src/transfer/fetch/mpi.cc": ("#include <mpi.h>\n", "belongs to src/transfer/mpi"),
    "src/transfer/mpi/good.cc": ('#include "sabath/comm.h"\n#include <mpi.h>\n', None),
    "src/front/plugin/good.cc": ('#include "serve/server.h"\n#include <dlfcn.h>\n', None),
    "src/core/comm/mpi.cc": ('#include <mpi.h>\n', "belongs to src/transfer/mpi"),
    "src/transfer/stage/hdf5.cc": ("#include <hdf5.h>\n", "belongs to src/data/hdf5"),
    "src/front/session/good.cc": ('#include "fetch/decide/job.h"\n#include "sabath/fetcher.h"\n', None),
    "src/front/session/parser.cc": ("#include <CLI/CLI.hpp>\n", "belongs to src/front/cli"),
    "src/front/session/utils.cc": ("", "says nothing"),
    "src/core/base/slow.h": ("#pragma once\n#include <nlohmann/json.hpp>\n", "json_fwd"),
    "src/front/cli/good.cc": ('#include "verbs/x.h"\nvoid f() { std::cout << getenv("X"); }\n', None),
    "src/storage/store/up.cc": ('#include "fetch/asset.h"\n', "may not include"),
    "src/storage/store/call.cc": ('#include "sabath/verbs/gc.h"\n', "may not include"),
    "src/storage/store/path.cc": ('#include "sabath/path.h"\n#include "sabath/verbs/path.h"\n', 'include "sabath/verbs/path.h"'),
    "src/storage/store/session.cc": ('#include "sabath/session.h"\n', "may not include"),
    "src/transfer/fetch/call.cc": ('#include "sabath/verbs/fetch.h"\n#include "sabath/error.h"\n', None),
    "include/sabath/verbs/fetch.h": ('#pragma once\n#include "sabath/session.h"\n', "may not include"),
    "include/sabath/verbs/gc.h": ('#pragma once\n#include "sabath/verbs/fetch.h"\n', None),
    "src/front/cli/store.cc": ('#include "store/store.h"\n', "may not include"),
    "fetchers/http/good.cc": ('#include "curl/transport.h"\n#include "http/read.h"\n#include "base/text.h"\n', None),
    "fetchers/http/curl.cc": ("#include <curl/curl.h>\n", "belongs to fetchers/curl"),
    "fetchers/http/store.cc": ('#include "store/store.h"\n', "may not include"),
    "fetchers/http/other.cc": ('#include "ftp/ftp.h"\n', "may not include"),
    "fetchers/http/socket.cc": ("int fd = ::socket(AF_INET, SOCK_STREAM, 0);\n", "goes around base/reach.h"),
    "src/transfer/fetch/program.cc": ('auto result = run_command({"wget"}, stop);\n', "judge the host first"),
    "fetchers/http/unnamed.cc": ('const Url url = Url::parse(text + ";");\n', "who named it"),
    "fetchers/http/named.cc": ("const Url url = Url::parse(text)\n    .named_by(other.namer());\n", None),
    "src/core/base/print.cc": ('void f() { std::cerr << 1; }\n', "does not print"),
    "src/core/base/format.cc": ('// printf(x)\nvoid f() { snprintf(b, 2, "printf("); }\n', None),
    "src/core/base/environment.cc": ('auto x = std::getenv("HOME");\n', "environment"),
    "src/runs/run/fork.cc": ("auto pid = ::fork();\n", "src/front/companion may"),
    "src/runs/run/signal.cc": ("void f() { ::signal(SIGINT, SIG_IGN); }\n", "the host's"),
    "src/runs/run/process.cc": ("void Process::signal(int) {}\nJsonObject fork(value);\n", None),
    "src/front/companion/fork.cc": ("auto pid = ::fork();\nvoid f() { ::umask(0); }\n", None),
    "src/core/base/later.cc": ("// TO" + "DO: all\n", "in an issue"),
}


SAMPLE_WINGS = {"core": ("", "base comm manifest trust"), "catalogue": ("core", "recipe"), "data": ("core", "hdf5"),
                "storage": ("core", "store"), "sharing": ("storage", "serve"), "transfer": ("catalogue data storage", "fetch mpi stage"),
                "front": ("transfer sharing", "cli plugin session verbs")}


def self_test():
    failures = 0
    for name, (text, expected) in SAMPLES.items():
        with tempfile.TemporaryDirectory() as tree:
            file = pathlib.Path(tree, name)
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            for wing, below in SAMPLE_WINGS.items():
                for room in below[1].split():
                    pathlib.Path(tree, "src", wing, room).mkdir(parents=True, exist_ok=True)
                pathlib.Path(tree, "src", wing, "CMakeLists.txt").write_text(f"sabath_wing({wing} {below[0]})\n")
            findings = House(tree).check()
        right = len(findings) == 1 and expected in findings[0] if expected else not findings
        if not right:
            failures += 1
            print(f"{name}: expected {expected or 'no finding'}, found {findings}")
    if circles({"a": {"b"}, "b": set()}) or not circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}):
        failures += 1
        print("a circle is not seen")
    print(f"self-test: {len(SAMPLES)} samples, {failures} failures")
    return failures


def circles(below):
    """A table that allows a circle allows everything."""
    left = {folder: set(may) & set(below) - {folder} for folder, may in below.items()}
    while floor := [folder for folder, may in left.items() if not may]:
        left = {folder: may - set(floor) for folder, may in left.items() if folder not in floor}
    return [f"src: these include each other in a circle: {' '.join(sorted(left))}"] if left else []


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    house = House(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    findings = house.check() + circles(house.rooms) + circles({wing: below - {wing} for wing, below in house.wings.items()})
    print("\n".join([*findings, f"check_layers: {len(findings) or 'no'} findings, {house.up} includes that run back up"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
