#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of KernelBench's files that a processor can compute, and whether our reference takes them.

    kernelbench_small.py REPO OUT [--mib 4] [--check FILE.csv] [--only level1/1*]

The sizes of KernelBench's files are for large GPUs: gigabytes of inputs. Here the whole numbers of a file that stand outside of
its classes (sizes at the top, and in `get_inputs` and `get_init_inputs`) are halved, the one that saves most first, while the file
still works, until inputs, weights and outputs take `--mib` MiB and a call does few operations. That is tried on PyTorch's device
`meta`, which computes shapes alone. What the class computes is not touched, but numbers in it stay as they are, so some files stay large.

`--check` has the class that holds references (python/kernelsearch/modules.py) take each copy, in a process of its own, as
`tune` does before anything is searched, and writes a table: taken or refused, and the reason."""
import argparse
import ast
import csv
import fnmatch
import multiprocessing
import pathlib
import queue
import resource
import sys
import time

import torch
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "kernelsearch"))

MIB, OPERATIONS = 1 << 20, 2e8
TOLERANCES = {"f64": 1e-4, "f32": 1e-4, "f16": 1e-2, "bf16": 1e-2}  # KernelBench's


def numbers_in(tree):
    """The whole numbers outside of classes that may be sizes."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign) or (isinstance(node, ast.FunctionDef) and node.name.startswith("get_")):
            found += [one for one in ast.walk(node)
                      if isinstance(one, ast.Constant) and type(one.value) is int and one.value >= 4]  # fmt: skip
    return found


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from (one for item in value.values() for one in tensors_in(item))
    elif isinstance(value, (list, tuple)):
        yield from (one for item in value for one in tensors_in(item))


def cost_of(text, limit):
    """How many times over the limits it is; None where it does not work."""
    space = {"__name__": "task"}
    try:
        with torch.device("meta"), torch.no_grad():
            exec(compile(text, "task", "exec"), space)
            init = space["get_init_inputs"]() if "get_init_inputs" in space else []
            model = space["Model"](*init)
            inputs = space["get_inputs"]()
            with FlopCounterMode(display=False) as counter:
                outputs = model(*inputs)
    except Exception:
        return None
    held = [*tensors_in(inputs), *tensors_in(outputs), *model.state_dict().values()]
    if not all(one.numel() for one in held):
        return None
    return max(sum(one.numel() * one.element_size() for one in held) / (limit * MIB), counter.get_total_flops() / OPERATIONS)


def smaller(text, limit, seconds=60):
    """The text with smaller numbers, and what it costs; as it is where it does not work on `meta`. Ends after `seconds`."""
    tree = ast.parse(text)
    end = time.monotonic() + seconds  # recurrent layers take long on `meta`, step by step
    cost = cost_of(text, limit)
    while cost is not None and cost > 1 and time.monotonic() < end:
        best = None
        numbers = numbers_in(tree)
        equal = [[one for one in numbers if one.value == value] for value in sorted({one.value for one in numbers})]
        for group in [[one] for one in numbers] + [group for group in equal if len(group) > 1]:  # some must stay equal
            if best is not None and time.monotonic() > end:
                break
            before = group[0].value
            for node in group:
                node.value = before // 2
            tried = cost_of(ast.unparse(tree), limit)
            for node in group:
                node.value = before
            if tried is not None and tried < cost and (best is None or tried < best[0]):
                best = (tried, group)
        if best is None:
            break
        cost = best[0]
        for node in best[1]:
            node.value //= 2
    return ast.unparse(tree) + "\n", cost


def taken(text, answer):
    """Puts what our reference says of the text into `answer`."""
    import modules

    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    torch.set_num_threads(1)
    modules.torch = torch  # its start() imports it, so that its text can be read without
    try:
        reference = modules.Reference({
            "module": text, "class": "Model", "seed": 7, "shapes": [{"name": "module", "variables": {}}],
            "tolerances": {kind: [allowed, allowed] for kind, allowed in TOLERANCES.items()},
        })  # fmt: skip
        known = reference.described()
        answer.put(("taken", known["precision"], "; ".join(known["notes"] + [f"{one} would pass" for one in known["trivial"]])))
    except modules.Declined as declined:
        answer.put(("refused", "", str(declined)))
    except MemoryError:
        answer.put(("too large", "", "more than 8 GiB"))
    except Exception as error:
        answer.put(("failed", "", f"{type(error).__name__}: {error}"))


def checked(text, seconds):
    answer = multiprocessing.get_context("fork").Queue()
    child = multiprocessing.get_context("fork").Process(target=taken, args=(text, answer))
    child.start()
    try:
        said = answer.get(timeout=seconds)
    except queue.Empty:
        said = ("too large", "", f"no answer within {seconds} s")
    child.kill()
    child.join()
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repository", type=pathlib.Path, help="a copy of KernelBench")
    parser.add_argument("out", type=pathlib.Path, help="folder for the copies")
    parser.add_argument("--mib", type=float, default=4)
    parser.add_argument("--check", type=pathlib.Path, help="file for the table of what our reference says")
    parser.add_argument("--only", default="level[123]/*", help="files, as a pattern")
    given = parser.parse_args()
    root = given.repository / "KernelBench"
    files = sorted(one for one in root.glob("level*/*.py") if fnmatch.fnmatch(str(one.relative_to(root).with_suffix("")), given.only))
    if not files:
        parser.error(f"{root} has no files {given.only}: name a copy of KernelBench")
    table = given.check.open("w", newline="") if given.check else None
    rows = csv.writer(table) if table else None
    if rows:
        rows.writerow(["file", "verdict", "precision", "said", "over_limit", "seconds"])
    counts = {}
    torch.set_num_threads(1)
    for file in files:
        name = str(file.relative_to(root))
        text, cost = smaller(file.read_text(), given.mib)
        (given.out / name).parent.mkdir(parents=True, exist_ok=True)
        (given.out / name).write_text(text)
        if not rows:
            continue
        begin = time.monotonic()
        verdict, precision, said = checked(text, 120)
        counts[verdict] = counts.get(verdict, 0) + 1
        rows.writerow([name, verdict, precision, said, "" if cost is None else f"{cost:.2f}", f"{time.monotonic() - begin:.1f}"])
        table.flush()
    print(f"{len(files)} files" + "".join(f", {number} {verdict}" for verdict, number in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
