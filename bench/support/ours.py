"""SABATH as one of the tools: its recipes, its command, its record. Nothing here knows what is inside."""
import json
import os
import subprocess

KEPT = ("trusted_by", "fetched_bytes", "reused_bytes", "seconds", "sources", "failures")
FAR_TOO_LONG_S = 600


class Sabath:
    def __init__(self, program, recipes):
        self.program, self.recipes = os.path.abspath(program), recipes
        (recipes / "datasets").mkdir(parents=True, exist_ok=True)

    def version(self):
        shown = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        return shown.stdout.splitlines()[0]

    def make_manifest(self, directory, out):
        """Hashes a directory; returns the manifest's root."""
        command = [self.program, "manifest", "create", directory, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=FAR_TOO_LONG_S)
        return done.stdout.strip()

    def write_recipe(self, name, fragment, manifest=None):
        recipe = {"schema": 1, "kind": "dataset", "name": name, "fragments": [{"id": "main"} | fragment]}
        if manifest:
            recipe["manifest"] = {"digest": manifest[0], "urls": manifest[1]}
        (self.recipes / "datasets" / f"{name}.json").write_text(json.dumps(recipe), encoding="utf-8")

    def write_configuration(self, name, **keys):
        path = self.recipes / f"{name}.configuration"
        path.write_text(json.dumps(keys), encoding="utf-8")
        return path

    def command(self, *words):
        return ["env", f"SABATH_RECIPES={self.recipes}", self.program, *words]

    def fetch(self, name, store, *more):
        return self.command("fetch", name, "--store", store, "--json", "-q", *more)

    def view(self, name, store, to):
        """Where the files of a fetched asset stand: packed ones are written to a new directory first."""
        command = self.command("view", name, "--store", store, "--to", to)
        subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=FAR_TOO_LONG_S)
        return to

    def one_file(self, name, one, bases, *, pinned, store, more=()):
        """The command that fetches one file from servers, by the recipe's checksum or pinned."""
        fragment = {"type": "file", "path": "f", "urls": [f"{base}/{one.target}" for base in bases], "size": one.size}
        if pinned:
            self.write_recipe(name, fragment, (one.root, [f"{base}/{one.manifest_target}" for base in bases]))
        else:
            self.write_recipe(name, fragment | {"checksum": {"sha256": one.sha256}})
        return self.fetch(name, store, *more)

    def many_files(self, name, many, base, *, pinned, store):
        fragment = {"type": "file_list", "urls": [f"{base}/{many.list_target}"]}
        self.write_recipe(name, fragment, (many.root, [f"{base}/{many.manifest_target}"]) if pinned else None)
        return self.fetch(name, store)


def read_record(path):
    """The asset of a record that `fetch --json` printed; {} if there is none."""
    try:
        with open(path, encoding="utf-8") as text:
            asset = json.load(text)["assets"][0]
        return asset if asset["path"] else asset | {"path": ""}
    except (OSError, ValueError, LookupError):
        return {}


def figures(record):
    """What of a record goes into the results."""
    return {key: record.get(key) for key in KEPT}
