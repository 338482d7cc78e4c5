"""A case whose jobs are the examples of etc/slurm, in a Slurm of four nodes of its own."""

import contextlib
import os
import pathlib

from support.cluster import NODES, Cluster, processes_of, why_not
from support.ranks import chunks_done
from support.ranks import why_not as why_no_ranks
from support import program
from support.case import Case
from support.content import fragment, seeded, write_seeded
from support.origin import poll

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "etc/slurm"
MIB = 1 << 20
SLOW_WRITES = os.environ.get("SABATH_SLOW_WRITES", "")
# What jobs call `sabath`. With a file `slow` in HOME, node n2 needs its number of milliseconds for each write of a chunk.
WRAPPER = """#!/bin/bash
if [[ $1 == stage && $SLURMD_NODENAME == n2 && -e $HOME/slow ]]; then
  export LD_PRELOAD={slow_writes} SLOW_WRITES_MS=$(<"$HOME/slow")
fi
exec {binary} "$@"
"""
# Said by every rank of a training that found its data whole, on its own node.
TRAIN = """#!/bin/bash
cd "$SLURM_TMPDIR/set" && echo "{digest}  big" | sha256sum --check --quiet && echo "trained on $SLURMD_NODENAME"
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Jobs(Case):
    def setUp(self):
        if reason := why_not() or why_no_ranks() or ("" if SLOW_WRITES else "SABATH_SLOW_WRITES names no library"):
            self.skipTest(reason)
        super().setUp()
        self.disks = self.home / "disks"
        bin_directory = self.home / "bin"
        script(bin_directory / "sabath", WRAPPER.format(binary=program.BINARY, slow_writes=SLOW_WRITES))
        environment = {
            **self.sabath.environment,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl_tcp_if_include": "lo",  # slurmds are nodes to Open MPI: their ranks speak TCP
            "PATH": f"{bin_directory}:{self.sabath.environment['PATH']}",
            "STAGE_OPTIONS": "--emulate-nodes 4",
        }
        self.cap("1GB")
        scripts = [self.site(name) for name in ("prolog.sh", "task-prolog.sh", "epilog.sh")]
        self.cluster = Cluster(self.home / "slurm", environment, *scripts)
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.make_asset()

    def site(self, name):
        """An example with this site's disk, binary and cap: what a site would edit."""
        text = (EXAMPLES / name).read_text()
        for setting, value in (
            ("disk=/local", f"disk={self.disks}/$SLURMD_NODENAME"),
            ("mounted=yes", "mounted=no"),
            ("keep=500GB", f"keep=$(<{self.home}/cap)"),
            ("sabath=/usr/bin/sabath", f"sabath={program.BINARY}"),
        ):
            text = text.replace(f"\n{setting}", f"\n{value}")
        return script(self.home / "site" / name, text)

    def cap(self, size):
        (self.home / "cap").write_text(size)

    def make_asset(self):
        self.source = self.home / "source"
        self.source.mkdir()
        digest = write_seeded(self.source / "big", 80 * MIB + 5)
        fragments = [fragment(f"file://{self.source}/big", path="big", checksum={"sha256": digest})]
        for i in range(20):
            data = seeded(i * 3001, i)
            (self.source / f"s{i}").write_bytes(data)
            fragments.append(fragment(f"file://{self.source}/s{i}", data, name=f"s{i}", path=f"s{i}"))
        self.sabath.add("set", fragments)
        self.train = script(self.home / "train", TRAIN.format(digest=digest))

    def place(self, node):
        return self.disks / node / "root"

    # --- jobs --------------------------------------------------------------------------------------------------------

    def submit(self, *options, **variables):
        return self.cluster.submit(*options, EXAMPLES / "stage.sbatch", "set", self.train, **variables)

    def expect_state(self, job, state):
        facts = self.cluster.wait(job)
        self.assertEqual(facts["JobState"], state, self.cluster.output(job))
        return self.cluster.output(job)

    def expect_trained(self, job):
        said = self.expect_state(job, "COMPLETED")
        for node in NODES:
            self.assertIn(f"trained on {node}", said)
            staged = self.place(node) / "set"
            self.assertEqual(sorted(os.listdir(staged)), sorted(os.listdir(self.source)))
        return said

    def slow_stage(self, milliseconds, *options, **variables):
        """A job in the middle of its staging: node n2 has a part."""
        self.sabath.run("fetch", "set")
        (self.home / "slow").write_text(str(milliseconds))
        job = self.submit(*options, **variables)
        arrived = poll(lambda: chunks_done(self.place("n2") / ".sabath") >= 1, 40)
        self.assertTrue(arrived, self.cluster.output(job))
        return job

    def ranks(self):
        """Living ranks: SLURM_PROCID -> pid."""
        found = {}
        for pid in processes_of(self.home / "slurm"):
            with contextlib.suppress(OSError):
                process = pathlib.Path("/proc") / str(pid)
                if os.readlink(process / "exe") != os.path.realpath(program.BINARY):
                    continue
                variables = (process / "environ").read_bytes().split(b"\0")
                found.update({int(v[13:]): pid for v in variables if v.startswith(b"SLURM_PROCID=")})
        return found

    def expect_no_view(self):
        for node in NODES:
            self.assertFalse(os.path.lexists(self.place(node) / "set"), node)

    def rerun(self):
        """The next job completes a fetch that was broken off, from the bytes that have arrived."""
        self.expect_no_view()
        (self.home / "slow").unlink()
        self.expect_trained(self.submit())
