"""docs/requests-and-records.md, made from what `sabath help --json` says."""

import json
import textwrap

HEAD = """\
<!-- Made by tests/cli/documents_test.py from `sabath help --json`; SABATH_ACCEPT=1 makes it anew. -->
# Requests and records

The keys of each verb's request, as [the library](library.md) and Python take it, and of its record, as `--json` prints
it. On the command line a key of a request is an option, with `-` for `_`, or an argument. `sabath help VERB --json`
prints the same for programs, and so does the verb `help`.

- A number of `bytes` in a request may be a text such as `"10M"`, too. An `object of texts` has names that the caller
  chooses, and a `value` is any JSON.
- `thing[].key` is a key of each object of the list `thing`, `thing.key` one of the object `thing`, and `thing.*.key`
  one of each object below the names that `thing` has.
- A key of a request may be left out, unless it is required. "false", 0, "" and empty are the defaults that are not
  written.
- Every record begins with `schema`, which is 1, and ends with `exit`, the code of the command
  ([exit-codes.md](exit-codes.md)). A value that is not there is `null`; a key that "may be absent" is left out then.
"""
EXIT = "the exit code"  # the help of the `exit` that all records have


def type_of(field):
    """The type, with its unit, or the words that the value may be."""
    name = field["type"]
    if field.get("words"):
        name = ", ".join(f"`{word}`" for word in field["words"].split("|"))
    elif field["list"] and " " not in name:
        name += "s"
    unit = f" of {field['unit']}" if field.get("unit") and field["type"] in ("count", "number") else ""
    return ("list of " if field["list"] else "") + name + unit


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def rows(fields, cells, before=""):
    """A row for each field and, behind it, for each that it has itself."""
    for field in fields:
        key = before + field["key"]
        if key == "exit" and field["help"] == EXIT:
            continue
        yield f"| `{key}` | " + " | ".join(cell(text) for text in cells(field)) + " |"
        below = key + (".*" if field["type"] == "object of names" else "") + ("[]" if field["list"] else "") + "."
        yield from rows(field.get("fields", []), cells, below)


def of_request(field):
    default = field.get("default")
    said = "required" if field.get("required") else "" if default is None else f"`{json.dumps(default)}`"
    return type_of(field), said, field["help"]


def of_record(field):
    notes = [note for key, note in (("null", "or `null`"), ("absent", "may be absent")) if field.get(key)]
    return ", ".join([type_of(field), *notes]), field["help"]


def table(title, fields, cells, *columns):
    lines = list(rows(fields, cells))
    if not lines:
        return f"{title}: none.\n"
    return "\n".join([f"{title}:", "", "| " + " | ".join(columns) + " |", "|---" * len(columns) + "|", *lines, ""])


def section(verb):
    parts = [f"## {verb['name']}\n", table("Request", verb["request"], of_request, "key", "type", "default", "meaning"),
             table("Record", verb["record"], of_record, "key", "type", "meaning")]  # fmt: skip
    if "other_record" in verb:
        parts.append(table("Or, as its request says", verb["other_record"], of_record, "key", "type", "meaning"))
    return "\n".join(parts)


def verb_page(record):
    """`record`: that of `sabath help --json`."""
    links = ", ".join(f"[{verb['name']}](#{verb['name'].replace(' ', '-')})" for verb in record["verbs"])
    return "\n".join([HEAD, *textwrap.wrap(links + ".", 120, break_long_words=False, break_on_hyphens=False), "", *map(section, record["verbs"])])
