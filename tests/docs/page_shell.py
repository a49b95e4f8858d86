# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands of the pages, checked without running them: programs, subcommands, options, files, names of policies and systems."""
import functools
import glob
import itertools
import json
import re
import shlex
import subprocess

import command_reference
import mutate

# Programs from elsewhere, of which only files, folders and KERNELSEARCH_ variables are checked.
OUTSIDE = set("apt-get cat cc cd clang-14 clang-19 cp dirname dnf echo export find g++ grep head ls make mkdir mlir-opt-22 nvcc pip pkg-config python scp sh tar"
              " test true sed wget curl tuner_build/tuner ssh srun sbatch squeue docker kubectl git rm".split())
# Words before a command that run it.
BEFORE = {"sudo", "env", "time", "/usr/bin/time", "nice", "exec"}


class Shell:
    """Faults of shell text. `root` is the tree, `command` the built command."""

    def __init__(self, root, command):
        self.root = root
        self.tree = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))}
        self.commands = {words: text for words, text in command_reference.all_commands(command)}
        self.policies, self.systems = (
            {one["name"]: one for one in json.loads(subprocess.run([command, "list", what, "--json"], capture_output=True, check=True).stdout)}
            for what in ("policies", "systems"))
        self.presets = json.loads((root / "CMakePresets.json").read_text())
        self.cases = mutate.cases_of_tests()

    @functools.cached_property
    def cmake(self):
        """What CMake reads, for names of targets, labels and options."""
        folders = [path for path in self.root.iterdir() if path.name in self.tree - {"docs"}]
        files = [self.root / "CMakeLists.txt", *(file for folder in folders for file in folder.rglob("CMakeLists.txt")), *(self.root / "cmake").rglob("*.cmake")]
        return {file: file.read_text() for file in files}

    @functools.cached_property
    def variables(self):
        """The KERNELSEARCH_ names of everything but the documents."""
        found = set()
        for folder in (*self.tree - {"docs"}, "CMakeLists.txt", "pyproject.toml"):
            run = subprocess.run(["grep", "-rhoIE", "--exclude-dir=docs", "KERNELSEARCH_[A-Z0-9_]+", self.root / folder], capture_output=True, text=True)
            found |= set(run.stdout.split())
        return found

    def faults(self, text, whole=True):
        """Of a block (`whole`), or of a command within a sentence, which may be cut short."""
        if whole:
            run = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
            if run.returncode != 0:
                return [run.stderr.strip()]
        self.whole, self.folder, found = whole, self.root, []
        self.made = set(re.findall(r"-B (build/[\w.-]+)", text))
        for words in simple_commands(text):
            found += self.of_command(words)
        return found

    def of_command(self, words):
        found = [f"no such variable or option: {name}" for word in words for name in re.findall(r"KERNELSEARCH_[A-Z0-9_]+", word) if name not in self.variables]
        while words and (re.match(r"[A-Za-z_]\w*=", words[0]) or words[0] in BEFORE or (words[0] == "-v")):
            words = words[1:]
        if not words:
            return found
        program, rest = words[0], words[1:]
        for word in words:
            found += self.of_path(word)
        name = program.rsplit("/", 1)[-1]
        if name == "kernelsearch":
            return found + self.of_kernelsearch(rest)
        if name == "cmake":
            return found + self.of_cmake(rest)
        if name == "ctest":
            return found + [f"no test has the label {label}" for label in re.findall(r"-L (\S+)", " ".join(rest)) if not re.search(rf"LABELS [^)\n]*\b{label}\b", "\n".join(self.cmake.values()))]
        if name in ("python3", "python", "sh", "bash") or program.endswith("/bin/python"):
            if rest[:1] == ["-m"]:
                inner = rest[1].removeprefix("kernelsearch.")
                if inner != rest[1] and not (self.root / f"python/kernelsearch/{inner}.py").exists():
                    found.append(f"python/kernelsearch has no module {inner}")
                if inner == "examples" and not (self.root / "examples" / rest[2]).is_dir():
                    found.append(f"examples has no folder {rest[2]}")
                return found
            program, rest = (rest[0] if rest else "", rest[1:])
            if program.split("/")[0] not in self.tree:
                return found
        if program.split("/")[0] in self.tree:
            text = self.source(self.folder / program) if (self.root / program).is_file() else ""
            return found + [f"{program} has no option {option}" for option in options_in(rest) if not mentions(text, option)]
        if program.startswith("build/") or self.target_folder(name):
            return found + self.of_built(name, rest)
        if program not in OUTSIDE and not program.startswith(("~", "$", "./")) and "*" not in program:
            found.append(f"{program} is neither in the tree nor a program from elsewhere that {Shell.__module__}.OUTSIDE lists")
        if program == "cd" and rest and (self.root / rest[0]).is_dir():
            self.folder = self.root / rest[0]
        return found

    def source(self, script):
        """A script, and what it imports from its own folder."""
        text = script.read_text(errors="replace")
        named = [script.parent / f"{name}.py" for name in re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)]
        return "\n".join([text, *(path.read_text() for path in named if path.exists())])

    # Of files.
    def of_path(self, word):
        found = []
        for part in re.split(r"[=,](?![^{]*\})", word.replace("$SOURCE/", "").removeprefix("./")):
            top = part.split("/")[0]
            if "/" not in part or "$" in part or "..." in part or re.search(r"[<>(']", part):
                continue
            if top == "build":
                folder = "/".join(part.split("/")[:2])
                known = {f"build/{one['name']}" for one in self.presets["configurePresets"]} | self.made | {"build/quickstart", "build/fuzz"}
                if folder not in known and "*" not in folder:
                    found.append(f"no preset builds in {folder}")
                continue
            if top not in self.tree or re.search(r"(^|/)my_", part):  # of the reader
                continue
            if self.is_built(part):
                continue
            pattern = re.sub(r"\b[A-Z][A-Z_]+\b", "*", part)  # FOLDER, NAME.py: any
            choices = [pattern] if "{" not in pattern else braces(pattern)
            if not all(glob.glob(str(self.root / one)) for one in choices):
                found.append(f"no such file: {part}")
        return found

    # Of programs that the tree builds.
    def is_built(self, path):
        """Of a build folder's `bench/space_bench`, which is named as the tree's folder is."""
        folder, _, name = path.rpartition("/")
        return mentions(self.cmake.get(self.root / folder / "CMakeLists.txt", ""), name)

    def target_folder(self, name):
        for file, text in self.cmake.items():
            if re.search(rf"(\(\s*|TARGET ){re.escape(name)}\b(?!-)", text):
                return file.parent
        room = self.root / "tests" / name.removeprefix("test_")
        return room if name.startswith("test_") and room.is_dir() else None

    def of_built(self, name, rest):
        folder = self.target_folder(name)
        if folder is None:
            return [f"no target builds {name}"]
        if name.startswith("test_"):
            filters = [match[1] for word in rest if (match := re.match(r"-tc=(.*)", word))]
            return [f"no test case is named {one}" for words in filters for one in mutate.filters_without_case(words, self.cases)]
        text = "\n".join(path.read_text() for path in folder.rglob("*.[ch]pp"))
        return [f"{name} has no option {option}" for option in options_in(rest) if not mentions(text, option) and not mentions(text, option.lstrip("-"))]

    def of_cmake(self, rest):
        found, line = [], " ".join(rest)
        kind = "workflowPresets" if "--workflow" in rest else "buildPresets" if "--build" in rest else "configurePresets"
        for preset in re.findall(r"--preset (\S+)", line):
            if preset not in {one["name"] for one in self.presets[kind]}:
                found.append(f"no {kind} named {preset}")
        for targets in re.findall(r"--target ((?:[\w-]+ ?)+)", line):
            found += [f"no target {name}" for name in targets.split() if not name.startswith("-") and not self.target_folder(name)]
        return found

    # Of the command.
    def of_kernelsearch(self, words):
        path, found, positionals, at = (), [], 0, 0
        named = {policy for k, word in enumerate(words) if word.startswith("--policy-") for policy in policy_names(word, words[k + 1:k + 2])}
        if words and not words[0].startswith("-") and (words[0],) not in self.commands:
            return [f"no subcommand {words[0]}"] if self.whole or re.fullmatch(r"[a-z]+", words[0]) else []
        while at < len(words):
            word, at = words[at], at + 1
            if word == "--":
                break
            if (*path, word) in self.commands:
                path = (*path, word)
                continue
            if not word.startswith("-") or re.fullmatch(r"-[\d.]+", word):
                found += self.of_positional(path, positionals, word)
                positionals += 1
                continue
            option, is_given, value = word.partition("=")
            kind = self.options(path).get(option)
            if kind is None:
                found.append(f"kernelsearch {' '.join(path)} has no option {option}")
                continue
            if not kind:
                continue
            if not is_given:
                if at == len(words) or words[at].startswith("--"):
                    if self.whole and not (option == "--resume"):
                        found.append(f"{option} without a value")
                    continue
                value, at = words[at], at + 1
            found += self.of_value(option, kind, value, named)
        if self.whole and path in self.commands and "SUBCOMMAND" in self.commands[path].usage and "--help" not in words and "--version" not in words:
            found.append(f"kernelsearch {' '.join(path)} without a subcommand")
        return found

    @functools.cache
    def options(self, path):
        """{name: what follows it}; "" for a switch."""
        found = {}
        for section, rows in self.commands[path].sections.items():
            if section not in ("Positionals", "Subcommands"):
                for term, _ in rows:
                    names, kind = command_reference.option(term)
                    for name in names.split(", "):
                        found[name] = "" if re.match(r"(Excludes|Needs):", kind) else kind
        return found

    def option_faults(self, code):
        """Of an option alone: of the command, or of a program of the tree."""
        name = re.match(r"--[\w-]+", code)[0]
        return [] if any(name in self.options(path) for path in self.commands) or name in self.other_options else [f"nothing has the option {name}"]

    @functools.cached_property
    def other_options(self):
        found = set()
        for folder in ("apps", "bench", "cmake", "examples", "python", "scripts", "src", "tests", "data"):
            found |= set(subprocess.run(["grep", "-rhoIE", "--exclude-dir=docs", "--", r"--[a-z][a-z0-9-]+", self.root / folder], capture_output=True, text=True).stdout.split())
        return found

    def of_positional(self, path, number, word):
        text = self.commands[path]
        rows = text.sections.get("Positionals", [])
        if not rows:
            kind = "subcommand" if "Subcommands" in text.sections else "argument"
            return [f"kernelsearch {' '.join(path)} has no {kind} {word}"]
        term = rows[min(number, len(rows) - 1)][0]
        if number >= len(rows) and "..." not in term:
            return [f"kernelsearch {' '.join(path)} takes {len(rows)} arguments, not {word}"] if not path == ("tune",) else []
        choices = re.search(r"\{([^}]*)\}", term)
        return [f"{word} is not one of {choices[1]}"] if choices and word not in choices[1].split(",") and word.islower() else []

    def of_value(self, option, kind, value, named):
        if choices := re.match(r"(?:[A-Z]+:)?\{([^}]*)\}", kind):
            return [f"{option} {value} is not one of {choices[1]}"] if value not in choices[1].split(",") and not value.isupper() else []
        if kind.startswith("UINT") and "(repeatable)" not in kind and not re.fullmatch(r"\d+|[A-Z]+", value):
            return [f"{option} {value} is not a number"]
        known = {"--policy": self.policies, "--policies": self.policies, "--system": self.systems, "--systems": self.systems, "--variant": None}.get(option)
        if option == "--variant":
            names = {variant["name"] for system in self.systems.values() for variant in system["variants"]}
            return [f"no system has the variant {value}"] if value not in names and not value.isupper() else []
        return [] if known is None else self.of_specs(option, known, value, named)

    def of_specs(self, option, known, value, named):
        """Names with options: 'genetic(population=40),bayesian'."""
        found = []
        for name, _, options in re.findall(r"([\w.]+)(\(([^()]*)\))?", value):
            if name not in known and name not in named and name != "all" and not name.isupper():
                found.append(f"{option}: no such name: {name}")
            elif name in known:
                names = known[name]["options"]["properties"]
                found += [f"{option}: {name} has no option {key}" for key in re.findall(r"(\w+) *=", options) if key not in names]
        return found


