"""The possible contents of a disk after a power loss, by a program's writes and syncs (`sabath-at-call --record`).

The model of a filesystem, where it is worse than ext4 (data=ordered) and XFS, on purpose:

- Bytes of a file are safe once that file, or the whole filesystem, was synced after they were written. Every later write
  is there, or not, or some of its sectors of 512 bytes are; what is not there is what was there before, or zeros. The
  size is the new one or the old one, independent of the bytes that have come.
- Names ("journal", as ext4 and XFS do it): changes of names and directories are safe once anything at all was synced
  after them; of the later ones the first n are there, for any n.
- Names ("directories", which POSIX would allow, and neither does): a change is safe once its directory was synced; of
  the later ones of each directory the first n are there, another n for each. A rename is there as a whole or not at all.

Not modelled: that a device lies about a flush, or damages sectors that no program wrote.
"""

import dataclasses
import os
import pathlib
import stat

SECTOR = 512
ROOT = "."


@dataclasses.dataclass
class File:
    safe: bytes = b""
    pending: list = dataclasses.field(default_factory=list)  # (offset, bytes) or (None, size), since the last sync
    mode: int = 0o644


def apply(content, changes):
    content = bytearray(content)
    for offset, change in changes:
        if offset is None:
            content = content[:change] + bytes(max(0, change - len(content)))
            continue
        content += bytes(max(0, offset - len(content)))
        content[offset : offset + len(change)] = change
    return bytes(content)


def parse(data):
    """The lines of a record as tuples; a write's last element is its bytes."""
    at, changes = 0, []
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].decode().split(" ")
        at = end + 1
        if words[0] == "write":
            size = int(words[3])
            words[3] = data[at : at + size]
            at += size + 1
        changes.append(tuple(words))
    return changes


class Disk:
    """A directory tree as it was, then as the changes up to one moment may have left it."""

    def __init__(self, base, changes):
        self.files, self.changes = {}, changes
        self.names = {}  # path -> ("file", inode), ("directory", inode) or ("symlink", target)
        self.directories = {}  # inode -> path, of all times
        if base.exists():
            self.scan(base)

    def scan(self, base):
        for path in [base, *sorted(base.rglob("*"))]:
            status = path.lstat()
            name = str(path.relative_to(base))
            if stat.S_ISDIR(status.st_mode):
                self.names[name] = ("directory", status.st_ino)
                self.directories[status.st_ino] = name
            elif stat.S_ISLNK(status.st_mode):
                self.names[name] = ("symlink", os.readlink(path))
            else:
                self.names[name] = ("file", status.st_ino)
                self.files[status.st_ino] = File(path.read_bytes(), mode=stat.S_IMODE(status.st_mode))

    def after(self, moment, names, choose):
        """The tree that a loss of power after the first `moment` changes may leave: a Tree."""
        files = {inode: dataclasses.replace(file, pending=[]) for inode, file in self.files.items()}
        for change in self.changes[:moment]:
            self.follow(files, change)
        tree, renamed = Tree(dict(self.names), files), self.renamed(moment)
        for index in names(self, moment, choose):
            tree.rename_or_make(self.changes[index], renamed.get(index))
        return tree

    def renamed(self, moment):
        """The files that each rename moved, by the number of its change."""
        tree, found = Tree(dict(self.names), {}), {}
        for index in naming(self, 0, moment):
            change = self.changes[index]
            if change[0] == "rename":
                found[index] = tree.names.get(change[1])
            tree.rename_or_make(change)
        return found

    @staticmethod
    def follow(files, change):
        verb, rest = change[0], change[1:]
        if verb == "make":
            files[int(rest[0])] = File()
        elif verb == "mode" and int(rest[0]) in files:
            files[int(rest[0])].mode = int(rest[1], 8)
        elif verb == "write":
            files[int(rest[0])].pending.append((int(rest[1]), rest[2]))
        elif verb == "size":
            files[int(rest[0])].pending.append((None, int(rest[1])))
        elif verb in ("sync", "syncfs"):
            for inode in files if verb == "syncfs" else [int(rest[0])]:
                if inode in files:
                    files[inode].safe = apply(files[inode].safe, files[inode].pending)
                    files[inode].pending = []


