#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What hints give the twelve loops of examples/llvm/loops, by interleaved pairs of processor time.

    loops_bench.py --compiler clang-19 --plugin PLUGIN.so [--flags "-O3 -march=native -ffast-math"] [--only NAME]...

Every setting of vector width, interleaving and unrolling that a plan may hold is compiled, for all loops at once.
Pairs (the default, a setting) in random order of the two narrow them down to three. These are paired again in five
fresh processes, which draw anew where arrays lie; the one with the best median is chosen, or the default where no
setting was faster in each process. The ratio printed is the median of seven more processes, which had no part in
choosing, so it may lie below 1, with the least and the most of them. Settings that change a bit of any output are
not candidates, unless --any-bits is given: then the table says which winners change bits.

--whole-grid looks for no winner: every setting is paired with the default in three fresh processes, and the ten with the
best medians are printed. What none of them reaches, no search of these settings could have found.
"""
import argparse
import concurrent.futures
import ctypes
import itertools
import json
import math
import os
import pathlib
import random
import shlex
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOPS = ROOT / "examples" / "llvm" / "loops"
sys.path.insert(0, str(ROOT / "examples" / "llvm"))
import loop_hints  # noqa: E402

TYPES = {"i8": ("int8_t", ctypes.c_int8), "u8": ("uint8_t", ctypes.c_uint8), "i32": ("int32_t", ctypes.c_int32),
         "i64": ("int64_t", ctypes.c_int64), "f32": ("float", ctypes.c_float), "f64": ("double", ctypes.c_double)}
RANGES = {"i8": (-64, 64), "u8": (0, 128), "i32": (-64, 64), "i64": (-64, 64), "f32": (-1, 1), "f64": (-1, 1)}


class Arguments:
    """One function's arguments at its timed shape."""

    def __init__(self, given, seed, sizes):
        self.given = given["arguments"]
        shape = {key: value for key, value in next(s for s in given["shapes"] if s.get("weight", 1))
                 .items() if key not in ("name", "weight")}
        shape.update((name, size) for name, size in sizes.items() if name in shape)
        random.seed(seed)
        self.memory = []
        self.arrays = {}
        self.scalars = {}
        for one in self.given:
            if "size" in one:
                count = eval(one["size"], {}, shape)  # an expression of our own file
                self.arrays[one["name"]] = self.placed(TYPES[one["type"]][1], self.values(one, min(count, 20011)), count)
            else:
                self.scalars[one["name"]] = one.get("value", shape.get(one["name"]))

    def placed(self, kind, values, count):
        """An array of the values over and over, aligned to 64 bytes as the command's, anywhere in a page."""
        some = bytes((kind * len(values))(*values))
        size = count * ctypes.sizeof(kind)
        memory = ctypes.create_string_buffer(size + 8192)
        self.memory.append(memory)
        start = -ctypes.addressof(memory) % 64 + 64 * random.SystemRandom().randrange(64)
        array = (kind * count).from_buffer(memory, start)
        ctypes.memmove(array, (some * (size // len(some) + 1))[:size], size)
        return array

    @staticmethod
    def values(one, count):
        low, high = one.get("low", RANGES[one["type"]][0]), one.get("high", RANGES[one["type"]][1])
        if one["type"].startswith("f"):
            # Magnitudes over nine decades: sums in another order show.
            return [random.uniform(low, high) * 2.0 ** -random.randrange(30) for _ in range(count)]
        return [random.randrange(low, high) for _ in range(count)]

    def pointers(self):
        return (ctypes.c_void_p * len(self.arrays))(*[ctypes.addressof(a) for a in self.arrays.values()])

    def outputs(self):
        return [bytes(self.arrays[one["name"]]) for one in self.given if one.get("role", "in") != "in"]

    def caller(self, function):
        """C that calls the function `turns` times and gives the processor time of a call, in seconds."""
        declared, passed, place = [], [], 0
        for one in self.given:
            kind = TYPES[one["type"]][0]
            if "size" in one:
                declared.append(f"{kind}*")
                passed.append(f"arrays[{place}]")
                place += 1
            else:
                declared.append(kind)
                passed.append(f"({kind}){self.scalars[one['name']]}")
        return f"""
void {function}({', '.join(declared)});
double time_{function}(void** arrays, int turns) {{
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (int turn = 0; turn < turns; ++turn) {function}({', '.join(passed)});
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return ((b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec)) / turns;
}}
"""


class Loop:
    def __init__(self, function, given, libraries, sizes):
        self.function, self.libraries, self.sizes = function, libraries, sizes
        self.arguments = Arguments(given, function, sizes)
        self.pointers = self.arguments.pointers()
        self.time = {}
        for key, library in libraries.items():
            call = getattr(library, "time_" + function)
            call.restype, call.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_int]
            self.time[key] = call
        once = min(self.one(None, 3) for _ in range(3))
        self.turns = max(1, math.ceil(100e-6 / once))

    def one(self, key, turns=None):
        return self.time[key](self.pointers, turns or self.turns)

    def pairs(self, key, count):
        """The default's time divided by that of `key`."""
        ratios = []
        for _ in range(count):
            if random.random() < 0.5:
                default = self.one(None)
                ratios.append(default / self.one(key))
            else:
                mine = self.one(key)
                ratios.append(self.one(None) / mine)
        return ratios

    def bits(self, key):
        """All outputs of one call, the same inputs before each."""
        kept = {name: bytes(array) for name, array in self.arguments.arrays.items()}
        self.one(key, 1)
        out = self.arguments.outputs()
        for name, array in self.arguments.arrays.items():
            ctypes.memmove(array, kept[name], len(kept[name]))
        return out


def in_processes(function, sizes, paths, keys, processes, pairs):
    """{key: the median of each process}"""
    found = {key: [] for key in keys}
    request = json.dumps({"function": function, "paths": [paths[None], *(paths[key] for key in keys)], "pairs": pairs, "sizes": sizes})
    for _ in range(processes):
        told = json.loads(loop_hints.run([sys.executable, __file__, "--child", request]))
        for key, median in zip(keys, told):
            found[key].append(median)
    return found


def child(request):
    """What in_processes() starts: the median of pairs of the first library with each other one."""
    asked = json.loads(request)
    described = json.loads((LOOPS / "loops.json").read_text())
    keys = [None, *range(1, len(asked["paths"]))]
    loop = Loop(asked["function"], described["functions"][asked["function"]], dict(zip(keys, map(ctypes.CDLL, asked["paths"]))), asked["sizes"])
    print(json.dumps([statistics.median(loop.pairs(key, asked["pairs"])) for key in keys[1:]]))


def choose(loop, keys, any_bits, paths):
    default = loop.bits(None)
    same = {key: loop.bits(key) == default for key in keys}
    left = [key for key in keys if same[key] or any_bits]
    for count, keep in ((7, 24), (25, 8), (61, 3)):
        left = sorted(left, key=lambda key: -statistics.median(loop.pairs(key, count)))[:keep]
    judged = in_processes(loop.function, loop.sizes, paths, left, 5, 61) if left else {}
    faster = [key for key in left if min(judged[key]) > 1]
    best = max(faster, key=lambda key: statistics.median(judged[key]), default=None)
    # What was chosen for being fast is a little slower than it looked; the default is paired with itself.
    last = in_processes(loop.function, loop.sizes, paths, [best], 7, 101)[best]
    return best, (statistics.median(last), min(last), max(last)), same.get(best, True), sum(not one for one in same.values())


def named(hints, key):
    return ", ".join(f"{hint} {value}" for hint, value in zip(hints, key) if value) if key else "none"


def print_whole_grid(loop, keys, hints, paths):
    default = loop.bits(None)
    same = {key: loop.bits(key) == default for key in keys}
    judged = in_processes(loop.function, loop.sizes, paths, [None, *keys], 3, 31)
    best = sorted(keys, key=lambda key: -statistics.median(judged[key]))
    again = judged[None]
    print(f"{loop.function}: the default with itself {statistics.median(again):.3f} ({min(again):.3f} to {max(again):.3f})\n")
    print("| ratio | least to most | hints | bits |\n|---|---|---|---|")
    for key in best[:10]:
        print(f"| {statistics.median(judged[key]):.3f} | {min(judged[key]):.3f} to {max(judged[key]):.3f} | {named(hints, key)} | "
              f"{'same' if same[key] else 'changed'} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--flags", default="-O3 -march=native")
    parser.add_argument("--only", action="append")
    parser.add_argument("--any-bits", action="store_true")
    parser.add_argument("--size", action="append", default=[], metavar="NAME=VALUE", help="of the timed shapes, such as n=220")
    parser.add_argument("--whole-grid", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    flags = shlex.split(options.flags)
    sizes = {name: int(value) for name, value in (one.split("=") for one in options.size)}
    described = json.loads((LOOPS / "loops.json").read_text())
    source = LOOPS / described["source"]
    functions = options.only or list(described["functions"])
    head, loops = loop_hints.loops_of(source, options.compiler, flags, options.plugin)
    inner = [loop for loop in loops if loop["innermost"]]
    hints = ("vectorize_width", "interleave_count", "unroll_count")
    grid = [key for key in itertools.product(*(head["hints"][hint] for hint in hints))
            if any(key) and math.prod(max(1, value) for value in key) <= 512]

    with tempfile.TemporaryDirectory() as scratch:
        caller = "#include <stdint.h>\n#include <time.h>\n" + "".join(
            Arguments(described["functions"][f], f, sizes).caller(f) for f in functions)
        pathlib.Path(scratch, "caller.c").write_text(caller)
        loop_hints.run([options.compiler, "-O1", "-fPIC", "-c", "caller.c", "-o", "caller.o"], scratch)

        def build(key):
            name = "default" if key is None else "_".join(map(str, key))
            command = [options.compiler, *flags, "-Wno-pass-failed"]
            if key is not None:
                plan = ";".join(loop_hints.entry(loop["function"], loop["loop"], dict(zip(hints, key))) for loop in inner)
                command = loop_hints.with_plugin(options.compiler, [*flags, "-Wno-pass-failed"], pathlib.Path(options.plugin).resolve())
                command += ["-mllvm", "-kernelsearch-plan=" + plan]
            # -nostartfiles: -ffast-math would set how the whole process rounds small numbers when it is loaded.
            loop_hints.run([*command, "-fPIC", "-shared", "-nostartfiles", str(source), "caller.o", "-o", f"{name}.so"], scratch)
            return f"{scratch}/{name}.so"

        keys = [None, *grid]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            paths = dict(zip(keys, pool.map(build, keys)))
        libraries = {key: ctypes.CDLL(path) for key, path in paths.items()}
        version = loop_hints.run([options.compiler, "--version"]).splitlines()[0]
        cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
        print(f"{version}, `{options.flags}`, {cpu}; {len(grid)} settings{''.join(f', {name} = {size}' for name, size in sizes.items())}\n")
        if options.whole_grid:
            for function in functions:
                print_whole_grid(Loop(function, described["functions"][function], libraries, sizes), grid, hints, paths)
            return
        print("| loop | us | ratio | least to most | hints | bits | settings that change bits |\n|---|---|---|---|---|---|---|")
        found = []
        for function in functions:
            loop = Loop(function, described["functions"][function], libraries, sizes)
            best, (ratio, low, high), same, changing = choose(loop, grid, options.any_bits, paths)
            micro = 1e6 * statistics.median(loop.one(None) for _ in range(9))
            found.append(ratio)
            print(f"| {function} | {micro:.1f} | {ratio:.3f} | {low:.3f} to {high:.3f} | {named(hints, best)} | "
                  f"{'same' if same else 'changed'} | {changing} |", flush=True)
        print(f"\nGeometric mean {math.exp(statistics.fmean(map(math.log, found))):.3f}, least {min(found):.3f}. "
              f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        main()