def policy_names(option, values):
    """The names that a policy of the reader's may have: of NAME: COMMAND, or the stem of its program; a plug-in may have any."""
    text = values[0] if values else ""
    if option == "--policy-plugin":
        return ["mine"]
    return re.findall(r"^(\w+):", text) + re.findall(r"([\w-]+)\.py", text)


def braces(pattern):
    """a{b,c} as the shell has it."""
    parts = [part.split(",") if k % 2 else [part] for k, part in enumerate(re.split(r"[{}]", pattern))]
    return ["".join(one) for one in itertools.product(*parts)]


def options_in(words):
    return [match[1] for word in itertools.takewhile(lambda one: one != "--", words) if (match := re.match(r"(--[a-z][\w-]*)", word))]


def mentions(text, option):
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None


def simple_commands(text):
    """The words of each simple command; bodies of here-documents and comments are left out, `$(...)` are commands of their own."""
    text = re.sub(r"<<'?(\w+)'?(.*?)\n.*?^\1$", r"\2", text, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
    text = re.sub(r"\$\(\((?:[^()]|\([^()]*\))*\)\)", "$NUMBER", text)
    inner = []
    while found := re.search(r"\$\(([^()]*)\)", text):
        inner.append(found[1])
        text = f"{text[:found.start()]}$SUBSTITUTED{text[found.end():]}"
    for line in text.split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split, lexer.commenters = True, "#"
        words, to_file = [], False
        for word in [*lexer, ";"]:
            if to_file or set(word) <= set("<>"):
                to_file = not to_file
            elif set(word) <= set("|&;"):
                if words:
                    yield words
                words = []
            else:
                words.append(word)
    for one in inner:
        yield from simple_commands(one)
