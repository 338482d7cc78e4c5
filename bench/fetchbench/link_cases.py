"""The cases over emulated links. "Ideal" is what the links that work could carry at best: bytes / payload rate."""
import json
import subprocess
import urllib.parse

from . import peers
from .loopback_cases import ours_many, ours_one, peers_many, peers_one, times, wall_bars
from support.ours import figures
from support.rig import AVAILABLE, HTTP_PORT, TLS2_PORT, payload_rate
from support.trial import Bar, Tool, Trial

LINK_TIMEOUT_S = 150
HIT_S = 2
MIRRORS = {"srv1": (50, 20), "srv2": (100, 60), "srv3": (250, 100)}  # Mbit/s, ms of a round trip
FASTEST, LIAR = "srv3", "srv2"


def base_of(server, port=HTTP_PORT, scheme="http"):
    return f"{scheme}://{server}:{port}"


def iperf_seconds(rig, size, streams):
    """What iperf3 needs for as many bytes from srv1 to node1, once its streams are there."""
    with rig.iperf_server("srv1") as port:
        command = ["iperf3", "-c", "srv1", "-p", port, "-R", "-n", size, "-P", streams, "-J"]
        done = subprocess.run([*rig.enter("node1"), *map(str, command)], capture_output=True, text=True, check=False,
                              timeout=LINK_TIMEOUT_S)
    try:
        received = json.loads(done.stdout)["end"]["sum_received"]
        return received["seconds"] * size / received["bytes"]
    except (ValueError, LookupError, ZeroDivisionError):
        return None


def latency(bench):
    """One file, 400 Mbit/s, 100 ms, with each congestion control."""
    rig, one = bench.rig(), bench.one(bench.sizes.link)
    mbit, round_trip_s = 400, 0.1
    ideal = one.size / payload_rate(mbit)
    rig.up(f"srv1,rate={mbit}mbit,rtt=100ms", "node1")
    rig.serve("srv1", bench.ground.www)
    rig.ping("node1", "srv1")
    base = base_of("srv1")
    tools = [ours_one(bench, one, [base], pinned=False), ours_one(bench, one, [base], pinned=True),
             *(tool for tool in peers_one(bench, one, base) if not tool.verifies)]
    common = {"ideal_s": ideal, "enter": rig.enter("node1"), "port": HTTP_PORT, "timeout_s": LINK_TIMEOUT_S}

    def bbr_bars(outcome):
        return wall_bars(outcome, "<= ideal + 6 round trips", ideal + 6 * round_trip_s)

    def cubic_bars(outcome):
        streams = max((row.connections for row in outcome.ours()), default=0)
        return wall_bars(outcome, f"<= 1.10 x iperf3 with {streams} streams", times(1.10, outcome.reference()))

    def iperf(outcome):
        streams = max((row.connections for row in outcome.ours()), default=0)
        if not streams or not peers.program_of("iperf3"):
            return None
        return iperf_seconds(rig, one.size, streams)

    for algorithm, bars, reference in (("bbr", bbr_bars, None), ("cubic", cubic_bars, iperf)):
        if algorithm not in AVAILABLE.read_text().split():
            bench.skip(f"latency ({algorithm})", f"this kernel has no {algorithm}")
            continue
        rig.congestion("srv1", algorithm)
        yield Trial(f"latency ({algorithm})", one.size, bench.chosen(tools), bars, reference=reference, **common)
    rig.down()


class Mirrors:
    """Three unequal mirrors of one file, and the tools that are asked to use them."""

    def __init__(self, bench, case):
        self.bench, self.case = bench, case
        self.rig, self.one = bench.rig(), bench.one(bench.sizes.link)
        self.roots = dict.fromkeys(MIRRORS, bench.ground.www)
        self.rates = {server: payload_rate(mbit) for server, (mbit, _) in MIRRORS.items()}

    def peers(self, wanted):
        out = str(self.bench.ground.results / "f")
        urls = [f"{base_of(server)}/{self.one.target}" for server in MIRRORS]
        metalink = self.bench.ground.scratch / "f.meta4"
        peers.write_metalink(metalink, self.one, "f", urls)
        commands = peers.mirrors(urls, f"{base_of(FASTEST)}/{self.one.target}", out, metalink, self.one.sha256)
        return [Tool(name, argv, lambda _: self.one.same(out), verifies="metalink" in name or "checksum" in name)
                for name, argv in peers.installed(commands).items() if name in wanted]

    def ours(self, ways):
        return [ours_one(self.bench, self.one, list(map(base_of, MIRRORS)), pinned=pinned) for pinned in ways]

    def heal(self):
        """All mirrors as they were before the last run changed them."""
        self.rig.set_link(FASTEST, "cut=0")
        for server, root in self.roots.items():
            self.rig.serve(server, root)
        self.rig.ping("node1", *MIRRORS)

    def trial(self, tools, bars, ideal, **more):
        self.rig.up(*(f"{name},rate={mbit}mbit,rtt={rtt}ms" for name, (mbit, rtt) in MIRRORS.items()), "node1")
        yield Trial(self.case, self.one.size, self.bench.chosen(tools), bars, ideal_s=ideal, before=self.heal,
                    enter=self.rig.enter("node1"), port=HTTP_PORT, timeout_s=LINK_TIMEOUT_S, **more)
        self.rig.down()

    def hit_after(self):
        """Seconds after which a mirror is lost: 2, or sooner where the file is so small that it would be late."""
        return min(HIT_S, 0.4 * self.one.size / sum(self.rates.values()))

    def ideal_after_loss(self):
        hit, left = self.hit_after(), sum(rate for server, rate in self.rates.items() if server != FASTEST)
        return hit + (self.one.size - hit * sum(self.rates.values())) / left


