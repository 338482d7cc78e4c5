#!/usr/bin/python3
"""Documents that SABATH wrote, as other programs read them. Usage: documents_check.py DIR, with files NAME@FORMAT.

Each JSON-LD document is expanded by pyld and by rdflib, without any network: both must find the same graph. The document
of `full`, whose recipe the C++ test has, is also looked at fact by fact. Exit code 77: a package is missing.
"""
import json
import pathlib
import re
import sys

try:
    import rdflib
    import rdflib.compare
    from pyld import jsonld
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)

SCHEMA = rdflib.Namespace("https://schema.org/")
HPC = rdflib.Namespace("https://hpc-fair.github.io/ontology#")
SABATH = rdflib.Namespace("https://sabath.example/terms#")
DCTERMS = rdflib.DCTERMS
PROV = rdflib.Namespace("http://www.w3.org/ns/prov#")
CR = rdflib.Namespace("http://mlcommons.org/croissant/")
# Remote contexts that documents name; readers have them built in, as this test has.
KNOWN_CONTEXTS = {"https://schema.org/": {"@vocab": "https://schema.org/"},
                  "https://w3id.org/ro/crate/1.2/context": {"@vocab": "http://schema.org/", "conformsTo": "http://purl.org/dc/terms/conformsTo"}}
BASE = "https://base.example/"  # Croissant and RO-Crate name their parts relative to the document
LISTED = {"jsonld", "hpc", "schema.org", "croissant", "ro-crate"}


def no_network(url, options=None):
    raise AssertionError(f"a document asks for {url}")


def graph_by_pyld(document):
    quads = jsonld.to_rdf(document, {"format": "application/n-quads", "documentLoader": no_network, "base": BASE})
    return rdflib.Graph().parse(data=quads, format="nt")


def graphs_of(name, document):
    # rdflib's reader of N-Triples takes an escaped backslash before an n for a line's end.
    document = {key: value for key, value in document.items() if key != "sabath:recipe"}
    context = document["@context"]
    if isinstance(context, str):
        document = document | {"@context": KNOWN_CONTEXTS[context]}
    one = graph_by_pyld(document)
    two = rdflib.Graph().parse(data=json.dumps(document), format="json-ld", publicID=BASE)
    if rdflib.compare.to_isomorphic(one) != rdflib.compare.to_isomorphic(two):
        _, left, right = rdflib.compare.graph_diff(one, two)
        raise AssertionError(f"{name}: pyld alone: {left.serialize(format='nt')}\nrdflib alone: {right.serialize(format='nt')}")
    assert len(one) > 2, name
    return one


