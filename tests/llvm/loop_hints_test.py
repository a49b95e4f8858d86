#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/llvm for each LLVM that is installed: the plugin builds, lists, hints and refuses; a loop is tuned.

loop_hints_test.py SOURCE KERNELSEARCH CMAKE_PACKAGE WORK COMPILER. Ends with 77, saying why, where there is no clang
with LLVM's development files.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, COMMAND, PACKAGE, WORK, COMPILER = (pathlib.Path(word) for word in sys.argv[1:6])
TOOL = [sys.executable, str(SOURCE / "examples/llvm/loop_hints.py")]

LOOPS = """
void fixed(float* a, int n) {
  for (int i = 3; i < 10; ++i) a[i] = 1;
  int k = 0;
  do { a[k] += 2; ++k; } while (k < 5);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 4; ++j) a[i + j] *= 3;
  while (n > 0 && a[n] > 0) --n;
}
int straight(int n) { return n + 1; }
float sum(const float* restrict a, int n) {
  float s = 0;
#pragma clang loop unroll_count(2)
  for (int i = 0; i < n; ++i) s += a[i];
  return s;
}
void twice(float* restrict a, int n) { for (int i = 0; i < n; ++i) a[i] += 1; for (int i = 0; i < n; ++i) a[i] *= 2; }
"""
# function, number, line, depth, innermost, turns
LISTED = [("fixed", 0, 3, 1, True, 7), ("fixed", 1, 5, 1, True, 5), ("fixed", 2, 6, 1, False, None),
          ("fixed", 3, 7, 2, True, 4), ("fixed", 4, 8, 1, True, None), ("sum", 0, 14, 1, True, None),
          ("twice", 0, 17, 1, True, None), ("twice", 1, 17, 1, True, None)]
# plan, what the message says
REFUSED = [
    ("summ:0:unroll_count=2", ["does not define", "summ:0", "did you mean sum?", "fixed, sum, twice"]),
    ("straight:0:unroll_count=2", ["a function without loops", "fixed, sum, twice"]),
    ("fixed:5:unroll_count=2", ["a loop that is not there", "fixed has 0 (line 3), 1 (line 5), 2 (line 6), 3 (line 7), 4 (line 8)"]),
    ("fixed:L4:unroll_count=2", ["a line on which no loop begins", "0 (line 3)"]),
    ("twice:L17:unroll_count=2", ["a line with several loops", "name one by number"]),
    ("fixed:0:unroll_count=2;fixed:L3:distribute=1", ["by its number and by its line"]),
    ("sum:0:unroll_count=2\nsum:0:distribute=1", ["two entries of one loop"]),
    ("sum:0:unrol_count=2", ["no hint", "did you mean unroll_count?"]),
    ("sum:0:unroll_count=3", ["cannot have", "0, 1, 2, 4, 8"]),
    ("sum:0:unroll_count=2x", ["cannot have"]),
    ("sum:0:unroll_count", ["cannot have"]),
    ("sum:0:unroll_count=2,unroll_count=2", ["sets a hint twice"]),
    ("sum:0:vectorize_width=64,interleave_count=8,unroll_count=2", ["too much at once", "<= 512"]),
    ("sum:first:unroll_count=2", ["by no number"]),
    ("sum:0:", ["sets nothing"]),
    ("sum", ["has no loop"]),
    (":0:unroll_count=2", ["names no function"]),
    ("@nowhere/plan", ["nowhere/plan cannot be read"]),
]


