#!/usr/bin/python3
"""Prints the test vectors of docs/manifest.md. Written from that document alone, with hashlib only; it knows one page
a directory, so it makes no use of XXH3."""

import hashlib
import struct

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
    """The file's hash; its nodes of level 2 and up go to `keep`, children first (right for up to two levels of them)."""
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


def page(entries):
    return b"SABATH-tree-v1\0\0" + b"".join(entries)


def small_tree():
    nodes = []

    def keep(node):
        nodes.append(node)
        return sha(node)

    def entry(kind, name, size, keep=None):
        return kind + text(name) + u64(size) + file_tree(pattern(size), keep)

    big = entry(b"f", b"big", CHUNK + 1, keep)
    data = keep(page([b"l" + text(b"link") + text(b"one"), entry(b"f", b"one", 1), entry(b"x", b"run", LEAF + 1)]))
    empty = keep(page([]))
    data_entry = b"d" + text(b"data") + u64(2, 0, 1, 1 + LEAF + 1) + data
    root = keep(page([big, data_entry, b"d" + text(b"empty") + u64(0, 0, 0, 0) + empty]))

    body, table = b"SABATH-pack-v1\0\0", []
    for node in nodes:
        table.append(sha(node) + u64(len(body), len(node)))
        body += node
    notes = text(b"data/one") + b"\x01" + hashlib.md5(pattern(1), usedforsecurity=False).digest()
    body += b"".join(sorted(table)) + notes + root + sha(notes) + u64(len(nodes), len(notes))
    return root, body + u64(len(body) + 24) + b"SABATH-pack-v1\0\x01"


for size in (0, 1, LEAF, LEAF + 1, CHUNK, CHUNK + 1, 64 * CHUNK + 1):
    print("file", size, file_tree(pattern(size)).hex())
small_root, small_file = small_tree()
print("small-root", small_root.hex())
print("small-manifest", sha(small_file).hex())
