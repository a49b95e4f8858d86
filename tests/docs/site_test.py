#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of the documentation site (scripts/site.py), and the reference of the command: site_test.py SOURCE. Builds no site."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
failures = 0

COMMAND = """#!/bin/sh
case "$*" in
  --version) echo "kernelsearch 9.8.7" ;;
  --help) printf 'Does things.\\nUsage: kernelsearch [OPTIONS] SUBCOMMAND\\n\\nOptions:\\n  -h,--help    Print help\\n\\nSubcommands:\\n  go    Go on\\n\\nExit codes: 0 done.\\n' ;;
  "go --help") printf 'Go on\\nUsage: kernelsearch go [OPTIONS]\\n\\nOptions:\\n  --way TEXT:{a|b}=a ...\\n         Which way, with *stars* and <angles>,\\n         on two lines\\n' ;;
esac
"""


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


def site(*arguments):
    return subprocess.run([sys.executable, SOURCE / "scripts/site.py", *arguments], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    command = folder / "kernelsearch"
    command.write_text(COMMAND)
    command.chmod(0o755)
    stub = folder / "_kernelsearch.pyi"
    stub.write_text('class Space:\n    """The <valid> configurations."""\n    def __init__(self, tunables: dict[str, int], *, depth: int = 3) -> None:\n        """Of `a*b`."""\n'
                    '    @property\n    def count(self) -> int | None:\n        """How *many*."""\n    def _own(self): ...\n')
    done = site("pages", folder / "site/pages", "--command", command, "--stub", stub)
    check("pages are made", done.returncode == 0, done)
    pages = folder / "site/pages"
    made = {str(page.relative_to(pages)) for page in pages.rglob("*.md")}
    navigation = set(re.findall(r"- ([\w/.-]+\.md)$", (folder / "site/mkdocs.yml").read_text(), re.MULTILINE))
    check("each page has a place in the navigation, and each place a page", made == navigation, made ^ navigation)
    documents = {str(page.relative_to(SOURCE / "docs")) for page in (SOURCE / "docs").rglob("*.md")}
    check("each document is a page", documents <= made, documents - made)
    problems = {f"gallery/{file.parent.parent.name}/{file.parent.name}.md" for file in (SOURCE / "examples").glob("*/*/problem.json")}
    check("each problem of the examples is in the gallery", problems and problems <= made, problems - made)
    index = (pages / "index.md").read_text()
    check("links of the README lead to pages", "](first_hour.md)" in index and "](docs/" not in index, re.findall(r"\]\(docs/[^)]*\)", index))
    outside = [(str(page.relative_to(pages)), link) for page in pages.rglob("*.md")
               for link in re.findall(r"\]\((\.\./[\w/.-]+\.md)\)", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))
               if not (page.parent / link).exists()]
    check("no link leads out of the pages", not outside, outside[:5])

    reference = (pages / "reference/command.md").read_text()
    check("the command's reference has subcommands, options and values",
          "version 9.8.7" in reference and "## kernelsearch go" in reference and "| `--way` | `TEXT:{a\\|b}=a (repeatable)` |" in reference, reference)
    check("texts are no markup", "with \\*stars\\* and \\<angles>, on two lines" in reference, reference)
    keys = json.loads((SOURCE / "docs/formats/problem.schema.json").read_text())
    problem = (pages / "reference/problem.md").read_text()
    missing = [key for key in keys["properties"] if f"| `{key}` |" not in problem] + [name for name in keys["$defs"] if f"## {name}\n" not in problem]
    check("the problem's reference has every key and definition", not missing, missing)
    python = (pages / "reference/python.md").read_text()
    check("the reference of Python has the extension's classes from the stub",
          "### `Space`\n\nThe \\<valid> configurations.\n" in python and "Space(tunables: dict[str, int], *, depth: int=3)\n" in python
          and "Of `a*b`." in python and "| `count` | `int \\| None` | How \\*many\\*. |" in python and "_own" not in python, python[:3000])
    check("and those of its sources", "### `minimize`" in python and "## kernelsearch.helion" in python, python[:3000])
    check("what the stub lacks is named", "`read_recording`" in python.split("stub was not there")[-1][:400], python[:3000])
    page = (pages / "gallery/cuda/softmax_f32.md").read_text()
    check("the page of an example has its figures, and leads to where they are from",
          "## Figures" in page and "(../../benchmarks/cuda.md#compared-with-the-vendors-library)" in page and "| 4160 | 98.4 % |" in page, page[:1500])
    listed = (pages / "gallery.md").read_text()
    check("the list of examples has figures", "| [of the copy: 98.4 %; torch's time over ours: 1.61](gallery/cuda/softmax_f32.md#figures) |" in listed, listed)
    check("what was not measured is no figure", "valid points" not in listed, listed)
    subprocess.run([sys.executable, SOURCE / "scripts/command_reference.py", "--manual", command, folder / "manual.1"], check=True)
    manual = (folder / "manual.1").read_text()
    check("the manual page has the same", '.TH KERNELSEARCH 1 "" "kernelsearch 9.8.7"' in manual and ".B \\-\\-way TEXT:{a|b}=a ..." in manual, manual)

    html = folder / "html"
    (html / "inner").mkdir(parents=True)
    (html / "index.html").write_text('<h1 id="top">x</h1><a href="inner/page.html#here">x</a><a href="https://example.org/gone">x</a>')
    (html / "inner/page.html").write_text('<h2 id="here">x</h2><a href="../index.html#top">x</a>')
    for version in ("0.9.0", "0.10.0", "0.2.0"):
        done = site("publish", html, folder / "all", version)
    told = json.loads((folder / "all/versions.json").read_text())
    check("sites of several versions are listed, the newest first and by itself", [one["version"] for one in told] == ["0.10.0", "0.9.0", "0.2.0"]
          and [one["aliases"] for one in told] == [["latest"], [], []] and "url=0.10.0/index.html" in (folder / "all/index.html").read_text()
          and (folder / "all/0.2.0/inner/page.html").exists(), told)
    done = site("publish", html, folder / "all", "../x")
    check("a version that is no version is refused", done.returncode == 1 and "write one as in 0.2.0" in done.stderr, done)
    done = site("publish", folder / "nothing", folder / "all", "0.3.0")
    check("a folder without a site is refused", done.returncode == 1 and "no index.html" in done.stderr, done)
    done = site("check", html)
    check("a site whose links are right is right", done.returncode == 0 and "2 links on 2 pages" in done.stdout, done)
    (html / "inner/page.html").write_text('<h2 id="there">x</h2><a href="gone.html">x</a>')
    done = site("check", html)
    check("a dead link and a missing place are named", done.returncode == 1 and "inner/page.html: gone.html: no such page" in done.stdout
          and "index.html: inner/page.html#here: no such place" in done.stdout, done)
sys.exit(1 if failures else 0)
