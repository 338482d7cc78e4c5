"""Every format by which a source says what it holds, as one server that says what a test wants.

A format is a function of a World and names, as bytes: it has the world's server list them, and returns the URL that stands for
the list. Every path that is asked for and not spoken of is DATA, so that a name that is believed is also written.
"""
import hashlib
import json
import pathlib
import socket
import threading
from xml.sax.saxutils import escape

from support.certificate import Certificate
from support.spoken import Spoken

DATA = b"canary\n"
SHA256, MD5 = hashlib.sha256(DATA).hexdigest(), hashlib.md5(DATA).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
COLLECTION = "0b226e2c-4de0-11ea-971a-021304b0cca7"
TOKEN = "AgTransferToken123"
REWRITTEN = ("zenodo.org", "doi.org", "api.figshare.com", "dataverse.example")
FORMATS = {}


def lists(function):
    FORMATS[function.__name__] = function
    return function


class Ftp:
    """One directory, whose lines are said as they are; any file is DATA. `facts`: it knows MLSD."""

    def __init__(self):
        self.text, self.facts = b"", True
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, path):
        return f"ftp://127.0.0.1:{self.listener.getsockname()[1]}{path}"

    def stop(self):
        self.listener.close()

    def accept(self):
        try:
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()
        except OSError:
            pass  # closed

    def serve(self, control):
        try:
            with control, control.makefile("rb") as lines:
                self.speak(control, lines)
        except OSError:
            pass  # the client has left

    def speak(self, control, lines):
        control.sendall(b"220 here\r\n")
        offset = 0
        with socket.create_server(("127.0.0.1", 0)) as passive:
            for line in lines:
                word, _, argument = line.decode("latin-1").strip().partition(" ")
                answer = {"USER": "331 go on", "PASS": "230 in", "PWD": '257 "/"', "CWD": "250 there", "TYPE": "200 so be it",
                          "SIZE": f"213 {len(DATA)}", "MDTM": "213 20260101000000", "QUIT": "221 bye",
                          "EPSV": f"229 here (|||{passive.getsockname()[1]}|)"}.get(word, "502 unknown")
                if word == "REST":
                    offset, answer = int(argument), "350 from there"
                elif word in ("RETR", "MLSD" if self.facts else "LIST"):
                    control.sendall(b"150 it comes\r\n")
                    with passive.accept()[0] as channel:
                        channel.sendall(DATA[offset:] if word == "RETR" else self.text)
                    offset, answer = 0, "226 done"
                control.sendall(answer.encode() + b"\r\n")


