#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loop hints for clang: problem folders of a C file's functions, and plans of what their runs found.

    loop_hints.py list  FILE.c   --compiler clang-19 --plugin PLUGIN.so     the loops, as JSON lines
    loop_hints.py make  LOOPS.json --compiler clang-19 --plugin PLUGIN.so --out FOLDER
    loop_hints.py plan  PLAN.json... --out FILE.hints                       of `kernelsearch plan export`
    loop_hints.py same  FUNCTION ONE.o OTHER.o                              is the production build the winner's?

docs/llvm.md has the whole way, and the format of LOOPS.json.
"""
import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PLUGIN = "kernelsearch_loops.so"  # its name in a problem's folder
QUIET = ["-Wno-pass-failed"]  # a hint that the compiler cannot follow is no news in a search


class Mistake(Exception):
    """What a user did wrong, or a command that failed: shown without a trace."""


def run(command, folder=None):
    """The standard output of a command that must end well."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        raise Mistake(f"{command[0]} is not there: install it, or name another with --compiler")
    if done.returncode != 0:
        raise Mistake(f"`{shlex.join(map(str, command))}` failed:\n{done.stderr.strip()}")
    return done.stdout


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        raise Mistake(f"{path} cannot be read: {error}")


def with_plugin(compiler, flags, plugin):
    return [compiler, *flags, f"-fplugin={plugin}", f"-fpass-plugin={plugin}"]


def loops_of(source, compiler, flags, plugin):
    """What the plugin lists: its first line, then a line for each loop."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "loops")
        command = with_plugin(compiler, [*flags, "-gline-tables-only"], pathlib.Path(plugin).resolve())
        run([*command, "-mllvm", f"-kernelsearch-loops={out}", "-c", str(source), "-o", f"{folder}/object.o"])
        head, *loops = [json.loads(line) for line in out.read_text().splitlines()]
    return head, loops


def list_loops(options):
    head, loops = loops_of(options.file, options.compiler, shlex.split(options.flags), options.plugin)
    for line in [head, *loops]:
        print(json.dumps(line))


def tunable(loop, hint):
    return f"loop{loop}_{hint}"


def hints_of(settings):
    """{loop: {hint: value}} of a configuration, without what is not set."""
    found = {}
    for name, value in settings.items():
        match = re.fullmatch(r"loop(\d+)_(\w+)", name)
        if not match:
            raise Mistake(f"{name} is no tunable of loops: was this plan of a problem that `make` wrote?")
        if value != 0:
            found.setdefault(int(match[1]), {})[match[2]] = value
    return found


def entry(function, loop, hints):
    return f"{function}:{loop}:" + ",".join(f"{hint}={value}" for hint, value in hints.items())


def problem_of(function, given, head, loops, options, source_name):
    """problem.json of one function: the hints of its innermost loops, none of them by default."""
    tunables, constraints, plan = {}, [], []
    for loop in loops:
        number, turns = loop["loop"], loop["trip_count"]
        for hint in ("vectorize_width", "interleave_count", "unroll_count", "distribute"):
            values = head["hints"][hint]
            if hint == "vectorize_width" and turns is not None:  # wider than the loop is long is no vector
                values = [width for width in values if width <= max(turns, 1)]
            tunables[tunable(number, hint)] = values
        names = {hint: tunable(number, hint) for hint in head["hints"]}
        for constraint in head["constraints"]:
            constraints.append(re.sub(r"\w+", lambda word: names.get(word[0], word[0]), constraint))
        plan.append(entry(function, number, {hint: "${" + names[hint] + "}" for hint in head["hints"]}))
    command = with_plugin(options.compiler, [*shlex.split(options.flags), *QUIET], "./" + PLUGIN)
    command += ["-mllvm", "-kernelsearch-plan=" + ";".join(plan), "-fPIC", "-c", "${SOURCE}", "-o", "${LIBRARY}"]
    problem = {"schema": 1, "name": function, "backend": "host", "function": function,
               "kernel": {"device": source_name}}
    problem |= {key: value for key, value in given.items() if key != "reorders"}
    problem |= {"tunables": tunables, "constraints": constraints,
                "build": {"command": command, "files": [PLUGIN], "identity": [[options.compiler, "--version"]]}}
    # The same source without hints is the reference: the default. Whoever may not reorder sums must keep its bits.
    if not options.reorder:
        problem["bit_exact"] = True
    return problem


def make(options):
    description = pathlib.Path(options.description)
    given = read_json(description)
    for key in ("source", "functions"):
        if key not in given:
            raise Mistake(f"{description} lacks `{key}`: see docs/llvm.md")
    source = description.parent / given["source"]
    head, loops = loops_of(source, options.compiler, shlex.split(options.flags), options.plugin)
    wanted = options.only or list(given["functions"])
    for function in wanted:
        if function not in given["functions"]:
            raise Mistake(f"{description} does not describe {function}: it has {', '.join(given['functions'])}")
        inner = [loop for loop in loops if loop["function"] == function and loop["innermost"]]
        if not inner:
            there = ", ".join(dict.fromkeys(loop["function"] for loop in loops))
            raise Mistake(f"{source} has no function {function} with loops: it has {there or 'none at all'}")
        problem = problem_of(function, given["functions"][function], head, inner, options, source.name)
        folder = pathlib.Path(options.out, function)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / source.name)
        shutil.copyfile(options.plugin, folder / PLUGIN)
        (folder / "problem.json").write_text(json.dumps(problem, indent=2) + "\n")
        print(folder)


def winners(paths):
    """(function, settings, entry) of what beat the default in pairs; a function that keeps it has None twice."""
    found = {}
    for path in paths:
        for part in read_json(path).get("plans", []):
            function = part["problem"]
            settings = [one["settings"] for one in part["entries"]]
            kept = part.get("default_kept", [])
            # One object file serves all sizes: what is faster for some of them only is not taken.
            same = settings and not kept and all(one == settings[0] for one in settings)
            if function in found:
                raise Mistake(f"{path}: there are two plans of {function}; merge them with `kernelsearch plan merge`")
            found[function] = (settings[0], part["entries"][0]) if same else (None, None)
            if settings and not same:
                print(f"{function}: its shapes want different hints, so it keeps the default", file=sys.stderr)
    if not found:
        raise Mistake(f"{', '.join(map(str, paths))}: no plans in there")
    return found


def plan(options):
    lines = ["# Hints for loops, for -mllvm -kernelsearch-plan=@THIS. FUNCTION:LOOP:NAME=VALUE,..."]
    for function, (settings, proof) in winners(options.plans).items():
        if settings is None:
            lines.append(f"# {function}: nothing beat the compiler's own choice")
            continue
        ratio = proof.get("over_default", {})
        if ratio:
            low, high = ratio["interval"]
            lines.append(f"# {function}: {ratio['ratio']:.3f} times as fast as without hints [{low:.3f}, {high:.3f}], {ratio['pairs']} pairs")
        lines += [entry(function, loop, hints) for loop, hints in hints_of(settings).items()]
    pathlib.Path(options.out).write_text("\n".join(lines) + "\n")


def machine_code(library, function):
    """A function's instructions in an object file: their bytes, and what the linker puts into them."""
    for symbol in run(["nm", "-S", "--defined-only", str(library)]).splitlines():
        words = symbol.split()
        if len(words) == 4 and words[3] == function:
            start, size = int(words[0], 16), int(words[1], 16)
            break
    else:
        raise Mistake(f"{library} has no function {function}")
    code = []
    for line in run(["objdump", "-drw", f"--start-address={start}", f"--stop-address={start + size}", str(library)]).splitlines():
        instruction = re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*(\t|$)", line)
        if instruction:
            code.append((int(instruction[1], 16) - start, instruction[2]))
            # Where a constant lies in the table that all functions of the file share is no part of the code.
            code += re.findall(r"(R_\w+)\s+([\w.]+)", line)
    return code


