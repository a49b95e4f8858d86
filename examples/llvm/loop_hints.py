#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loop hints for clang: problem folders of a C file's functions or of a whole program, and plans of what runs found.

    loop_hints.py list  FILE.c   --compiler clang-19 --plugin PLUGIN.so     the loops, as JSON lines
    loop_hints.py make  LOOPS.json --compiler clang-19 --plugin PLUGIN.so --out FOLDER
    loop_hints.py program FOLDER --compiler clang-19 --plugin PLUGIN.so --out FOLDER    with its own benchmark
    loop_hints.py plan  PLAN.json... --out FILE.hints                       of `kernelsearch plan export`
    loop_hints.py same  FUNCTION ONE.o OTHER.o                              is the production build the winner's?

docs/llvm.md has the whole way, and the formats of LOOPS.json and of a program's program.json.
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
HINTS = ("vectorize_width", "interleave_count", "unroll_count", "distribute")
# What `program` puts into a problem beside the program's own files.
EVALUATOR, CLIENT, TOOL = "program_evaluator.py", "kernelsearch_external.py", "loop_hints.py"


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


def tunable(loop, hint, function=None):
    """The name of a hint's tunable; the function belongs to it where a problem has several."""
    return f"{function}_loop{loop}_{hint}" if function else f"loop{loop}_{hint}"


def hints_of(problem, settings):
    """{function: {loop: {hint: value}}} of a configuration, without what is not set."""
    found = {}
    for name, value in settings.items():
        match = re.fullmatch(rf"(?:(\w+)_)?loop(\d+)_({'|'.join(HINTS)})", name)
        if not match:
            raise Mistake(f"{name} is no tunable of loops: was this plan of a problem that this tool wrote?")
        if value != 0:
            loops = found.setdefault(match[1] or problem, {})
            loops.setdefault(int(match[2]), {})[match[3]] = value
    return found


def plan_lines(problem, settings):
    """The lines of the plugin's plan file for a configuration."""
    return [entry(function, loop, hints) for function, loops in hints_of(problem, settings).items()
            for loop, hints in loops.items()]


def hinted_flags(flags, plugin, plan):
    """The compiler's flags with a plan file that is of all the files of a program."""
    return [*with_plugin("", [*flags, *QUIET], plugin)[1:], "-mllvm", f"-kernelsearch-plan=@{plan}",
            "-mllvm", "-kernelsearch-plan-of-program"]


def entry(function, loop, hints):
    return f"{function}:{loop}:" + ",".join(f"{hint}={value}" for hint, value in hints.items())


def add_tunables(loop, head, tunables, constraints, function=None):
    """The hints of one loop, none of them by default, with what the plugin demands of them together."""
    names = {hint: tunable(loop["loop"], hint, function) for hint in head["hints"]}
    for hint in HINTS:
        values = head["hints"][hint]
        if hint == "vectorize_width" and loop["trip_count"] is not None:  # wider than the loop is long is no vector
            values = [width for width in values if width <= max(loop["trip_count"], 1)]
        tunables[names[hint]] = values
    for constraint in head["constraints"]:
        constraints.append(re.sub(r"\w+", lambda word: names.get(word[0], word[0]), constraint))


def problem_of(function, given, head, loops, options, source_name):
    """problem.json of one function: the hints of its innermost loops, none of them by default."""
    tunables, constraints = {}, []
    for loop in loops:
        add_tunables(loop, head, tunables, constraints)
    plan = [entry(function, loop["loop"], {hint: "${" + tunable(loop["loop"], hint) + "}" for hint in head["hints"]})
            for loop in loops]
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


def described_program(folder):
    """program.json, checked, with all that may be left out."""
    path = folder / "program.json"
    given = read_json(path)
    known = {"name", "files", "build", "benchmark", "checks", "outputs", "time", "functions", "readable"}
    for key in given:
        if key not in known:
            raise Mistake(f"{path} has `{key}`, which means nothing: there are {', '.join(sorted(known))}")
    for key in ("files", "build", "benchmark"):
        if not isinstance(given.get(key), list) or not given[key]:
            raise Mistake(f"{path} lacks `{key}`, a list: see docs/llvm.md")
    program = {"name": folder.resolve().name, "checks": [], "outputs": [], "time": "wall", "readable": []} | given
    if not re.fullmatch(r"[A-Za-z_]\w*", program["name"]):
        raise Mistake(f"{path}: `name` is {program['name']!r}; give it letters, digits and _")
    if not any("${FLAGS}" in word for command in program["build"] for word in command):
        raise Mistake(f"{path}: no command of `build` has ${{FLAGS}}, through which hints reach the compiler")
    how = program["time"]
    if isinstance(how, dict):
        if set(how) != {"pattern", "unit"} or how["unit"] not in ("s", "ms", "us", "ns"):
            raise Mistake(f"{path}: `time` is {json.dumps(how)}; give a `pattern` and a `unit` of s, ms, us or ns")
        try:
            groups = re.compile(how["pattern"]).groups
        except re.error as error:
            raise Mistake(f"{path}: the pattern of `time` is no regular expression: {error}")
        if groups != 1:
            raise Mistake(f"{path}: the pattern of `time` has {groups} groups; put the number in one: ([0-9.]+)")
    elif how not in ("wall", "processor"):
        raise Mistake(f"{path}: `time` is {json.dumps(how)}; it can be wall, processor, or a pattern and its unit")
    found = []
    for pattern in program["files"]:
        matched = sorted(one.relative_to(folder).as_posix() for one in folder.glob(pattern) if one.is_file())
        if not matched:
            raise Mistake(f"{path}: `files` names {pattern}, which {folder} does not have")
        found += matched
    program["files"] = list(dict.fromkeys(found))
    for name in program["files"]:
        if name in (EVALUATOR, CLIENT, TOOL, PLUGIN, "program.json", "problem.json", "reference.cpp"):
            raise Mistake(f"{path}: a file of the program has the name {name}, which the problem needs: rename it")
    return program


