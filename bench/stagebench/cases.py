"""The cases. A bound is what the slower of the shared filesystem and the links needs for the asset once."""
import json
import mmap
import subprocess

from support.ground import MIB
from support.trial import Bar

from . import assets, tools
from .cluster import LOCAL
from .trial import Trial

NODES, SHARED, LINK = 4, 200e6, 400e6
SCALE_NODES, SCALE_SHARED, SCALE_LINK = (2, 4, 8, 16), 20e6, 40e6
ONCE = 1.005  # of the size: manifests and readahead are told beside it
READAHEAD_BYTES = MIB // 2  # of each reader, behind its part of a file
LINK_PERCENT = 5  # links carry headers and the launcher's words as well
SELECTION = "full[:,:,:,0]"
OURS = "sabath"


def percent(said, counted):
    return 100 * abs(said - counted) / counted if counted else 0


def ours(outcome):
    return outcome.rows[OURS]


def agree(outcome, apart=0):
    """The record's figures are those of the filesystem and of the links, in the worst run. `apart`: the number of files
    packed side by side that go to different nodes: two nodes read each page where one ends and the next begins."""
    runs = [run for run in ours(outcome).runs if run.record]
    if not runs:
        return [Bar("the record agrees with the counters", None, 0)]
    shared = max(abs(run.record["bytes_from_shared"] - run.content_bytes) / max(1, run.record["readers"])
                 for run in runs)
    pages = apart * mmap.PAGESIZE / max(1, min(run.record["readers"] for run in runs))
    beside = f" and a page for each of {apart} files" if apart else ""
    bars = [Bar("bytes_from_shared differs from the shared filesystem's count by <= 0.5 MiB of readahead a reader" + beside,
                shared / MIB, (READAHEAD_BYTES + pages) / MIB, "MiB")]
    if all(run.record["bytes_from_peers"] for run in runs):
        links = max(percent(run.link_bytes, run.record["bytes_from_peers"]) for run in runs)
        bars.append(Bar("the links' counters exceed bytes_from_peers by <= 5 %", links, LINK_PERCENT, "%"))
    return bars


def read_once(outcome):
    worst = max(run.content_bytes for run in ours(outcome).runs)
    return [Bar(f"shared bytes of content read <= {ONCE} x the size", worst / outcome.trial.size, ONCE, "x")]


def in_time(outcome):
    return [Bar("<= 1.15 x max(size/shared, size/link)", ours(outcome).wall_s, 1.15 * outcome.trial.ideal_s)]


def faster(outcome, factor, pattern="", text="the best of cp and rsync on each node"):
    best = outcome.best_peer(pattern)
    return [Bar(f">= {factor} x as fast as {text}", best.wall_s / ours(outcome).wall_s if best else None, factor, "x",
                at_least=True)]


