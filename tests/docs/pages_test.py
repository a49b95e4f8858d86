#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the pages show works.

    pages_test.py check SOURCE COMMAND                 every block of every page, without running it
    pages_test.py run SOURCE COMMAND BUILD FOLDER PAGE  the blocks that RUN names of the page, one after another, in FOLDER; those of
                                                       docs/first_hour.md are all of its `sh` blocks

`check` looks at each block by its language; one that it cannot look at is in UNCHECKED, with the reason. Commands: programs, subcommands, options, values
with choices, policies, systems and their options, files, targets, presets, test cases and variables exist, as the built command and the
tree have them. C++ and C compile (page_code.py says with what around them). JSON is JSON, with the keys of its schema. Python parses, and the
names of the package exist. Commands, files and Python names within sentences are looked at too."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 3 else pathlib.Path()
sys.path[:0] = [str(root / "scripts")]
import page_blocks  # noqa: E402
import page_code  # noqa: E402
import page_shell  # noqa: E402
import python_reference  # noqa: E402

# Languages that nothing here looks at.
UNCHECKED = {
    "text": "what programs print, and templates",
    "mlir": "parts of modules; those of examples/mlir are read by the tests of the room llvm",
    "glsl": "needs glslang; the shaders of examples/vulkan are built where it is",
}
# Fenced blocks of other languages, by page and first line.
UNCHECKED_BLOCKS = {
    ("docs/agents_prompts.md", None): "what `kernelsearch prompt` prints (scripts/rendered_prompts.py writes the page); nothing in it is for readers to run",
}
# Indented blocks that are not commands, by page and beginning.
NO_COMMANDS = {
    ("docs/formats/methods.md", "memory.bank_conflict"): "what `list methods` prints",
    ("docs/formats/problem.md", "kernelsearch: problem.json:10"): "a message",
    ("docs/llvm.md", '{"depth":3'): "what the plug-in prints",
    ("docs/llvm.md", "# comments and empty lines"): "a plan of loops",
    ("docs/llvm.md", "error: kernelsearch:"): "a message of the compiler",
    ("docs/objectives.md", "[minimize|maximize]"): "the form of an objective",
    ("docs/systems/peak.md", "mine/transformations"): "files of the reader's folder",
}
# Blocks that are run, by page and beginning, with what is there first. They need no GPU, key or network, and end within seconds.
RECORDINGS = 'mkdir recordings; cp "$SOURCE"/bench/landscapes/h200_fft_1024.t4.json.gz recordings'
MINE = 'cp "$SOURCE/examples/policies/hill_climber.py" mine.py'
TREE = 'for name in bench data examples tests; do ln -s "$SOURCE/$name" .; done'
RUN = {
    "docs/benchmarks/corpus.md": [("kernelsearch inspect", TREE)],
    "docs/comparing.md": [("kernelsearch compare recordings/ --policies random", RECORDINGS), ("kernelsearch compare recordings/ --policies bayesian,mine", MINE)],
    "docs/systems.md": [("kernelsearch tune tests/fixtures/problems/dot", TREE)],
}
# Schemas of JSON blocks; a fragment without braces has some of the keys of the first.
SCHEMAS = {
    "docs/formats/problem.md": "problem", "docs/external_evaluators.md": "problem", "docs/torch.md": "problem", "docs/formats/methods.md": "methods",
    "docs/formats/strategies.md": "strategies", "docs/formats/workflows.md": "workflow", "docs/systems/peak.md": "transformation", "docs/models.md": "models",
}