class World:
    """The servers, and what a user's configuration must say to meet them."""

    def __init__(self, directory):
        self.web, self.ftp = Spoken({"*": DATA}), Ftp()
        self.token = pathlib.Path(directory) / "token"
        self.token.write_text(TOKEN)
        self.token.chmod(0o600)
        api = self.web.url("v0.10")
        self.config = {
            "rewrites": [{"from": f"https://{host}/", "to": self.web.url(host + "/")} for host in REWRITTEN],
            "globus": {"api": api}, "tokens": [{"origin": self.origin, "file": str(self.token)}]}
        self.collection = None
        self.variables = {"AWS_ENDPOINT_URL_S3": self.origin, "HF_ENDPOINT": self.origin}

    @property
    def origin(self):
        return self.web.url().rstrip("/")

    def collection_server(self):
        """Where Globus has its files read: it is believed by https only."""
        if self.collection is None:
            certificate = Certificate(self.token.parent, "127.0.0.1")
            self.config["ca_file"] = str(certificate.file)
            self.collection = Spoken({"*": DATA}, certificate=certificate)
        return self.collection.url().rstrip("/")

    def stop(self):
        for server in (self.web, self.ftp, self.collection):
            if server is not None:
                server.stop()

    def say(self, path, body, kind="application/json", status=200, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.web.table[path] = (status, {"Content-Type": kind, **headers}, body)


def text(name):
    """For JSON: what is no UTF-8 becomes half a surrogate, which is no text either."""
    return name.decode("utf-8", "surrogateescape")


def xml(name):
    return escape(text(name), {'"': "&quot;"}).encode("utf-8", "surrogateescape")


def encoded(name):
    """Each byte of it percent-encoded, so that no byte means anything to a URL."""
    return "".join(f"%{byte:02X}" for byte in name).encode()


# --- directories --------------------------------------------------------------------------------------------------
def html(world, hrefs):
    page = b"<html><a href='../'>up</a>" + b"".join(b'<a href="%s">x</a>\n' % xml(href) for href in hrefs)
    world.say("/d/", page, "text/html")
    return world.web.url("d/")


@lists
def html_links(world, names):
    return html(world, names)


@lists
def html_encoded(world, names):
    return html(world, map(encoded, names))


@lists
def json_index(world, names):
    world.say("/d/", [{"name": text(name), "type": "file", "size": len(DATA)} for name in names])
    return world.web.url("d/")


def webdav(world, hrefs):
    entry = b"<D:response><D:href>%s</D:href><D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    page = b"<D:multistatus xmlns:D='DAV:'>" + b"".join(entry % xml(href) for href in hrefs) + b"</D:multistatus>"
    world.say("PROPFIND /d/", page, "application/xml", 207)
    return world.web.url("d/").replace("http:", "dav:")


@lists
def webdav_links(world, names):
    return webdav(world, [b"/d/" + name for name in names])


@lists
def webdav_encoded(world, names):
    return webdav(world, [b"/d/" + encoded(name) for name in names])


def ftp(world, facts, line, names):
    world.ftp.facts, world.ftp.text = facts, b"".join(line + name + b"\r\n" for name in names)
    return world.ftp.url("/d/")


@lists
def ftp_mlsd(world, names):
    return ftp(world, True, b"type=file;size=%d; " % len(DATA), names)


@lists
def ftp_list_unix(world, names):
    return ftp(world, False, b"-rw-r--r--    1 ftp      ftp  %d Jan 01  2020 " % len(DATA), names)


@lists
def ftp_list_dos(world, names):
    return ftp(world, False, b"01-02-20  01:00AM  %d " % len(DATA), names)


@lists
def globus_ls(world, names):
    entries = [{"DATA_TYPE": "file", "name": text(name), "type": "file", "size": len(DATA)} for name in names]
    world.say(f"/v0.10/operation/endpoint/{COLLECTION}/ls", {"DATA": entries, "has_next_page": False})
    world.say(f"/v0.10/endpoint/{COLLECTION}", {"https_server": world.collection_server()})
    return f"globus://{COLLECTION}/d/"


# --- buckets and hubs -----------------------------------------------------------------------------------------------
def bucket(world, keys, more=b""):
    entries = b"".join(b"<Contents><Key>%s</Key><Size>%d</Size></Contents>" % (key, len(DATA)) for key in keys)
    world.web.table["/bkt"] = world.web.table["/bkt/"] = b"<ListBucketResult>" + more + entries + b"</ListBucketResult>"
    return "s3://bkt/run/"


@lists
def s3_plain(world, names):
    return bucket(world, [b"run/" + xml(name) for name in names])


@lists
def s3_encoded(world, names):
    return bucket(world, [b"run/" + encoded(name) for name in names], b"<EncodingType>url</EncodingType>")


def hub(world, paths, url):
    world.say("/api/datasets/Lab/set", {"sha": COMMIT})
    entries = [{"type": "file", "size": len(DATA), "path": text(path), "lfs": {"oid": SHA256, "size": len(DATA)}} for path in paths]
    for tree in ("", "/d"):
        world.say(f"/api/datasets/Lab/set/tree/{COMMIT}{tree}", entries)
    return url


@lists
def hf_top(world, names):
    return hub(world, names, "hf://datasets/Lab/set")


@lists
def hf_directory(world, names):
    return hub(world, [b"d/" + name for name in names], "hf://datasets/Lab/set/d/")


@lists
def oci_titles(world, names):
    layers = [{"digest": "sha256:" + SHA256, "size": len(DATA), "annotations": {"org.opencontainers.image.title": text(name)}}
              for name in names]
    world.say("/v2/", {})
    world.say("/v2/lab/x/manifests/v1", {"schemaVersion": 2, "layers": layers})
    return world.web.url("lab/x:v1").replace("http:", "oci:")


# --- records of repositories ------------------------------------------------------------------------------------------
@lists
def zenodo(world, names, url="https://zenodo.org/content"):
    files = [{"key": text(name), "size": len(DATA), "checksum": "md5:" + MD5, "links": {"self": url}} for name in names]
    world.say("/zenodo.org/api/records/123", {"id": 123, "files": files})
    return "zenodo:123"


@lists
def figshare(world, names, url="https://api.figshare.com/content"):
    files = [{"name": text(name), "size": len(DATA), "computed_md5": MD5, "download_url": url} for name in names]
    world.say("/api.figshare.com/v2/articles/77", {"doi": "10.6084/x", "files": files})
    world.say("/doi.org/10.6084/x", {"url": "https://figshare.com/articles/dataset/T/77"})
    return "doi:10.6084/x"


def dataverse(world, entries):
    file = {"id": 7, "filename": "x", "filesize": len(DATA), "checksum": {"type": "MD5", "value": MD5}}
    files = [{**entry, "dataFile": {**file, **entry.get("dataFile", {})}} for entry in entries]
    world.say("/dataverse.example/api/datasets/:persistentId/versions/:latest-published", {"data": {"files": files}})
    world.say("/doi.org/10.7910/x", {"url": "https://dataverse.example/dataset.xhtml?persistentId=doi:10.7910/x"})
    return "doi:10.7910/x"


@lists
def dataverse_label(world, names):
    return dataverse(world, [{"label": text(name)} for name in names])


@lists
def dataverse_original(world, names):
    original = {"originalFileFormat": "text/csv", "originalFileSize": len(DATA)}
    return dataverse(world, [{"label": "x", "dataFile": {**original, "originalFileName": text(name)}} for name in names])


@lists
def dataverse_directory(world, names):
    return dataverse(world, [{"label": "f", "directoryLabel": text(name)} for name in names])


# --- lists and bags -------------------------------------------------------------------------------------------------
@lists
def list_of_paths(world, names):
    world.say("/d/list.txt", b"".join(name + b"\n" for name in names), "text/plain")
    return world.web.url("d/list.txt")


@lists
def list_of_urls(world, names):
    world.say("/d/list.txt", b"".join(world.web.url("d/").encode() + name + b"\n" for name in names), "text/plain")
    return world.web.url("d/list.txt")


def metalink(world, names, url=None):
    url = xml((world.web.url("content") if url is None else url).encode())
    file = b'<file name="%s"><size>%d</size><hash type="sha-256">%s</hash><url>%s</url></file>'
    files = b"".join(file % (xml(name), len(DATA), SHA256.encode(), url) for name in names)
    world.say("/d/list.meta4", b'<metalink xmlns="urn:ietf:params:xml:ns:metalink">' + files + b"</metalink>",
              "application/metalink4+xml")
    return world.web.url("d/list.meta4")


@lists
def metalink_list(world, names, url=None):
    return metalink(world, names, url)


@lists
def metalink_described(world, names, url=None):
    link = f'<{metalink(world, names, url)}>; rel=describedby; type="application/metalink4+xml"'
    world.say("/d/f", DATA, "x/y", Link=link)
    return "metalink+" + world.web.url("d/f")


@lists
def metalink_references(world, names):
    """Control characters as references, which XML 1.0 has no more than the characters."""
    url = metalink(world, [b"N%d" % number for number in range(len(names))])
    status, headers, page = world.web.table["/d/list.meta4"]
    for number, name in enumerate(names):
        written = b"".join(b"&#x%x;" % byte if byte < 0x20 else xml(bytes([byte])) for byte in name)
        page = page.replace(b'"N%d"' % number, b'"' + written + b'"')
    world.web.table["/d/list.meta4"] = (status, headers, page)
    return url


def bag(world, manifest, tags=(), fetches=b""):
    def lines(names):
        written = (name.replace(b"%", b"%25").replace(b"\n", b"%0A").replace(b"\r", b"%0D") for name in names)
        return b"".join(SHA256.encode() + b"  " + name + b"\n" for name in written)

    world.say("/bag/bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n", "text/plain")
    others = [f"{kind}-{algorithm}.txt" for kind in ("manifest", "tagmanifest") for algorithm in ("sha512", "sha384", "sha224", "sha1", "md5")]
    for name in (*others, "bag-info.txt"):
        world.say("/bag/" + name, b"", "text/plain", 404)
    world.say("/bag/manifest-sha256.txt", lines(manifest), "text/plain")
    world.say("/bag/tagmanifest-sha256.txt", lines(tags), "text/plain", 200 if tags else 404)
    world.say("/bag/fetch.txt", fetches, "text/plain", 200 if fetches else 404)
    return world.web.url("bag/bagit.txt")


@lists
def bag_manifest(world, names):
    return bag(world, [b"data/" + name for name in names])


@lists
def bag_tags(world, names):
    return bag(world, [b"data/f"], names)


@lists
def bag_fetch(world, names, url=None):
    url = (world.web.url("content") if url is None else url).encode()
    return bag(world, [b"data/" + name for name in names],
               fetches=b"".join(url + b" %d data/" % len(DATA) + name.replace(b"%", b"%25") + b"\n" for name in names))


@lists
def bag_fetch_alone(world, names):
    """The manifest knows the first of them only: nothing else may be in fetch.txt."""
    url = world.web.url("content").encode()
    return bag(world, [b"data/" + names[0]], fetches=b"".join(url + b" - data/" + name + b"\n" for name in names))
