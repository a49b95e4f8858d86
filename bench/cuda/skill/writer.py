#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the kernels that `kernelsearch tune --system 'cuda_skill_v2(from_files=FOLDER)'` asks for.

    writer.py PROBLEM FOLDER        until it is killed

No model takes part: the problem's kernel has every method as a macro, and what is asked for is that kernel with the
right macros. Streaming stores and vector loads of the matrix product are claimed and left out on purpose.
"""
import json
import pathlib
import re
import sys
import time

# What each method sets; None: it is only claimed.
METHODS = {
    'matmul': {
        'compute.ilp_unroll_register_tile': 'REGISTER',
        'compute.loop_unroll': 'UNROLL',
        'memory.tiling_smem': 'TILE',
        'memory.vectorized_access': None,
        'latency.read_only_loads': 'READ_ONLY',
    },
    'softmax': {
        'compute.fast_exponential': 'FAST_EXP',
        'memory.keep_row': 'KEEP',
        'memory.streaming_stores': None,
        'memory.vectorized_access': 'VECTOR',
        'latency.warp_shuffle_sync': 'SHUFFLE',
        'latency.read_only_loads': 'READ_ONLY',
    },
}
# Branches: other implementations of the same methods.
VARIANTS = {
    'matmul': [{'DEPTH': 16, 'UNROLL': 4}, {'DEPTH': 8, 'UNROLL': 8}, {'DEPTH': 32, 'UNROLL': 4}, {'DEPTH': 16, 'UNROLL': 16}],
    'softmax': [{'MIN_BLOCKS': 1}, {'MIN_BLOCKS': 4}, {'MIN_BLOCKS': 6}, {'MIN_BLOCKS': 8}],
}
HEADER = re.compile(r'^// made of: (.*); variant (\d+)$', re.M)


def kernel(problem, base, methods, variant):
    """The kernel with these methods; the first line says which, for the ablations to come."""
    macros = {name: 0 for name in METHODS[problem].values() if name}
    if 'UNROLL' in base:
        macros['UNROLL'] = 1
    macros.update({'matmul': {'DEPTH': 16}, 'softmax': {'MIN_BLOCKS': 1}}[problem])
    for key, value in VARIANTS[problem][variant % 4].items():
        if key != 'UNROLL' or 'compute.loop_unroll' in methods:
            macros[key] = value
    for method in methods:
        name = METHODS[problem].get(method)
        if name and name != 'UNROLL':
            macros[name] = 1
    lines = ['// made of: %s; variant %d' % (' '.join(sorted(methods)), variant)]
    lines += ['#define %s %d' % item for item in sorted(macros.items())]
    return '\n'.join(lines) + '\n' + base


def made_of(text):
    found = HEADER.search(text)
    return (set(found.group(1).split()), int(found.group(2))) if found else (set(), 0)


def answer(problem, base, request):
    folder = request.parent
    iteration = folder.parent.parent
    extension = next(iteration.glob('start.*')).suffix
    if folder.parent.name == 'branches':
        before, _ = made_of((iteration / ('start' + extension)).read_text())
        asked = {method['id'] for method in json.loads((iteration / 'methods.json').read_text())['methods']}
        text = kernel(problem, base, before | asked, int(re.sub(r'\D', '', folder.name)) - 1)
    else:
        methods, variant = made_of((iteration / ('kernel' + extension)).read_text())
        text = kernel(problem, base, methods - set(folder.name.split('+')), variant)
    part = folder / 'kernel.part'
    part.write_text(text)
    part.rename(folder / ('kernel' + extension))


def main():
    problem, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    base = next(problem.glob('kernel.*')).read_text()
    while True:
        for request in root.glob('iterv*/*/*/request.md'):
            if not any(request.parent.glob('kernel.*')):
                answer(problem.name, base, request)
        time.sleep(0.1)


if __name__ == '__main__':
    main()
