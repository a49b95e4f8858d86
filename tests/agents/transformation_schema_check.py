#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/transformation.schema.json: it accepts every transformation of data/, and refuses broken ones.

Exits with 77 (skipped) where the jsonschema package is not installed."""
import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from published_schema import ROOT, refuse, validator_of

validator = validator_of("transformation")

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
refuse(validator, good, BROKEN)
print(f"{len(files)} transformations, {len(BROKEN)} refusals")
