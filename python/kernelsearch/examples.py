# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problem folders that come with the package, to tune and to begin from.

    python -m kernelsearch.examples                       lists them
    python -m kernelsearch.examples host/matmul           copies one to ./matmul
    kernelsearch tune matmul --budget 30s
"""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import sys


def folder() -> pathlib.Path:
    """The folder that has them; FileNotFoundError where the package was built without."""
    place = pathlib.Path(__file__).with_name("examples")
    if not place.is_dir():
        raise FileNotFoundError("this package was built without examples: they are in the folder examples of the sources")
    return place


def _files() -> dict[str, pathlib.Path]:
    """The problem file of each: of a folder, or NAME.json, which shares files with its neighbors."""
    found = {}
    for file in folder().rglob("*.json"):
        if file.name == "problem.json":
            found[str(file.parent.relative_to(folder()))] = file
        elif '"backend":' in file.read_text(encoding="utf-8"):
            found[str(file.relative_to(folder()).with_suffix(""))] = file
    return found


def names() -> list[str]:
    """All of them, such as `host/matmul`."""
    return sorted(_files())


def copy(name: str, to: str | os.PathLike[str] | None = None) -> pathlib.Path:
    """Copies one to a folder that is not there yet; left out, its last name in the current folder."""
    if name not in names():
        from difflib import get_close_matches

        near = get_close_matches(name, names(), 3) or names()
        raise ValueError(f"there is no example {name!r}; try {', '.join(near)}")
    target = pathlib.Path(name.rsplit("/", 1)[-1] if to is None else to)
    file = _files()[name]
    if file.name == "problem.json":
        shutil.copytree(file.parent, target)
        return target
    target.mkdir()
    shutil.copy(file, target / "problem.json")
    for word in re.findall(r'"([^"\n]+)"', file.read_text(encoding="utf-8")):
        if (file.parent / word).is_file():
            (target / word).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.parent / word, target / word)
    return target


def _main(arguments: list[str]) -> int:
    try:
        if not arguments:
            print("\n".join(names()))
        elif len(arguments) <= 2 and not arguments[0].startswith("-"):
            print(copy(*arguments))
        else:
            print(__doc__.strip())
    except (OSError, ValueError) as error:
        print(f"kernelsearch.examples: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
