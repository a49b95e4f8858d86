#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check_files.py in a small tree of its own: what it chooses, and that it fails where a file does not compile.

  check_files_test.py SOURCE"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])


def run(tree, *words):
    return subprocess.run([sys.executable, tree / "scripts/check_files.py", tree / "build", *words], capture_output=True, text=True)


def expect(holds, what):
    if not holds:
        sys.exit(str(what))


with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder).resolve()
    for made in ("scripts", "src", "include/kernelsearch", "build"):
        (tree / made).mkdir(parents=True)
    shutil.copy(SOURCE / "scripts/check_files.py", tree / "scripts")
    (tree / ".gitignore").write_text("build\n")
    (tree / "include/kernelsearch/deep.hpp").write_text("#pragma once\ninline int deep(int x) { return x; }\n")
    (tree / "include/kernelsearch/wide.hpp").write_text('#pragma once\n#include "kernelsearch/deep.hpp"\n')
    (tree / "src/a.cpp").write_text('#include "kernelsearch/wide.hpp"\nint a() { return deep(1); }\n')
    (tree / "src/b.cpp").write_text("int b() { return 2; }\n")
    (tree / "src/c.cpp").write_text("int c() { return 3; }\n")
    (tree / "build/compile_commands.json").write_text(json.dumps([
        {"directory": str(tree / "build"), "file": str(tree / f"src/{name}.cpp"),
         "command": f"c++ -I{tree}/include -Wshadow -Werror -o {name}.o -c {tree}/src/{name}.cpp"} for name in "abc"]))

    def git(*words):
        return subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *words], cwd=tree, check=True,
                              capture_output=True, text=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")

    everything = run(tree)
    expect(everything.returncode == 0 and everything.stdout.startswith("3 of 3 files, 0 of them"), everything)
    expect(not list((tree / "build").glob("*.o")), "something was written")
    expect(run(tree, "--since", "HEAD", "--list").stdout.split() == [], "nothing changed")
    expect(run(tree, "--since", "HEAD", "--part", "1/3", "--list").stdout.split() == ["src/b.cpp"], "the second of three parts")
    (tree / "src/c.cpp").write_text("int c() { return 4; }\n")
    expect(run(tree, "--since", "HEAD", "--list").stdout.split() == ["src/c.cpp"], "a file changed")
    # A header that only another header includes: a file that reaches it.
    (tree / "include/kernelsearch/deep.hpp").write_text("#pragma once\ninline int deep(int x) { { int x = 1; return x; } return x; }\n")
    expect(run(tree, "--since", "HEAD", "--list").stdout.split() == ["src/a.cpp", "src/c.cpp"], "a header changed")
    bad = run(tree, "--since", "HEAD")
    expect(bad.returncode == 1 and "src/a.cpp does not compile on its own" in bad.stderr and "shadow" in bad.stderr, bad)
    unknown = run(tree, "--since", "nowhere")
    expect(unknown.returncode == 1 and "git knows no such commit: nowhere" in unknown.stderr, unknown)
    (tree / "build/compile_commands.json").unlink()
    missing = run(tree)
    expect(missing.returncode == 1 and "configure the build folder first" in missing.stderr, missing)
