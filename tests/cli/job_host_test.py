#!/usr/bin/python3
"""`sabath job --host`: over a real sshd on the loopback device, to a login node whose Slurm is a script that runs what
is submitted; with callers, answers, shells and ssh programs that are odd."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess

from support import program, ssh_origin, typed
from support.case import Case, main, place
from support.content import fragment
from support.origin import poll
from support.program import finish

STEP = ["sh", "-c", "echo {config.do}; while [ {config.do} = wait ] && [ ! -e $HOME/go ] && [ -e $HOME ]; do sleep 0.1; done; "
        "[ {config.do} != fail ]"]  # fmt: skip
SBATCH = """#!/bin/sh
echo "sbatch $*" >>{far}/calls
for script; do :; done
SLURM_JOB_ID=77 setsid bash "$script" >/dev/null 2>&1 </dev/null &
echo $! >{far}/pid
echo 77
"""
SQUEUE = """#!/bin/sh
kill -0 $(cat {far}/pid) 2>/dev/null && exec echo '77|RUNNING|None'
echo 'slurm_load_jobs error: Invalid job id specified' >&2
exit 1
"""
SCANCEL = """#!/bin/sh
echo "scancel $*" >>{far}/calls
"""
FAR_SABATH = """#!/bin/sh
cd {far} && exec env -i PATH={far}/bin:/usr/bin:/bin HOME={far} SABATH_RECIPES={far}/recipes SABATH_CACHE={far}/store \
  {binary} "$@"