def same_everywhere(asset):
    def right(cluster, where):
        return all(subprocess.run(["diff", "-rq", asset.source, f"{cluster.inside(node, where)}/"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
                   for node in cluster.nodes)
    return right


def staging(bench, case, asset, chosen, bars, **more):
    """A trial on the four nodes, unless `more` says otherwise."""
    shared, link = more.pop("rates", (SHARED, LINK))
    more.setdefault("right", same_everywhere(asset))
    return Trial(case, asset.size, bench.chosen(chosen), bars, ideal_s=asset.size / min(shared, link), asset=asset,
                 shared_rate=shared, timeout_s=bench.options.timeout, **more)


def four(bench):
    return bench.form(NODES, LINK)


def file(bench):
    cluster, asset = four(bench), bench.asset("file", bench.sizes.file, assets.one_file)
    chosen = [bench.sabath.stage(cluster, asset.name), *tools.copy_each(cluster, asset),
              *tools.dbcast(cluster, asset, "f")]

    def bars(outcome):
        return read_once(outcome) + in_time(outcome) + faster(outcome, 3, "cp|rsync") + \
            (faster(outcome, 1, "dbcast", "dbcast") if "dbcast" in outcome.rows else []) + agree(outcome)
    yield staging(bench, "file", asset, chosen, bars)


def tree_asset(bench):
    return bench.asset("tree", bench.sizes.tree, lambda size: assets.many_files(size, assets.TREE_BYTES))


def tree(bench):
    cluster, asset = four(bench), tree_asset(bench)
    chosen = [bench.sabath.stage(cluster, asset.name), *tools.copy_each(cluster, asset)]

    def bars(outcome):
        return read_once(outcome) + in_time(outcome) + faster(outcome, 3) + agree(outcome)
    yield staging(bench, "tree", asset, chosen, bars)


def small(bench):
    cluster = four(bench)
    asset = bench.asset("small", bench.sizes.small, lambda size: assets.many_files(size, assets.SMALL_BYTES))
    chosen = [bench.sabath.stage(cluster, asset.name), *tools.copy_each(cluster, asset)]

    def bars(outcome):
        return read_once(outcome) + faster(outcome, 10, "cp", "cp -r on each node") + agree(outcome)
    yield staging(bench, "small", asset, chosen, bars)


def environment(bench):
    cluster, tree = four(bench), bench.options.prefix
    asset = bench.asset("environment", bench.sizes.environment, lambda _: assets.environment(tree))
    archive = "tar.zst, broadcast, untar"
    chosen = [bench.sabath.stage(cluster, asset.name), *tools.copy_each(cluster, asset),
              *tools.broadcast_archive(cluster, asset, bench.options.programs)]

    def bars(outcome):
        return read_once(outcome) + faster(outcome, 3, "cp|rsync") + \
            (faster(outcome, 1, "tar", archive) if archive in outcome.rows else [])  # its packs are compressed: no agree()
    yield staging(bench, "environment", asset, chosen, bars)


def again(bench):
    cluster, asset = four(bench), tree_asset(bench)
    chosen = [bench.sabath.stage(cluster, asset.name),
              *(tool for tool in tools.copy_each(cluster, asset) if tool.name.startswith("rsync"))]

    def bars(outcome):
        runs = ours(outcome).runs
        return [Bar("seconds, with mpirun's own", ours(outcome).wall_s, 1),
                Bar("seconds, by the record", outcome.median(ours(outcome), lambda run: run.record.get("seconds", 1e9)),
                    1),
                Bar("shared bytes of content read", max(run.content_bytes for run in runs), 0, "B")] + agree(outcome)
    yield staging(bench, "again", asset, chosen, bars, prepare=lambda run, tool: run(tool))


def wiped(bench):
    cluster, asset = four(bench), tree_asset(bench)
    lost = cluster.nodes[1]
    peers = {tool.name.replace("each", "that"): tool for tool in tools.copy_each(cluster, asset, [lost])}
    for name, tool in peers.items():
        tool.name = name
    whole = tools.copy_each(cluster, asset)[0]

    def prepare(run, tool):
        run(tool if tool.is_ours else whole)
        cluster.wipe(lost)

    def bars(outcome):
        runs = ours(outcome).runs
        others = max(sum(count for name, count in run.received.items() if name != lost) for run in runs)
        return [Bar("shared bytes of content read", max(run.content_bytes for run in runs), 0, "B"),
                Bar("the other nodes' links bring <= 1 % of the size", 100 * others / asset.size, 1, "%"),
                *agree(outcome)]
    yield staging(bench, "wiped", asset, [bench.sabath.stage(cluster, asset.name), *peers.values()], bars,
                  prepare=prepare)


def scale(bench):
    asset = bench.asset("scale", bench.sizes.scale, assets.one_file)
    walls, seconds = {}, {}
    for nodes in SCALE_NODES:
        cluster = bench.form(nodes, SCALE_LINK)

        def bars(outcome, nodes=nodes):
            walls[nodes] = ours(outcome).wall_s
            seconds[nodes] = outcome.median(ours(outcome), lambda run: run.record.get("seconds", 1e9))
            first = min(walls)
            growth = [] if nodes == first else [
                Bar(f"growth of the time from {first} to {nodes} nodes, {how}", 100 * (of[nodes] / of[first] - 1), 10, "%")
                for how, of in (("with mpirun's own", walls), ("by the record", seconds))]
            return growth + agree(outcome)
        yield staging(bench, f"scale ({nodes} nodes)", asset, [bench.sabath.stage(cluster, asset.name)], bars,
                      rates=(SCALE_SHARED, SCALE_LINK))


def dealt(asset):
    """Each file on exactly one node, whole; list.txt, which the peer's parts are made by, may lack."""
    def right(cluster, where):
        found = []
        for node in cluster.nodes:
            part = cluster.inside(node, where)
            files = [str(file.relative_to(part)) for file in part.rglob("*") if file.is_file()]
            if not files or subprocess.run(["sh", "-c", 'for f; do cmp -s "$f" "$0/$f" || exit 1; done', asset.source,
                                            *files], cwd=part, check=False).returncode:
                return False
            found += files
        return sorted({*found, "list.txt"}) == asset.files() and len(found) == len(set(found))
    return right


def by_plan(cluster, asset):
    """Each node has what the published plan says, and all plans are one."""
    plans = [json.loads(cluster.inside(node, LOCAL / f"sabath/{asset.name}.plan.json").read_text())
             for node in cluster.nodes]
    parts = [cluster.inside(node, LOCAL / "sabath" / asset.name) for node in cluster.nodes]
    return all(plan == plans[0] for plan in plans) and all(
        sorted(files) == sorted(str(file.relative_to(part)) for file in part.rglob("*") if file.is_file())
        for part, files in zip(parts, plans[0]["files"]))


def shard(bench):
    cluster, asset = four(bench), tree_asset(bench)
    chosen = [bench.sabath.stage(cluster, asset.name, "--mode", "shard"), *tools.copy_parts(cluster, asset)]
    whole = dealt(asset)

    def right(cluster, where):
        return whole(cluster, where) and (where == tools.PEER or by_plan(cluster, asset))

    def bars(outcome):
        links = max(run.link_bytes for run in ours(outcome).runs)
        return read_once(outcome) + in_time(outcome) + \
            [Bar("the links bring <= 1 % of the size", 100 * links / asset.size, 1, "%")] + \
            agree(outcome, apart=len(asset.files()))
    yield staging(bench, "shard", asset, chosen, bars, right=right)


def hdf5(bench):
    cluster, asset = four(bench), bench.asset("hdf5", bench.sizes.hdf5, assets.universes)
    chosen = [bench.sabath.stage(cluster, asset.name, "--select", SELECTION), *tools.copy_each(cluster, asset)]
    everywhere = same_everywhere(asset)

    def right(cluster, where):
        if where == tools.PEER:
            return everywhere(cluster, where)
        return all(assets.same_cubes(asset.source, cluster.inside(node, where)) for node in cluster.nodes)

    def bars(outcome):
        wanted = asset.size / assets.REDSHIFTS * (NODES - 1)  # each is made by one node and goes to the others
        worst = max(run.link_bytes for run in ours(outcome).runs)
        return read_once(outcome) + [Bar("bytes over the links / of the selection, once to each node that lacks it",
                                         worst / wanted, 1.02, "x")] + faster(outcome, 3) + agree(outcome)
    yield staging(bench, "hdf5", asset, chosen, bars, right=right)


CASES = {"file": file, "tree": tree, "again": again, "wiped": wiped, "shard": shard, "small": small, "scale": scale,
         "hdf5": hdf5, "environment": environment}
BYTES = {"file": 2048 * MIB, "tree": 2000 * MIB, "small": 20000 * assets.SMALL_BYTES, "scale": 256 * MIB,
         "hdf5": 2048 * MIB, "environment": 0}
ASSET_OF = {case: case if case in BYTES else "tree" for case in CASES}


def h5py_missing():
    try:
        import h5py  # noqa: F401
    except ImportError:
        return "h5py is not installed"
    return None


NEEDS = {"hdf5": h5py_missing}
