#!/usr/bin/python3
"""The shipped recipes say who, where from and under which terms, in shapes that others read: an id of their own, a
licence that SPDX lists or why none is known, creators and citation or why not, whole commits, hashes of their length,
ORCIDs and DOIs that can be, and URLs on hosts that are listed here. Usage: check_recipes.py TREE; --self-test.
Each finding is one line, FILE: what is wrong.
"""
import json
import pathlib
import re
import sys
import tempfile
import urllib.parse

# SPDX identifiers that recipes use; a new one is looked up at https://spdx.org/licenses/ and added.
SPDX = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "CC0-1.0", "MIT"}
# Hosts of bytes and code. A new host is a decision: who runs it, and for how long.
HOSTS = {"archive.ics.uci.edu", "data.mendeley.com", "dl.fbaipublicfiles.com", "ftp.mcs.anl.gov", "g-29c18.fd635.8443.data.globus.org",
         "github.com", "hchan.data.nst.anl.gov", "huggingface.co", "ossci-datasets.s3.amazonaws.com", "portal.nersc.gov",
         "raw.githubusercontent.com", "sciml-datasets", "yann.lecun.com", "zenodo.org"}
DIGITS = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
DOI = re.compile(r"10\.\d{4,9}/\S+")
FOLDERS = ("datasets", "models", "workflows")


def orcid_is_right(text):
    if not re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", text):
        return False
    total = 0
    for digit in text.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return text[-1] == ("X" if check == 10 else str(check))


def check_one(recipe, find):
    unknown = recipe.get("unknown") or {}
    for key in ("licence", "creators", "citation"):
        if not recipe.get(key) and not unknown.get(key):
            find(f'says neither "{key}" nor, under "unknown", why it is not known')
    if not recipe.get("id"):
        find('has no "id"')
    words = re.findall(r"[^\s()]+", recipe.get("licence") or "")
    for word in words:
        if word not in SPDX | {"AND", "OR", "WITH"}:
            find(f'licence "{word}" is not among those of SPDX that {pathlib.Path(__file__).name} lists')
    for party in [*(recipe.get("creators") or []), *filter(None, [recipe.get("submitter")])]:
        if party.get("orcid") and not orcid_is_right(party["orcid"]):
            find(f'ORCID "{party["orcid"]}" of {party["name"]} has a wrong check digit')
    if recipe.get("doi") and not DOI.fullmatch(recipe["doi"]):
        find(f'doi "{recipe["doi"]}" is none')
    for reference in recipe.get("references") or []:
        if "doi.org/" in reference and not DOI.fullmatch(reference.split("doi.org/", 1)[1]):
            find(f"reference {reference} has no DOI")
    for source in [*filter(None, [recipe.get("git")]), *(recipe.get("forks") or [])]:
        if source.get("commit") and not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", source["commit"]):
            find(f'commit "{source["commit"]}" is abbreviated')
        check_host(source["origin"], find)
    for fragment in recipe.get("fragments") or []:
        for name, value in (fragment.get("checksum") or {}).items():
            if value and not re.fullmatch(f"[0-9a-f]{{{DIGITS[name]}}}", value):
                find(f'{name} of "{fragment["id"]}" has not {DIGITS[name]} lower-case hexadecimal digits')
        for url in fragment["urls"]:
            check_host(url, find)
        stated = fragment.get("size") or fragment.get("checksum")
        if stated and not any(key.startswith("fragments") for key in recipe.get("read_from") or {}):
            find(f'a size or checksum of "{fragment["id"]}" names no page: add it to "read_from"')


def check_host(url, find):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "globus" and parts.hostname not in HOSTS:
        find(f"host {parts.hostname} is not among those that {pathlib.Path(__file__).name} lists")


def check(tree):
    findings, ids = [], {}
    for folder in FOLDERS:
        for file in sorted((tree / "recipes" / folder).glob("*.json")):
            path = file.relative_to(tree)
            recipe = json.loads(file.read_text(encoding="utf-8"))
            check_one(recipe, lambda message: findings.append(f"{path}: {message}"))
            if recipe.get("id") in ids:
                findings.append(f"{path}: id {recipe['id']} is that of {ids[recipe['id']]}")
            ids[recipe.get("id")] = path
    return findings


def self_test():
    good = {"name": "a", "id": "urn:x:1", "licence": "MIT", "creators": [{"name": "A", "orcid": "0000-0002-1825-0097"}], "citation": ["c"],
            "git": {"origin": "https://github.com/a/b", "commit": "0" * 40},
            "fragments": [{"id": "m", "urls": ["https://zenodo.org/f"], "checksum": {"md5": "0" * 32}}], "read_from": {"fragments": "https://a"}}
    bad = {"id": None, "licence": "Licence", "creators": [{"name": "A", "orcid": "0000-0002-1825-0098"}], "citation": [], "doi": "doi:10.1/a",
           "references": ["https://doi.org/a"], "git": {"origin": "https://example.org/a", "commit": "0" * 7},
           "fragments": [{"id": "m", "urls": ["https://zenodo.org/f"], "checksum": {"md5": "0" * 31}}], "read_from": {}}
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        (tree / "recipes/datasets").mkdir(parents=True)
        (tree / "recipes/datasets/a.json").write_text(json.dumps(good))
        assert check(tree) == [], check(tree)
        for key, value in bad.items():
            (tree / "recipes/datasets/a.json").write_text(json.dumps(good | {key: value}))
            assert check(tree), key
        for name in "ab":
            (tree / f"recipes/datasets/{name}.json").write_text(json.dumps(good))
        assert len(check(tree)) == 1


if sys.argv[1] == "--self-test":
    self_test()
    sys.exit(0)
found = check(pathlib.Path(sys.argv[1]))
print("\n".join([*found, f"check_recipes: {len(found)} findings"]))
sys.exit(1 if found else 0)