# What must be found: a language, a block, and a part of the fault.
BROKEN = [
    ("sh", "kernelsearch tune mine --bugdet 30s", "has no option --bugdet"),
    ("sh", "kernelsearch tun mine", "no subcommand tun"),
    ("sh", "kernelsearch tune mine --budget", "--budget without a value"),
    ("sh", "kernelsearch tune mine --sandbox landlok", "is not one of"),
    ("sh", "kernelsearch tune mine --policy 'genetic(poplation=40)'", "genetic has no option poplation"),
    ("sh", "kernelsearch compare recordings/ --policies random,genetik", "no such name: genetik"),
    ("sh", "kernelsearch tune mine --system 'stark(debug=1)'", "stark has no option debug"),
    ("sh", "kernelsearch list policy", "policy is not one of"),
    ("sh", "kernelsearch plan exprot latest", "has no subcommand exprot"),
    ("sh", "kernelsearch check examples/host/matmull", "no such file: examples/host/matmull"),
    ("sh", "kernelsearch compare $(ls bench/landscapes/h2000_*.gz)", "no such file: bench/landscapes/h2000_*.gz"),
    ("sh", "kernelserach tune mine", "neither in the tree nor"),
    ("sh", "scripts/test.sh --leggs ci", "scripts/test.sh has no option --leggs"),
    ("sh", "scripts/tests.sh", "no such file: scripts/tests.sh"),
    ("sh", "cmake --preset cii", "no configurePresets named cii"),
    ("sh", "cmake --build --preset release --target kernelsearhc", "no target kernelsearhc"),
    ("sh", "cmake -S . -B build -DKERNELSEARCH_COMPONNETS=c", "no such variable or option: KERNELSEARCH_COMPONNETS"),
    ("sh", "build/ci/tests/test_store -tc='no such case at all'", "no test case is named"),
    ("sh", "build/release/bench/space_bench --repeets 3", "space_bench has no option --repeets"),
    ("sh", "ctest -L unitt", "no test has the label unitt"),
    ("sh", "python -m kernelsearch.example host/matmul", "no module example"),
    ("sh", "for x in 1; do", "syntax error"),
    ("console", "$ kernelsearch runs --stor x", "has no option --stor"),
    ("inline", "kernelsearch show latest --fialed", "has no option --fialed"),
    ("inline", "examples/host/matmull", "no such file"),
    ("inline", "--no-reus", "nothing has the option --no-reus"),
    ("inline", "ks.minimise", "the package has no minimise"),
    ("python", "import kernelsearch as ks\nks.powers_of_too(1, 2)", "the package has no powers_of_too"),
    ("python", "import kernelsearch.helon", "the package has no helon"),
    ("python", "ks.plots.curve(x)", "kernelsearch.plots has no curve"),
    ("python", "ks.minimize(f, space, trails=3)", "has no parameter trails"),
    ("python", "def f(:", "not Python"),
    ("json", '{"a": 1', "not JSON"),
    ("jsonc", '"a": 1, // one\n"b": }', "not JSON"),
    ("cmake", "find_package(kernelsearch REQUIRED COMPONENTS kore)", "no component kore"),
    ("fortran", "end", "nothing looks at"),
]


def shell_of(block):
    """The commands of a block, or None if it has none."""
    if block.language == "sh":
        return block.text
    if block.language == "console":
        return "\n".join(line[2:] for line in block.text.split("\n") if line.startswith("$ "))
    if block.language == "indented" and not any(block.page == page and block.text.startswith(begins) for page, begins in NO_COMMANDS):
        return block.text if not block.text.startswith("--") else "\n".join("kernelsearch tune mine " + line for line in block.text.split("\n"))
    return None


def json_faults(block):
    text = re.sub(r'("(?:\\.|[^"\\])*")|//.*|,\s*\.\.\.(?=\s*\])', r"\1", block.text, flags=re.MULTILINE) if block.language == "jsonc" else block.text
    text, fragment = text.strip().rstrip(","), not block.text.lstrip().startswith(("{", "[", "//"))
    if fragment:
        text = "{" + text + "}"
    values, decoder, at = [], json.JSONDecoder(), 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            values.append(value)
            at += re.match(r"[\s,]*", text[at:]).end()
    except json.JSONDecodeError as error:
        return [f"not JSON: {error}"]
    name = SCHEMAS.get(block.page)
    if name is None or "type" in values[0]:  # a message of a protocol, an argument
        return []
    schema = json.loads((root / f"docs/formats/{name}.schema.json").read_text())
    unknown = set(values[0]) - set(schema["properties"])
    return [f"{name}.schema.json has no key {key}" for key in sorted(unknown)] if fragment or "schema" in values[0] else []


