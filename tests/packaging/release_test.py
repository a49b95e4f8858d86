#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When a release is made and when it is refused (scripts/release.sh): release_test.py SOURCE. In a repository of its own, with scripts
in place of those that build and test."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
failures = 0


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


if shutil.which("git") is None:
    print("skipped: there is no git")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    tree = folder / "tree"
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": str(folder), "CALLS": str(folder / "calls"),
                   "GIT_AUTHOR_NAME": "tester", "GIT_AUTHOR_EMAIL": "tester@localhost", "GIT_COMMITTER_NAME": "tester", "GIT_COMMITTER_EMAIL": "tester@localhost"}

    def run(*command):
        return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def write(name, text, mode=0o644):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
        (tree / name).chmod(mode)

    def commit():
        run("git", "add", "-A")
        run("git", "commit", "-qm", "change")

    def release():
        (folder / "calls").write_text("")
        return run("scripts/release.sh"), (folder / "calls").read_text().split()

    def tags():
        return run("git", "tag").stdout.split()

    for name in ("scripts/release.sh", "scripts/common.sh"):
        write(name, (SOURCE / name).read_text(), 0o755)
    write("include/kernelsearch/version.hpp", '#define KERNELSEARCH_VERSION "3.4.5"\n')
    write("CHANGELOG.md", "# Changelog\n\n## 3.4.5 (unreleased)\n\n* What is new.\n\n## 3.4.4 (1 May 2026)\n\n* What was new.\n")
    write("tests/packaging/version_test.py", "import pathlib, sys\nsys.exit(pathlib.Path('differs').exists())\n")
    write("scripts/test.sh", '#!/bin/sh\necho legs >> "$CALLS"\ntest ! -e red\n', 0o755)
    for name, file in (("wheel", "made.whl"), ("packages", "made.deb")):
        write(f"scripts/{name}.sh", f'#!/bin/sh\necho {name} >> "$CALLS"\nmkdir -p "$2" && echo {file} > "$2/{file}"\n', 0o755)
    write(".gitignore", "/dist/\n")
    run("git", "init", "-q")
    commit()

    done, calls = release()
    check("no date in the changelog: refused before any leg", done.returncode == 1 and "write the date" in done.stderr and calls == [], (done, calls))
    write("CHANGELOG.md", (tree / "CHANGELOG.md").read_text().replace("unreleased", "2 June 2026"))
    done, calls = release()
    check("not committed: refused", done.returncode == 1 and "not committed" in done.stderr and calls == [], (done, calls))
    write("differs", "")
    commit()
    done, calls = release()
    check("places that name another version: refused", done.returncode == 1 and "not the same everywhere" in done.stderr and calls == [], (done, calls))
    (tree / "differs").unlink()
    commit()
    done, calls = release()
    check("no files of this version for later ones: refused", done.returncode == 1 and "format_corpus.sh" in done.stderr and calls == [], (done, calls))
    write("tests/formats/3.4.5/runs.db", "")
    write("red", "")
    commit()
    done, calls = release()
    check("a red leg: refused", done.returncode == 1 and "a leg is red" in done.stderr, done)
    check("nothing is built of it, and no tag is made", calls == ["legs"] and tags() == [] and not (tree / "dist").exists(), (calls, tags()))
    (tree / "red").unlink()
    commit()
    done, calls = release()
    check("all is well: legs, then wheel and packages, then the tag", done.returncode == 0 and calls == ["legs", "wheel", "packages"] and tags() == ["v3.4.5"], (done, calls))
    made = tree / "dist/3.4.5"
    notes = (made / "NOTES.md").read_text() if made.exists() else ""
    check("the notes are this version's", "What is new." in notes and "What was new." not in notes and notes.startswith("# kernelsearch 3.4.5 (2 June 2026)\n"), notes)
    message = run("git", "tag", "-l", "--format=%(contents)", "v3.4.5").stdout
    check("and the tag's message", message.strip() == notes.strip(), message)
    sums = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=made, capture_output=True, text=True)
    check("checksums are of every file", sums.returncode == 0 and len(sums.stdout.splitlines()) == 3, sums)
    done, calls = release()
    check("once more: refused", done.returncode == 1 and "the tag v3.4.5 is there already" in done.stderr and calls == [], (done, calls))
sys.exit(1 if failures else 0)
