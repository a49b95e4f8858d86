#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts turns of phrase that readers have to translate, in comments, texts of the program, and documents.

  scripts/plain_english.py            the counts, and how many each part of the tree had when they were written down
  scripts/plain_english.py --where    every place, as FILE:LINE: text
  scripts/plain_english.py --check    fails where a count has grown beyond tests/docs/plain_english.json (the test
                                      docs_plain_english)
  scripts/plain_english.py --update   writes the counts down; only to lower them

CONTRIBUTING.md, "Words", says what to write instead.
"""
import argparse
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
kept = root / "tests" / "docs" / "plain_english.json"

# Name: what is looked for. Each is a phrase that a technical writer would not have written.
phrases = {
    "is none": r"(?<![Tt]here )\b(?:is|are|was|were) (?:no|none)\b(?! (?:more|longer|less|other|better|use|harm)\b)",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "beside": r"\bbeside\b",
    "so many": r"\b[Ss]o (?:many|much|long|few) (?!as\b|that\b)",
    "stands in": r"\bstands? (?:in(?! for\b)|there)\b",
    "foreign": r"\bforeign\b(?! keys)",
    "whoever": r"\b[Ww]h(?:o|at|ich)ever\b",
    "dear": r"\bdear(?:er|est)?\b",
    "sentence with Of": r"(?:^|[.:;] )Of (?!course)",
}
expressions = {name: re.compile(text) for name, text in phrases.items()}

code = re.compile(r"//[/!]?<?\s?(.*)$")
text = re.compile(r'"((?:[^"\\]|\\.)*)"')


def prose_of(path):
    """(line, kind, text) of what people read in a file."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if path.suffix == ".md":
        fenced = False
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced and not line.startswith("    "):
                yield number, "documents", re.sub(r"`[^`]*`", "", line)
        return
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(("#include", "// SPDX")):
            continue
        without = text.sub("", line)
        comment = code.search(without)
        if comment:
            yield number, "comments", comment.group(1)
        for literal in text.findall(line):
            if " " in literal:
                yield number, "texts", literal


def files():
    for folder, endings in (("include", (".hpp", ".h")), ("src", (".cpp", ".hpp")), ("apps", (".cpp", ".hpp")), ("docs", (".md",))):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in endings and path.name != "mutants.md":  # it lists names of tests, as they were then
                yield path
    yield root / "README.md"
    yield root / "CONTRIBUTING.md"


def counted(show):
    counts = {kind: dict.fromkeys(phrases, 0) for kind in ("comments", "texts", "documents")}
    for path in files():
        skip = path.name == "CONTRIBUTING.md"
        for number, kind, prose in prose_of(path):
            if skip and prose.startswith("|"):  # the list itself
                continue
            for name, expression in expressions.items():
                found = len(expression.findall(prose))
                counts[kind][name] += found
                if found and show:
                    print(f"{path.relative_to(root)}:{number}: {name}: {prose.strip()}")
    return counts


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--where", action="store_true")
parser.add_argument("--check", action="store_true")
parser.add_argument("--update", action="store_true")
arguments = parser.parse_args()

now = counted(arguments.where)
before = json.loads(kept.read_text()) if kept.exists() else now
grown = [f"{kind}: '{name}' stands {now[kind][name]} times, {before[kind].get(name, 0)} before"
         for kind in now for name in now[kind] if now[kind][name] > before[kind].get(name, 0)]
if not arguments.where:
    print(f"{'':18}{'comments':>16}{'texts':>16}{'documents':>16}")
    for name in phrases:
        print(f"{name:18}" + "".join(f"{now[kind][name]:9} ({before[kind].get(name, 0):4})" for kind in now))
if arguments.update:
    if grown and kept.exists():
        sys.exit("not written, since counts only go down:\n  " + "\n  ".join(grown))
    kept.write_text(json.dumps(now, indent=1) + "\n")
if arguments.check and grown:
    sys.exit("more of what readers have to translate (scripts/plain_english.py --where shows the places; CONTRIBUTING.md, Words, has what "
             "to write instead):\n  " + "\n  ".join(grown))
