#!/usr/bin/python3
"""Failures whose cause a person cannot guess: each is caused for real, and the words name it and its remedy."""

import json
import os
import shutil
import socket
import subprocess
import zipfile

from support.case import Case, main, place
from support.certificate import Certificate, openssl
from support.content import fragment, seeded
from support.mounts import enter_own_namespace, mount, need_own_namespace
from support.program import finish
from support.spoken import Spoken, page


class Words(Case):
    def told(self, result, code, *says):
        """The failure's text, which must have these words."""
        self.expect(result, code)
        for text in says:
            self.assertIn(text, result.err)
        return result.err

    def fetched(self, url, code, *says, kind="file", **variables):
        self.sabath.add("asset", [fragment(url, kind=kind)])
        return self.told(self.sabath.run("fetch", "asset", **variables), code, *says)


class Web(Words):
    def spoken(self, answers, **options):
        server = Spoken(answers, **options)
        self.addCleanup(server.stop)
        return server

    def configure(self, **settings):
        place(self.home / ".config/sabath/config.json", json.dumps(settings).encode())

    def test_a_dead_proxy(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # bound, never listening: no other process can take it meanwhile
            dead = f"http://127.0.0.1:{unused.getsockname()[1]}"
            said = f"the proxy 127.0.0.1 port {unused.getsockname()[1]} takes no connection"
            asked = {}
            for scheme, variable in (("http", "http_proxy"), ("https", "all_proxy"), ("ftp", "ftp_proxy")):
                self.sabath.add(scheme, [fragment(f"{scheme}://data.example/f.bin")])
                asked[scheme] = self.sabath.start("fetch", scheme, **{variable: dead})
            for scheme, process in asked.items():  # each is tried again for some seconds
                self.told(finish(process), 6, f"{scheme}://data.example/f.bin", said,
                          f"hint: {scheme}_proxy or all_proxy names it: correct or unset that variable",
                          "name data.example in no_proxy")  # fmt: skip

    def test_of_git(self):
        certificate = Certificate(self.home / "own", "127.0.0.1")
        server = self.spoken({"*": page("", 404)}, certificate=certificate)
        self.sabath.add("tree", kind="model", git={"origin": server.url("tree.git")})
        self.told(self.sabath.run("fetch", "-m", "tree"), 6, "certificate", "hint: git does not trust the server", "GIT_SSL_CAINFO")
        trusting = {"GIT_SSL_CAINFO": str(certificate.file)}
        self.assertNotIn("certificate", self.sabath.run("fetch", "-m", "tree", **trusting).err)  # as the hint says
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            dead = f"http://127.0.0.1:{unused.getsockname()[1]}"
            self.told(self.sabath.run("fetch", "-m", "tree", https_proxy=dead), 6, "the proxy takes no connection",
                      "correct or unset the variable")  # fmt: skip

    def test_a_host_that_takes_no_connection_is_no_proxy(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            for number, host in enumerate(("127.0.0.1", "[::1]", "LOCALHOST")):
                self.sabath.add(f"asset{number}", [fragment(f"http://{host}:{port}/f.bin")])
            asked = [self.sabath.start("fetch", f"asset{number}") for number in range(3)]
            for process in asked:
                self.assertNotIn("the proxy", self.told(finish(process), 6, "connect to ", "no server listens there"))

    def test_a_proxy_that_wants_a_login_is_not_the_hub(self):
        proxy = self.spoken({"*": page("", 407)})
        self.sabath.environment["http_proxy"] = proxy.url("")
        self.sabath.environment["HF_ENDPOINT"] = "http://hub.example"
        for kind, url in (("file_list", "hf://datasets/Lab/set/"), ("file", "hf://datasets/Lab/set/f.bin")):
            err = self.fetched(url, 4, "hint: the proxy wants a login: see https_proxy and http_proxy", kind=kind)
            self.assertNotIn("HF_TOKEN", err)

    def test_a_missing_intermediate_certificate(self):
        directory = self.home / "tls"
        directory.mkdir()
        root = Certificate(directory / "root", "root.example")
        middle, leaf = directory / "middle", directory / "leaf"
        for own, name, signer, names in ((middle, "middle.example", root.file, "basicConstraints=critical,CA:TRUE"),
                                         (leaf, "127.0.0.1", middle / "cert.pem", "subjectAltName=IP:127.0.0.1")):  # fmt: skip
            own.mkdir()
            openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                    "-keyout", own / "key.pem", "-out", own / "request.pem")  # fmt: skip
            (own / "extensions").write_text(names)
            openssl("x509", "-req", "-in", own / "request.pem", "-CA", signer, "-CAkey", signer.parent / "key.pem",
                    "-CAcreateserial", "-days", "36500", "-extfile", own / "extensions", "-out", own / "cert.pem")  # fmt: skip
        self.configure(ca_file=str(root.file))
        alone = Certificate(directory / "other", "127.0.0.1")
        alone.file, alone.key = leaf / "cert.pem", leaf / "key.pem"
        server = self.spoken({"/f.bin": b"x"}, certificate=alone)
        self.fetched(server.url("/f.bin"), 6, "unable to get local issuer certificate",
                     "hint: the server left out an intermediate certificate, or a site's own authority signed it",
                     "`ca_file` of the configuration", "openssl s_client -showcerts")  # fmt: skip
        self.configure(ca_file=str(middle / "cert.pem"))  # as the hint says
        self.fetched(server.url("/f.bin"), 0)

    def test_settings_are_named(self):
        self.fetched(self.spoken({"/f.bin": b"x"}, certificate=Certificate(self.home / "own", "127.0.0.1")).url("/f.bin"),
                     6, "self-signed certificate", "`ca_file` of the configuration")  # fmt: skip
        for status in (401, 403):
            self.fetched(self.spoken({"/f.bin": page("", status)}).url("/f.bin"), 4, f"HTTP {status}",
                         "`tokens` of the configuration", "docs/credentials.md")  # fmt: skip

    def test_what_the_store_of_objects_says_wins(self):
        """Asked without keys, too: the reason is the object's, not the login's."""
        refusal = "<Error><Code>InvalidObjectState</Code><Message>not for its storage class</Message></Error>"
        server = self.spoken({"*": page(refusal, 403, Content_Type="application/xml")})
        self.configure(s3_endpoint=server.url("").rstrip("/"), s3_addressing="path", s3_anonymous=True)
        err = self.fetched("s3://bucket/cold.h5", 4, "InvalidObjectState", "its owner must restore it first")
        self.assertNotIn("without keys", err)


class Archives(Words):
    def archive(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(f"there is no {command[0]}")
        place(self.home / "origin/data.bin", seeded(100_000) + bytes(100_000))
        file = self.home / "origin/packed.zip"
        file.unlink(missing_ok=True)
        subprocess.run([*command, file.name, "data.bin"], cwd=file.parent, check=True, capture_output=True)
        return file

    def refused(self, file, *says):
        self.fetched(f"file://{file}", 12, "cannot unpack", *says, "its type in the recipe", "`7z x`", kind="archive")

    def test_a_password(self):
        self.refused(self.archive("zip", "-P", "secret"), "it is locked with a password, and SABATH asks for none")

    def test_a_password_of_aes(self):
        self.refused(self.archive("7z", "a", "-tzip", "-mem=AES256", "-psecret"), "it is locked with a password")

    def test_deflate64(self):
        self.refused(self.archive("7z", "a", "-tzip", "-mm=Deflate64"), "it is packed by Deflate64, which is not read")

    def test_deflate64_as_its_header_says(self):
        """Where there is no program that packs so: the reader refuses by the method's number, before any byte."""
        file = self.home / "origin/marked.zip"
        file.parent.mkdir()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.bin", bytes(100_000))
        marked = bytearray(file.read_bytes())
        for header, method in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
            marked[marked.index(header) + method] = 9
        file.write_bytes(marked)
        self.refused(file, "it is packed by Deflate64, which is not read")


class Home(Words):
    """No store is named: it is to be in HOME."""

    def setUp(self):
        super().setUp()
        del self.sabath.environment["SABATH_CACHE"]
        place(self.home / "origin/f.bin", b"x")
        self.url = f"file://{self.home}/origin/f.bin"

    def test_no_directory(self):
        for home, shown in ((self.home / "origin/f.bin", "f.bin, which is no directory"),
                            ("/nonexistent/home", "/nonexistent/home, which is no directory"),
                            ("relative", "relative, which is no directory from /")):  # fmt: skip
            self.sabath.add("asset", [fragment(self.url)])
            listed = self.sabath.run("list", HOME=str(home))
            self.told(listed, 0, shown, "set HOME, or name the store by --store DIR or SABATH_STORE")
        self.fetched(self.url, 70, "Not a directory", "name a store that you may write by --store DIR or SABATH_STORE",
                     HOME=str(self.home / "origin/f.bin"))  # fmt: skip
        listed = self.sabath.run("list", HOME="/nonexistent", SABATH_STORE=str(self.home / "store"))
        self.assertNotIn("HOME", self.expect(listed).err)  # it is not needed

    def test_none(self):
        del self.sabath.environment["HOME"]
        self.fetched(self.url, 0, SABATH_STORE=str(self.home / "store"))
        if os.geteuid() == 0:  # a user of a container that the system does not know
            stranger = ("setpriv", "--reuid=64999", "--clear-groups", "--")
            os.chmod(self.home, 0o755)
            self.told(self.sabath.run("list", prefix=stranger), 2, "neither HOME nor SCRATCH is set", "--store DIR")

    def test_read_only(self):
        need_own_namespace(self)
        mount(self, self.home / "sealed", "-t", "tmpfs", "-o", "size=1m,ro", "tmpfs")
        self.fetched(self.url, 70, "Read-only file system", "name a store that you may write by --store DIR or SABATH_STORE",
                     HOME=str(self.home / "sealed"))  # fmt: skip

    def test_not_writable(self):
        if os.geteuid() == 0:
            self.sabath.home.chmod(0o755)
            closed = self.home / "closed"
            closed.mkdir()
            prefix = ("setpriv", "--reuid=64999", "--clear-groups", "--")
        else:
            closed, prefix = self.home / "closed", ()
            closed.mkdir(mode=0o555)
        self.sabath.add("asset", [fragment(self.url)])
        self.told(self.sabath.run("fetch", "asset", prefix=prefix, HOME=str(closed)), 70, "Permission denied",
                  "name a store that you may write by --store DIR or SABATH_STORE")  # fmt: skip


class Documents(Words):
    """Keys that a person writes from memory."""

    def recipe(self, *says, hint="", fragments=None, **keys):
        document = {"schema": 1, "kind": "dataset", "name": "asset", "fragments": fragments, **keys}
        text = json.dumps({key: value for key, value in document.items() if value is not None})
        place(self.sabath.recipes / "datasets/asset.json", text.encode())
        for verb in ("info", "fetch", "plan"):
            err = self.told(self.sabath.run(verb, "asset"), 12, "asset.json:1: ", *says)
            self.assertIn(hint, err.partition("hint: ")[2])

    def test_of_a_recipe(self):
        one = {"id": "a", "type": "file", "urls": ["http://127.0.0.1:9/f"]}
        without = {"id": "a", "type": "file"}
        self.recipe('unknown key "url" (did you mean "urls"?)', fragments=[{**without, "url": ["http://h/f"]}])
        self.recipe('"urls" must be an array, not a string', hint="in brackets", fragments=[{**without, "urls": "http://h/f"}])
        self.recipe('"urls" must name at least one URL', fragments=[without])
        self.recipe('unknown key "fragment" (did you mean "fragments"?)', fragment=[one])
        self.recipe('unknown key "typ" (did you mean "type"?)', fragments=[{"id": "a", "typ": "file", "urls": one["urls"]}])
        self.recipe('"sha256" is outside of "checksum"', hint='"checksum": {"sha256": "..."}',
                    fragments=[{**one, "sha256": "00"}])  # fmt: skip
        self.recipe('"kind" is of schema 1, and the recipe does not say "schema": 1', hint='begin the recipe with "schema": 1',
                    fragments=[one], schema=None)  # fmt: skip
        self.recipe('unknown key "shema" (did you mean "schema"?)', fragments=[one], schema=None, kind=None, shema=1)
        self.recipe('unknown key "urls" (did you mean "url"?)', fragments=[one], schema=None, kind=None)
        self.recipe('unknown key "nme" (did you mean "name"?)', fragments=[one], name=None, nme="asset")

    def test_of_the_configuration(self):
        for text, says in (({"recipe": ["/x"]}, 'unknown key "recipe" (did you mean "recipes"?)'),
                           ({"recipes": "/x"}, '"recipes" must be an array, not a string'),
                           ({"tokens": [{"orgin": "https://h", "file": "x"}]}, 'unknown key "orgin" (did you mean "origin"?)'),
                           ({"hosts": [{"hots": "h"}]}, 'unknown key "hots" (did you mean "host"?)'),
                           ({"trusted_owner": ["root"]}, 'unknown key "trusted_owner" (did you mean "trusted_owners"?)')):  # fmt: skip
            place(self.home / "config.json", json.dumps(text).encode())
            self.told(self.sabath.run("list", SABATH_CONFIG=str(self.home / "config.json")), 12, "config.json:1: ", says)


    def test_places_of_recipes(self):
        """Every verb that looks for recipes says which place holds none."""
        deep = self.home / "deep/datasets"
        deep.mkdir(parents=True)
        places = {"SABATH_RECIPES": f"{self.home}/absent:{deep}"}
        for verb in (["list"], ["search", "x"], ["info", "x"], ["path", "x"], ["info", "--where", "x"], ["fetch", "x"], ["plan", "x"],
                     ["run", "x"], ["stage", "x", "--to", self.home / "node"], ["verify", "x"], ["view", "x"], ["keep", "x"],
                     ["cite", "x"], ["doctor"], ["config"], ["du"]):  # fmt: skip
            err = self.sabath.run(*verb, **places).err
            self.assertIn(f"warning: there is no directory {self.home}/absent, which is to hold recipes\n", err, verb)
            self.assertIn(f"warning: {deep} is one level too deep: recipes are found by the directory above it\n", err, verb)


class Versions(Words):
    """Version 0 is of no SABATH: it is refused as one that is too new."""

    def test_of_a_store(self):
        place(self.home / "origin/f.bin", b"x")
        self.fetched(f"file://{self.home}/origin/f.bin", 0)
        file = self.sabath.store / "format"
        text = file.read_text()
        file.chmod(0o644)
        for version, hint in ((0, "no SABATH wrote that"), (2, "use a newer SABATH")):
            file.write_text(text.replace('"version":1', f'"version":{version}'))
            for verb in (["fetch", "asset"], ["verify"], ["gc"]):
                self.told(self.sabath.run(*verb), 12, f"has the store format {version}, and this program knows 1", hint)
        file.write_text(text)
        self.expect(self.sabath.run("verify"))

    def test_of_a_run(self):
        place(self.home / "run/metrics.jsonl", b"")
        for schema, hint in ((0, "no SABATH wrote that"), (-1, "no SABATH wrote that"), (2, "a later one")):
            place(self.home / "run/run.json", json.dumps({"schema": schema, "id": "x", "state": "finished"}).encode())
            self.told(self.sabath.run("report", "run"), 12, f"has schema {schema}, and this version reads 1", hint)

    def test_of_a_bundle(self):
        place(self.home / "origin/f.bin", b"x")
        self.fetched(f"file://{self.home}/origin/f.bin", 0)
        self.expect(self.sabath.run("export", "asset", "-o", "b.tar"))
        whole = (self.home / "b.tar").read_bytes()
        for version, says in ((b"0", "its version"), (b"2", "the bundle has version 2, and this program knows 1")):
            (self.home / "b.tar").write_bytes(whole.replace(b'"version":1', b'"version":' + version, 1))
            self.told(self.sabath.run("import", "b.tar", "--store", self.home / "other"), 12, says)


class Lists(Words):
    def test_a_scheme_once(self):
        lines = self.expect(self.sabath.run("fetchers")).lines[1:]
        schemes = [line.split()[0] for line in lines]
        self.assertEqual(len(schemes), len(set(schemes)))
        self.assertIn("http", schemes)
        (sftp,) = [line for line in lines if line.startswith("sftp ")]
        self.assertIn("sabath (or by `prefer`: rclone-sftp, scp)", sftp)
        checks = json.loads(self.sabath.run("doctor", "--json").out)["checks"]
        (built,) = [check["text"].split() for check in checks if check["name"] == "fetchers"]
        self.assertEqual(len(built), len(set(built)))

    def test_a_plan_without_a_network(self):
        url = "http://no-such-host.invalid/f.bin"
        self.sabath.add("asset", [fragment(url, name="a"), fragment(url, name="b", path="b", size=1000)])
        result = self.sabath.run("plan", "asset")
        self.told(result, 6, "asset: a: no source gives it now", "hint: check the host name and this machine's name service")
        self.assertEqual((result.out + result.err).count(url), 1, result)
        self.assertIn("1 file, 1.00 kB, and 1 file of unknown size", result.out)
        self.assertIn("(Could not resolve host: no-such-host.invalid)", result.out)
        self.assertEqual(result.lines[-1], "unknown whether it fits: not every source can be read now")

    def test_a_pin_of_another_name(self):
        place(self.home / "origin/f.bin", b"x" * 1000)
        for name in ("first", "second"):
            self.sabath.add(name, [fragment(f"file://{self.home}/origin/f.bin", name="f.bin")])
            self.fetch(name)
        self.expect(self.sabath.run("keep", "second"))
        out = self.expect(self.sabath.run("gc", "--older-than", "0s", "--dry-run")).out
        self.assertRegex(out, r"first .* stays: it is the content of second, which is kept\n")
        self.expect(self.sabath.run("keep", "first"))
        self.assertRegex(self.sabath.run("gc", "--older-than", "0s", "--dry-run").out, r"first .* stays: kept\n")


if __name__ == "__main__":
    enter_own_namespace()
    main()