def loops_of_program(program, built, options):
    """(head, {function: its loops}) of a build that lists them: of what its compiler really sees."""
    listed = built.folder.parent / "listed"
    flags = with_plugin("", [*program["flags"], "-gline-tables-only"], pathlib.Path(options.plugin).resolve())[1:]
    built.build([*flags, "-mllvm", f"-kernelsearch-loops=+{listed}"])
    if not listed.exists():
        raise Mistake(f"the build listed no loops: its commands must compile, anew, with ${{FLAGS}} by {options.compiler}")
    head, source, found, places = None, None, {}, {}
    for line in map(json.loads, listed.read_text().splitlines()):
        if "kernelsearch_loops" in line:
            head, source = line, line["source"]
        else:
            found.setdefault((line["function"], source), []).append(line)
    for (function, source), loops in found.items():
        places.setdefault(function, {})[source] = loops
    functions = {}
    for function, sources in places.items():
        loops, *others = sources.values()
        shapes = [[(one["depth"], one["innermost"]) for one in each] for each in (loops, *others)]
        if any(shape != shapes[0] for shape in shapes):  # an inline function of a header is the same everywhere
            if function in (program.get("functions") or []):
                raise Mistake(f"{function} is in {' and '.join(sources)} with different loops, and a plan names loops "
                              "by their function: rename one of them")
            continue
        functions[function] = loops
    return head, functions


def make_program(options):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import program_evaluator

    here, given = pathlib.Path(__file__).resolve().parent, pathlib.Path(options.folder)
    program = described_program(given)
    program |= {"compiler": options.compiler, "flags": shlex.split(options.flags)}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            listing = program_evaluator.Program(program, given, pathlib.Path(scratch, "listing"))
            head, functions = loops_of_program(program, listing, options)
            # Without hints: what the program says then is right.
            plain = program_evaluator.Program(program, given, pathlib.Path(scratch, "plain"))
            plain.build([*program["flags"], *QUIET])
            digests = {plain.digest(plain.benchmark()[0], plain.checked()) for _ in range(3)}
        except program_evaluator.Failed as failed:
            raise Mistake(str(failed))
    if len(digests) != 1:
        raise Mistake("the benchmark's output is another one each time, so nothing says what is right: print no times but "
                      "what the pattern of `time` matches, and fix what is drawn at random")
    wanted = program.get("functions") or sorted(functions)
    tunables, constraints = {}, []
    for function in wanted:
        inner = [loop for loop in functions.get(function, []) if loop["innermost"]]
        if not inner:
            raise Mistake(f"the program has no function {function} with loops: it has {', '.join(sorted(functions)) or 'none'}")
        if not re.fullmatch(r"\w+", function):
            raise Mistake(f"{function} can be no part of a tunable's name: leave it out of `functions`")
        for loop in inner:
            add_tunables(loop, head, tunables, constraints, function)
    program["functions"] = wanted
    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name in program["files"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(given / name, folder / name)
    for name in (here / EVALUATOR, here / TOOL, here.parent / "external" / CLIENT):
        shutil.copyfile(name, folder / name.name)
    shutil.copyfile(options.plugin, folder / PLUGIN)
    (folder / "program.json").write_text(json.dumps(program, indent=2) + "\n")
    right = ", ".join(map(str, digests.pop()))
    (folder / "reference.cpp").write_text(
        "// The digest of what the program prints and writes when it is built without hints.\n"
        "#include <cstdint>\n\n"
        f"void {program['name']}_reference(std::uint8_t* digest) {{\n"
        f"  constexpr std::uint8_t right[32] = {{{right}}};\n"
        "  for (int i = 0; i < 32; ++i) digest[i] = right[i];\n}\n")
    problem = {
        "schema": 1, "name": program["name"], "backend": "external", "function": program["name"],
        "description": f"Hints for the loops of {', '.join(wanted)}, judged by the program's own benchmark.",
        "kernel": {"device": "program.json"},
        "arguments": [{"name": "digest", "type": "u8", "size": 32, "role": "out"}], "shapes": [{"name": "benchmark"}],
        "tunables": tunables, "constraints": constraints,
        "reference": {"source": "reference.cpp", "function": program["name"] + "_reference"},
        "external": {"command": ["python3", "${FILES}/" + EVALUATOR],
                     "files": [*program["files"], EVALUATOR, CLIENT, TOOL, PLUGIN],
                     "identity": [[options.compiler, "--version"]], "time": "claimed",
                     "readable": program["readable"], "answer_seconds": options.seconds}}
    (folder / "problem.json").write_text(json.dumps(problem, indent=2) + "\n")
    print(f"{folder}: {len(tunables) // len(HINTS)} loops of {len(wanted)} functions")


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
        lines += plan_lines(function, settings)
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
    one = command("program", make_program, help="a problem folder of a whole program with its own benchmark")
    one.add_argument("folder", help="of the program, with its program.json")
    one.add_argument("--out", required=True)
    one.add_argument("--seconds", type=float, default=300.0, help="that a build or a benchmark may take (default: %(default)s)")
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
