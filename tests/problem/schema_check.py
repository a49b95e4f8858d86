#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/formats/problem.schema.json: it accepts every example and the one in the docs, and refuses broken ones.

Exits with 77 (skipped) where the jsonschema package is not installed."""
import json
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from published_schema import ROOT, changed, validator_of, without_comments

BROKEN = [  # (what to change: path and value, or path alone to remove)
    (["schema"],), (["schema"], 2), (["name"],), (["name"], ""), (["function"],), (["function"], "2f"),
    (["kernel"],), (["kernel", "device"],), (["kernel", "devise"], "x"), (["kernel", "device"], {"txt": ""}),
    (["arguments"],), (["arguments"], []), (["arguments", 0, "type"], "f31"), (["arguments", 0, "name"],),
    (["arguments", 0, "role"], "out"), (["arguments", 0, "init"], "ones"), (["arguments", 3, "init"], "one"),
    (["arguments", 3, "mean"], 1), (["arguments", 4, "low"], 1), (["arguments", 3, "value"], 1),
    (["arguments", 5, "tolerance", "absolute"], -1), (["arguments", 5, "role"], "in"), (["shapes"],), (["shapes"], []),
    (["shapes", 0, "n"], "512"), (["shapes", 0, "n"], []), (["shapes", 0, "weight"], -1), (["shapes", 0, "2k"], 1),
    (["tunables", "TILE"], 4), (["tunables", "TILE"], []), (["tunables", "TILE"], [4, 4]),
    (["tunables", "ORDER"], {"permutation": 9}), (["tunables", "UNROLL"], {"range": [1]}), (["tunables", "X"], {}),
    (["tunables", "X"], {"range": [1, 2], "values": [1]}), (["tunables", "X"], {"values": [1], "role": "block"}),
    (["tunables", "2X"], [1]), (["constraints"], "TILE < 4"),
    (["default"], []), (["reference", "function"],), (["build", "compilr"], "g++"), (["build", "flags"], "-O3"),
    (["tolerances", "f31"], {}), (["aggregate"], "mean"), (["threads"], 0), (["backend"], "cudda"),
    (["traits"], "matmul"), (["traits"], ["Mat mul"]), (["traits"], ["a", "a"]),
    (["backend"], "cuda"), (["launch"], {"grid": [1], "block": [1]}), (["shema"], 1),
]

NEW = [  # what later versions of the format brought, right and wrong
    ((["arguments", 3, "init"], "sorted"), True), ((["arguments", 3, "high"], "n"), True), ((["arguments", 3, "edge"], [0]), True),
    ((["arguments", 3, "edge"], 0), False), ((["arguments", 3, "init"], "offsets"), False), ((["arguments", 3, "total"], "n"), False),
    ((["arguments", 3, "file"], "x.npy"), False), ((["arguments", 3, "init"], "file"), False), ((["bit_exact"], True), True),
    ((["bit_exact"], 1), False), ((["memory_gib"], 8), True), ((["memory_gib"], 0), False), ((["build", "libraries"], ["m"]), True),
    ((["build", "libraries"], ["-lm"]), False), ((["kernel", "include"], ["include"]), True), ((["kernel", "include"], "include"), False),
    ((["kernel", "sources"], ["a.cpp"]), True), ((["reference", "sources"], ["a.cpp"]), True), ((["files"], {"a.hpp": {"text": ""}}), True),
    ((["arguments", 5, "check"], True), True), ((["arguments", 5, "check"], 0), False), ((["arguments", 5, "check"], False), False),
    ((["arguments", 3, "check"], False), False), ((["arguments", 0, "check"], False), False),
    ((["files"], {"/a.hpp": {"text": ""}}), False), ((["files"], {"a.hpp": "a.hpp"}), False),
    ((["generator"], {"source": "inputs.cpp", "sizes": ["nnz"]}), True), ((["generator"], {}), False),
    ((["generator"], {"matrix_market": {"square": "m.mtx"}, "columns": "a"}), True),
    ((["generator"], {"matrix_market": "m.mtx", "sizes": ["rows"]}), False),
    ((["generator"], {"source": "inputs.cpp", "matrix_market": "m.mtx"}), False),
    ((["arguments", 3, "type"], {"struct": "P", "fields": [{"name": "x", "type": "f32", "low": 0}]}), True),
    ((["arguments", 3, "type"], {"struct": "P", "fields": []}), False),
    ((["arguments", 3, "type"], {"struct": "P", "fields": [{"name": "x"}]}), False),
    ((["build"], {"command": ["sh", "b.sh", "${LIBRARY}"], "files": ["b.sh"], "identity": [["sh"]], "readable": ["/opt"]}), True),
    ((["build"], {"command": []}), False), ((["build"], {"command": "sh"}), False), ((["build"], {"files": ["b.sh"]}), False),
    ((["build"], {"command": ["sh"], "readable": ["opt"]}), False), ((["build"], {"command": ["sh"], "identity": ["sh"]}), False),
    ((["reference", "compiler"], "clang++"), True), ((["reference", "compiler"], ""), False),
    ((["kernel", "device"], {"name": "kernel.f90", "text": ""}), True),
    ((["arguments", 3, "exact"], "bins for uniform keys"), True), ((["arguments", 3, "exact"], ""), False),
    ((["hidden_shapes"], {"none": "made for these"}), True), ((["hidden_shapes"], {"none": ""}), False),
    ((["trivial_answers"], "most inputs have no match"), True), ((["trivial_answers"], True), False),
]

BROKEN_DEVICE = [  # the same, of the device problem in the tests
    (["launch"],), (["launch"], []), (["launch"], "f"), (["launch", 0], {"zero": "c", "grid": [1]}),
    (["launch", 0], {"zero": "a b"}), (["launch", 1, "function"],), (["launch", 1, "function"], ""),
    (["launch", 1, "arguments"], []), (["launch", 1, "arguments"], "n"), (["launch", 1, "grid"],),
    (["launch", 1, "grid"], [1, 1, 1, 1]), (["launch", 1, "gird"], [1]), (["launch", 1, "local"], []), (["launch", 1, "local"], [{"name": "a"}]), (["launch", 1, "if"], []),
    (["launch"], {"grid": [1], "block": [1], "if": "n"}), (["reference", "launch"],), (["reference", "launch"], []),
    (["reference", "launch", "if"], "n"), (["build", "compiler"], "g++"), (["build", "compiler"], "hipcc"),
    (["arguments", 2, "type"],), (["arguments", 2, "role"], "scratch"), (["arguments", 3, "type"], "f16"),
    (["arguments", 3, "size"], "n"), (["arguments", 3, "tensor_map", "array"],), (["arguments", 3, "tensor_map", "sizes"], []),
    (["arguments", 3, "tensor_map", "sizes"], [1] * 6), (["arguments", 3, "tensor_map", "strides"], [1] * 5),
    (["arguments", 3, "tensor_map", "box"],), (["arguments", 3, "tensor_map", "bocks"], [1]),
    (["arguments", 3, "tensor_map", "swizzle"], []), (["arguments", 3, "symbol"], "m"), (["arguments", 0, "symbol"], "n"),
    (["arguments", 4, "symbol"], "a b"), (["arguments", 4, "tolerance"], {}), (["arguments", 5, "init"], "zeros"),
    (["arguments", 5, "symbol"], "w"), (["arguments", 5, "tolerance"], {}), (["arguments", 6, "symbol"], "c"),
    (["arguments", 6, "init"], "zeros"), (["backend"], "hip"), (["backend"], "opencl"), (["backend"], "vulkan"), (["backend"], "host"),
]
OF_DEVICES = [  # what host problems may not have
    (["arguments", 3, "role"], "workspace"), (["arguments", 3, "symbol"], "c_a"), (["launch"], [{"zero": "c"}]),
    (["arguments", 2], {"name": "m", "tensor_map": {"array": "b", "sizes": ["n"], "box": [64]}}),
    (["reference", "launch"], {"grid": [1], "block": [1]}),
]


def main():
    validator = validator_of("problem")
    failures = 0

    def expect(name, document, right):
        nonlocal failures
        errors = [f"/{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(document)]
        if bool(errors) == right:
            failures += 1
            print(f"{name}: " + ("refused: " + "; ".join(errors) if right else "accepted although broken"))

    manual = (ROOT / "docs/formats/problem.md").read_text()
    whole = json.loads(without_comments(re.search(r"```jsonc\n(\{.*?\n\})\n```", manual, re.S).group(1)))
    expect("docs/formats/problem.md", whole, True)
    for change, right in NEW:
        expect(f"the example with {change}", changed(whole, *change), right)
    expect("a reference of commands", changed(whole, ["reference"], {"commands": "kernelsearch_task.json"}), True)
    unchecked = changed(changed(whole, ["arguments", 5, "tolerance"]), ["arguments", 5, "check"], False)
    expect("an output that is not checked", unchecked, True)
    scaffold = (ROOT / "src/problem/scaffold_texts.hpp").read_text()
    new = re.search(r'R"json\((.*?)\)json"', scaffold, re.S).group(1).replace("@FUNCTION@", "f")
    expect("the scaffold", json.loads(without_comments(new)), True)
    texts = (ROOT / "tests/problem/problem_texts.hpp").read_text()
    device = json.loads(re.search(r'device_problem = R"json\((.*?)\)json"', texts, re.S).group(1))
    expect("the device problem of the tests", device, True)
    expect("one step", changed(device, ["launch"], {"grid": ["n"], "block": ["BM", 1]}), True)
    local = [{"name": "a", "bytes": "4*BM"}]
    expect("local memory of a step", changed(device, ["launch", 1, "local"], local), True)
    expect("local memory of a reference", changed(device, ["reference", "launch", "local"], local), True)
    launched_by_host = changed(changed(device, ["launch"]), ["kernel", "host"], {"text": "void launch() {}"})
    expect("a launch function", launched_by_host, True)
    for example in re.findall(r"```jsonc\n(\{.*?\n\})\n```", manual, re.S):
        expect("an example of docs/formats/problem.md", json.loads(without_comments(example)), True)
    examples = sorted((ROOT / "examples").glob("**/problem.json")) + sorted((ROOT / "examples" / "triton").glob("*.json"))
    for path in examples:
        expect(path.relative_to(ROOT), json.loads(without_comments(path.read_text())), True)
    for change in BROKEN + OF_DEVICES:
        expect(change, changed(whole, *change), False)
    for change in BROKEN_DEVICE:
        expect(change, changed(device, *change), False)
    broken = len(BROKEN) + len(OF_DEVICES) + len(BROKEN_DEVICE)
    print(f"{len(examples)} examples and {broken} broken documents checked, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
