#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks for names and texts of others that reach a terminal, a file's name or a shell by another way than the one door
of each: clean_text() (in the command print_clean(), print_json(), print_exact()), file_word(), shell_word(). Also for files
that are written as they lie there rather than by replace_file(): others may have put a link in their place. And for
tests that compare numbers by more than a share of them.
docs/security.md says what for. Exceptions are named below, each with what makes it safe; one that is no longer needed is
a fault, too."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
faults = []

# What each rule looks for, where, and the lines that may be: file and a part of the line.
RULES = {
    "writes to a terminal: use print_clean() of apps/kernelsearch/terminal.hpp": (
        ["apps/kernelsearch"],
        re.compile(r"fmt::print\(|std::print\(|printf\(|std::cout|std::cerr|std::clog|\bfputs\(|\bputs\(|\bfwrite\(|\bfputc\("),
        {
            ("apps/kernelsearch/terminal.cpp", "fwrite"): "the door itself",
            ("apps/kernelsearch/export.cpp", "std::cout << cachefile_text"): "JSON, through clean_json()",
            ("apps/kernelsearch/export.cpp", "std::cout);"): "every format of exports cleans its fields",
            ("apps/kernelsearch/memory.cpp", "std::cout);"): "JSON Lines, through json_text()",
            ("apps/kernelsearch/progress.cpp", "std::cerr"): "ProgressPrinter cleans its lines",
            ("apps/kernelsearch/interrupt.cpp", "std::fputs"): "in a handler of signals, a text of ours",
        }),
    "makes a file's name of a name: use file_word()": (
        ["src", "apps"],
        re.compile(r"/ \(?(?!file_word|detail::identifier|identifier)[\w.>-]*(?:\bname|problem|->name)\b\s*\+|"
                   r"\b(?:problem|info|row\.info)\.(?:name|problem) \+ \"_"),
        {
            ("src/judge/measuring_lock.cpp", '(folder / (name + ".lock"))'): "MeasuredThing::lock, letters and digits",
            ("src/report/winner.cpp", "folder / (name + "): "name is identifier()'s",
            ("src/report/winner_text.cpp", "folder / (name + "): "name is identifier()'s",
            ("src/run/use_plan.cpp", "folder / (name + "): "name is identifier()'s",
        }),
    "gives a shell a command: quote its words with shell_word()": (
        ["src", "apps"],
        re.compile(r"shell_launch\(|std::system\(|popen\("),
        {
            ("src/process/process.cpp", "Launch shell_launch("): "the door itself",
            ("src/process/process.hpp", "Launch shell_launch("): "the door itself",
            ("src/remote/lane.cpp", "shell_launch(command"): "a launch prefix of the user's, words of ours by shell_word()",
            ("src/remote/slurm_job.cpp", "shell_launch("): "each name in it by shell_word(), slurm_place()",
            ("src/run/made_problem.cpp", "shell_launch(line"): "make_problem.json's command, each word by shell_word(), shown before",
            ("src/external/line_process.cpp", "shell_launch(command"): "--policy-command, of the command line alone",
            ("src/run/other_harness.cpp", "shell_launch(command"): "bench --harness, of the command line alone; its two words by shell_word()",
        }),
    "writes to a file as it lies there, also through a link: use replace_file(), or refuse links": (
        ["src", "apps"],
        re.compile(r"\bofstream\b(?!>)|\bO_CREAT\b|\bfopen\("),
        {
            ("src/problem/replace_file.cpp", "O_EXCL"): "the door itself",
            ("src/run/run_lock.cpp", "O_NOFOLLOW"): "of a link it makes no lock",
            ("src/runtime/settings_table.cpp", "O_NOFOLLOW"): "of a link it says that it is one",
            ("src/judge/measuring_lock.cpp", "O_EXCL"): "makes a file, and follows no link",
            ("src/compare/trace_folder.cpp", "std::ofstream out(file_"): "its constructor refuses a link",
            ("src/problem/write_files.cpp", "std::ofstream file(folder / name"): "refuses what is there, links too",
            ("apps/kernelsearch/compare.cpp", "std::ofstream out(file"): "write_file() refuses links",
            ("src/report/write_report.cpp", "std::ofstream out(file"): "what is not a regular file, such as /dev/stdout",
            ("src/runtime/plan.cpp", "std::ofstream out(beside"): "next to a file that the user names, with the process's number",
            ("src/run/writable.cpp", "O_CREAT"): "--record, which the user names; nothing is written",
            ("apps/kernelsearch/export.cpp", "std::ofstream file(output)"): "-o and --dot, which the user names",
            ("apps/kernelsearch/memory.cpp", "std::ofstream file(command.file)"): "a file that the user names",
            ("src/evaluator/gpu/glslang.cpp", "std::ofstream(source"): "in a ScratchFolder",
            ("src/evaluator/gpu/replay_file.cpp", "std::ofstream out(file"): "in a ScratchFolder of its callers",
            ("src/evaluator/gpu/sass_read.cpp", "std::ofstream(file"): "in a ScratchFolder",
            ("src/evaluator/host/host_evaluator.cpp", "std::ofstream out(file"): "in a ScratchFolder",
            ("src/external/frozen_program.cpp", "std::ofstream(path"): "in a ScratchFolder",
            ("src/judge/sandboxed_compiler.cpp", "std::ofstream(file"): "in a ScratchFolder",
            ("src/process/carried_programs.cpp", "std::ofstream out(file"): "in a ScratchFolder",
            ("src/remote/lane_server.cpp", "std::ofstream out(target"): "in a ScratchFolder, by file_in()",
        }),
    "takes any two times below 10 us for equal: use approx() of tests/support/approx.hpp": (
        ["tests"],
        re.compile(r"\bApprox\("),
        {
            ("tests/support/approx.hpp", "doctest::Approx(value)"): "the door itself",
        }),
}

