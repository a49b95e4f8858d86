# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schemas of docs/formats, and documents made to break them. Exits with 77 (skipped) without jsonschema."""
import copy
import json
import pathlib
import re
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def validator_of(name):
    """Of docs/formats/NAME.schema.json, which must be a schema itself."""
    schema = json.loads((ROOT / f"docs/formats/{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def without_comments(text):
    """Drops // and /* */ outside of strings."""
    pattern = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda match: match.group(1) or "", text, flags=re.S)


def changed(document, path, *value):
    """The document with the value at path, or without what is there."""
    document = copy.deepcopy(document)
    place = document
    for step in path[:-1]:
        place = place[step]
    if value:
        place[path[-1]] = value[0]
    else:
        del place[path[-1]]
    return document


def refuse(validator, good, changes):
    """Every change, (path, value) or (path,), makes the good document one that is refused."""
    for change in changes:
        assert not validator.is_valid(changed(good, *change)), f"accepted although broken: {change}"
