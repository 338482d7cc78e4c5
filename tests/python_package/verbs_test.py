#!/usr/bin/python3
"""The package agrees with what the library says of its verbs: keys that methods send, keys that their texts name, and
methods that are made of it."""

import ast
import inspect
import pydoc
import re
import textwrap

import sabath
from sabath import session as source
from support.case import main, place
from support.package import PackageCase

LEFT_OUT = {"environment"}  # an object that no caller of Python needs: os.environ is read


def sent_by(function):
    """{verb: keys} of each dict that a method writes beside a call of self._ask or self._work."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    verbs = {node.args[0].value for node in ast.walk(tree)
             if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("_ask", "_work") and isinstance(node.args[0], ast.Constant)}  # fmt: skip
    keys = {key.value for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys if isinstance(key, ast.Constant)}
    return dict.fromkeys(verbs, keys)


def methods():
    return {name: each for name, each in vars(source.Session).items() if inspect.isfunction(each) and not name.startswith("_")}


def keys_in(fields):
    return {field["key"]: keys_in(field.get("fields", [])) for field in fields}


class Verbs(PackageCase):
    def setUp(self):
        super().setUp()
        described = self.session.call("help")["verbs"]
        self.request = {verb["name"]: keys_in(verb["request"]) for verb in described}

    def test_methods_send_keys_that_the_verbs_know(self):
        for name, function in methods().items():
            for verb, keys in sent_by(function).items():
                known = set(self.request[verb]).union(*self.request[verb].values())
                self.assertLessEqual(keys, known, f"Session.{name} sends what `{verb}` does not know")

    def options_of(self, verb):
        """Of the command line, as Python writes them."""
        text = self.expect(self.sabath.run("help", verb)).out.partition("\nOptions\n")[2]
        return {option.replace("-", "_") for option in re.findall(r"^  (?:-\w, )?--([a-z-]+)", text, re.M)}

    def test_texts_of_methods_name_all_keys(self):
        """Of those that hand any key on: help(session.verify) lists them."""
        for name, function in methods().items():
            parameters = inspect.signature(function).parameters
            if name not in self.request or not {"request", "options"}.intersection(parameters):
                continue
            all_keys = self.options_of(name) if "options" in parameters else set(self.request[name])
            text = re.sub(r"\([^)]*\)", "", function.__doc__.partition("Keys: ")[2])
            named = {word.rstrip("_") for word in re.findall(r"\w+", text)}
            left_out = {key.rstrip("_") for key in parameters} | sent_by(function).get(name, set()) | LEFT_OUT
            self.assertEqual(named, all_keys - left_out, f"Session.{name}: the keys that its text names, and those of `{name}`")

    def test_a_method_is_made_of_the_description(self):
        self.one(size=1000)
        self.session.fetch("one")
        record = self.session.du("one")
        self.assertEqual(record["assets"][0]["name"], "one")
        self.assertEqual(self.session.du(names=["one"]), record)
        self.assertEqual(str(inspect.signature(self.session.du)), "(names=None, *, progress=None)")
        text = pydoc.plaintext.document(self.session.du)
        for part in ("du(names=None", "names: list of text: the space of this asset", "view_bytes: count, bytes: "):
            self.assertIn(part, text)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'name'"):
            self.session.du(name="one")
        for name in ("manifest", "nothing", "_nothing", "__nothing__"):
            self.assertFalse(hasattr(self.session, name), name)

    def test_a_name_of_two_words_and_a_path(self):
        place(self.home / "tree/a.bin", b"a")
        record = self.session.manifest_create(path=self.home / "tree")
        self.assertEqual(record["files"], 1)
        with self.assertRaises(sabath.UsageError):
            self.session.gc(max_size="much")


if __name__ == "__main__":
    main()
