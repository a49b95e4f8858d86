#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/formats/system_options/NAME.schema.json from `kernelsearch list systems --json`.

    scripts/system_schemas.py build/ci/apps/kernelsearch/kernelsearch
"""
import json
import pathlib
import subprocess
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)
folder = pathlib.Path(__file__).resolve().parent.parent / "docs" / "formats" / "system_options"
folder.mkdir(exist_ok=True)
listed = subprocess.run([sys.argv[1], "list", "systems", "--json"], check=True, capture_output=True, text=True).stdout
for system in json.loads(listed):
    text = json.dumps(system["options"], indent=2, ensure_ascii=False)
    (folder / f"{system['name']}.schema.json").write_text(text + "\n")
