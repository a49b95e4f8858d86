#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# scripts/measure_headers.sh [ROUNDS [TREE...]]: what the public headers cost a compilation with g++ -O2, as
# Markdown tables: user seconds beyond an empty file, and peak memory; the least of ROUNDS (default 5). Further
# trees, e.g. an earlier version, are measured alternately with this one and get a column each. CXX chooses the
# compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
shift || true
exec python3 - "$rounds" "$PWD" "$@" <<'PYTHON'
import os, sys, tempfile

rounds, trees = int(sys.argv[1]), sys.argv[2:]
compiler = os.environ.get("CXX", "g++")
eigen = ["-isystem", "/usr/include/eigen3"]
header_only = ["-DKERNELSEARCH_HEADER_ONLY=1", *eigen]


def header(name):
    return f'#include "kernelsearch/{name}.hpp"\n'


programs = "examples/programs/"
tables = {
    "Headers": [
        ("<vector>, <string>, <span>, <optional>",
         "".join(f"#include <{h}>\n" for h in ("vector", "string", "span", "optional")), []),
        *((f"kernelsearch/{n}.hpp", header(n), []) for n in (
            "fwd", "core/outcome", "core/expression", "space/space", "policy/search_policy", "policy/bayesian_search",
            "evaluator/evaluator", "optimizer/optimizer", "kernelsearch")),
    ],
    "Programs": [(programs + n, None, []) for n in (
        "smallest.cpp", "lambda_evaluator.cpp", "ask_tell.cpp", "custom_policy.cpp", "compare_policies.cpp",
        "own_system.cpp")],
    "With KERNELSEARCH_HEADER_ONLY=1": [
        ("kernelsearch/kernelsearch.hpp", header("kernelsearch"), header_only),
        *((f"kernelsearch/{n}.hpp", header(n), header_only) for n in (
            "space/space", "policy/search_tree", "policy/bayesian_search", "policy/registry")),
        (programs + "smallest.cpp", None, header_only),
        ("tests/consumer/no_exceptions.cpp", None, [*header_only, "-fno-exceptions", "-fno-rtti"]),
    ],
}


def cost(tree, source, flags):
    """User seconds and MB of one compilation; none where it fails."""
    child = os.fork()
    if child == 0:
        os.chdir(tree)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execvp(compiler, [compiler, "-std=c++20", "-O2", "-Iinclude", *flags, "-c", source, "-o", os.devnull])
    _, status, usage = os.wait4(child, 0)
    return (usage.ru_utime, usage.ru_maxrss / 1024) if status == 0 else None


with tempfile.TemporaryDirectory() as work:
    def file(text):
        path = os.path.join(work, f"{len(os.listdir(work))}.cpp")
        with open(path, "w") as out:
            out.write(text)
        return path

    empty = file("")
    base = min(cost(trees[0], empty, [])[0] for _ in range(rounds))
    for title, rows in tables.items():
        print(f"### {title}\n\n| what |" + " s | MB |" * len(trees) + "\n|---|" + "---|---|" * len(trees), flush=True)
        for name, text, flags in rows:
            source = name if text is None else file(text)
            least = [None] * len(trees)
            for _ in range(rounds):
                for i, tree in enumerate(trees):
                    now = cost(tree, source, flags)
                    if now is not None and (least[i] is None or now < least[i]):
                        least[i] = now
            cells = (f" {c[0] - base:.2f} | {c[1]:.0f} |" if c else " fails | |" for c in least)
            print(f"| `{name}` |" + "".join(cells), flush=True)
        print()
PYTHON
