# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `kernelsearch` of a wheel that brings it."""
from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _elsewhere() -> str | None:
    """Another `kernelsearch` on the path than the one that runs now."""
    own = os.path.realpath(sys.argv[0])
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        place = os.path.join(folder or ".", "kernelsearch")
        if os.access(place, os.X_OK) and os.path.isfile(place) and os.path.realpath(place) != own:
            with open(place, "rb") as file:
                if not file.read(2) == b"#!":  # an entry like this one, of another environment
                    return place
    return None


def main() -> None:
    """Becomes the command, which gets the arguments of this process."""
    program = os.path.join(_HERE, "libexec", "kernelsearch")
    if os.path.exists(program):
        os.environ.setdefault("KERNELSEARCH_DATA", os.path.join(_HERE, "data"))
    else:  # a package that was built from source without it
        found = _elsewhere()
        if found is None:
            sys.exit(
                "kernelsearch: this Python package was built without the command; install the wheel that brings it, or build the command "
                "(docs/install.md)"
            )
        program = found
    sys.stdout.flush()
    os.execv(program, ["kernelsearch", *sys.argv[1:]])
