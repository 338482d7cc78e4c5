#!/usr/bin/python3
"""libsabath.so in a Python that has an HDF5 of its own in use by eight threads: it fetches, inspects and is stopped, a
hundred times; nothing hangs, h5py's results are right, and what a process has is as before. Usage: guest_test.py LIBRARY
PROGRAM."""

import ctypes
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading

try:
    import h5py
    import numpy
    import torch
except ImportError as missing:
    print(f"SKIP: this Python has no {missing.name}")
    sys.exit(77)

ROUNDS, THREADS, SIZE = 100, 8, 3 << 20
Text, Pointer = ctypes.c_char_p, ctypes.c_void_p


class Door:
    def __init__(self, library):
        self.calls = calls = ctypes.CDLL(library)
        calls.sabath_open.restype = calls.sabath_call.restype = Pointer
        calls.sabath_open.argtypes = [Text, ctypes.POINTER(Pointer)]
        calls.sabath_call.argtypes = [Pointer, Text, Text, ctypes.POINTER(Pointer)]
        calls.sabath_stop.argtypes = calls.sabath_close.argtypes = calls.sabath_free.argtypes = [Pointer]

    def text(self, pointer):
        found = json.loads(ctypes.string_at(pointer))
        self.calls.sabath_free(pointer)
        return found

    def open(self, **settings):
        error = Pointer()
        session = self.calls.sabath_open(json.dumps(settings).encode(), ctypes.byref(error))
        assert session, self.text(error)
        return session

    def call(self, session, verb, **request):
        """The record, or what failed."""
        error = Pointer()
        record = self.calls.sabath_call(session, verb.encode(), json.dumps(request).encode(), ctypes.byref(error))
        return self.text(record) if record else self.text(error)


def what_a_process_has():
    mask = os.umask(0o077)
    os.umask(mask)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE)}
    return mask, handlers, signal.pthread_sigmask(signal.SIG_BLOCK, []), os.getcwd(), dict(os.environ)


class H5pyThreads:
    """Each writes and reads files of its own, as long as the library works."""

    def __init__(self, directory):
        self.directory, self.wrong, self.rounds, self.locked, self.done = directory, [], 0, 0, threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(THREADS)]

    def work(self, number):
        data = numpy.random.default_rng(number).random((64, 256))
        while not self.done.is_set():
            try:
                self.write_and_read(number, data)
            except BlockingIOError:  # for the moment in which a child begins, it holds what was locked here
                self.locked += 1
            except Exception as error:
                self.wrong.append((number, repr(error)))
            self.rounds += 1

    def write_and_read(self, number, data):
        with h5py.File(self.directory / f"own{number}.h5", "w") as file:
            file.create_dataset("x", data=data, compression="gzip", chunks=(16, 64))
        with h5py.File(self.directory / f"own{number}.h5") as file:
            total = torch.from_numpy(file["x"][...]).sum().item()
        if abs(total - data.sum()) > 1e-6:
            self.wrong.append((number, total))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()


def hear_and_let_go(door, directory):
    """Events come to the listener, and none after it was let go."""
    heard = []
    listener = ctypes.CFUNCTYPE(None, Pointer, Text)(lambda user, event: heard.append(json.loads(event)["event"]))
    door.calls.sabath_listen.argtypes = [Pointer, type(listener), Pointer]
    session = door.open(store=str(directory / "store0"), recipes=[str(directory / "recipes")])
    door.calls.sabath_listen(session, listener, None)
    assert door.call(session, "fetch", names=["data"], force=True)["exit"] == 0
    assert {"AssetStarted", "BytesReceived", "AssetFinished"} <= set(heard), set(heard)
    door.calls.sabath_listen(session, type(listener)(), None)
    heard.clear()
    assert door.call(session, "fetch", names=["data"], force=True)["exit"] == 0
    refused = door.call(session, "fetch", names=["data"], sample=1, keep_archives=True)["error"]
    assert refused["kind"] == "usage" and '"keep_archives"' in refused["message"], refused
    assert door.call(session, "fetch", nmes=["data"])["exit"] == 2 and heard == []
    door.calls.sabath_close(session)


def main(library, directory):
    (directory / "recipes/datasets").mkdir(parents=True)
    content = random.Random(1).randbytes(SIZE)
    (directory / "origin.bin").write_bytes(content)
    recipe = {"schema": 1, "kind": "dataset", "name": "data", "fragments": [
        {"id": "main", "type": "file", "urls": [f"file://{directory}/origin.bin"], "size": SIZE}]}  # fmt: skip
    (directory / "recipes/datasets/data.json").write_text(json.dumps(recipe))
    with h5py.File(directory / "seen.h5", "w") as file:
        file["a/b"] = numpy.arange(1000)
    before, door, stopped = what_a_process_has(), Door(library), 0
    with H5pyThreads(directory) as others:
        for number in range(ROUNDS):
            session = door.open(store=str(directory / f"store{number % 4}"), recipes=[str(directory / "recipes")])
            stopper = threading.Timer(random.Random(number).uniform(0, 0.05), door.calls.sabath_stop, [session])
            if number % 3 == 2:
                stopper.start()
            for verb, request in (("fetch", {"names": ["data"], "force": True}), ("hdf5 inspect", {"file": str(directory / "seen.h5")})):
                record = door.call(session, verb, **request)
                interrupted = record.get("error", {}).get("kind") == "interrupted" or record.get("exit") == 130
                assert record.get("exit") == 0 or (number % 3 == 2 and interrupted), (number, verb, record)
                stopped += interrupted
            stopper.cancel()
            if number % 3 == 2:
                stopper.join()  # it may be at the session just now
            door.calls.sabath_close(session)
    hear_and_let_go(door, directory)
    assert not others.wrong, others.wrong[:3]
    assert others.rounds > ROUNDS and others.locked < others.rounds / 2, (others.rounds, others.locked)
    assert what_a_process_has() == before
    print(f"{ROUNDS} rounds, {stopped} calls stopped, {others.rounds} files of h5py beside them, {others.locked} found locked")


if __name__ == "__main__":
    os.environ["SABATH_PROGRAM"] = sys.argv[2]
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(HOME=place, SABATH_CACHE=f"{place}/store")
        main(sys.argv[1], pathlib.Path(place))