class Tree:
    def __init__(self, names, files):
        self.names, self.files = names, files

    def rename_or_make(self, change, renamed=None):
        """A change in a directory that is not there does not happen. A file that was renamed into a directory that was
        synced is there by this name, even if its former name is lost: `renamed` is that file."""
        verb, rest = change[0], change[1:]
        target = rest[1] if verb in ("make", "mkdir", "link", "rename") else rest[0]
        if target != ROOT and str(pathlib.PurePath(target).parent) not in self.names:
            return
        if verb == "mkdir":
            self.names.setdefault(target, ("directory", int(rest[0])))
        elif verb in ("make", "link"):
            self.names[target] = ("file", int(rest[0]))
        elif verb == "symlink":
            self.names[target] = ("symlink", rest[1])
        elif verb == "remove":
            self.take(target)
        elif verb == "rename":
            moved = self.take(rest[0]) or ({rest[0]: renamed} if renamed and renamed[0] == "file" else {})
            if moved:
                self.take(target)
            for name, entry in moved.items():
                self.names[target + name[len(rest[0]) :]] = entry

    def take(self, path):
        found = [name for name in self.names if name == path or name.startswith(path + "/")]
        return {name: self.names.pop(name) for name in found}

    def lay_out(self, directory, bytes_of):
        """Writes it down; `bytes_of(file)` chooses what has become of a file's pending changes."""
        placed = {}
        for name in sorted(self.names):
            kind, what = self.names[name]
            path = directory / name
            if kind == "directory":
                path.mkdir(parents=True, exist_ok=True)
            elif kind == "symlink":
                path.symlink_to(what)
            elif what in placed:
                os.link(placed[what], path)
            elif what in self.files:
                path.write_bytes(bytes_of(self.files[what]))
                path.chmod(self.files[what].mode)
                placed[what] = path


# --- which names are there: indexes of changes, in their order --------------------------------------------------------
NAMING = ("make", "mkdir", "link", "symlink", "rename", "remove")


def naming(disk, begin, end):
    return [index for index in range(begin, end) if disk.changes[index][0] in NAMING]


def journal(disk, moment, choose):
    forced = max((i + 1 for i in range(moment) if disk.changes[i][0] in ("sync", "syncfs")), default=0)
    return naming(disk, 0, choose.randint(forced, moment))


def directories(disk, moment, choose):
    paths, forced = dict(disk.directories), {}
    for index, change in enumerate(disk.changes[:moment]):
        if change[0] == "mkdir":
            paths[int(change[1])] = change[2]
        elif change[0] == "rename":  # a directory keeps its inode
            for inode, path in paths.items():
                if path == change[1] or path.startswith(change[1] + "/"):
                    paths[inode] = change[2] + path[len(change[1]) :]
        elif change[0] == "syncfs":
            forced = {"": index}
        elif change[0] == "sync" and int(change[1]) in paths:
            forced[paths[int(change[1])]] = index
    cut = {}

    def there(index):
        change = disk.changes[index]
        touched = [str(pathlib.PurePath(path).parent) for path in names_in(change)]
        safe = max(max(forced.get(path, -1), forced.get("", -1)) for path in touched)
        for path in touched:
            cut.setdefault(path, choose.randint(0, moment))
        return index <= safe or index < min(cut[path] for path in touched)

    return [index for index in naming(disk, 0, moment) if there(index)]


def all_names(disk, moment, _):
    return naming(disk, 0, moment)


def names_in(change):
    if change[0] == "rename":
        return change[1:3]
    return [change[1] if change[0] in ("symlink", "remove") else change[2]]


# --- what has become of bytes that were not synced --------------------------------------------------------------------
def dropped(file):
    return file.safe


def kept(file):
    return apply(file.safe, file.pending)


def zeros(file):
    """The new size has come, and no byte has."""
    size = len(kept(file))
    return file.safe[:size] + bytes(max(0, size - len(file.safe)))


def torn(choose):
    def some_sectors(file):
        changes = []
        for offset, change in file.pending:
            if offset is None:
                changes += [(offset, change)] if choose.random() < 0.5 else []
                continue
            begin = 0
            while begin < len(change):
                end = min(len(change), (offset + begin) // SECTOR * SECTOR + SECTOR - offset)
                if choose.random() < 0.5:
                    changes.append((offset + begin, change[begin:end]))
                begin = end
        return apply(file.safe, changes)

    return lambda file: choose.choice((dropped, kept, zeros, some_sectors, some_sectors))(file)