def mirrors(bench):
    ground = Mirrors(bench, "mirrors")
    ideal = ground.one.size / sum(ground.rates.values())
    tools = ground.ours((False, True)) + ground.peers(
        ("curl best mirror", "wget best mirror", "aria2c", "aria2c metalink", "axel"))
    yield from ground.trial(tools, lambda outcome: wall_bars(outcome, "<= 1.10 x the ideal", 1.10 * ideal), ideal)


def lost(bench, case, factor, strike, wanted):
    """The fastest mirror is lost two seconds after each command has begun."""
    ground = Mirrors(bench, case)
    ideal = ground.ideal_after_loss()
    tools = ground.ours((False, True)) + ground.peers(wanted)

    def bars(outcome):
        return wall_bars(outcome, f"right, <= {factor:.2f} x the ideal for what is left", factor * ideal)
    yield from ground.trial(tools, bars, ideal, event=(ground.hit_after(), lambda: strike(ground.rig)))


def dying(bench):
    yield from lost(bench, "mirrors-dying", 1.10, lambda rig: rig.kill_server(FASTEST),
                    ("aria2c", "aria2c metalink", "axel"))


def silent(bench):
    yield from lost(bench, "mirrors-silent", 1.25, lambda rig: rig.set_link(FASTEST, "cut=1"),
                    ("aria2c", "aria2c -t5", "axel"))


def lying(bench):
    """One mirror has every 100th byte wrong."""
    ground = Mirrors(bench, "mirrors-lying")
    ground.one.make_bad()
    ground.roots[LIAR] = bench.ground.bad
    ideal = ground.one.size / sum(rate for server, rate in ground.rates.items() if server != LIAR)
    tools = ground.ours((True,)) + ground.peers(("aria2c", "aria2c --checksum", "aria2c metalink", "axel"))

    def bars(outcome):
        named = [sum(names_liar(figures(run.record)) for run in row.runs) / len(row.runs) for row in outcome.ours()]
        return wall_bars(outcome, "right, <= 1.15 x the ideal of the honest links", 1.15 * ideal) + \
            [Bar("the liar, and nobody else, is named in the record", share, 1, "of the runs", at_least=True)
             for share in named]
    yield from ground.trial(tools, bars, ideal)


def names_liar(kept):
    demoted = [source["url"] for source in kept["sources"] or [] if source["demoted"]]
    return {urllib.parse.urlsplit(url).hostname for url in demoted} == {LIAR}


def small_wan(bench):
    rig, many, mbit = bench.rig(), bench.many(), 1000
    ideal = many.size / payload_rate(mbit)
    rig.up(f"srv1,rate={mbit}mbit,rtt=20ms", "node1")
    rig.serve("srv1", bench.ground.www)
    rig.ping("node1", "srv1")
    tls2 = (base_of("srv1", TLS2_PORT, "https"), rig.ca())
    tools = [ours_many(bench, many, base_of("srv1"), pinned=pinned) for pinned in (True, False)]
    tools += [ours_many(bench, many, tls2[0], pinned=pinned, ca=tls2[1]) for pinned in (True, False)]
    tools += peers_many(bench, many, base_of("srv1"), tls2=tls2, leave_out=("wget -i",))  # one by one: minutes
    yield Trial("small-wan", many.size, bench.chosen(tools), ideal_s=ideal, enter=rig.enter("node1"), port=HTTP_PORT,
                bars=lambda outcome: wall_bars(outcome, "<= 1.10 x the link's bound", 1.10 * ideal),
                timeout_s=LINK_TIMEOUT_S)
    rig.down()


CASES = {"latency": latency, "mirrors": mirrors, "mirrors-dying": dying, "mirrors-silent": silent,
         "mirrors-lying": lying, "small-wan": small_wan}