def run(*command, folder=None, code=0):
    """Standard output and error of a command that must end with `code`."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}, not {code}:\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def installed():
    """(version, folder, clang) of each LLVM that is there with its headers and its clang."""
    found = []
    for config in sorted(pathlib.Path("/usr/lib").glob("llvm-*/cmake/LLVMConfig.cmake")):
        version = int(re.search(r"llvm-(\d+)", str(config))[1])
        clang = config.parents[1] / "bin" / "clang"
        if version >= 14 and clang.exists() and (config.parents[1] / "include/llvm/IR/Module.h").exists():
            found.append((version, config.parent, clang))
    return found


class LoopHints:
    """The tests of one LLVM; a class below for each that is there."""

    @classmethod
    def setUpClass(cls):
        cls.work = WORK / str(cls.version)
        shutil.rmtree(cls.work, ignore_errors=True)
        cls.work.mkdir(parents=True)
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        run("cmake", "-G", "Ninja", "-S", SOURCE / "examples/llvm/plugin", "-B", cls.work / "plugin", f"-DLLVM_DIR={cls.cmake}",
            f"-Dkernelsearch_DIR={PACKAGE}", f"-DCMAKE_CXX_COMPILER={COMPILER}", *launcher)
        run("cmake", "--build", cls.work / "plugin")
        cls.plugin = cls.work / "plugin/kernelsearch_loops.so"
        cls.source = cls.work / "loops.c"
        cls.source.write_text(LOOPS)

    def compile(self, *words, code=0, plugin=True):
        loads = [f"-fplugin={self.plugin}", f"-fpass-plugin={self.plugin}"] if plugin else []
        return run(self.clang, *loads, *words, self.source, folder=self.work, code=code)

    def loops(self, *flags):
        self.compile("-O2", *flags, "-mllvm", "-kernelsearch-loops=listed", "-c", "-o", "object.o")
        return [json.loads(line) for line in (self.work / "listed").read_text().splitlines()]

    def metadata(self, plan, *more):
        """{(function, loop): the texts of its hints} as they stand before anything is optimised."""
        ir = self.compile("-O0", "-S", "-emit-llvm", "-o", "-", "-mllvm", f"-kernelsearch-plan={plan}", *more)
        nodes = dict(re.findall(r"^(!\d+) = (?:distinct )?!\{(.*)\}$", ir, re.M))
        found, function = {}, None
        for line in ir.splitlines():
            begins = re.match(r"define .*@(\w+)\(", line)
            function = begins[1] if begins else function
            loop = re.search(r"!llvm\.loop (!\d+)", line)
            if loop:
                number = sum(1 for name, _ in found if name == function)
                parts = [nodes.get(one.strip(), "mustprogress") for one in nodes[loop[1]].split(",")[1:]]  # lines are no such nodes
                found[function, number] = sorted(part.replace('!"llvm.loop.', "").replace('"', "") for part in parts if "mustprogress" not in part)
        return found

    def test_lists_every_loop(self):
        head, *loops = self.loops("-gline-tables-only")
        self.assertEqual(head["kernelsearch_loops"], 1)
        self.assertEqual(head["llvm"].split(".")[0], str(self.version))
        self.assertEqual(head["hints"]["unroll_count"], [0, 1, 2, 4, 8])
        keys = ("function", "loop", "line", "depth", "innermost", "trip_count")
        self.assertEqual([tuple(loop[key] for key in keys) for loop in loops], LISTED)
        without = self.loops()[1:]
        self.assertEqual([loop["line"] for loop in without], [None] * len(LISTED))
        self.assertEqual([loop["trip_count"] for loop in without], [loop[-1] for loop in LISTED])

    def test_listing_changes_no_code(self):
        self.compile("-O2", "-c", "-o", "plain.o", plugin=False)
        self.loops()
        self.assertEqual((self.work / "object.o").read_bytes(), (self.work / "plain.o").read_bytes())

    def test_gives_hints_to_the_named_loop_alone(self):
        plain = self.metadata("sum:0:unroll_count=0")
        self.assertEqual(plain["sum", 0], ["unroll.count, i32 2"])
        every = self.metadata("twice:1:vectorize_width=8,interleave_count=4,unroll_count=1,distribute=1")
        self.assertEqual(every.pop(("twice", 1)), ["distribute.enable, i1 true", "interleave.count, i32 4", "unroll.disable",
                                                   "vectorize.enable, i1 true", "vectorize.width, i32 8"])
        del plain["twice", 1]
        self.assertEqual(every, plain)
        scalar = self.metadata("twice:0:vectorize_width=1")
        self.assertEqual(scalar["twice", 0], ["vectorize.width, i32 1"])

    def test_replaces_pragmas_of_the_same_kind_only(self):
        self.assertEqual(self.metadata("sum:0:unroll_count=8")["sum", 0], ["unroll.count, i32 8"])
        self.assertEqual(self.metadata("sum:0:interleave_count=2")["sum", 0], ["interleave.count, i32 2", "unroll.count, i32 2"])

    def test_reads_plans_from_files_and_names_loops_by_line(self):
        (self.work / "plan").write_text("# of a run\n\n  fixed : L7 : vectorize_width = 4 , unroll_count=2  # inner\nsum:0:distribute=1\n")
        found = self.metadata("@plan", "-gline-tables-only")
        inner = ["unroll.count, i32 2", "vectorize.enable, i1 true", "vectorize.width, i32 4"]
        self.assertEqual(found.pop(("fixed", 2)), inner)  # its latch stands before that of the loop around it
        self.assertEqual(found.pop(("sum", 0)), ["distribute.enable, i1 true", "unroll.count, i32 2"])
        self.assertEqual(set(map(tuple, found.values())), {()})

    def test_a_plan_of_a_program_passes_over_other_files(self):
        plan = "-kernelsearch-plan=elsewhere:0:unroll_count=2;fixed:0:unroll_count=2"
        self.assertIn("elsewhere", self.compile("-c", "-o", "o.o", "-mllvm", plan, code=1))
        self.compile("-c", "-o", "o.o", "-mllvm", plan, "-mllvm", "-kernelsearch-plan-of-program")
        missing = plan.replace("fixed:0", "fixed:9")
        self.assertIn("not there", self.compile("-c", "-o", "o.o", "-mllvm", missing, "-mllvm", "-kernelsearch-plan-of-program", code=1))

    def test_refuses_what_names_nothing(self):
        for plan, parts in REFUSED:
            with self.subTest(plan=plan):
                (self.work / "refused.o").unlink(missing_ok=True)
                text = self.compile("-O2", "-gline-tables-only", "-c", "-o", "refused.o", "-mllvm", f"-kernelsearch-plan={plan}", code=1)
                for part in parts:
                    self.assertIn(part, text)
                self.assertFalse((self.work / "refused.o").exists())
        self.assertIn("compile with -gline-tables-only", self.compile("-c", "-o", "o.o", "-mllvm", "-kernelsearch-plan=fixed:L3:distribute=1", code=1))

    def test_no_hints_change_no_code(self):
        self.compile("-O2", "-c", "-o", "plain.o", plugin=False)
        self.compile("-O2", "-c", "-o", "zeros.o", "-mllvm", "-kernelsearch-plan=fixed:0:vectorize_width=0,unroll_count=0")
        self.assertEqual((self.work / "zeros.o").read_bytes(), (self.work / "plain.o").read_bytes())
        self.compile("-O2", "-c", "-o", "hinted.o", "-mllvm", "-kernelsearch-plan=twice:0:unroll_count=8,vectorize_width=1")
        self.assertNotEqual((self.work / "hinted.o").read_bytes(), (self.work / "plain.o").read_bytes())

    def make(self, *words, code=0):
        return run(*TOOL, "make", self.work / "loops.json", "--compiler", self.clang, "--plugin", self.plugin, "--out",
                   self.work / "problems", "--flags=-O2", *words, code=code)

    def described(self):
        arguments = [{"name": "a", "type": "f32", "size": "n", "role": "inout"}, {"name": "n", "type": "i32"}]
        (self.work / "loops.json").write_text(json.dumps({"source": "loops.c", "functions": {
            "twice": {"arguments": arguments, "shapes": [{"n": 16384}]}, "fixed": {"arguments": arguments, "shapes": [{"n": 64}]},
            "straight": {"arguments": arguments, "shapes": [{"n": 64}]}}}))

    def production(self, plan, hints):
        """A build as a makefile has it: the compiler, the plugin and the plan file."""
        run(*TOOL, "plan", plan, "--out", hints)
        self.compile("-O2", "-fPIC", "-c", "-o", "production.o", "-mllvm", f"-kernelsearch-plan=@{hints}")

    def test_makes_problems(self):
        self.described()
        self.make("--only", "twice", "--only", "fixed")
        problem = json.loads((self.work / "problems/fixed/problem.json").read_text())
        self.assertEqual(problem["tunables"]["loop0_vectorize_width"], [0, 1, 2, 4])  # it has seven turns
        self.assertEqual(problem["tunables"]["loop4_vectorize_width"], [0, 1, 2, 4, 8, 16, 32, 64])
        self.assertEqual({name.split("_")[0] for name in problem["tunables"]}, {"loop0", "loop1", "loop3", "loop4"})
        self.assertTrue(all(values[0] == 0 for values in problem["tunables"].values()))
        self.assertTrue(problem["bit_exact"])
        self.make("--only", "twice", "--reorder")
        self.assertNotIn("bit_exact", json.loads((self.work / "problems/twice/problem.json").read_text()))
        self.assertIn("has no function straight with loops", self.make("--only", "straight", code=1))
        self.assertIn("does not describe none", self.make("--only", "none", code=1))

    def test_tunes_and_builds_the_winner_again(self):
        self.described()
        self.make("--only", "twice")
        folder = self.work / "problems/twice"
        store, plan = self.work / "runs.db", self.work / "twice.json"
        # Three settings beside the default, as many as there is time for: what is tested is that all parts work together.
        where = "loop0_vectorize_width <= 1 and loop0_interleave_count == 0 and loop0_unroll_count in [0, 8] and loop0_distribute == 0 " \
                "and loop1_vectorize_width == 0 and loop1_interleave_count == 0 and loop1_unroll_count == 0 and loop1_distribute == 0"
        told = run(COMMAND, "tune", folder, "--budget", "4,6s", "--policy", "exhaustive", "--samples", "3", "--where", where, "--store", store, "--out",
                   self.work / "tuned", folder=self.work)
        self.assertRegex(told, r"trials +[1-4] in .*: [1-4] ok\n")
        run(COMMAND, "plan", "export", "--any", "--store", store, "-o", plan)
        hints = self.work / "twice.hints"
        run("sh", self.work / "tuned/twice_best.sh", self.work / "winner.o")
        run(*TOOL, "plan", plan, "--out", hints)
        # The best may be the default or unproven in so few pairs: the plan is made to hold what the script builds.
        exported = json.loads(plan.read_text())
        winner = json.loads((self.work / "tuned/twice_best.json").read_text())["settings"]
        exported["plans"][0] |= {"entries": [{"shape": {"n": 16384}, "settings": winner}], "default_kept": []}
        plan.write_text(json.dumps(exported))
        self.production(plan, hints)
        self.assertIn("the same", run(*TOOL, "same", "twice", "winner.o", "production.o", folder=self.work))

        # Whatever won: another setting gives other code, which `same` finds.
        settings = dict(exported["plans"][0]["default"], loop1_unroll_count=8, loop1_vectorize_width=1)
        exported["plans"][0] |= {"entries": [{"shape": {"n": 16384}, "settings": settings}], "default_kept": []}
        plan.write_text(json.dumps(exported))
        self.production(plan, hints)
        self.assertIn("twice:1:vectorize_width=1,unroll_count=8\n", hints.read_text())
        self.assertIn("differ", run(*TOOL, "same", "twice", "winner.o", "production.o", folder=self.work, code=1))
        self.assertIn("the same", run(*TOOL, "same", "sum", "winner.o", "production.o", folder=self.work))

        # Sizes that want different hints, or none, share one object file: the default stays.
        other = {"shape": {"n": 128}, "settings": exported["plans"][0]["default"]}
        for more in ({"default_kept": [other]}, {"entries": [*exported["plans"][0]["entries"], other]}):
            plan.write_text(json.dumps({"plans": [exported["plans"][0] | more]}))
            self.assertIn("keeps the default", run(*TOOL, "plan", plan, "--out", hints))
            self.assertNotIn("\ntwice", hints.read_text())


    def test_lists_several_files_in_one(self):
        (self.work / "added").unlink(missing_ok=True)
        for _ in range(2):
            self.compile("-O2", "-c", "-o", "object.o", "-mllvm", "-kernelsearch-loops=+added")
        lines = [json.loads(line) for line in (self.work / "added").read_text().splitlines()]
        self.assertEqual(len(lines), 2 * (1 + len(LISTED)))
        self.assertEqual(lines[0], lines[1 + len(LISTED)])

    def given(self, **changed):
        """A copy of examples/llvm/program beside the script, with some keys of its program.json changed."""
        given = self.work / "given"
        shutil.rmtree(given, ignore_errors=True)
        shutil.copytree(SOURCE / "examples/llvm/program", given)
        described = json.loads((given / "program.json").read_text()) | changed
        (given / "program.json").write_text(json.dumps({key: value for key, value in described.items() if value is not None}))
        script = self.work / "loop_hints.py"  # which make_problem.json names beside the program's folder
        if not script.exists():
            script.symlink_to(SOURCE / "examples/llvm/loop_hints.py")
        return given

    def program(self, code=0, **changed):
        """The problem of such a copy, made by hand."""
        return run(*TOOL, "program", self.given(**changed), "--compiler", self.clang, "--plugin", self.plugin, "--out", self.work / "program",
                   "--flags=-O2", "--seconds", "60", code=code)

    SMALL = {"benchmark": ["./find_patch", "170", "170", "1"], "checks": [["./find_patch", "161", "160", "1"]]}

    def test_makes_a_problem_of_a_program(self):
        self.assertIn("2 loops of 2 functions", self.program(**self.SMALL))
        problem = json.loads((self.work / "program/problem.json").read_text())
        self.assertEqual(len(problem["tunables"]), 8)
        self.assertIn("grey_of_loop0_distribute", problem["tunables"])
        self.assertTrue(all(values[0] == 0 for values in problem["tunables"].values()))
        self.assertTrue(any("score_loop0_vectorize_width" in one for one in problem["constraints"]))
        self.program(**self.SMALL, functions=None)  # all of them: of three files
        problem = json.loads((self.work / "program/problem.json").read_text())
        self.assertEqual({name.split("_loop")[0] for name in problem["tunables"]}, {"grey_of", "score", "best_place", "main"})

    def test_refuses_programs(self):
        for changed, part in [({"build": [["make", "-s"]]}, "no command of `build` has ${FLAGS}"),
                              ({"build": [["true", "${FLAGS}"]]}, "listed no loops"),
                              ({"build": [["make", "-s", "CC=none", "CFLAGS=${FLAGS}"]]}, "ended with 2"),
                              ({"files": ["*.rs"]}, "`files` names *.rs"), ({"files": None}, "lacks `files`"),
                              ({"name": "a program"}, "give it letters"), ({"bench": []}, "`bench`, which means nothing"),
                              ({"time": "cpu"}, "it can be wall, processor"), ({"time": {"pattern": "ms", "unit": "ms"}}, "has 0 groups"),
                              ({"time": {"pattern": "(", "unit": "ms"}}, "no regular expression"),
                              ({"time": {"pattern": "([0-9.]+) seconds", "unit": "s"}}, "the benchmark printed no time"),
                              ({"time": "wall"}, "another one each time"), ({"benchmark": ["./find_patch"]}, "usage: find_patch"),
                              ({"outputs": ["picture"]}, "has not written picture"), ({"functions": ["grey"]}, "no function grey with loops: it has best_place, grey_of")]:
            with self.subTest(changed=changed):
                self.assertIn(part, self.program(code=1, **(self.SMALL | changed)))

    def test_tunes_a_program_and_builds_it_with_the_plan(self):
        if not pathlib.Path("/usr/bin/python3").exists():
            self.skipTest("there is no /usr/bin/python3, and the sandbox sees no other")
        given = self.given(**self.SMALL)
        store, plan, hints = self.work / "program.db", self.work / "program.json", self.work / "program.hints"
        where = "grey_of_loop0_vectorize_width <= 1 and grey_of_loop0_interleave_count == 0 and grey_of_loop0_unroll_count == 0 and grey_of_loop0_distribute == 0 " \
                "and score_loop0_vectorize_width == 0 and score_loop0_interleave_count == 0 and score_loop0_unroll_count == 0 and score_loop0_distribute == 0"
        for old in self.work.glob("program.db*"):
            old.unlink()
        # From the program's own folder, by its make_problem.json: relative paths behind -- are those of where the command is started.
        behind = ["--", "--compiler", self.clang, "--plugin", self.plugin.relative_to(self.work), "--flags=-O2", "--seconds", "60"]
        tune = ["tune", "given", "--policy", "exhaustive", "--samples", "3", "--store", store, "--out", self.work / "tuned_program"]
        told = run(COMMAND, *tune, "--budget", "2", "--where", where, *behind, folder=self.work)
        self.assertIn("find_patch_problem: 2 loops of 2 functions", told)
        self.assertRegex(told, r"trials +2 in .*: 2 ok\n")
        self.assertIn("times claimed", told)
        run(COMMAND, "plan", "export", "--any", "--store", store, "-o", plan)
        exported = json.loads(plan.read_text())
        # Whatever won: the plan is made to hold hints of both files.
        settings = exported["plans"][0]["default"] | {"grey_of_loop0_unroll_count": 8, "score_loop0_unroll_count": 8}
        exported["plans"][0] |= {"entries": [{"shape": {}, "settings": settings}], "default_kept": []}
        plan.write_text(json.dumps(exported))
        run(*TOOL, "plan", plan, "--out", hints)
        self.assertIn("grey_of:0:unroll_count=8\nscore:0:unroll_count=8\n", hints.read_text())
        # As a makefile of production has it: other code in these two files, the same in the third, and the same results.
        said = {}
        for name, more in (("without", []), ("with", ["-mllvm", f"-kernelsearch-plan=@{hints}", "-mllvm", "-kernelsearch-plan-of-program"])):
            built = self.work / name
            shutil.rmtree(built, ignore_errors=True)
            shutil.copytree(SOURCE / "examples/llvm/program", built)
            loads = [f"-fplugin={self.plugin}", f"-fpass-plugin={self.plugin}"] if more else []
            run("make", "-s", f"CC={self.clang}", "CFLAGS=" + " ".join(["-O2", *loads, *more]), folder=built)
            said[name] = re.sub("[0-9.]+ ms", "", run("./find_patch", "170", "170", "2", folder=built))
        self.assertEqual(said["without"], said["with"])
        for name, same in (("grey.o", False), ("match.o", False), ("main.o", True)):
            self.assertEqual((self.work / "without" / name).read_bytes() == (self.work / "with" / name).read_bytes(), same, name)
        # A changed file of the program, or another compiler's flag, is another problem: no run of the old one goes on.
        resume = [*tune, "--budget", "2", "--where", where, "--resume", "latest"]
        self.assertIn("have changed", run(COMMAND, *resume, *behind[:-3], "--flags=-O1", folder=self.work, code=3))
        (given / "match.c").write_text((given / "match.c").read_text() + "// more\n")
        self.assertIn("the problem has changed", run(COMMAND, *resume, *behind, folder=self.work, code=3))
        # A program that cannot be built ends it, with what the compiler said.
        (given / "match.c").write_text("int broken")
        told = run(COMMAND, *tune, "--budget", "2", *behind, folder=self.work, code=3)
        self.assertRegex(told, r"make_problem.json: the command that makes the problem ended with exit code 1: ")
        self.assertIn("match.c:1:11: error", told)
        self.assertFalse((self.work / "find_patch_problem").exists())

    def test_a_program_whose_output_changes_is_wrong(self):
        if not pathlib.Path("/usr/bin/python3").exists():
            self.skipTest("there is no /usr/bin/python3, and the sandbox sees no other")
        self.program(**self.SMALL)
        folder, store = self.work / "program", self.work / "wrong.db"
        for old in self.work.glob("wrong.db*"):
            old.unlink()
        # As if hints had broken it: the sum is another one than it was when the problem was made.
        source = folder / "match.c"
        source.write_text(source.read_text().replace("sum += a[i] * b[i]", "sum += a[i] * b[i] + 1"))
        told = run(COMMAND, "tune", folder, "--budget", "1", "--store", store, "--out", self.work / "wrong", folder=self.work, code=1)
        self.assertIn("1 wrong_result", told)


if __name__ == "__main__":
    there = installed()
    if not there:
        print("skipped: no clang with LLVM's development files; install clang and llvm-dev")
        sys.exit(77)
    for version, cmake, clang in there:
        globals()[f"Llvm{version}"] = type(f"Llvm{version}", (LoopHints, unittest.TestCase), {"version": version, "cmake": cmake, "clang": clang})
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