for what, (folders, pattern, allowed) in RULES.items():
    used = set()
    for folder in folders:
        for file in sorted((root / folder).rglob("*.[hc]pp")):
            name = str(file.relative_to(root))
            for number, line in enumerate(file.read_text().splitlines(), 1):
                code = line.split("//", 1)[0]
                if not pattern.search(code):
                    continue
                excuse = [key for key in allowed if name.startswith(key[0]) and key[1] in line]
                used.update(excuse)
                if not excuse:
                    faults.append(f"{name}:{number} {what}\n    {line.strip()}")
    for key in set(allowed) - used:
        if (root / key[0]).is_file():
            faults.append(f"{key[0]} has no {key[1]!r} any more: remove it from the exceptions")

# Files of names that come from the problem: that `name` is what the exceptions say.
for file in ("src/report/winner.cpp", "src/report/winner_text.cpp", "src/run/use_plan.cpp"):
    text = (root / file).read_text()
    for place in re.finditer(r"folder / \(name \+", text):
        before = text[:place.start()]
        if not re.search(r"const std::string name = (?:detail::)?(?:identifier|file_word)\(", before[before.rfind("\n}\n"):]):
            faults.append(f"{file}: a file's name is made of a name that is neither identifier()'s nor file_word()'s")

# One function each, found by its name.
for declared, header in (("std::string clean_text(", "include/kernelsearch/core/clean_text.hpp"),
                         ("std::string file_word(", "include/kernelsearch/problem/file_word.hpp"),
                         ("std::string shell_word(", "include/kernelsearch/problem/shell_word.hpp")):
    found = [str(f.relative_to(root)) for f in (root / "include").rglob("*.hpp") if declared in f.read_text()]
    if [f for f in found if "/impl/" not in f] != [header]:
        faults.append(f"{declared}...) is declared in {found}, not in {header} alone")

print("\n".join(faults) or "each text of others goes through its door")
sys.exit(1 if faults else 0)
