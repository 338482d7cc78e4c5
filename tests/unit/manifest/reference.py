#!/usr/bin/python3
"""Prints the test vectors of docs/manifest.md. Written from that document alone, with hashlib only."""

import hashlib
import struct

NOTE = '{"b":[],"é":"\\u0001/\\n"}'.encode()
LEAF, CHUNK = 64 * 1024, 4 * 1024 * 1024


def sha(data):
    return hashlib.sha256(data).digest()


def pattern(size):
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def text(value):
    return struct.pack("<H", len(value)) + value


def pieces(items, count):
    return [items[i : i + count] for i in range(0, len(items), count)]


def file_tree(data, keep=None):
    """The file's hash; its nodes of level 2 and up go to `keep`, children first, right for at most two such levels."""
    leaves = [sha(data[i : i + LEAF]) for i in range(0, len(data), LEAF)] or [sha(b"")]
    level, span = 0, LEAF
    while len(leaves) > 1 or (level == 0 and len(data) > LEAF):
        level, span, parents = level + 1, span * 64, []
        for i, group in enumerate(pieces(leaves, 64)):
            node = b"SABATH-node-v1\0" + bytes([level]) + u64(min(span, len(data) - i * span)) + b"".join(group)
            lone_leaf = level == 1 and len(group) == 1
            parents.append(group[0] if lone_leaf else sha(node))
            if keep is not None and level >= 2:
                keep(node)
        leaves = parents
    return leaves[0]


def xxh3_64(name):
    """Of 1 to 8 bytes with seed 0: the two shortest cases of the XXH3 specification."""
    mask, size = 2**64 - 1, len(name)
    secret = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db")
    word = lambda data, at, width: int.from_bytes(data[at : at + width], "little")
    rotated = lambda value, by: (value << by | value >> (64 - by)) & mask
    if size <= 3:
        value = name[0] << 16 | name[size >> 1] << 24 | name[-1] | size << 8
        value ^= word(secret, 0, 4) ^ word(secret, 4, 4)
        value = (value ^ value >> 33) * 0xC2B2AE3D27D4EB4F & mask
        value = (value ^ value >> 29) * 0x165667B19E3779F9 & mask
        return value ^ value >> 32
    value = word(name, size - 4, 4) + (word(name, 0, 4) << 32) ^ word(secret, 8, 8) ^ word(secret, 16, 8)
    value = (value ^ rotated(value, 49) ^ rotated(value, 24)) * 0x9FB21C651E98DF25 & mask
    value = (value ^ (value >> 35) + size) * 0x9FB21C651E98DF25 & mask
    return value ^ value >> 28


class Writer:
    """Nodes in the order in which they are kept, each once; then the manifest file."""

    def __init__(self):
        self.nodes = {}

    def keep(self, node):
        self.nodes.setdefault(sha(node), node)
        return sha(node)

    def directory(self, entries):
        """`entries`: (name, totals, bytes), sorted by name. The top node's hash and the totals."""
        total = lambda items: tuple(map(sum, zip(*(item[1] for item in items)))) or (0, 0, 0, 0)
        # The walk keeps a page, then all index nodes that end with it; so all levels grow side by side.
        open_nodes = [[]]

        def close(level):
            items = open_nodes[level]
            top = self.keep(b"SABATH-tree-v1\0" + bytes([level]) + b"".join(item[2] for item in items))
            open_nodes[level] = []
            return items[0][0] if items else b"", total(items), top

        def add(level, item):
            if level == len(open_nodes):
                open_nodes.append([])
            items = open_nodes[level]
            items.append(item)
            ends = len(items) >= 2 and level < 8 and xxh3_64(item[0]) >> 8 * level & 0xFF == 0
            if len(items) == 1024 or ends:
                rise(level)

        def rise(level):
            key, totals, node = close(level)
            add(level + 1, (key, totals, text(key) + u64(*totals) + node))

        for entry in entries:
            add(0, entry)
        level = 0
        while level + 1 < len(open_nodes):
            if open_nodes[level]:
                rise(level)
            level += 1
        if level > 0 and len(open_nodes[level]) == 1:  # a lone child is the top itself
            _, totals, child = open_nodes[level][0]
            return child[-32:], totals
        _, totals, top = close(level)
        return top, totals

    def file(self, root, notes=b""):
        body, table = b"SABATH-pack-v1\0\0", []
        for node_hash, node in self.nodes.items():
            table.append(node_hash + u64(len(body), len(node)))
            body += node
        body += b"".join(sorted(table)) + notes + root + sha(notes) + u64(len(table), len(notes))
        return body + u64(len(body) + 24) + b"SABATH-pack-v1\0\x01"


def file_entry(kind, name, size, keep=None):
    return name, (1, 0, 0, size), kind + text(name) + u64(size) + file_tree(pattern(size), keep)


def directory_entry(name, made):
    top, (files, directories, symlinks, size) = made
    below = u64(files, directories, symlinks, size)
    return name, (files, directories + 1, symlinks, size), b"d" + text(name) + below + top


def small_tree(note=b""):
    writer = Writer()
    big = file_entry(b"f", b"big", CHUNK + 1, writer.keep)
    link = b"link", (0, 0, 1, 0), b"l" + text(b"link") + text(b"one")
    data = writer.directory([link, file_entry(b"f", b"one", 1), file_entry(b"x", b"run", LEAF + 1)])
    empty = writer.directory([])
    root, _ = writer.directory([big, directory_entry(b"data", data), directory_entry(b"empty", empty)])
    notes = text(b"") + b"\x80" + struct.pack("<I", len(note)) + note if note else b""
    notes += text(b"data/one") + b"\x01" + hashlib.md5(pattern(1), usedforsecurity=False).digest()
    return root, writer.file(root, notes)


def paged_tree():
    writer = Writer()
    files = writer.directory([file_entry(b"f", name, 0) for name in sorted(b"%d" % i for i in range(100_000))])
    root, _ = writer.directory([directory_entry(b"d", files)])
    return root, writer.file(root)


for size in (0, 1, LEAF, LEAF + 1, CHUNK, CHUNK + 1, 64 * CHUNK + 1):
    print("file", size, file_tree(pattern(size)).hex())
for kind, (tree_root, manifest) in (("small", small_tree()), ("noted", small_tree(NOTE)), ("paged", paged_tree())):
    print(f"{kind}-root", tree_root.hex())
    print(f"{kind}-manifest", sha(manifest).hex())
