#!/usr/bin/python3
"""mlcroissant, MLCommons' own library, reads the Croissant documents that SABATH writes: the files, their sizes and hashes."""

import json

from support import clients
from support.case import Case, main

READ = """
import json, sys
import mlcroissant
dataset = mlcroissant.Dataset(jsonld=json.load(open(sys.argv[1])))
files = {o.id: [o.content_url, o.content_size, o.sha256, o.encoding_formats] for o in dataset.metadata.file_objects}
print(json.dumps({"files": files, "name": dataset.metadata.name, "errors": sorted(dataset.metadata.ctx.issues.errors)}))
"""


class Mlcroissant(Case):
    @clients.needs("mlcroissant")
    def test_the_documents_of_shipped_recipes(self):
        for name in ("cosmoUniverse_2019_05_4parE_tf_v2_mini", "ptychonn_20191008_39", "onnx_squeezenet", "mnist"):
            with self.subTest(name):
                document = self.expect(self.sabath.run("info", "--format", "croissant", name)).out
                asset = json.loads(self.expect(self.sabath.run("info", "--json", name)).out)["assets"][0]
                (self.home / "croissant.json").write_text(document)
                told = clients.told(READ, self.home / "croissant.json")
                self.assertEqual(told["errors"], [])
                self.assertEqual(told["name"], name)
                for fragment in asset["fragments"]:
                    url, size, sha256, _ = told["files"][fragment["id"]]
                    self.assertEqual((url, sha256), (fragment["urls"][0], fragment["checksum"]["sha256"]))
                    self.assertEqual(size, fragment["size"] and f"{fragment['size']} B")


if __name__ == "__main__":
    main()
