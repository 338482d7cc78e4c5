"""The cases on loopback: what a tool costs when the network costs nothing."""
import hashlib
import os
import time

from . import peers
from support.ground import MIB
from support.trial import CHECKED, PINNED, Bar, Tool, Trial

CHUNK_BYTES = 4 * MIB
MEMORY_BYTES = 64 * MIB
CHECKSUM = "aria2c --checksum"


def ours(name, argv, same, trusted_by):
    """SABATH's result: right bytes, and believed for the reason that the case asks for."""
    return Tool(name, argv, lambda record: record.get("trusted_by") in trusted_by and same(record), verifies=True)


def ours_one(bench, one, bases, *, pinned, lanes=None):
    """`lanes`: the most connections; None: SABATH chooses."""
    name = (PINNED if pinned else CHECKED) + (f", {lanes} lane{'s' * (lanes > 1)}" if lanes else "")
    store = bench.ground.results / "store"
    argv = bench.sabath.one_file(name.replace(", ", "-").replace(" ", "-"), one, bases, pinned=pinned, store=store,
                                 more=("--lanes", lanes) if lanes else ())
    trusted_by = ("pinned",) if pinned else ("checksum",)
    return ours(name, argv, lambda record: one.same(os.path.join(record["path"], "f")), trusted_by)


def ours_many(bench, many, base, *, pinned, ca=None):
    """`ca`: what is to be believed of a server that is asked by https, and speaks HTTP/2."""
    title = (PINNED if pinned else CHECKED) + (", HTTP/2" if ca else "")
    name = "many-" + title.replace(", ", "-").replace(" ", "-").replace("/", "-")
    store, expanded = bench.ground.results / "store", bench.ground.results / "expanded"
    argv = bench.sabath.many_files(name, many, base, pinned=pinned, store=store)
    if ca:
        argv = ["env", f"SABATH_CONFIG={bench.sabath.write_configuration(name, ca_file=str(ca))}", *argv]
    trusted_by = ("pinned",) if pinned else ("first use", "first use over TLS")

    def same(record):  # many small files stay in packs: taking them out is not timed
        return many.same(os.path.join(record["path"] or bench.sabath.view(name, store, expanded), "small"))
    return ours(title, argv, same, trusted_by)


def peers_one(bench, one, base):
    out = str(bench.ground.results / "f")
    commands = peers.installed(peers.one_file(base, one.target, out, one.sha256))
    return [Tool(name, argv, lambda _: one.same(out), verifies="checksum" in name) for name, argv in commands.items()]


def peers_many(bench, many, base, *, tls2=None, leave_out=()):
    out = bench.ground.results / "many"
    commands = peers.installed(peers.many_files(base, many, out, bench.ground.scratch, tls2))
    return [Tool(name, argv, lambda _: many.same(out)) for name, argv in commands.items() if name not in leave_out]


def wall_bars(outcome, text, limit):
    """The same bar for each way in which SABATH was run. limit: seconds, None if it could not be measured."""
    return [Bar(f"{row.tool.name}: {text}", row.wall_s, limit) for row in outcome.ours()]


def times(factor, seconds):
    return None if seconds is None else factor * seconds


def wall_of(row):
    return row.wall_s if row else None


def at_least_as_fast(outcome, pattern, factor, text):
    """How many times SABATH is faster than a peer."""
    peer = outcome.best_peer(pattern)
    return [Bar(f"{row.tool.name}: {text}", peer.wall_s / row.wall_s if peer else None, factor, "x", at_least=True)
            for row in outcome.ours()]


def on_cores(bench, case, counts=None):
    """The case's name and what stands before its tools' commands, for each number of cores that --cores asks for."""
    counts, here = bench.options.cores or counts, sorted(os.sched_getaffinity(0))
    if not counts:
        yield case, ()
    for count in counts or ():
        if count > len(here):
            bench.skip(f"{case} ({count} cores)", f"there are {len(here)} cores")
        else:
            cores = ",".join(map(str, here[:count]))
            yield f"{case} ({count} core{'s' * (count > 1)})", ("taskset", "-c", cores)


