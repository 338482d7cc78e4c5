"""A machine with nothing of ours but the tree of the program: a root of its own in a mount namespace (needs root).

Programs and libraries are those of this machine, read-only; homes, /project, /local and /tmp are new, empty and capped.
"""

import os
import pathlib
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[3]
READER = 4242  # an ordinary user
SIZE = "1g"  # of all that is written

ENTER = """
set -eu
root=$1 tree=$2 uid=$3
shift 3
mount -t tmpfs -o size={size},mode=755 none "$root"
cd "$root"
mkdir -p proc sys dev etc tmp run home/reader root project local ".$tree"
chmod 1777 tmp
for name in usr bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$name"
  elif [ -d "/$name" ]; then
    mkdir "$name"
    mount --rbind "/$name" "$name"
    mount -o remount,bind,ro "$name"
  fi
done
mount --rbind /proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount --rbind "$tree" ".$tree"
mount -o remount,bind,ro ".$tree"
cp -a /etc/. etc/ 2>/dev/null || true
echo 'reader:x:{reader}:{reader}:A reader:/home/reader:/bin/bash' >>etc/passwd
echo 'reader:x:{reader}:' >>etc/group
echo 'climate:x:{climate}:reader' >>etc/group
echo '127.0.0.1 localhost' >etc/hosts
hostname >>etc/hosts 2>/dev/null || true
mkdir -p local/root local/reader project/old-data
echo old >project/old-data/old.txt
chown -R {reader}:{reader} home/reader local/reader project
exec chroot "$root" setpriv --reuid "$uid" --regid "$uid" --init-groups -- "$@"
""".format(size=SIZE, reader=READER, climate=READER + 1)


def possible():
    """Why there can be no such machine here; empty: there can."""
    if os.geteuid() != 0:
        return "a root of its own needs root"
    tried = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "-o", "size=4k", "none", "/mnt"],
        capture_output=True, text=True,
    )  # fmt: skip
    return f"no mounts are allowed here: {tried.stderr.strip()}" if tried.returncode else ""


def entered(root, uid, environment, command):
    """The command line that runs `command` there, as this user, with nothing else in its environment."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    return ["unshare", "--mount", "--propagation", "private", "bash", "-c", ENTER, "enter", str(root), str(TREE), str(uid),
            "env", "-i", *variables, *command]  # fmt: skip