"""
NONCE = "0123456789abcdef" * 2


def script(path, text):
    place(path, text.encode())
    path.chmod(0o755)


class JobHost(Case):
    @classmethod
    def setUpClass(cls):
        cls.why_not = ssh_origin.unavailable_because()

    def setUp(self):
        if self.why_not:
            self.skipTest(self.why_not)
        super().setUp()
        self.far = self.home / "far"
        for name in ("datasets", "models"):
            (self.far / "recipes" / name).mkdir(parents=True)
        (self.far / "calls").touch()
        for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL), ("sabath", FAR_SABATH)):
            script(self.far / "bin" / name, text.format(far=self.far, binary=program.BINARY))
        self.sshd = ssh_origin.Sshd(self.home / "ssh", f'SetEnv HOME={self.far}')
        self.addCleanup(self.sshd.stop)
        self.ssh_config(self.sshd.config.read_text() + "StrictHostKeyChecking yes\n" + self.alias("login"))
        self.configure()
        place(self.home / "origin/f.bin", b"abc")
        self.data = [fragment(f"file://{self.home}/origin/f.bin", b"abc")]
        self.sabath.add("data", self.data)
        self.model()

    def alias(self, name, port=None):
        return f"Host {name}\n HostName 127.0.0.1\n Port {port or self.sshd.relay.port}\n"

    def ssh_config(self, text):
        place(self.home / "ssh_config", text.encode())

    def configure(self, **more):
        config = {"ssh_config": str(self.home / "ssh_config"), "job_programs": {"login": f"{self.far}/bin/sabath"}, **more}
        place(self.home / ".config/sabath/config.json", json.dumps(config).encode())

    def model(self, **more):
        run = {"data": [{"argv": STEP}]}
        return self.sabath.add("net", kind="model", run=run, config={"do": "end"}, **more)

    def share(self):
        """The other side has the same recipes, as its own."""
        for file in self.sabath.recipes.rglob("*.json"):
            place(self.far / "recipes" / file.relative_to(self.sabath.recipes), file.read_bytes())

    def far_run(self, *arguments):
        done = subprocess.run([self.far / "bin/sabath", *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done)

    def job(self, *arguments, code=0, host="login"):
        return self.expect(self.sabath.run("job", "--json", "net", "--host", host, *arguments), code)

    def submit(self, *arguments, code=0):
        return self.job("--submit", "--job-dir", self.far / "job", *arguments, code=code)

    def called(self):
        return (self.far / "calls").read_text()

    # --- what it does ------------------------------------------------------------------------------------------------

    def test_a_job_is_submitted_waited_for_and_asked_about(self):
        self.share()
        result = self.submit("--wait")
        record = result.record
        self.assertEqual((record["code"], record["host"], record["ids"]), (0, "login", ["77"]), result)
        self.assertEqual(record["directory"], str(self.far / "job"))
        self.assertEqual(len(record["scripts"]), 1)
        self.assertEqual((self.far / "job/job.sh").read_text(), record["scripts"][0]["text"])
        self.assertIn("run net ", record["scripts"][0]["text"])  # the recipe of that side: it is the same
        self.assertEqual(list((self.far / ".local").rglob("*.json")), [])
        self.assertIn("login: job 77: ", result.err)
        status = self.expect(self.sabath.run("job", self.far / "job", "--status", "--host", "login"))
        self.assertIn(f"its directory is login:{self.far}/job", status.err)
        self.assertIn("fetch 0, run 0, report 0", status.out)
        (self.far / "job").rename(self.far / "job_net_data_x")
        self.assertEqual(self.job("--status").record["directory"], str(self.far / "job_net_data_x"))
        self.assertEqual(list(self.home.glob("job*")), [])

    def test_its_exit_code_comes_back(self):
        self.share()
        record = self.submit("--wait", "--set", "do=fail", code=11).record
        self.assertEqual((record["code"], record["exit"], record["tasks"][0]["exit"]), (11, 11, 11))
        self.job("--status", "--partition", "x", code=3)  # no job_net_... is there
        self.expect(self.sabath.run("job", self.far / "nowhere", "--host", "login", "--wait"), 3)

    def test_a_job_is_cancelled(self):
        self.share()
        self.submit("--set", "do=wait")
        self.expect(self.sabath.run("job", self.far / "job", "--cancel", "--host", "login"))
        self.assertIn("scancel 77", self.called())
        (self.far / "go").touch()

    def test_the_script_is_printed(self):
        self.share()
        there = self.expect(self.sabath.run("job", "net", "--host", "login", "--nodes", "1", "-n")).out
        self.assertTrue(there.startswith("#!/bin/bash\n"), there)
        self.assertIn(f"SABATH_RECIPES={self.far}/recipes", there)
        self.assertEqual(self.called(), "")
        self.assertEqual(list(self.far.glob("job*")), [])

    def test_code_that_is_not_trusted_there_is_named_with_what_to_type_there(self):
        refused = self.submit(code=4).record["error"]
        self.assertIn("login: net was not run: it brings code that you have not trusted", refused["message"])
        self.assertIn("sh -c 'echo {config.do}; ", refused["hint"])
        typed = refused["hint"].splitlines()[-1].partition("sabath trust add ")[2]
        self.assertTrue(typed.startswith(str(self.far / ".local/state/sabath/sent/")), refused)
        self.job("--submit", "--trust", "commit", code=2)
        self.assertEqual(self.called(), "")

    def test_a_recipe_of_that_side_is_not_taken_for_the_one_that_was_sent(self):
        self.share()
        self.model(title="another")
        typed = self.submit(code=4).record["error"]["hint"].splitlines()[-1].partition("sabath trust add ")[2]
        self.far_run("trust", "add", typed)
        # Trusted; but the data that came along name a file of that side, which no stranger's recipe may.
        record = self.submit("--wait", code=4).record
        self.assertIn(typed, (self.far / "job/job.sh").read_text())
        self.assertEqual(record["code"], 4, (self.far / "job/output/0.txt").read_text())

    def test_a_recipe_that_only_this_side_has_runs_there(self):
        place(self.far / "recipes/datasets/data.json", (self.sabath.recipes / "datasets/data.json").read_bytes())
        web = self.serve({"f.bin": b"abc"})
        place(self.far / ".config/sabath/config.json", json.dumps({"near_hosts": ["127.0.0.1"]}).encode())
        self.sabath.add("data", [fragment(web.url("f.bin"), b"abc")])
        hint = self.submit(code=4).record["error"]["hint"]
        self.far_run("trust", "add", hint.splitlines()[-1].partition("sabath trust add ")[2])
        record = self.submit("--wait").record
        self.assertEqual(record["code"], 0, (self.far / "job/output/0.txt").read_text())
        run = json.loads((self.far / "job/runs/run/run.json").read_text())
        self.assertEqual((run["trust"]["by"], run["trust"]["recipe_of"]), ("commit", "others"))

    def test_code_beside_a_recipe_is_not_sent(self):
        place(self.sabath.recipes / "models/net/train.py", b"")
        self.model(source="net")
        result = self.submit(code=2)
        self.assertIn("the code of net lies beside its recipe", result.err)

    def test_a_lock_goes_along(self):
        self.share()
        self.expect(self.sabath.run("run", "net", "--run-dir", self.home / "locked"))
        lock = (self.home / "locked/run.json").read_bytes()
        self.submit("--wait", "--lock", self.home / "locked")
        self.assertEqual((self.far / "job/lock.json").read_bytes(), lock)
        run = json.loads((self.far / "job/runs/run/run.json").read_text())
        self.assertEqual(run["environment"]["lock"]["path"], str(self.far / "job/lock.json"))
        self.job("--lock", self.home / "nothing", code=3)

    # --- what is given to whom ---------------------------------------------------------------------------------------

    def stand_in(self, text):
        """A program in the place of ssh, which notes how it was called."""
        script(self.home / "bin/ssh", f'#!/bin/sh\nprintf "%s\\n" "$@" >{self.home}/argv\nenv >{self.home}/env\n{text}\n')
        self.sabath.environment["PATH"] = f"{self.home}/bin:/usr/bin:/bin"

    def test_nothing_of_the_request_and_no_secret_is_in_the_command_line_or_the_environment(self):
        self.share()
        self.stand_in(f"exec {self.far}/bin/sabath job --answer")
        self.sabath.environment.update(SABATH_TOKEN="https://x tokenOfLab", HF_TOKEN="tokenOfHub",
                                       AWS_SECRET_ACCESS_KEY="keyOfBucket", SSH_AUTH_SOCK="/agent")  # fmt: skip
        evil = "$(touch X)`id`'\";|&"
        record = self.job("--set", f"do={evil}", "--", "a b", f"--x={evil}\n#SBATCH -A x").record
        self.assertIn("$(touch X)", record["scripts"][0]["text"])
        self.assertEqual((self.home / "argv").read_text().split("\n")[:-1], [
            "-T", "-x", "-a", "-oClearAllForwardings=yes", "-oPermitLocalCommand=no", "-oControlMaster=no",
            "-oBatchMode=yes", "-F", str(self.home / "ssh_config"), "--", "login", f"{self.far}/bin/sabath", "job",
            "--answer"])  # fmt: skip
        environment = (self.home / "env").read_text()
        self.assertIn("SSH_AUTH_SOCK=/agent", environment)
        for secret in ("SABATH", "tokenOf", "keyOf"):
            self.assertNotIn(secret, environment)

    def test_at_a_terminal_ssh_may_ask(self):
        self.share()
        self.stand_in(f"printf 'password: ' >/dev/tty; read -r word </dev/tty; [ \"$word\" = secret ] || exit 255\n"
                      f"exec {self.far}/bin/sabath job --answer")  # fmt: skip
        arguments = [program.BINARY, "job", "net", "--host", "login"]
        shell = typed.Shell(arguments, {**self.sabath.environment, "TERM": "dumb"}, self.home)
        self.addCleanup(shell.stop)
        shell.read_to("password: ")
        shell.send("secret\n")
        shell.read_to("#!/bin/bash")
        self.assertNotIn("BatchMode", (self.home / "argv").read_text())

    def test_odd_names_of_hosts_and_programs_are_refused(self):
        self.stand_in("exit 1")
        for bad in ("-oProxyCommand=touch X", "a b", "$(id)", "me@", "@login", "me@-x", "a;b", "-", "x" * 300, "a/b",
                    "a\nb", "ä"):  # fmt: skip
            self.expect(self.sabath.run("job", "net", f"--host={bad}"), 2)
        for bad in ("sabath; id", "-x", "$HOME/sabath", "a b", "/opt/", "`id`"):
            self.configure(job_programs={"login": bad})
            self.expect(self.sabath.run("job", "net", "--host", "login"), 12)
        self.assertFalse((self.home / "argv").exists())
        self.configure(job_programs={"login": "~/bin/sabath", "me@login.lab": "/opt/s+x/sabath-2.0"})
        self.job(host="me@login.lab", code=11)
        self.assertIn("/opt/s+x/sabath-2.0\n", (self.home / "argv").read_text())
        (self.home / ".config/sabath/config.json").chmod(0o666)
        self.job(code=4)  # others could name the program

    def test_the_other_side_refuses_what_its_own_options_refuse(self):
        self.share()
        for options in (("--partition", "-p"), ("--partition", "a b"), ("--nodes", "0"), ("--after", "--user=root"),
                        ("--launcher", "nonsense"), ("--submit", "--status"), ("--set", "nonsense")):  # fmt: skip
            self.job(*options, code=2)
        self.job("--fetch", "transfer", code=2)
        self.assertEqual(self.called(), "")

    # --- ssh fails, or the shell there is odd ------------------------------------------------------------------------

    def fails(self, code, words, hint, *arguments, host="login"):
        result = self.job(*arguments, code=code, host=host)
        error = result.record["error"]
        self.assertIn(words, error["message"])
        self.assertIn(hint, error["hint"])

    def test_each_failure_of_ssh_has_its_name_and_code(self):
        port = ssh_origin.free_port()
        self.ssh_config(self.sshd.config.read_text() + self.alias("login") + self.alias("closed", port) +
                        "Host unknown\n UserKnownHostsFile none\n HostName 127.0.0.1\n" +
                        f" Port {self.sshd.relay.port}\n" + "Host *.invalid\n ConnectTimeout 5\n")  # fmt: skip
        self.configure()
        self.fails(6, "Connection refused", "ProxyJump", host="closed")
        self.fails(6, "Could not resolve", "host's name", host="x.invalid")
        (self.sshd.keys / "id.pub").write_text("")
        self.fails(4, "the login was refused", "ssh -oBatchMode=yes login true")
        place(self.sshd.keys / "known_hosts", b"")
        self.fails(4, "the host key is not known", "accept it once by `ssh login`")
        self.sabath.environment["PATH"] = str(self.home / "nowhere")
        self.fails(11, "no program `ssh`", "install the client")

    def test_a_host_without_this_sabath(self):
        self.configure(job_programs={"login": f"{self.far}/bin/absent"})
        self.fails(11, "login has no `", "job_programs")
        script(self.far / "bin/sabath", "#!/bin/sh\necho 'error: there is no option --answer' >&2\nexit 2\n")
        self.configure()
        self.fails(11, "ended with 2 and gave no answer; it says: error: there is no option", "an older version")
        script(self.far / "bin/sabath", "#!/bin/sh\necho Welcome; exit 0\n")
        self.fails(11, "what was printed is no answer: 'Welcome'", "startup file")
        script(self.far / "bin/sabath", "#!/bin/sh\nyes | head -c 3000000\nsleep 60\n")
        self.fails(11, "no answer", "startup file")

    def test_a_shell_that_prints_is_no_matter(self):
        self.share()
        place(self.far / ".bashrc", b"echo hello; printf 'no newline'; echo complaint >&2\n")
        result = self.submit("--wait")
        self.assertEqual(result.record["code"], 0)
        self.assertNotIn("complaint", result.err)

    def test_answers_that_are_none(self):
        record = {"schema": 1, "directory": "/x", "scheduler": "slurm", "ids": ["7"], "fetch_id": None, "scripts": [],
                  "tasks": [], "never": None, "code": None, "exit": 0}  # fmt: skip
        task = {"task": 0, "name": None, "state": "running", "reason": None, "steps": {}, "exit": None, "starts": 1,
                "failure": None}  # fmt: skip
        script(self.far / "bin/sabath", f"""#!/bin/sh
