#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/workflow.schema.json: it accepts every workflow of data/, and refuses broken ones.

Exits with 77 (skipped) where the jsonschema package is not installed."""
import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from published_schema import ROOT, refuse, validator_of

validator = validator_of("workflow")

files = sorted((ROOT / "data/workflows").glob("*.json"))
assert len(files) >= 8, "where are the workflows?"
for file in files:
    content = json.loads(file.read_text())
    assert content["name"] == file.stem, file
    validator.validate(content)

BROKEN = [  # path and value, or path alone to remove
    (["schema"],), (["schema"], 2), (["name"],), (["name"], "a b"), (["transformations"],), (["transformations"], []),
    (["transformations"], ["refactor", "refactor"]), (["transformations", 0], "a b"), (["order"], "closed"), (["backends"], "cuda"),
    (["steps"], []), (["short_of"], "memory"),
]
refuse(validator, json.loads((ROOT / "data/workflows/a6000_fp32.json").read_text()), BROKEN)
refuse(validator, json.loads((ROOT / "data/workflows/memory.json").read_text()), [(["order"],), (["short_of"], "time")])
print(f"{len(files)} workflows, {len(BROKEN) + 2} refusals")
