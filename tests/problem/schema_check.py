#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/problem.schema.json: it accepts every example and the one in the docs, and refuses broken ones.

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


def without_comments(text):
    """Drops // and /* */ outside of strings."""
    pattern = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda match: match.group(1) or "", text, flags=re.S)


BROKEN = [  # (what to change: path and value, or path alone to remove)
    (["schema"],), (["schema"], 2), (["name"],), (["name"], ""), (["function"],), (["function"], "2f"),
    (["kernel"],), (["kernel", "device"],), (["kernel", "devise"], "x"), (["kernel", "device"], {"txt": ""}),
    (["arguments"],), (["arguments"], []), (["arguments", 0, "type"], "f31"), (["arguments", 0, "name"],),
    (["arguments", 0, "role"], "out"), (["arguments", 0, "init"], "ones"), (["arguments", 3, "init"], "one"),
    (["arguments", 3, "mean"], 1), (["arguments", 4, "low"], 1), (["arguments", 3, "value"], 1),
    (["arguments", 5, "tolerance", "absolute"], -1), (["arguments", 5, "role"], "in"), (["shapes"],), (["shapes"], []),
    (["shapes", 0, "n"], "512"), (["shapes", 0, "n"], []), (["shapes", 0, "weight"], -1), (["shapes", 0, "2k"], 1),
    (["tunables", "TILE"], 4), (["tunables", "TILE"], []), (["tunables", "TILE"], [4, 4]),
    (["tunables", "ORDER"], {"permutation": 9}), (["tunables", "UNROLL"], {"range": [1]}), (["tunables", "X"], {}),
    (["tunables", "X"], {"range": [1, 2], "values": [1]}), (["tunables", "2X"], [1]), (["constraints"], "TILE < 4"),
    (["default"], []), (["reference", "function"],), (["build", "compilr"], "g++"), (["build", "flags"], "-O3"),
    (["tolerances", "f31"], {}), (["aggregate"], "mean"), (["threads"], 0), (["backend"], "cudda"),
    (["backend"], "cuda"), (["launch"], {"grid": [1], "block": [1]}), (["shema"], 1),
]


def changed(document, path, *value):
    document = copy.deepcopy(document)
    place = document
    for step in path[:-1]:
        place = place[step]
    if value:
        place[path[-1]] = value[0]
    else:
        del place[path[-1]]
    return document


def main():
    schema = json.loads((ROOT / "docs/formats/problem.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0

    def expect(name, document, right):
        nonlocal failures
        errors = [f"/{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(document)]
        if bool(errors) == right:
            failures += 1
            print(f"{name}: " + ("refused: " + "; ".join(errors) if right else "accepted although broken"))

    manual = (ROOT / "docs/formats/problem.md").read_text()
    whole = json.loads(without_comments(re.search(r"```jsonc\n(\{.*?\n\})\n```", manual, re.S).group(1)))
    expect("docs/formats/problem.md", whole, True)
    scaffold = (ROOT / "src/problem/scaffold_texts.hpp").read_text()
    new = re.search(r'R"json\((.*?)\)json"', scaffold, re.S).group(1).replace("@FUNCTION@", "f")
    expect("the scaffold", json.loads(without_comments(new)), True)
    device = changed(changed(whole, ["backend"], "cuda"), ["launch"], {"grid": ["n"], "block": ["TILE", 1]})
    expect("a device problem", device, True)
    examples = sorted((ROOT / "examples").glob("**/problem.json"))
    for path in examples:
        expect(path.relative_to(ROOT), json.loads(without_comments(path.read_text())), True)
    for change in BROKEN:
        expect(change, changed(whole, *change), False)
    print(f"{len(examples)} examples and {len(BROKEN)} broken documents checked, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