def pinned(bench):
    one = bench.one(bench.sizes.loopback)
    server = bench.loopback()
    tools = [ours_one(bench, one, [server.base], pinned=True), *peers_one(bench, one, server.base)]

    def bars(outcome):
        return wall_bars(outcome, "<= 1.25 x the fastest peer that verifies nothing",
                         times(1.25, wall_of(outcome.best_peer(verifies=False)))) + \
            at_least_as_fast(outcome, CHECKSUM, 4, "at least 4 x as fast as aria2c --checksum")
    for case, enter in on_cores(bench, "loopback-pinned"):
        yield Trial(case, one.size, bench.chosen(tools), bars, enter=enter, port=server.port, server=server)


def sha256(bench):
    one = bench.one(bench.sizes.loopback)
    server = bench.loopback()
    tools = [ours_one(bench, one, [server.base], pinned=False), *peers_one(bench, one, server.base)]

    def bars(outcome):
        transfer, rate = wall_of(outcome.best_peer(verifies=False)), outcome.reference()
        limit = None if transfer is None else 1.15 * max(transfer, one.size / rate)
        return wall_bars(outcome, f"<= 1.15 x the larger of the fastest peer's transfer and size / OpenSSL's rate "
                         f"({rate / 1e6:.0f} MB/s in one stream: {one.size / rate:.2f} s)", limit)
    for case, enter in on_cores(bench, "loopback-sha256"):
        yield Trial(case, one.size, bench.chosen(tools), bars, enter=enter, port=server.port, server=server,
                    reference=lambda _: openssl_rate())


def many_lanes(bench):
    """Does it choose as many connections as help?"""
    one = bench.one(bench.sizes.loopback)
    server = bench.loopback()
    fixed = [ours_one(bench, one, [server.base], pinned=True, lanes=lanes) for lanes in bench.options.lanes]
    curl = [tool for tool in peers_one(bench, one, server.base) if tool.name == "curl"]
    tools = [ours_one(bench, one, [server.base], pinned=True), *fixed, *curl]

    def bars(outcome):
        chosen, best = wall_of(outcome.rows[PINNED]), min(outcome.rows[tool.name].wall_s for tool in fixed)
        peer = wall_of(outcome.best_peer("curl"))
        return [Bar("the default / the best of those fixed", chosen / best, 1.15, "x"),
                Bar("the default / curl", chosen / peer if peer else None, 0.6, "x")]
    for case, enter in on_cores(bench, "many-lanes"):
        yield Trial(case, one.size, bench.chosen(tools), bars, enter=enter, port=server.port, server=server)


def openssl_rate():
    """Bytes a second of OpenSSL's SHA-256 over 16 KiB in the cache, as `openssl speed` measures it."""
    block, done, start = bytes(16 << 10), 0, time.monotonic()
    state = hashlib.sha256()
    while (elapsed := time.monotonic() - start) < 1:
        for _ in range(64):
            state.update(block)
        done += 64 * len(block)
    return done / elapsed


def small(bench):
    many = bench.many()
    server = bench.loopback()
    tools = [ours_many(bench, many, server.base, pinned=True), ours_many(bench, many, server.base, pinned=False),
             *peers_many(bench, many, server.base)]

    def bars(outcome):
        return wall_bars(outcome, "<= 1.2 x the best peer", times(1.2, wall_of(outcome.best_peer()))) + \
            at_least_as_fast(outcome, "aria2c", 2, "at least 2 x as fast as aria2c")
    yield Trial("small-loopback", many.size, bench.chosen(tools), bars, port=server.port, server=server)


def memory(bench):
    server = bench.loopback()
    for size in bench.sizes.memory:
        one = bench.one(size)
        tools = [ours_one(bench, one, [server.base], pinned=pinned_) for pinned_ in (True, False)]

        def bars(outcome):
            return [Bar(f"{row.tool.name}: peak memory < 64 MiB + 4 MiB for each of {row.connections} connections",
                        row.rss_bytes / MIB, (MEMORY_BYTES + CHUNK_BYTES * row.connections) / MIB, "MiB")
                    for row in outcome.ours()]
        yield Trial(f"memory ({size / MIB:.0f} MiB)", size, bench.chosen(tools), bars, port=server.port, server=server)


CASES = {"loopback-pinned": pinned, "loopback-sha256": sha256, "many-lanes": many_lanes, "small-loopback": small,
         "memory": memory}
