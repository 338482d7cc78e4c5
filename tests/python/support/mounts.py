"""Mounts of a test's own, in a mount namespace that ends with it."""

import os
import shutil
import subprocess
import sys

ENTERED = "SABATH_TEST_NAMESPACE"


def enter_own_namespace():
    """Starts the test's file again where it may mount, if anything lets it."""
    if os.environ.get(ENTERED) == "entered":
        return
    for way in [["-m"]] * (os.geteuid() == 0) + [["-Urm"]]:
        probe = ["unshare", *way, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            os.environ[ENTERED] = "entered"
            os.execvp("unshare", ["unshare", *way, sys.executable, "-W", "error", *sys.argv])


def need_own_namespace(case):
    if os.environ.get(ENTERED) != "entered":
        case.skipTest("no mount namespace can be had here (unshare -m, unshare -Urm)")


def mount(case, directory, *arguments):
    """mount(8) to `directory`, until the case ends."""
    directory.mkdir(exist_ok=True)
    subprocess.run(["mount", *map(str, arguments), str(directory)], check=True)
    case.addCleanup(subprocess.run, ["umount", "-l", str(directory)], check=False)


def mount_memory(case, directory, mebibytes):
    mount(case, directory, "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs")


def mounted(case, kind, home):
    """A new filesystem of 400 MiB in a file below `home`: its mount point, which the caller unmounts."""
    maker = shutil.which(f"mkfs.{kind}", path="/usr/sbin:/sbin:/usr/bin")
    if os.geteuid() != 0 or not maker:
        case.skipTest(f"needs root and mkfs.{kind}")
    image, point = f"{home}/{kind}.image", f"{home}/{kind}"
    os.mkdir(point)
    with open(image, "wb") as file:
        file.truncate(400 << 20)
    made = subprocess.run([maker, image], capture_output=True, text=True)
    if made.returncode == 0:
        made = subprocess.run(["mount", "-o", "loop", image, point], capture_output=True, text=True)
    if made.returncode != 0:
        case.skipTest(f"no {kind} can be mounted here: {made.stderr.strip()}")
    return point
