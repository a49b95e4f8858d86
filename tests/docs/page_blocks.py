# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the pages show: fenced and indented blocks, and code within sentences."""
import dataclasses
import pathlib
import re


@dataclasses.dataclass
class Block:
    page: str  # relative to the tree
    line: int  # of the block's first line, from 1
    language: str  # of the fence; "indented"; "inline"
    text: str

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def first(self):
        return self.text.split("\n", 1)[0].strip()


def pages_of(root: pathlib.Path):
    found = [root / "README.md", root / "CONTRIBUTING.md", root / "SECURITY.md"]
    return found + sorted((root / "docs").rglob("*.md")) + sorted((root / "examples").rglob("*.md"))


def blocks_of(root: pathlib.Path, page: pathlib.Path):
    """Blocks in their order. A fence that is not closed is an error of the page: ValueError."""
    name, lines = str(page.relative_to(root)), page.read_text().split("\n")
    found, at, blank = [], 0, True
    while at < len(lines):
        line = lines[at]
        if fence := re.match(r"^ *(```+)(.*)$", line):
            end = next((k for k in range(at + 1, len(lines)) if lines[k].strip() == fence[1]), None)
            if end is None:
                raise ValueError(f"{name}:{at + 1}: a fence that is never closed")
            found.append(Block(name, at + 2, fence[2].strip(), "\n".join(lines[at + 1:end])))
            at, blank = end + 1, False
            continue
        if blank and line.startswith("    ") and line.strip():
            end = at
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
                end += 1
            text = "\n".join(one.strip() for one in lines[at:end]).rstrip()
            found.append(Block(name, at + 1, "indented", text))
            at, blank = at + text.count("\n") + 1, False
            continue
        if line.strip() and not line.startswith("    "):
            found += [Block(name, at + 1, "inline", code) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", line)]
        blank = not line.strip()
        at += 1
    return found