read -r line
nonce=$(echo "$line" | cut -d' ' -f2)
echo "sabath-job-answer $nonce 9.9"
cat {self.far}/answer
""")  # fmt: skip
        for bad in ("garbage", "[]", '{"x":1}', '{"tick":true,"y":1}', json.dumps({"record": {**record, "exit": 256}}),
                    json.dumps({"record": {**record, "ids": ["7\x1b"]}}), json.dumps({"record": {**record, "new": 1}}),
                    json.dumps({"record": {**record, "tasks": [{**task, "state": "\u202eevil"}]}}),
                    json.dumps({"record": {**record, "fetch": {**task, "failure": "\x1b"}}}),
                    json.dumps({"record": {**record, "jobs": [{"directory": "/x", "model": 7}]}}),
                    json.dumps({"record": {**record, "scripts": [{"file": "/x", "text": "\x1b]0;x\x07"}]}}),
                    "[" * 100_000, '{"error":{"kind":"usage"},"exit":2}'):  # fmt: skip
            place(self.far / "answer", bad.encode() + b"\n")
            self.fails(11, "is not understood", "same version")
        place(self.far / "answer", json.dumps({"message": "a\x1b"}).encode() + b"\n")
        self.fails(11, "is not understood", "same version")
        place(self.far / "answer", json.dumps({"record": {**record, "tasks": [task]}}).encode() + b"\n")
        self.assertEqual(self.job().record["tasks"], [task])
        place(self.far / "answer", b'{"error":{"kind":"space","message":"full","hint":"a\\nb"},"exit":5}\n')
        self.fails(5, "login: full", "a\nb")
        place(self.far / "answer", json.dumps({"submitted": record}).encode() + b"\n")
        self.fails(11, "ended with 0 before all was answered", "sabath job /x --host login --status")

    # --- it breaks in the middle -------------------------------------------------------------------------------------

    def waiting(self):
        self.share()
        started = self.sabath.start("job", "net", "--host", "login", "--submit", "--wait", "--set", "do=wait",
                                    "--job-dir", self.far / "job")  # fmt: skip
        self.addCleanup((self.far / "go").touch)
        self.assertTrue(poll(lambda: (self.far / "job/runs/run/run.json").exists(), 60))
        return started

    def goes_on(self):
        self.assertNotIn("scancel", self.called())
        (self.far / "go").touch()
        waited = self.expect(self.sabath.run("job", self.far / "job", "--host", "login", "--wait", "--json"))
        self.assertEqual(waited.record["code"], 0)

    def test_a_connection_that_dies_in_the_middle_of_a_wait(self):
        started = self.waiting()
        for each in list(self.sshd.relay.sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        result = self.expect(finish(started), 6)
        self.assertIn("the connection to login broke", result.err)
        self.assertIn(f"sabath job {self.far}/job --host login --status", result.err)
        self.goes_on()

    def test_control_c_ends_the_wait_and_not_the_job(self):
        started = self.waiting()
        started.send_signal(signal.SIGINT)
        result = self.expect(finish(started), 130)
        self.assertIn("nothing waits for job 77 any more; it goes on", result.err)
        self.assertIn(f"sabath job {self.far}/job --host login --status", result.err)
        self.goes_on()

    # --- callers that mean harm --------------------------------------------------------------------------------------

    def call(self, text, code, words):
        done = subprocess.run([self.far / "bin/sabath", "job", "--answer"], input=text, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done)
        self.assertIn(words, (done.stdout + done.stderr).decode())
        return done

    def framed(self, **call):
        body = json.dumps({"schema": 1, "version": "0", "request": {"model": "net"}, **call}).encode()
        return f"sabath-job-call {NONCE} {len(body)}\n".encode() + body

    def recipe(self, **more):
        text = (self.sabath.recipes / "models/net.json").read_text()
        digest = "sha256:" + hashlib.sha256(more.get("text", text).encode()).hexdigest()
        return {"role": "model", "kind": "model", "name": "net", "digest": digest, "text": text, **more}

    def test_calls_that_are_none(self):
        for head in (b"", b"\n", b"GET / HTTP/1.1\n", b"x" * 5000, b"sabath-job-call x 5\nabcde", b"\0\n", f"sabath-job-call {NONCE} 99999999999\n".encode(), f"sabath-job-call {NONCE} -1\n".encode()):  # fmt: skip
            self.call(head, 12, "begins with no call")
        self.call(f"sabath-job-call {NONCE} 500\n{{".encode(), 11, "hung up")
        self.call(f"sabath-job-call {NONCE} 4\n{{{{}}}}".encode(), 12, "the call:1")
        self.call(self.framed(schema=2), 11, "install the same version")
        self.call(self.framed(extra=1), 12, "extra")
        for key in ("host", "trust", "lock"):
            self.call(self.framed(request={"model": "net", key: "x"}), 2, f"does not say its {key}")
        self.call(self.framed(request={"model": "net", "environment": {"PATH": "/evil"}}), 2, "its environment")
        self.call(self.framed(request={"model": "net", "nodes": 2**40}), 2, "nodes")
        self.call(self.framed(request={"model": 7}), 2, "model")

    def test_recipes_that_are_none(self):
        self.far_files = lambda: sorted(str(p) for p in (self.far / ".local").rglob("*") if p.is_file())
        for more in ({"name": "../../evil"}, {"name": "/etc/passwd"}, {"name": "a/b"}, {"kind": "../models"},
                     {"kind": "nonsense"}, {"role": "environment"}, {"digest": "sha256:" + "0" * 64}, {"name": "other"}, {"text": "{"}, {"text": "\0" * 10}):  # fmt: skip
            self.call(self.framed(recipes=[self.recipe(**more)]), 12, "recipe" if "text" not in more else "net.json")
        self.call(self.framed(recipes=[self.recipe()] * 65), 12, "more than 64")
        self.assertEqual(self.far_files(), [])
        self.call(self.framed(recipes=[self.recipe()]), 2, "names no dataset")
        if os.geteuid() == 0:
            os.chown(self.far / ".local/state/sabath/sent", 64001, 64001)
            self.call(self.framed(recipes=[self.recipe()]), 4, "is not believed")


if __name__ == "__main__":
    main()
