#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/methods.schema.json: it accepts the methods of data/, and refuses broken ones; and that the table of
docs/formats/methods.md has the methods of data/methods/cuda.json.

Exits with 77 (skipped) where the jsonschema package is not installed."""
import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from published_schema import ROOT, refuse, validator_of

validator = validator_of("methods")

files = sorted((ROOT / "data/methods").glob("*.json"))
assert [file.stem for file in files] == ["cuda", "host"], files
for file in files:
    validator.validate(json.loads(file.read_text()))

good = json.loads((ROOT / "data/methods/cuda.json").read_text())
BROKEN = [  # path and value, or path alone to remove
    (["schema"],), (["schema"], 2), (["name"],), (["backends"],), (["backends"], ["tpu"]), (["methods"],), (["methods"], []),
    (["features"], [""]), (["methods", 0, "id"],), (["methods", 0, "id"], "tensor_core"), (["methods", 0, "id"], "compute.A"),
    (["methods", 0, "id"], "axis.a"), (["methods", 0, "priority"],), (["methods", 0, "priority"], 0),
    (["methods", 0, "description"],), (["methods", 0, "description"], ""), (["methods", 0, "architecture"], "90"),
    (["methods", 0, "needs"], "tma"), (["methods", 0, "trigger_words"],), (["methods", 0, "skip_words"],),
    (["methods", 0, "strength"], 1), (["methods", 0, "coupled"], ["x"]), (["methods", 0, "signature"], {}),
    (["methods", 0, "signature"], {"none": []}), (["methods", 0, "signature", "any"], ["sass.tma"]),
    (["methods", 0, "signature", "any"], [{"more": "a", "fewer": "b"}]), (["methods", 0, "trigers"], "x"), (["more"], 1),
]
refuse(validator, good, BROKEN)

table = (ROOT / "docs/formats/methods.md").read_text()
for method in good["methods"]:
    row = f"| {method['priority']} | `{method['id']}` |"
    assert row in table, f"docs/formats/methods.md lacks the row {row}"
print(f"{len(files)} files, {len(good['methods'])} CUDA methods, {len(BROKEN)} refusals")
