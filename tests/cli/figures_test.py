#!/usr/bin/python3
"""Figures of `report`, by the geometry of their SVG: texts stay apart and on the paper, and nothing is dropped silently."""

import itertools
import json
import re
import xml.etree.ElementTree as ET

from support.case import Case, main

SVG = "{http://www.w3.org/2000/svg}"
# Of a font size, in DejaVu Sans: the widest of those that a figure names.
WIDE = {"W": 0.99, "m": 0.98, "w": 0.82, "…": 1.0, "_": 0.5, " ": 0.32, ",": 0.32, ".": 0.32, "i": 0.28, "l": 0.28, "-": 0.36}
LETTER = 0.6


class Figures(Case):
    def make(self, name, metrics, epochs=6, **record):
        run = self.home / name
        (run / "output").mkdir(parents=True)
        (run / "run.json").write_text(json.dumps({"schema": 1, "id": name, "state": "finished", "started": 1.8e9, **record}))
        lines = [{"time": None, "epoch": epoch + 1, "step": None, "rank": None, "name": metric, "value": value(epoch)}
                 for metric, value in metrics.items() for epoch in range(epochs)]  # fmt: skip
        (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return run

    def figure(self, *runs):
        return ET.fromstring(self.expect(self.sabath.run("report", *runs, "--format", "svg")).out)

    def boxes(self, svg):
        """(left, top, right, bottom, what) of each text, and of each line in the legend."""
        found = []
        for text in svg.iter(f"{SVG}text"):
            size = float(text.get("font-size", svg.get("font-size")))
            width = size * sum(WIDE.get(c, LETTER) for c in text.text) * (1.1 if text.get("font-weight") else 1)
            x, y = float(text.get("x")), float(text.get("y"))
            left = x - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
            box = (left, y - 0.75 * size, left + width, y + 0.2 * size)
            if "rotate" in text.get("transform", ""):
                box = (x - size, y - width / 2, x + size / 2, y + width / 2)
            found.append((*box, text.text))
        legend = svg.find(f"{SVG}g[@class='legend']")
        for line in legend.iter(f"{SVG}line"):
            found.append((*(float(line.get(key)) for key in ("x1", "y1", "x2", "y2")), "a line of the legend"))
        return found

    def expect_apart(self, svg):
        width, height = float(svg.get("width")), float(svg.get("height"))
        boxes = self.boxes(svg)
        for left, top, right, bottom, what in boxes:
            self.assertTrue(left >= 0 and top >= 0 and right <= width and bottom <= height, f"{what} leaves the paper")
        for one, other in itertools.combinations(boxes, 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            self.assertTrue(apart, f"{one} and {other}")

    def expect_told(self, svg, names, of):
        """Each has a curve, or is named in the legend or counted there."""
        drawn = {curve.get(of) for curve in svg.iter(f"{SVG}g") if curve.get("class") == "curve"}
        legend = " ".join(svg.find(f"{SVG}g[@class='legend']").itertext())
        silent = [name for name in names if name not in drawn and name not in legend]
        runs = re.search(r"(\d+) runs? not drawn", legend)  # of which some are named
        counted = int(runs.group(1)) if runs and of == "data-run" else sum(map(int, re.findall(r"and (\d+) more", legend)))
        self.assertLessEqual(len(silent), counted, (silent, legend))

    def test_names_of_any_length_stay_apart(self):
        usual = {"loss": lambda i: 1 / (i + 1), "val_loss": lambda i: 2 / (i + 1), "epoch_time": lambda i: 10 + i % 3}
        machine = {"node": "n" * 60, "cpu": "m" * 80}
        for names in (
            [f"run_cosmoflow_cosmoUniverse_2019_05_4parE_tf_v2_mini_{i:06x}" for i in range(10)],
            [f"{'W' * 60}{i}" for i in range(3)],
            [f"{'same_front_' * 9}{i}{'_same_tail' * 9}" for i in range(10)],
            [f"lr={lr}" for lr in (0.1, 0.01, 0.001)],
            ["w" * 120],
        ):
            runs = [self.make(f"{len(names)}/{name}", usual, machine=machine, ranks=64, nodes=8,
                              recipe={"name": "m" * 120, "version": None, "digest": None}) for name in names]  # fmt: skip
            with self.subTest(names[0]):
                svg = self.figure(*runs)
                self.expect_apart(svg)
                self.expect_told(svg, names, "data-run")
                legend = [text.text for text in svg.find(f"{SVG}g[@class='legend']").iter(f"{SVG}text")]
                self.assertEqual(len(legend), len(set(legend)), "two entries look the same")

    def test_many_metrics_and_large_values(self):
        layers = {f"val_conv2d_{i}_kernel_regularisation_loss": lambda i: 1 / (i + 1) for i in range(30)}
        run = self.make("many", {**layers, "loss": lambda i: 3 - i / 9, "accuracy": lambda i: i / 9})
        svg = self.figure(run)
        self.expect_apart(svg)
        self.expect_told(svg, [*layers, "loss", "accuracy"], "data-metric")
        self.expect_apart(self.figure(self.make("large", {"loss": lambda i: 1.25e8 + i, "epoch_time": lambda i: 123456.5 + i})))

    def test_a_run_that_diverged(self):
        well = [self.make(f"well-{i}", {"loss": lambda epoch: 0.9 / (epoch + 1)}) for i in range(2)]
        svg = self.figure(*well, self.make("diverged", {"loss": lambda epoch: 0.7 * 10 ** (50 * epoch)}))
        self.expect_apart(svg)
        axes = svg.find(f"{SVG}g[@class='axes']")
        for curve in svg.iter(f"{SVG}g"):
            if curve.get("class") == "curve" and curve.get("data-run").startswith("well"):
                heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", curve.find(f"{SVG}path").get("d"))]
                self.assertGreater(max(heights) - min(heights), 0.5 * float(axes.get("data-height")))
        self.assertIn("loss of diverged to 7e+249", " ".join(svg.itertext()))

    def test_the_training_loss_stands_beside_its_validation(self):
        values = {name: (lambda i: 1 / (i + 1)) for name in ("mae", "loss", "val_mae", "val_loss")}
        svg = self.figure(self.make("a", values), self.make("b", values))
        drawn = {curve.get("data-metric") for curve in svg.iter(f"{SVG}g") if curve.get("class") == "curve"}
        self.assertEqual(drawn, {"loss", "val_loss"})
        self.expect_told(svg, values, "data-metric")

    def test_text_names_what_it_leaves_out(self):
        run = self.make("many", {f"loss_{i:02}_{'x' * 40}{i}": lambda i: 1 for i in range(12)})
        text = self.expect(self.sabath.run("report", run)).out
        head = next(line for line in text.splitlines() if line.startswith("epoch")).split()
        self.assertEqual(len(head), len(set(head)), head)
        left_out = int(re.search(r"not shown: .*?(?: and (\d+) more)?; --metric", text).group(1) or 0)
        shown = {i for i in range(12) if f"loss_{i:02}" in text}
        self.assertEqual(len(shown) + left_out, 12, text)

    def test_values_of_no_epoch_are_shown(self):
        """As a graph that ONNX Runtime ran has them."""
        run = self.make("graph", {})
        values = {"latency_seconds": 0.0125, "samples_per_second": 80}
        (run / "metrics.jsonl").write_text("".join(
            json.dumps({"time": None, "epoch": None, "step": None, "rank": None, "name": name, "value": value}) + "\n"
            for name, value in values.items()))  # fmt: skip
        text = self.expect(self.sabath.run("report", run)).out
        self.assertRegex(text, r"(?m)^ +latency_seconds +0\.0125$")
        self.assertRegex(text, r"(?m)^ +samples_per_second +80$")
        self.assertNotIn("no metric", text)


if __name__ == "__main__":
    main()