def check_full(directory):
    subject = rdflib.URIRef("urn:uuid:2c9d9c3e-5a3f-5c0e-9b0b-2a8f4f3f0a11")
    load = lambda kind: json.loads((directory / f"full@{kind}").read_text(encoding="utf-8"))
    graph = graphs_of("full", load("jsonld"))
    one = lambda predicate: graph.value(subject, predicate, any=False)
    assert str(one(DCTERMS.title)) == 'A 100% "full" set: {x} & $y_1'
    assert one(DCTERMS.license) == rdflib.URIRef("https://spdx.org/licenses/CC-BY-4.0")
    assert one(PROV.wasDerivedFrom) == rdflib.URIRef("https://doi.org/10.5281/zenodo.5904188")
    creators = list(rdflib.collection.Collection(graph, one(SCHEMA.creator)))
    assert creators[0] == rdflib.URIRef("https://orcid.org/0000-0002-1825-0097"), creators
    assert [str(graph.value(c, SCHEMA.name)) for c in creators] == ["Josiah Carberry", "Prabhat", "O'Neil & Sons"]
    assert str(graph.value(one(HPC.tags), rdflib.URIRef(str(SABATH) + "tag/task"))) == "regression"
    sums = sorted(str(o) for o in graph.objects(None, rdflib.URIRef("http://spdx.org/rdf/terms#checksumValue")))
    assert sums == ["117fe38c073b34d79950be871f7e2c0c", "8bf2edfa0f7d4acf4ac17585f05ab8f9ab8ad05f6b0dde24f7e555d5a2704c68"], sums
    files = list(rdflib.collection.Collection(graph, one(SCHEMA.distribution)))
    urls = list(rdflib.collection.Collection(graph, graph.value(files[0], SCHEMA.contentUrl)))
    assert [str(u) for u in urls] == ["https://a.example/f.hdf5", "https://c.example/f.hdf5"], urls

    graph = graphs_of("full", load("hpc"))
    assert str(graph.value(subject, DCTERMS.title)).startswith("A 100%")
    assert rdflib.URIRef("https://a.example/home") in set(graph.objects(subject, SCHEMA.url))
    assert {str(o) for o in graph.objects(subject, HPC.associatedFiles)} >= {"https://a.example/f.hdf5"}

    croissant = load("croissant")
    graph = graphs_of("full", croissant)
    assert [d["@id"] for d in croissant["distribution"]] == ["main", "tar", "tar.files"]
    assert len(list(graph.subjects(rdflib.RDF.type, CR.FileObject))) == 2
    assert {str(o) for o in graph.objects(None, SABATH.mirror)} == {"https://c.example/f.hdf5"}
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.1"

    cite = load("datacite")
    assert cite["doi"] == "10.5281/zenodo.1234567"
    assert [each["alternateIdentifierType"] for each in cite["alternateIdentifiers"]] == ["SABATH manifest root", "URI"]
    assert cite["publicationYear"] == "2021" and cite["creators"][0]["familyName"] == "Carberry"
    assert cite["creators"][2]["nameType"] == "Organizational"
    assert cite["relatedIdentifiers"] == [{"relatedIdentifier": "10.5281/zenodo.5904188", "relatedIdentifierType": "DOI",
                                           "relationType": "IsDerivedFrom"}]

    crate = {entity["@id"]: entity for entity in load("ro-crate")["@graph"]}
    root = crate[crate["ro-crate-metadata.json"]["about"]["@id"]]
    assert {"name", "description", "datePublished", "license"} <= set(root)
    for part in root["hasPart"] + root["creator"] + [root["license"]]:
        assert part["@id"] in crate, part

    entry = (directory / "full@bibtex").read_text(encoding="utf-8")
    assert entry.count("{") - entry.count("\\{") == entry.count("}") - entry.count("\\}"), entry
    assert "author = {Carberry, Josiah and {Prabhat} and {O'Neil \\& Sons}}" in entry, entry
    assert "\\$y\\_1" in entry and "100\\%" in entry, entry


def check_cff(directory):
    try:
        import yaml
    except ImportError:
        return
    citation = yaml.safe_load((directory / "full@cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] in ("1.2.0", 1.2) and citation["type"] == "dataset"
    assert citation["authors"][0] == {"family-names": "Carberry", "given-names": "Josiah", "affiliation": "Brown University",
                                      "orcid": "https://orcid.org/0000-0002-1825-0097"}, citation
    assert citation["authors"][2] == {"name": "O'Neil & Sons"} and citation["abstract"] == "Line one.\nLine two: # no comment"
    assert citation["keywords"] == ["cosmology", "HDF5: large"]


def main():
    directory = pathlib.Path(sys.argv[1])
    number = 0
    for file in sorted(directory.iterdir()):
        name, _, kind = file.name.rpartition("@")
        if kind in LISTED:
            graphs_of(file.name, json.loads(file.read_text(encoding="utf-8")))
            number += 1
        elif kind == "bibtex":
            assert re.match(r"@\w+\{[^\s,]+,\n?", file.read_text(encoding="utf-8")), file.name
    assert number >= 200, number
    check_full(directory)
    check_cff(directory)
    print(f"{number} documents, the same graph by both")


main()
