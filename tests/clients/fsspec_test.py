#!/usr/bin/python3
"""Today's pandas, pyarrow, zarr and xarray on an asset in packs, by `sabath://`."""

import pathlib
import sys

from support import clients
from support.case import SKIPPED, Case, main, place

TREE = pathlib.Path(__file__).resolve().parents[2]

MAKE = """
import pathlib, sys, warnings
import numpy, pandas, xarray
home = pathlib.Path(sys.argv[1])
frame = pandas.DataFrame({"x": [1, 2, 3], "y": [0.5, 0.25, 0.125]})
frame.to_csv(home / "table.csv", index=False)
(home / "parts").mkdir()
for number in range(3):
    frame.assign(n=number).to_parquet(home / f"parts/{number}.parquet")
grid = xarray.Dataset({"v": (("t", "x"), numpy.arange(2200.0).reshape(1100, 2))})
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of consolidated metadata, which zarr 3 has not settled
    grid.to_zarr(home / "grid.zarr", encoding={"v": {"chunks": (1, 2)}})
"""

READ = """
import json, os, sys, warnings
warnings.simplefilter("error")
import fsspec, pandas, pyarrow.dataset, pyarrow.parquet, xarray, zarr
import sabath, sabath.fsspec
out, told = {}, {"store": sys.argv[1], "recipes": [sys.argv[2]]}
system = fsspec.filesystem("sabath", **told)
out["csv"] = pandas.read_csv("sabath://climate/table.csv", storage_options=told).y.tolist()
out["parquet"] = pandas.read_parquet("sabath://climate/parts/2.parquet", storage_options=told).n.tolist()
out["table"] = pyarrow.parquet.read_table("climate/parts/0.parquet", filesystem=system)["y"].to_pylist()
rows = pyarrow.dataset.dataset("climate/parts", filesystem=system, format="parquet")
out["dataset"] = [rows.count_rows(), rows.to_table(filter=pyarrow.dataset.field("n") == 1)["x"].to_pylist()]
grid = xarray.open_zarr("sabath://climate/grid.zarr", storage_options=told)
out["xarray"] = [dict(grid.sizes), float(grid.v.sum()), float(grid.v[1099, 1])]
group = zarr.open_group("sabath://climate/grid.zarr", mode="r", storage_options=told)
out["zarr"] = [group["v"].shape, float(group["v"][700:702].sum())]
try:
    zarr.open_group("sabath://climate/new.zarr", mode="w", storage_options=told)
except sabath.UsageError as refused:
    out["write"] = refused.message
print(json.dumps(out))
"""


class Fsspec(Case):
    def test_of_an_asset_in_packs(self):
        origin = self.home / "origin"
        origin.mkdir()
        clients.run(MAKE, origin)
        names = sorted(str(path.relative_to(origin)) for path in origin.rglob("*") if path.is_file())
        place(origin / "list.txt", "".join(f"{name}\n" for name in names).encode())
        self.sabath.add("climate", [{"id": "all", "type": "file_list", "urls": [f"file://{origin}/list.txt"]}])
        asset = self.fetch("climate")
        self.assertTrue(asset["packed"])
        told = clients.told(READ, self.sabath.store, self.sabath.recipes, PYTHONPATH=str(TREE / "python"),
                            SABATH_LIBRARY=clients.LIBRARY, HOME=str(self.home))  # fmt: skip
        total = 2199 * 2200 / 2
        self.assertEqual(told["csv"], [0.5, 0.25, 0.125])
        self.assertEqual(told["parquet"], [2, 2, 2])
        self.assertEqual(told["table"], [0.5, 0.25, 0.125])
        self.assertEqual(told["dataset"], [9, [1, 2, 3]])
        self.assertEqual(told["xarray"], [{"t": 1100, "x": 2}, total, 2199])
        self.assertEqual(told["zarr"], [[1100, 2], 1400 + 1401 + 1402 + 1403])
        self.assertIn("read-only", told["write"])


if __name__ == "__main__":
    if why := clients.missing("fsspec", "pandas", "pyarrow", "xarray", "zarr") or clients.no_library():
        print(f"SKIP: {why}")
        sys.exit(SKIPPED)
    main()
