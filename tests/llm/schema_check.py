#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/models.schema.json: it accepts the example in docs/models.md and refuses broken ones.

Exits with 77 (skipped) where the jsonschema package is not installed."""
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
schema = json.loads((ROOT / "docs/formats/models.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
text = re.search(r"```json\n(.*?)```", (ROOT / "docs/models.md").read_text(), re.S).group(1)
example = json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda match: match.group(1) or "", text))
validator.validate(example)
name = next(iter(example["models"]))
BROKEN = [(["models"], {}), (["model"], {}), (["models", name, "provider"], "openia"), (["models", name, "model"], ""),
          (["models", name, "api_key"], "x"), (["models", name, "key_env"], "sk-not a name"), (["models", name, "prices"], {"in": 1}),
          (["models", name, "prices"], {"input": -1}), (["models", name, "limits"], {"concurrency": 0}),
          (["models", name, "timeouts"], {"idle": 0}), (["models", name, "stream"], "yes"), (["models", name, "base_url"], "ftp://x"),
          (["models", name, "parameters"], []), (["roles"], {"coder": {"temp": 1}}), (["roles"], {"coder": {"temperature": -1}})]
failed = 0
for path, value in BROKEN:
    broken = copy.deepcopy(example)
    at = broken
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    if validator.is_valid(broken):
        print("accepted:", path, value)
        failed += 1
print(f"{len(BROKEN) - failed} of {len(BROKEN)} broken files are refused")
sys.exit(1 if failed else 0)
