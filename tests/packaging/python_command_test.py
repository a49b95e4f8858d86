#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command and the examples of the Python package: python_command_test.py SOURCE. The package is a copy of the sources, as in a wheel,
with a script in place of the command; nothing is compiled."""
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


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    package = folder / "site/kernelsearch"
    shutil.copytree(SOURCE / "python/kernelsearch", package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "PATH": f"{folder}/bin:/usr/bin:/bin"}
    environment.pop("KERNELSEARCH_DATA", None)

    def run(*arguments, **more):
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**environment, **more}, cwd=folder)

    # Without the command in the package: another one on the path, and no entry of another environment.
    done = run("-m", "kernelsearch", "doctor")
    check("without the command: says so", done.returncode == 1 and "without the command" in done.stderr, done)
    program(folder / "bin/kernelsearch", "#!/usr/bin/python3\nprint('an entry')\n")
    done = run("-m", "kernelsearch", "doctor")
    check("an entry of another environment is not the command", done.returncode == 1 and "an entry" not in done.stdout, done)
    shutil.copy("/bin/echo", folder / "bin/kernelsearch")
    done = run("-m", "kernelsearch", "doctor", "a b")
    check("an installed command is", done.returncode == 0 and done.stdout == "doctor a b\n", done)

    # With it.
    program(package / "libexec/kernelsearch", '#!/bin/sh\nprintf "%s|" "$KERNELSEARCH_DATA" "$@"\nexit 4\n')
    done = run("-m", "kernelsearch", "tune", "a b", "--x=*")
    check("the package's own command gets the arguments as they are, and its exit code is ours",
          done.returncode == 4 and done.stdout == f"{package}/data|tune|a b|--x=*|", done)
    done = run("-m", "kernelsearch", KERNELSEARCH_DATA="/elsewhere")
    check("a folder of data that is named stays", done.stdout == "/elsewhere|", done)

    done = run("-m", "kernelsearch.examples")
    check("without examples: says where they are", done.returncode == 1 and "built without examples" in done.stderr, done)
    shutil.copytree(SOURCE / "examples/host/matmul", package / "examples/host/matmul")
    done = run("-m", "kernelsearch.examples")
    check("examples are listed", done.stdout == "host/matmul\n", done)
    done = run("-m", "kernelsearch.examples", "host/matmul")
    check("one is copied to here", done.stdout == "matmul\n" and (folder / "matmul/problem.json").is_file(), done)
    (folder / "matmul/kernel.cpp").write_text("mine")
    done = run("-m", "kernelsearch.examples", "host/matmul")
    check("a folder that is there is not touched", done.returncode == 1 and (folder / "matmul/kernel.cpp").read_text() == "mine", done)
    (package / "examples/cuda").mkdir()
    for name in ("attention_f16", "attention_f16_causal"):
        shutil.copytree(SOURCE / "examples/cuda" / name, package / "examples/cuda" / name)
    shutil.copy(SOURCE / "examples/cuda/attention_f16_causal.json", package / "examples/cuda")
    done = run("-m", "kernelsearch.examples")
    check("examples that share files are listed", done.stdout == "cuda/attention_f16\ncuda/attention_f16_causal\nhost/matmul\n", done)
    done = run("-m", "kernelsearch.examples", "cuda/attention_f16_causal", "causal")
    copied = sorted(str(path.relative_to(folder / "causal")) for path in (folder / "causal").rglob("*") if path.is_file())
    check("one is copied with the files that it names", copied == ["attention_f16/kernel.cu", "attention_f16/reference.cu", "problem.json"], (done, copied))
    done = run("-m", "kernelsearch.examples", "host/matmull")
    check("a wrong name: the nearest is named", done.returncode == 1 and "try host/matmul" in done.stderr, done)
    done = run("-m", "kernelsearch.examples", "../host")
    check("no way out of the examples", done.returncode == 1 and not (folder / "host").exists(), done)
sys.exit(1 if failures else 0)
