"""Globus's Transfer API (v0.10) as documented, strictly: tokens, consents, submission identifiers that stand for one
transfer each, tasks that go from ACTIVE to their end. It moves real files between directories that stand for collections.
The live service is not at hand; what this does not do as that does is not known."""
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse
import uuid

TRANSFER_KEYS = {"DATA_TYPE", "submission_id", "source_endpoint", "destination_endpoint", "label", "verify_checksum",
                 "fail_on_quota_errors", "skip_source_errors", "DATA"}
ITEM_KEYS = {"DATA_TYPE", "source_path", "destination_path", "recursive"}


class Refused(Exception):
    def __init__(self, status, code, message, **more):
        super().__init__(code)
        self.status, self.body = status, {"code": code, "message": message, "request_id": "abcdef123", **more}


class Collection:
    def __init__(self, root, https_server=None):
        self.root, self.https_server = pathlib.Path(root), https_server
        self.consent = self.readable = True

    def place(self, path):
        parts = [part for part in path.split("/") if part not in ("", "~")]
        if not path.startswith("/") or ".." in parts:
            raise Refused(400, "BadRequest", "path")
        return self.root.joinpath(*parts)


class Task:
    """Each look at it is a step: half of the file, all of it, success. `held` keeps it where it is."""

    def __init__(self, source, target, document):
        self.id, self.source, self.target, self.document = str(uuid.uuid4()), source, target, document
        self.status, self.looks, self.moved = "ACTIVE", 0, 0


