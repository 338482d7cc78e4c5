#!/usr/bin/python3
"""An S3 server that verifies signatures: OpenStack Swift with its s3api, all parts in one process.

swift_server.py DIRECTORY PORT: serves from DIRECTORY on 127.0.0.1:PORT, with the objects in DIRECTORY/objects/BUCKET/KEY... put
there first, by a signer of its own. Keys: test:tester / testing. Buckets are hosts, too: BUCKET.localhost; a page
of a listing has three entries. An object whose key ends in ".parts" is put in two parts.
"""
import hashlib
import hmac
import os
import pathlib
import socket
import sys
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from xml.etree import ElementTree

import eventlet

eventlet.monkey_patch()
from eventlet import event, wsgi  # noqa: E402  the patch comes first
from swift.common import utils  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import loadapp  # noqa: E402

ACCESS_KEY, SECRET, REGION = "test:tester", "testing", "us-east-1"

SWIFT_CONF = """[swift-hash]
swift_hash_path_suffix = s
swift_hash_path_prefix = p
[storage-policy:0]
name = default
default = yes
"""
STORAGE_CONF = """[DEFAULT]
swift_dir = {directory}
devices = {directory}/devices
mount_check = false
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
conn_timeout = 30
node_timeout = 60
"""
PROXY_CONF = """[DEFAULT]
swift_dir = {directory}
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
# A busy machine is no failed one: by default half a second, ten, and ten errors.
conn_timeout = 30
node_timeout = 60
error_suppression_limit = 1000
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
s3_acl = no
location = us-east-1
check_bucket_owner = no
min_segment_size = 1
storage_domain = localhost
max_bucket_listing = 3
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
user_test_reader = reading
[filter:slo]
use = egg:swift#slo
"""


def listen(port=0):
    return eventlet.listen(("127.0.0.1", port), reuse_addr=True)


def make_ring(directory, name, port):
    builder = RingBuilder(4, 1, 1)
    builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d", "weight": 1,
                     "replication_ip": "127.0.0.1", "replication_port": port, "meta": ""})
    builder.rebalance()
    builder.get_ring().save(str(directory / f"{name}.ring.gz"))


class Quiet:
    def write(self, text):
        pass

    def flush(self):
        pass


class Cache:
    """The part of memcached that tempauth needs; one process needs no more."""

    def __init__(self):
        self.values = {}

    def get(self, key, *_, **__):
        return self.values.get(key)

    def set(self, key, value, *_, **__):
        self.values[key] = value

    def delete(self, key, *_, **__):
        self.values.pop(key, None)


CACHE = Cache()


def serve(sock, conf):
    app = loadapp(str(conf))

    def with_cache(environ, start_response):
        environ["swift.cache"] = CACHE
        return app(environ, start_response)

    eventlet.spawn(wsgi.server, sock, with_cache, log=Quiet(), log_output=False)


def encoded(text, safe=""):
    return urllib.parse.quote(text, safe="-._~" + safe)


def request(port, method, path, query=(), body=b""):
    """One signed request; the answer's body."""
    time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{time[:8]}/{REGION}/s3/aws4_request"
    headers = {"host": f"127.0.0.1:{port}", "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": time}
    fields = "&".join(f"{n}={v}" for n, v in sorted((encoded(n), encoded(v)) for n, v in query))
    names = ";".join(sorted(headers))
    canonical = "\n".join([method, encoded(path, "/"), fields] + [f"{n}:{headers[n]}" for n in sorted(headers)]
                          + ["", names, headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (*scope.split("/"),):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={names}, "
                                f"Signature={hmac.new(key, text.encode(), hashlib.sha256).hexdigest()}")
    headers["Content-Type"] = "application/octet-stream"
    url = f"http://127.0.0.1:{port}{encoded(path, '/')}" + ("?" + fields if fields else "")
    with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers, method=method)) as answer:
        return answer.read(), answer.headers


def put_in_parts(port, path, data):
    upload = ElementTree.fromstring(request(port, "POST", path, [("uploads", "")])[0]).findtext("{*}UploadId")
    parts = ""
    for number, part in enumerate((data[:len(data) // 2], data[len(data) // 2:]), 1):
        query = [("partNumber", str(number)), ("uploadId", upload)]
        etag = request(port, "PUT", path, query, part)[1]["ETag"]
        parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    request(port, "POST", path, [("uploadId", upload)], body)


def put_objects(port, objects):
    for bucket in sorted(objects.iterdir()):
        request(port, "PUT", f"/{bucket.name}")
        for file in sorted(p for p in bucket.rglob("*") if p.is_file()):
            path = f"/{bucket.name}/{file.relative_to(bucket)}"
            if file.name.endswith(".parts"):
                put_in_parts(port, path, file.read_bytes())
            else:
                request(port, "PUT", path, body=file.read_bytes())


def main():
    directory, port = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    (directory / "devices/d").mkdir(parents=True, exist_ok=True)
    (directory / "swift.conf").write_text(SWIFT_CONF)
    utils.set_swift_dir(str(directory))
    for kind in ("account", "container", "object"):
        sock = listen()
        make_ring(directory, kind, sock.getsockname()[1])
        conf = directory / f"{kind}.conf"
        conf.write_text(STORAGE_CONF.format(directory=directory, kind=kind))
        serve(sock, conf)
    conf = directory / "proxy.conf"
    conf.write_text(PROXY_CONF.format(directory=directory))
    inner = listen()  # until everything is there, only we know this port
    serve(inner, conf)
    put_objects(inner.getsockname()[1], directory / "objects")
    serve(listen(port), conf)
    event.Event().wait()


if __name__ == "__main__":
    socket.setdefaulttimeout(300)  # a large object on a busy machine
    os.umask(0o22)
    main()
