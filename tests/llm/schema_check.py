#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/models.schema.json: it accepts the example in docs/models.md and refuses broken ones.

Exits with 77 (skipped) where the jsonschema package is not installed."""
import json
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from published_schema import ROOT, changed, validator_of, without_comments

validator = validator_of("models")
text = re.search(r"```json\n(.*?)```", (ROOT / "docs/models.md").read_text(), re.S).group(1)
example = json.loads(without_comments(text))
validator.validate(example)
name = next(iter(example["models"]))
BROKEN = [(["models"], {}), (["model"], {}), (["models", name, "provider"], "openia"), (["models", name, "model"], ""),
          (["models", name, "api_key"], "x"), (["models", name, "key_env"], "sk-not a name"), (["models", name, "prices"], {"in": 1}),
          (["models", name, "prices"], {"input": -1}), (["models", name, "limits"], {"concurrency": 0}),
          (["models", name, "timeouts"], {"idle": 0}), (["models", name, "stream"], "yes"), (["models", name, "base_url"], "ftp://x"),
          (["models", name, "parameters"], []), (["roles"], {"coder": {"temp": 1}}), (["roles"], {"coder": {"temperature": -1}})]
failed = 0
for path, value in BROKEN:
    if validator.is_valid(changed(example, path, value)):
        print("accepted:", path, value)
        failed += 1
print(f"{len(BROKEN) - failed} of {len(BROKEN)} broken files are refused")
sys.exit(1 if failed else 0)