def same(options):
    """Compares a function's machine code in two object files, byte for byte."""
    one, other = (machine_code(path, options.name) for path in options.objects)
    if one != other:
        raise Mistake(f"{options.name}: {' and '.join(options.objects)} differ")
    print(f"{options.name}: the same {sum(isinstance(part[0], int) for part in one)} instructions")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(name, function, **kwargs):
        sub = commands.add_parser(name, **kwargs)
        sub.set_defaults(function=function)
        return sub

    def compiles(sub):
        sub.add_argument("--compiler", default="clang", help="a clang of the plugin's LLVM version (default: clang)")
        sub.add_argument("--plugin", required=True, help="the kernelsearch_loops.so built for it")
        sub.add_argument("--flags", default="-O3 -march=native", help="of the compiler (default: %(default)s)")

    one = command("list", list_loops, help="the loops of a file as JSON lines")
    one.add_argument("file")
    compiles(one)
    one = command("make", make, help="problem folders for `kernelsearch tune`, one for each function")
    one.add_argument("description", help="LOOPS.json: the source and its functions' arguments and shapes")
    one.add_argument("--out", required=True)
    one.add_argument("--only", action="append", help="this function (may be repeated)")
    one.add_argument("--reorder", action="store_true", help="judge by tolerances, not by bits: for flags like -ffast-math")
    compiles(one)
    one = command("plan", plan, help="the plugin's plan file of plans that `kernelsearch plan export` wrote")
    one.add_argument("plans", nargs="+")
    one.add_argument("--out", required=True)
    one = command("same", same, help="whether a function has the same machine code in two object files")
    one.add_argument("name")
    one.add_argument("objects", nargs=2)
    options = parser.parse_args()
    try:
        options.function(options)
    except Mistake as mistake:
        sys.exit(f"loop_hints.py: {mistake}")


if __name__ == "__main__":
    main()
