"""A Slurm of four nodes on this machine: a munged, a slurmctld and four slurmds of its own, in a directory of its own.

All four slurmds have this machine's host name, so an MPI job's ranks look as if they were on one node; each knows its
own by SLURMD_NODENAME, and the task prolog gives each a directory of its own.
"""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time

from support.origin import poll

NODES = ("n1", "n2", "n3", "n4")
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "scancel", "mpirun", "runuser")
CONFIGURATION = """
ClusterName=sabath
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge/socket
CredType=cred/munge
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool.%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.%n.log
TmpFS={home}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
PrologFlags=Alloc
Prolog={prolog}
TaskProlog={task_prolog}
Epilog={epilog}
KillWait=30
SchedulerParameters=sched_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
JobCompType=jobcomp/none
NodeName=n[1-4] NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]}-{ports[4]} CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=transfer Nodes=n1 MaxTime=INFINITE State=UP
PartitionName=debug Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why no cluster can be started here; empty if one can."""
    if os.geteuid() != 0:
        return "only root starts slurmds"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    return f"not installed: {' '.join(missing)} (scripts/setup full)" if missing else ""


def free_ports(count):
    """Free ones that follow each other, as Slurm's node ranges want them: anywhere, for others look for theirs just now."""
    for first in (random.randrange(12_000, 32_768 - count) for _ in range(1000)):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("", port))
                return [str(port) for port in range(first, first + count)]
            except OSError:
                continue
    raise AssertionError("no free ports")


class Cluster:
    def __init__(self, home, environment, prolog, task_prolog, epilog):
        """Scripts are paths; `environment` is what the daemons have, and so what a prolog sees."""
        self.home = pathlib.Path(home)
        self.daemons = {}
        for name in ("munge", "state", *(f"{kind}.{node}" for kind in ("spool", "tmp") for node in NODES)):
            (self.home / name).mkdir(parents=True)
        key = self.home / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.host = socket.gethostname().partition(".")[0]
        configuration = self.home / "slurm.conf"
        scripts = {"prolog": prolog, "task_prolog": task_prolog, "epilog": epilog}
        configuration.write_text(CONFIGURATION.format(host=self.host, home=self.home, ports=free_ports(5), **scripts))
        path = environment["PATH"] + ":/usr/sbin:/sbin"
        self.environment = {**environment, "PATH": path, "SLURM_CONF": str(configuration)}

    def start(self):
        munge = self.home / "munge"
        names = {"socket": "socket", "key-file": "key", "log-file": "log", "pid-file": "pid", "seed-file": "seed"}
        options = [f"--{option}={munge / name}" for option, name in names.items()]
        self.run_daemon("munged", "munged", "--foreground", "--force", *options)
        assert poll((munge / "socket").exists), self.log("munged")
        self.run_daemon("slurmctld", "slurmctld", "-D")
        for node in NODES:
            self.start_node(node)
        assert poll(lambda: self.call("sinfo", "-h", "-t", "idle", "-o", "%D", "-p", "debug").strip() == "4", 30), (
            self.call("sinfo", "-N") + self.log("slurmctld") + self.log("n1")
        )

    def start_node(self, node):
        self.run_daemon(node, "slurmd", "-D", "-N", node)

    def run_daemon(self, name, *command):
        with open(self.home / f"{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home
            )

    def log(self, name):
        files = (self.home / f"{name}.out", self.home / f"{name}.log")
        return "\n".join(file.read_text(errors="replace")[-3000:] for file in files if file.exists())

    def kill_node(self, node):
        self.daemons[node].kill()
        self.daemons[node].wait()

    def stop(self):
        """Every job, then every daemon, by its pid; what a killed slurmd left behind as well."""
        if "slurmctld" in self.daemons:
            with contextlib.suppress(subprocess.SubprocessError, AssertionError):
                self.call("scancel", "--user=root")
                poll(lambda: not self.call("squeue", "-h"), 15)
        for name in reversed(self.daemons):
            self.daemons[name].terminate()
        for process in reversed(self.daemons.values()):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in processes_of(str(self.home)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    # --- jobs --------------------------------------------------------------------------------------------------------

    def call(self, *command):
        done = subprocess.run(
            list(map(str, command)),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout

    def submit(self, *arguments, **variables):
        """`sbatch ARGUMENTS`: the job's number; its output goes to job.<number>."""
        options = ["--parsable", f"--output={self.home}/job.%j", f"--chdir={self.home}"]
        if variables:
            options.append("--export=ALL," + ",".join(f"{name}={value}" for name, value in variables.items()))
        said = self.call("sbatch", *options, *arguments).strip()
        assert said.isdigit(), said
        return int(said)

    def job(self, number):
        """scontrol's entry for it, by key."""
        words = self.call("scontrol", "-o", "show", "job", number).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def output(self, number):
        file = self.home / f"job.{number}"
        return file.read_text(errors="replace") if file.exists() else ""

    def wait(self, number, seconds=60):
        """Until it is over, epilogs included: its facts."""
        ended = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")

        def over():
            time.sleep(0.1)  # each look starts a program
            facts = self.job(number)
            return facts if facts.get("JobState") in ended else None

        facts = poll(over, seconds)
        assert facts, f"job {number} has not ended\n{self.call('squeue')}\n{self.output(number)}\n{self.log('n1')}"
        return facts


def processes_of(home):
    """Pids of what has SLURM_CONF below `home` in its environment."""
    wanted = f"SLURM_CONF={home}/".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found
