#!/usr/bin/python3
"""Git LFS's batch API as documented (git-lfs, docs/api/batch.md): where the objects are, and by which headers they are had.

lfs_service.py PORT DIRECTORY BASE: on 127.0.0.1:PORT, as the server of /lab/r.git; DIRECTORY's files are the objects, by
their SHA-256, and BASE is the URL at which a web server has them. A live service was not at hand.
"""

import json
import pathlib
import sys
import threading

from support.spoken import Spoken

KIND = "application/vnd.git-lfs+json"
PATH = "/lab/r.git/info/lfs"


def answer(request, download_of):
    """The answer to one batch request; `download_of(oid)` is an object's action, or None: there is no such object."""
    asked = json.loads(request.content)
    assert (asked["operation"], asked["transfers"]) == ("download", ["basic"]), asked
    assert request.headers["Accept"] == request.headers["Content-Type"] == KIND
    said = []
    for one in asked["objects"]:
        action = download_of(one["oid"])
        more = {"actions": {"download": action}} if action else {"error": {"code": 404, "message": "no \u001b[31m such"}}
        said.append({**one, **more})
    return 200, {"Content-Type": KIND}, json.dumps({"transfer": "basic", "objects": said}).encode()


def main(port, directory, base):
    def download_of(oid):
        if not pathlib.Path(directory, oid).is_file():
            return None
        return {"href": f"{base}/{oid}", "header": {"X-Key": "k3y"}, "expires_in": 60}

    Spoken({f"{PATH}/objects/batch": lambda request: answer(request, download_of)}, int(port))
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
