#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages with figures say when these were taken: dates_test.py SOURCE. A page has figures if it is one of docs/benchmarks or names a machine."""
import pathlib
import re
import sys

DOCS = pathlib.Path(sys.argv[1]).resolve() / "docs"
MACHINE = re.compile(r"EPYC|Xeon|\bH200\b|(?:busy|virtual) cores")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"\b\d{{1,2}} (?:{MONTHS}) 20\d\d\b|\b20\d\d-\d\d-\d\d")
# Without figures of their own.
NO_FIGURES = {
    "benchmarks/judge_fairness.md": "what a program prints and how to read it",
    "agents_prompts.md": "prompts that name a machine",
    "formats/plan.md": "an example of the format",
    "formats/store.md": "how a device is written",
    "systems.md": "names the pages that have them",
}

failures = []
pages = {str(path.relative_to(DOCS)): path.read_text() for path in DOCS.rglob("*.md")}
figures = {name for name, text in pages.items() if name.startswith("benchmarks/") or MACHINE.search(text)}
for name in sorted(figures - set(NO_FIGURES)):
    if not DATE.search(pages[name]):
        failures.append(f"docs/{name} has figures and no date: write when they were taken, as in `21 November 2026`")
for name in sorted(NO_FIGURES):
    if name not in figures or DATE.search(pages[name]):
        failures.append(f"docs/{name} need not be excepted any more: take it out of NO_FIGURES in {pathlib.Path(__file__).name}")
print("\n".join(failures) or f"{len(figures) - len(NO_FIGURES)} pages with figures, each with a date")
sys.exit(1 if failures else 0)