class Python:
    """Names of the package, read off its sources."""

    def __init__(self):
        package = root / "python/kernelsearch"
        self.modules = {path.stem: python_reference.definitions(path)[1] for path in package.glob("*.py")}
        self.modules["external"] = python_reference.definitions(root / "examples/external/kernelsearch_external.py")[1]
        tree, _ = python_reference.definitions(package / "__init__.py")
        self.names = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")

    def fault_of(self, name):
        """Of `kernelsearch.NAME...`."""
        parts = name.split(".")[1:]
        if not parts or parts[0] in self.names:
            return None
        if parts[0] not in self.modules:
            return f"the package has no {parts[0]}"
        return f"kernelsearch.{parts[0]} has no {parts[1]}" if parts[1:] and parts[1] not in self.modules[parts[0]] else None

    def keywords(self, name):
        """Of a function of the sources; None if it takes any, or is in the extension."""
        parts = name.split(".")[1:]
        found = [self.modules[parts[0]].get(parts[1])] if len(parts) == 2 and parts[0] in self.modules else [
            members.get(parts[0]) for module, members in self.modules.items() if module.startswith("_") and len(parts) == 1]
        for node in filter(None, found):
            if isinstance(node, ast.FunctionDef) and node.args.kwarg is None:
                return {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        return None

    def faults(self, block):
        try:
            tree = ast.parse(block.text)
        except SyntaxError as error:
            return [f"not Python: {error}"]
        found = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found += [self.fault_of(one.name) for one in node.names if one.name.split(".")[0] == "kernelsearch"]
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kernelsearch":
                found += [self.fault_of(f"{node.module}.{one.name}") for one in node.names]
            if isinstance(node, ast.Attribute):
                found.append(self.named(ast.unparse(node)))
            if isinstance(node, ast.Call) and (known := self.keywords(whole(ast.unparse(node.func)))) is not None:
                found += [f"{ast.unparse(node.func)} has no parameter {one.arg}" for one in node.keywords if one.arg not in (None, *known)]
        return [one for one in dict.fromkeys(found) if one]

    def named(self, name):
        name = whole(name)
        return self.fault_of(name) if name.startswith("kernelsearch.") and re.fullmatch(r"[\w.]+", name) else None


def whole(name):
    return re.sub(r"^ks\.", "kernelsearch.", re.sub(r"^kernelsearch_external\.", "kernelsearch.external.", name))


def cmake_faults(block):
    rooms = {path.name for path in (root / "include/kernelsearch").iterdir() if path.is_dir()} | {"core_noexcept", "header_only", "host", "gpu", "kernelsearch"}
    names = re.findall(r"kernelsearch::(\w+)", block.text) + re.findall(r"COMPONENTS (\w+)", block.text)
    return [f"there is no component {name}" for name in names if name not in rooms]


def inline_faults(block, shell, python):
    code = block.text
    if re.match(r"kernelsearch [a-z-]", code) or re.match(r"scripts/\S+ -", code):
        return shell.faults(code, whole=False)
    if re.match(r"(ks|kernelsearch)\.[\w.]+", code):
        fault = python.named(re.match(r"[\w.]+", code)[0].rstrip("."))
        return [fault] if fault and not re.search(r"\.(hpp|pc|map|1|db|so|h)\b", code) else []
    if re.match(r"--[a-z]", code):
        return shell.option_faults(code)
    if re.fullmatch(r"[\w./-]+", code) and "/" in code:
        return shell.of_path(code)
    return []


def looking(command):
    """What finds the faults of a block."""
    shell, python = page_shell.Shell(root, command), Python()
    checks = {"json": json_faults, "jsonc": json_faults, "python": python.faults, "cmake": cmake_faults, "cpp": lambda _: [], "c": lambda _: [],
              "inline": lambda block: inline_faults(block, shell, python)}

    def faults(block):
        if block.language in checks:
            return checks[block.language](block)
        if (text := shell_of(block)) is not None:
            return shell.faults(text)
        known = block.language in {*UNCHECKED, "indented"}
        return [] if known else [f"nothing looks at blocks of the language {block.language!r}: name one that {pathlib.Path(__file__).name} knows"]

    return faults


def check(command):
    faults_of, blocks, found, seen = looking(command), [], [], {}
    for language, text, part in BROKEN:
        faults = faults_of(page_blocks.Block("", 1, language, text))
        if not any(part in fault for fault in faults):
            found.append(f"not found in {text!r}: {part}; only {faults}")
    for page in page_blocks.pages_of(root):
        try:
            blocks += page_blocks.blocks_of(root, page)
        except ValueError as error:
            found.append(str(error))
    used = set()
    for block in blocks:
        used |= {(page, begins) for page, begins in NO_COMMANDS if page == block.page and block.language == "indented" and block.text.startswith(begins)}
        if (block.page, None) in UNCHECKED_BLOCKS:
            continue
        seen[block.language] = seen.get(block.language, 0) + 1
        found += [f"{block.place}: {fault}" for fault in faults_of(block)]
    found += [f"NO_COMMANDS has an entry without its block: {entry}" for entry in sorted(set(NO_COMMANDS) - used)]
    for page, entries in RUN.items():
        texts = [block.text for block in blocks if block.page == page]
        found += [f"RUN has an entry without its block: {page}: {begins}" for begins, _ in entries if not any(text.startswith(begins) for text in texts)]
    try:
        found += page_code.faults(root, blocks)
    except (KeyError, ValueError) as error:
        found.append(error.args[0])
    least = {"sh": 50, "indented": 60, "inline": 3000, "json": 20, "cpp": 20, "python": 15}
    found += [f"only {seen.get(language, 0)} blocks of the language {language} were found" for language, count in least.items() if seen.get(language, 0) < count]
    print("\n".join(found) or ", ".join(f"{count} {language}" for language, count in sorted(seen.items())))
    return 1 if found else 0


def run(command, build, folder, page):
    blocks = page_blocks.blocks_of(root, root / page)
    script = []
    if page == "docs/first_hour.md":
        script = [block.text for block in blocks if block.language == "sh"]
    for begins, before in RUN.get(page, []):
        script += [before, next(shell_of(block) for block in blocks if block.text.startswith(begins))]
    if not script:
        sys.exit(f"no block of {page} is run: RUN in {__file__} lists those that are")
    for program in ("python3", "cmake"):
        if shutil.which(program) is None:
            print(f"skipped: no {program}")
            return 77
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "commands.sh").write_text("\n".join(script) + "\n")
    variables = {"SOURCE": str(root), "BUILD": str(build), "PATH": f"{command.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache"),
                 "KERNELSEARCH_STORE": str(folder / "runs.db")}
    return subprocess.run(["bash", "-eux", "-o", "pipefail", "commands.sh"], cwd=folder, env=os.environ | variables).returncode


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[3]))
    if len(sys.argv) != 7 or sys.argv[1] != "run":
        sys.exit(__doc__)
    sys.exit(run(pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[5]), sys.argv[6]))
