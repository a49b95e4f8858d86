#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/transformation.schema.json: it accepts every transformation of data/, and refuses broken ones.

Exits with 77 (skipped) where the jsonschema package is not installed."""
import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
schema = json.loads((ROOT / "docs/formats/transformation.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

files = sorted((ROOT / "data/transformations").glob("*.json"))
assert len(files) >= 16, "where are the transformations?"
for file in files:
    content = json.loads(file.read_text())
    assert content["name"] == file.stem, file
    validator.validate(content)

good = json.loads((ROOT / "data/transformations/tb_tiling.json").read_text())
BROKEN = [  # path and value, or path alone to remove
    (["schema"],), (["schema"], 2), (["name"],), (["name"], "a b"), (["description"],), (["passes"],), (["passes"], []),
    (["passes", 0, "edits"],), (["passes", 0, "edits", 0, "region"], "devise"), (["passes", 0, "edits", 0, "instruction"],),
    (["passes", 0, "edit"], []), (["tunables", "tile"], [1]), (["tunables", "TILE"], []), (["after"], "refactor"),
]
for path, *value in BROKEN:
    broken = copy.deepcopy(good)
    place = broken
    for key in path[:-1]:
        place = place[key]
    if value:
        place[path[-1]] = value[0]
    else:
        del place[path[-1]]
    assert not validator.is_valid(broken), f"accepted although broken: {path} {value}"
print(f"{len(files)} transformations, {len(BROKEN)} refusals")
