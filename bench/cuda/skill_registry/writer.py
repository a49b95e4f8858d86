#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the kernels that `kernelsearch tune --system 'cuda_skill_v2(from_files=FOLDER)'` asks for.

    writer.py FOLDER_OF_MERIT FOLDER        until it is killed

No model takes part: this is a fixture of kernels whose merit is known. The problem's kernel has methods as macros;
merit.json says which (`methods`; with none the method is claimed and nothing is done), which of them another needs
(`needs`, any of the list), and which do not apply and why (`declined`). A method that it does not know is declined.
"""
import json
import os
import pathlib
import re
import sys
import time

HEADER = re.compile(r'^// made of: (.*); variant (\d+)$', re.M)


class Merit:
    def __init__(self, folder):
        self.__dict__.update({'methods': {}, 'needs': {}, 'declined': {}, 'defines': 'device', 'launch': None})
        self.__dict__.update(json.loads((folder / 'merit.json').read_text()))
        self.folder = (folder / self.problem).resolve()
        described = json.loads(re.sub(r'^\s*//.*$', '', (self.folder / 'problem.json').read_text(), flags=re.M))
        self.base = (self.folder / described['kernel']['device']).read_text()
        where = self.base
        if self.defines == 'macros':
            where = (self.folder / described['kernel']['macros']).read_text()
        self.macros = dict(re.findall(r'^ *# *define (\w+) (\d+)', where, re.M))

    def why_not(self, method, others):
        """Why a method cannot be applied beside others; nothing where it can."""
        if method in self.declined:
            return self.declined[method]
        if method not in self.methods:
            return 'this script has no kernel with it'
        needs = self.needs.get(method, [])
        if needs and not set(needs) & set(others):
            return 'it needs ' + ' or '.join(needs) + ' first'
        return ''

    def texts(self, methods, variant):
        """The device region, and the macros region where there is one."""
        macros = dict(self.macros)
        for key, value in self.variants[variant % len(self.variants)].items():
            macros[key] = value
        block = 256 if self.launch else 0  # also where it is as the problem has it: a launch once given stays
        for method in sorted(methods):
            for key, value in self.methods.get(method, {}).items():
                if key == '@block':
                    block = value
                else:
                    macros[key] = value
        head = '// made of: %s; variant %d\n' % (' '.join(sorted(methods)), variant)
        lines = ''.join('#define %s %s\n' % item for item in sorted(macros.items()))
        device, region = head + self.base, ''
        if self.defines == 'macros':
            region = lines
        else:
            device = head + lines + self.base
        if block:
            region += '//@launch ' + json.dumps(self.launch).replace('{block}', str(block)) + '\n'
        return device, region


def made_of(text):
    found = HEADER.search(text)
    return (set(found.group(1).split()), int(found.group(2))) if found else (set(), 0)


def put(file, text):
    """Whole at once, and as if written a while ago, for whoever waits until it has settled."""
    part = file.with_suffix('.part')
    part.write_text(text)
    past = time.time() - 60
    os.utime(part, (past, past))
    part.rename(file)


def answer(merit, request):
    folder = request.parent
    iteration = folder.parent.parent
    text = request.read_text()
    branch = folder.parent.name == 'branches'
    if branch:
        methods, _ = made_of((iteration / 'start.cu').read_text())
        wanted = {m['id'] for m in json.loads((iteration / 'methods.json').read_text())['methods']}
        asked = re.search(r'apply (.*?) together', text)
        if asked:
            wanted = set(asked.group(1).split(', '))
        for method in sorted(wanted):
            if why := merit.why_not(method, methods | wanted):
                return put(folder / 'declined.txt', 'DOES NOT APPLY: %s: %s\n' % (method, why))
        number = int(re.sub(r'\D', '', folder.name))
        device, region = merit.texts(methods | wanted, number - 1)
    else:
        methods, variant = made_of((iteration / 'kernel.cu').read_text())
        left = methods - set(folder.name.split('+'))
        for method in sorted(left):
            if merit.needs.get(method) and merit.why_not(method, left):
                return put(folder / 'declined.txt', 'it cannot be taken out: %s needs it\n' % method)
        device, region = merit.texts(left, variant)
    if 'this_time.txt' in text:
        put(folder / 'this_time.txt', 'This script has the same kernel again, in another of its variants.\n')
    if region:
        put(folder / 'macros.cu', region)
    put(folder / 'kernel.cu', device)


def main():
    merit, root = Merit(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    while True:
        for request in root.glob('iterv*/*/*/request.md'):
            if (request.parent / 'kernel.cu').exists() or (request.parent / 'declined.txt').exists():
                continue
            try:
                answer(merit, request)
            except FileNotFoundError:  # set aside meanwhile: the iteration is begun anew
                pass
        time.sleep(0.05)


if __name__ == '__main__':
    main()
