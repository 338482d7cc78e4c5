#!/usr/bin/python3
"""`report` of what trackers keep: whole, growing, torn, damaged, in several directories. tests/clients has the real ones."""

import csv
import io
import json
import math
import shutil

from support.case import Case, main, place
from support.trackers import add_rows, event, mlflow_database


class ReportTrackers(Case):
    def rows(self, path):
        done = self.expect(self.sabath.run("report", path, "--format", "csv"))
        return [(row["name"], int(row["step"] or -1), float(row["value"])) for row in csv.DictReader(io.StringIO(done.out))]

    def report(self, *paths):
        return json.loads(self.expect(self.sabath.run("report", *paths, "--json")).out)["runs"]

    def test_event_file(self):
        records = [event(1e9 + step, step, "loss", 2.0**-step) for step in range(5)]
        file = self.home / "logs/events.out.tfevents.1000000000.node"
        place(file, b"".join(records))
        expected = [("loss", step, 2.0**-step) for step in range(5)]
        self.assertEqual(self.rows(file.parent), expected)
        self.assertEqual(self.rows(file), expected)
        file.write_bytes(b"".join(records)[:-1])  # its writer is in the middle of a record
        self.assertEqual(self.rows(file), expected[:-1])
        place(self.home / "logs/events.out.tfevents.1000000009.node", records[4])  # began again
        self.assertEqual(self.rows(file.parent), expected)
        damaged = bytearray(b"".join(records))
        damaged[len(records[0]) + 20] ^= 1
        file.write_bytes(damaged)
        done = self.expect(self.sabath.run("report", file))
        self.assertIn(f"byte {len(records[0])}: a record is damaged", done.err)
        self.assertEqual(self.rows(file), [expected[0], *expected[2:]])
        self.assertEqual(self.sabath.run("report", self.home / "logs", "--expect", "min(loss)<=0.1").exit, 0)
        self.assertEqual(self.sabath.run("report", self.home / "logs", "--expect", "min(loss)<=0.01").exit, 7)

    def test_directories(self):
        for directory, value in (("a/train", 1), ("a/validation", 2), ("b", 3), ("b/below", 4)):
            place(self.home / "logs" / directory / "events.out.tfevents.1.x", event(1, 1, "loss", value))
        runs = {run["run"]: {m["name"]: m["last"] for m in run["metrics"]} for run in self.report(self.home / "logs")}
        self.assertEqual(runs, {"a": {"train/loss": 1, "validation/loss": 2}, "b": {"loss": 3, "below/loss": 4}})
        done = self.sabath.run("report", self.home / "recipes")
        self.assertEqual(done.exit, 3, done)
        self.assertIn("no tracker's files", done.err)

    def test_database(self):
        path = self.home / "mlflow.db"
        rows = [("r1", "loss", i / 7, 1000 * i, i, 0) for i in range(5000)] + [("r2", "acc", 0.0, 1, 3, 1)]
        database = mlflow_database(path, [("r1", "first"), ("r2", "second")], rows)
        self.addCleanup(database.close)
        database.execute("insert into params values ('lr', ?, 'r1')", ("x" * 7000,))  # longer than a page
        database.commit()
        expected = [("loss", i, i / 7) for i in range(5000)]
        self.assertEqual([run["run"] for run in self.report(path)], ["first", "second"])
        self.assertEqual(self.rows(path / "r1"), expected)
        self.assertTrue(math.isnan(self.rows(path / "r2")[0][2]))
        self.expect(self.sabath.run("report", path / "r1", "--format", "mlflow", "-o", self.home / "ml"))
        self.assertEqual([len(p.read_text()) for p in (self.home / "ml").glob("0/*/params/lr")], [500])
        # A write-ahead log: what was committed counts.
        database.execute("pragma journal_mode=wal")
        database.execute("pragma wal_autocheckpoint=0")
        add_rows(database, [("r1", "loss", -1.0, 1, 5000, 0)])
        database.execute("insert into metrics values ('loss', -2, 1, 'r1', 5001, 0)")
        self.assertEqual(self.rows(path / "r1"), expected + [("loss", 5000, -1.0)])
        shutil.copy(path, self.home / "copy.db")
        log = (self.home / "mlflow.db-wal").read_bytes()
        for size in range(0, len(log), max(512, len(log) // 12)):  # torn anywhere: the commit is there or not
            (self.home / "copy.db-wal").write_bytes(log[:size])
            self.assertIn(len(self.rows(self.home / "copy.db/r1")), (5000, 5001))
        self.assertEqual(self.sabath.run("report", path / "none").exit, 3)

    def test_database_in_change(self):
        path = self.home / "mlflow.db"
        database = mlflow_database(path, [("r", "n")], [("r", "loss", i, i, i, 0) for i in range(3000)])
        self.addCleanup(database.close)
        database.execute("pragma cache_size=5")
        database.execute("update metrics set value = -1")  # more than the cache holds: pages are written before the commit
        shutil.copy(path, self.home / "left.db")
        shutil.copy(f"{path}-journal", self.home / "left.db-journal")
        database.rollback()
        self.assertEqual(len(self.rows(path)), 3000)
        done = self.sabath.run("report", self.home / "left.db")
        self.assertEqual(done.exit, 12, done)
        self.assertIn("writer that died", done.err)

    def test_database_damaged(self):
        path = self.home / "mlflow.db"
        mlflow_database(path, [("r", "n")], [("r", "loss", i, i, i, 0) for i in range(300)]).close()
        whole = path.read_bytes()
        for at in list(range(16, 110, 7)) + list(range(4096, len(whole), max(1, len(whole) // 25))):
            damaged = bytearray(whole)
            damaged[at] ^= 0xFF
            path.write_bytes(damaged)
            self.assertIn(self.sabath.run("report", path).exit, (0, 3, 12), at)
        for size in range(0, len(whole), max(512, len(whole) // 20)):
            path.write_bytes(whole[:size])
            self.assertIn(self.sabath.run("report", path).exit, (0, 3, 12), size)


if __name__ == "__main__":
    main()
