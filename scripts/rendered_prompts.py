#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/agents_prompts.md: one question of each role, as `kernelsearch prompt` prints it.

    scripts/rendered_prompts.py build/dev/apps/kernelsearch/kernelsearch > docs/agents_prompts.md

Code of more than 24 lines is cut in the middle, and of a system's later roles the parts that an earlier question of
the page has are named instead of repeated.
"""
import json
import re
import subprocess
import sys

SHOWN = [  # problem, system, roles
    ("examples/host/matmul", "kernelband", ["rewriter", "debugger"]),
    ("examples/cuda/matmul_peak", "peak", ["transformer"]),
    ("examples/host/matmul", "helion_llm", ["config_search"]),
    ("examples/host/matmul", "stark", ["planner", "coder", "debugger"]),
    ("examples/host/matmul", "geak", ["reflector", "optimizer", "generator"]),
    ("examples/cuda/matmul_peak", "cuda_skill_v2", ["writer", "debugger", "ablator"]),
]
MOST = 24
# What was measured of the machine that the page is written on is no result.
FIGURES = [(re.compile(r"[0-9.]+ ([GMTPk]?)(op/s|B/s)"), r"... \1\2"), (re.compile(r"at best [0-9.]+ (ns|us|ms|s)"), "at best ... \\1")]


def cut_code(text):
    """The text with long fenced blocks cut."""
    out, block, fence = [], None, ""
    for line in text.splitlines():
        if block is None:
            out.append(line)
            mark = line[: len(line) - len(line.lstrip("`"))]
            if len(mark) >= 3:
                block, fence = [], mark
        elif line == fence:
            if len(block) > MOST:
                block = block[: MOST - 6] + [f"[... {len(block) - MOST} lines of the question are not shown here ...]"] + block[-6:]
            out += block + [line]
            block = None
        else:
            block.append(line)
    return "\n".join(out + (block or []))


def main():
    command = sys.argv[1]
    print("# One question of each role\n")
    print("What models get, as `kernelsearch prompt` prints it (`scripts/rendered_prompts.py` writes this page). The machine is the one that it was written on; it")
    print("has no GPU, so the second block of facts of `matmul_peak` is short. Long code is cut here, not in the questions. What is in parentheses stands for what only a")
    print("run has; figures that were measured on first use are dots here. [agents.md](agents.md) says what the blocks are.\n")
    seen = {}
    for problem, system, roles in SHOWN:
        questions = json.loads(subprocess.run([command, "prompt", problem, "--system", system, "--json"], check=True, capture_output=True, text=True).stdout)
        for question in questions:
            if question["role"] not in roles:
                continue
            print(f"## {question['role']} of `{system}`\n")
            print(f"`kernelsearch prompt {problem} --system {system} --role {question['role']}`: about {question['tokens']} tokens.\n")
            for message in question["messages"]:
                stable = ", the same in every question" if message["stable"] else ""
                print(f"{message['speaker'].capitalize()}{stable}:\n")
                shown = []
                for part in message["text"].split("\n\n## "):
                    place = f"{question['role']} of `{system}`"
                    if len(part) > 400 and part in seen and message["stable"]:
                        shown.append(f"{part.splitlines()[0]}\n\n[as in the question of the {seen[part].replace('`', '')}]")
                    else:
                        seen.setdefault(part, place)
                        shown.append(part)
                print("``````text")
                text = cut_code("\n\n## ".join(shown)).rstrip()
                for pattern, hidden in FIGURES:
                    text = pattern.sub(hidden, text)
                print(text)
                print("``````\n")


if __name__ == "__main__":
    main()
