# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages for tests that are not part of this project, in a virtual environment of the build folder."""
import os
import subprocess
import sys


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def environment(folder, packages):
    """The interpreter of folder/venv with the packages, installed where KERNELSEARCH_TEST_NETWORK=1 allows to."""
    python, ready = folder / "venv/bin/python", folder / "venv/installed"
    if ready.is_file() and ready.read_text() == "\n".join(packages):
        return str(python)
    named = ", ".join(packages)
    if os.environ.get("KERNELSEARCH_TEST_NETWORK") != "1":
        skip(f"{named} not installed, and KERNELSEARCH_TEST_NETWORK=1 is not set to install into the build folder")
    folder.mkdir(parents=True, exist_ok=True)
    for command in ([sys.executable, "-m", "venv", str(folder / "venv")], [str(python), "-m", "pip", "install", "-q", *packages]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            skip(f"{named} cannot be installed: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1])
    ready.write_text("\n".join(packages))
    return str(python)


def run_inside(folder, packages):
    """Goes on as the same program in that environment."""
    python = environment(folder, packages)
    if os.path.realpath(sys.prefix) != os.path.realpath(folder / "venv"):
        os.execv(python, [python, *sys.argv])
