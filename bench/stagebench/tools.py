"""How each tool is asked to bring an asset to the nodes: SABATH, and what people do today."""
import json
import os
import shutil

from support.ours import Sabath
from support.trial import Tool

from .assets import ARCHIVE
from .cluster import LOCAL

OURS, PEER = LOCAL / "sabath", LOCAL / "peer"
RANKS_A_NODE_DBCAST = 2  # it refuses fewer


class Stager(Sabath):
    """SABATH's recipes and commands."""

    def write_dataset(self, name, fragments):
        recipe = {"schema": 1, "kind": "dataset", "name": name, "fragments": fragments}
        (self.recipes / "datasets" / f"{name}.json").write_text(json.dumps(recipe), encoding="utf-8")

    def stage(self, cluster, name, *more):
        command = ["env", f"SABATH_RECIPES={self.recipes}", "RIG_MPI_OPTS=-x SABATH_RECIPES", cluster.directory / "mpi",
                   self.program, "stage", name, "--store", cluster.mount / "store", "--to", OURS, "--no-fetch",
                   "--json", "-q", *more]
        return Tool("sabath", [str(word) for word in command], None, verifies=True)


def read_record(path):
    """The asset of a record among what mpirun printed; {} if there is none."""
    try:
        with open(path, encoding="utf-8") as text:
            text = text.read()
        return json.JSONDecoder().raw_decode(text[text.index('{"schema"'):])[0]["assets"][0]
    except (OSError, ValueError, LookupError):
        return {}


def on_each(cluster, name, command, nodes=None):
    """A shell command on all nodes at once; NODE stands for the node's number. Fails if one fails."""
    lines = ["p="]
    for number, node in enumerate(nodes or cluster.nodes):
        enter = " ".join(cluster.enter(node))
        lines.append(f"{enter} sh -c '{command.replace('NODE', str(number))}' & p=\"$p $!\"")
    lines.append("r=0; for i in $p; do wait $i || r=1; done; exit $r")
    return Tool(name, ["sh", "-c", "\n".join(lines)], None)


def copy_each(cluster, asset, nodes=None):
    """The whole asset by cp and by rsync on each node."""
    source = cluster.mount / "source" / asset.name
    return [on_each(cluster, "cp -r on each node", f"cp -r {source} {PEER}", nodes),
            on_each(cluster, "rsync on each node", f"rsync -a --whole-file --inplace {source}/ {PEER}", nodes)]


def dbcast(cluster, asset, name):
    """mpiFileUtils' broadcast of one file, if RIG_MFU says where it is."""
    program = shutil.which("dbcast", path=os.environ.get("RIG_MFU", ""))
    if not program:
        return []
    source = cluster.mount / "source" / asset.name / name
    command = [cluster.directory / "mpi", "-n", RANKS_A_NODE_DBCAST * len(cluster.nodes), "sh", "-c",
               f"mkdir -p {PEER} && exec {program} {source} {PEER}/{name}"]
    return [Tool("dbcast", [str(word) for word in command], None)]


def broadcast_archive(cluster, asset, programs):
    """One compressed archive is read once, broadcast, and unpacked by each node: the best that sites publish."""
    program = os.path.join(programs, "bcast_copy")
    if not os.access(program, os.X_OK):
        return []
    command = [cluster.directory / "mpi", "sh", "-c",
               f"{program} {cluster.mount}/archives {PEER}.archive && mkdir {PEER} && "
               f"tar -C {PEER} -I zstd -xf {PEER}.archive/{ARCHIVE}"]
    return [Tool("tar.zst, broadcast, untar", [str(word) for word in command], None)]


def copy_parts(cluster, asset):
    """Each node copies every N-th file: what a rank does today in front of training."""
    source = cluster.mount / "source" / asset.name
    chosen = f'awk -v n={len(cluster.nodes)} "NR % n == NODE"'
    return [on_each(cluster, "cp of every N-th file", f"mkdir {PEER} && cd {source} && {chosen} list.txt | "
                    f"xargs cp --parents -t {PEER}")]
