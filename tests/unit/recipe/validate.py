"""Validates recipes with the published JSON schemas: validate.py CASES SCHEMA_0 SCHEMA_1.

CASES is a JSON array of [schema, text]; prints one line of "good" or "bad: why" for each. Exit code 77: no jsonschema.
"""
import json
import sys

try:
    from jsonschema import Draft7Validator
except ImportError:
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


schemas = [load(path) for path in sys.argv[2:4]]
for schema in schemas:
    Draft7Validator.check_schema(schema)
validators = [Draft7Validator(schema) for schema in schemas]
for number, text in load(sys.argv[1]):
    error = next(validators[number].iter_errors(json.loads(text)), None)
    print("good" if error is None else "bad: " + json.dumps(error.message)[:200])