class GlobusService:
    def __init__(self, token, port=0, collections=None):
        self.token, self.collections, self.lock = token, collections or {}, threading.RLock()
        self.issued, self.tasks, self.requests = {}, {}, []
        self.held = threading.Event()  # set: tasks stay as they are
        self.fate = "SUCCEEDED"        # what becomes of tasks
        self.busy = 0                  # this number of the next requests for a task get a 429
        self.page_entries = 100_000
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                service.answer(self, b"")

            def do_POST(self):
                service.answer(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def add(self, root, https_server=None, identifier=None):
        identifier = identifier or str(uuid.uuid4())
        self.collections[identifier] = Collection(root, https_server)
        return identifier

    def calls(self, word):
        return [path for method, path in self.requests if word in f"{method} {path}"]

    def answer(self, handler, body):
        with self.lock:
            self.requests.append((handler.command, handler.path))
            try:
                if handler.headers.get("Authorization") != f"Bearer {self.token}":
                    raise Refused(401, "AuthenticationFailed", "Token is not active")
                status, said = self.route(handler.command, handler.path, body)
            except Refused as refused:
                status, said = refused.status, refused.body
        text = json.dumps(said).encode()
        handler.send_response(status)
        if status == 429:
            handler.send_header("Retry-After", "0")
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def route(self, method, target, body):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query, strict_parsing=True)) if query else {}
        match method, *path.split("/")[1:]:
            case "GET", "v0.10", "endpoint", identifier:
                server = self.collection(identifier).https_server
                return 200, {"DATA_TYPE": "endpoint", "id": identifier, "https_server": server}
            case "GET", "v0.10", "operation", "endpoint", identifier, "stat":
                return 200, self.facts(self.open(identifier).place(query["path"]))
            case "GET", "v0.10", "operation", "endpoint", identifier, "ls":
                return 200, self.listing(self.open(identifier), query)
            case "GET", "v0.10", "submission_id":
                identifier = str(uuid.uuid4())
                self.issued[identifier] = None
                return 200, {"DATA_TYPE": "submission_id", "value": identifier}
            case "POST", "v0.10", "transfer":
                return self.submit(json.loads(body))
            case "GET", "v0.10", "task", identifier:
                return 200, self.look(self.tasks[identifier])
            case "POST", "v0.10", "task", identifier, "cancel":
                self.tasks[identifier].status = "FAILED"
                return 200, {"DATA_TYPE": "result", "code": "Canceled"}
        raise Refused(404, "ClientError.NotFound", "no such resource")

    def collection(self, identifier):
        if identifier not in self.collections:
            raise Refused(404, "EndpointNotFound", "No such endpoint")
        return self.collections[identifier]

    def open(self, identifier):
        collection = self.collection(identifier)
        if not collection.consent:
            scope = f"urn:globus:auth:scope:transfer.api.globus.org:all[*https://auth.globus.org/scopes/{identifier}/data_access]"
            raise Refused(403, "ConsentRequired", "Missing required data_access consent", required_scopes=[scope])
        if not collection.readable:
            raise Refused(403, "PermissionDenied", "Path not allowed\u001b[31m")
        return collection

    @staticmethod
    def facts(path):
        if not path.exists():
            raise Refused(404, "ClientError.NotFound", "Path not found")
        status = path.stat()
        return {"DATA_TYPE": "file", "name": path.name, "type": "dir" if path.is_dir() else "file", "size": status.st_size,
                "last_modified": f"{status.st_mtime_ns}", "link_target": None, "permissions": "0644"}

    def listing(self, collection, query):
        directory = collection.place(query["path"])
        if not directory.is_dir():
            raise Refused(404, "ClientError.NotFound", "Directory not found")
        names = sorted(directory.iterdir())
        begin = int(query["offset"])
        end = begin + min(int(query["limit"]), self.page_entries)
        return {"DATA_TYPE": "file_list", "path": query["path"], "DATA": [self.facts(name) for name in names[begin:end]],
                "has_next_page": end < len(names)}

    def submit(self, document):
        if document.get("DATA_TYPE") != "transfer" or set(document) != TRANSFER_KEYS or len(document["DATA"]) != 1:
            raise Refused(400, "BadRequest", "not a transfer document")
        (item,) = document["DATA"]
        if item.get("DATA_TYPE") != "transfer_item" or set(item) != ITEM_KEYS or item["recursive"]:
            raise Refused(400, "BadRequest", "not a transfer item")
        submission = document["submission_id"]
        if submission not in self.issued:
            raise Refused(400, "BadRequest", "this submission id was never given")
        earlier = self.issued[submission]
        if earlier is not None:
            if earlier.document != document:
                raise Refused(400, "BadRequest", "this submission id stands for another transfer")
            return 200, {"DATA_TYPE": "transfer_result", "code": "Duplicate", "task_id": earlier.id,
                         "submission_id": submission}
        source = self.open(document["source_endpoint"]).place(item["source_path"])
        target = self.open(document["destination_endpoint"]).place(item["destination_path"])
        self.facts(source)
        task = self.issued[submission] = Task(source, target, document)
        self.tasks[task.id] = task
        return 202, {"DATA_TYPE": "transfer_result", "code": "Accepted", "task_id": task.id, "submission_id": submission}

    def look(self, task):
        if self.busy:
            self.busy -= 1
            raise Refused(429, "TooManyRequests", "slow down")
        trouble = {}
        if task.status == "ACTIVE" and not self.held.is_set():
            task.looks += 1
            content = task.source.read_bytes()
            if self.fate == "PERMISSION_DENIED":  # Globus goes on trying
                trouble = {"nice_status": "PERMISSION_DENIED", "nice_status_short_description": "permission denied"}
            elif task.looks == 1:
                task.moved = len(content) // 2
                task.target.write_bytes(content[:task.moved])  # under its final name, as Globus does
            elif self.fate == "SUCCEEDED":
                task.moved, task.status = len(content), "SUCCEEDED"
                task.target.write_bytes(content)
            else:
                task.status = self.fate
        if task.status == "FAILED":
            trouble = {"fatal_error": {"code": "ENDPOINT_ERROR", "description": "the disk is \u001b[31mbroken"}}
        if task.status == "INACTIVE":
            trouble = {"nice_status": "EXPIRED", "nice_status_short_description": "credentials have expired"}
        return {"DATA_TYPE": "task", "task_id": task.id, "status": task.status, "files": 1, "faults": 0,
                "files_transferred": int(task.status == "SUCCEEDED"), "bytes_transferred": task.moved,
                "nice_status": None, "nice_status_short_description": None, "fatal_error": None, **trouble}


def main(port, root, https_server):
    """One collection with an HTTPS server, for the contract suite."""
    GlobusService("AgContract", int(port), {"0b226e2c-4de0-11ea-971a-021304b0cca7": Collection(root, https_server)})
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
