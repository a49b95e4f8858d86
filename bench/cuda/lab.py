#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks, times and tunes the CUDA problem folders without the library itself, beside vendor libraries.

    lab.py examples/cuda/NAME --shape all --config default --config '{"BM": 128}' --random 64 --seed 1
    lab.py examples/cuda/NAME --shape 4096 --config best --library --out result.json
    lab.py examples/cuda/NAME --shape 4096 --tune 30 --out tuned.json
    lab.py examples/cuda/NAME --compile-only --random 4             (needs no GPU)

Needs Python 3.9 and NVRTC; on the GPU machine numpy and torch (memory, random numbers, libraries to compare).
Kernels are compiled on all cores and run one at a time in a process of their own, which is replaced when a
kernel breaks it. Times are between CUDA events around one call; queues are kept full, so that launch latency
stays out. `cold`: a buffer of 256 MiB is written before every call. `warm`: calls back to back, buffers rotate.
"""
import argparse
import ast
import concurrent.futures
import ctypes
import ctypes.util
import gc
import glob
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import signal
import statistics
import sys
import time
import traceback

# ---------------------------------------------------------------------------------------------- expressions

FUNCTIONS = {"min": min, "max": max, "abs": abs, "len": len, "sum": sum, "range": range, "int": int,
             "float": float, "round": round, "True": True, "False": False, "true": True, "false": False}
ALLOWED = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Name,
           ast.Constant, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Subscript,
           ast.Load, ast.Store, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
           getattr(ast, "Index", ast.Load))
_compiled = {}


def evaluate(expression, names):
    """The value of an expression (text, number or bool) where `names` maps names to values."""
    if not isinstance(expression, str):
        return expression
    entry = _compiled.get(expression)
    if entry is None:
        try:
            tree = ast.parse(expression.strip(), mode="eval")
        except SyntaxError as error:
            raise ValueError(f"cannot read the expression {expression!r}: {error}") from None
        for node in ast.walk(tree):
            if not isinstance(node, ALLOWED):
                raise ValueError(f"{type(node).__name__} is not allowed in {expression!r}")
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        entry = _compiled[expression] = (compile(tree, expression, "eval"), used)
    scope = dict(FUNCTIONS)
    scope.update(names)
    scope["__builtins__"] = {}
    try:
        return eval(entry[0], scope)  # noqa: S307 (the nodes are checked above)
    except NameError as error:
        raise ValueError(f"{error} in {expression!r}") from None


def names_in(expression):
    """The names that an expression uses."""
    if not isinstance(expression, str):
        return set()
    tree = ast.parse(expression.strip(), mode="eval")
    bound = {n.target.id for n in ast.walk(tree) if isinstance(n, ast.comprehension) and
             isinstance(n.target, ast.Name)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - set(FUNCTIONS) - bound


def whole(expression, names, what):
    value = evaluate(expression, names)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value == int(value):
        return int(value)
    if not isinstance(value, int):
        raise ValueError(f"{what}: {expression!r} is {value!r}, no whole number")
    return value


def strip_comments(text):
    """JSON with // and /* */ comments and without them afterwards; strings stay."""
    pattern = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)
    text = pattern.sub(lambda m: m.group(0) if m.group(0)[0] == '"' else re.sub(r"[^\n]", " ", m.group(0)), text)
    pattern = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])', re.S)  # trailing commas are forgiven
    return pattern.sub(lambda m: m.group(0) if m.group(0)[0] == '"' else "", text)


# -------------------------------------------------------------------------------------------------- the space

class Tunable:
    def __init__(self, name, form):
        self.name, self.condition, self.default = name, None, None
        if isinstance(form, dict) and "values" in form:
            inner = form["values"]
        elif isinstance(form, dict):
            inner = {k: v for k, v in form.items() if k in ("range", "powers_of_two", "permutation")}
        else:
            inner = form
        if isinstance(form, dict):
            self.condition = form.get("if")
            self.default = form.get("default")
        self.values = self.expand(inner)
        if not self.values:
            raise ValueError(f"tunable {name} has no values")
        if self.default is None:
            self.default = self.values[0]

    def expand(self, form):
        if isinstance(form, str):
            return list(evaluate(form, {}))
        if isinstance(form, list):
            return list(form)
        if isinstance(form, dict):
            if "range" in form:
                bounds = [whole(v, {}, self.name) for v in form["range"]]
                return list(range(*bounds))
            if "powers_of_two" in form:
                low, high = (whole(v, {}, self.name) for v in form["powers_of_two"])
                return [2 ** i for i in range(64) if low <= 2 ** i <= high]
            if "permutation" in form:
                return [list(p) for p in itertools.permutations(range(whole(form["permutation"], {}, self.name)))]
            if "values" in form:
                return self.expand(form["values"])
        raise ValueError(f"tunable {self.name}: unknown form {form!r}")


class Space:
    def __init__(self, problem):
        self.tunables = [Tunable(n, f) for n, f in (problem.get("tunables") or {}).items()]
        self.names = [t.name for t in self.tunables]
        self.by_name = {t.name: t for t in self.tunables}
        self.constraints = list(problem.get("constraints") or [])
        given = problem.get("default") or {}
        for name in given:
            if name not in self.by_name:
                raise ValueError(f"default names {name}, which is no tunable")
        for t in self.tunables:
            if t.name in given:
                t.default = given[t.name]
        # A constraint is tested as soon as its last tunable is bound.
        position = {n: i for i, n in enumerate(self.names)}
        self.ready = {}
        for c in self.constraints:
            unknown = names_in(c) - set(self.names)
            if unknown:
                raise ValueError(f"constraint {c!r} names {sorted(unknown)}, no tunables")
            self.ready.setdefault(max((position[n] for n in names_in(c)), default=0), []).append(c)

    def size(self):
        return math.prod(len(t.values) for t in self.tunables)

    def settle(self, config):
        """Conditional tunables at their default where their condition is false."""
        config = dict(config)
        for _ in self.tunables:
            changed = False
            for t in self.tunables:
                if t.condition is not None and not evaluate(t.condition, config) and config[t.name] != t.default:
                    config[t.name] = t.default
                    changed = True
            if not changed:
                break
        return config

    def complete(self, part):
        unknown = set(part) - set(self.names)
        if unknown:
            raise ValueError(f"no tunable is called {', '.join(sorted(unknown))}")
        return {t.name: part.get(t.name, t.default) for t in self.tunables}

    def broken(self, config):
        """The first constraint or value list that a configuration breaks, or None."""
        for t in self.tunables:
            if config[t.name] not in t.values:
                return f"{t.name} = {config[t.name]!r} is none of its values"
        for c in self.constraints:
            if not evaluate(c, config):
                return c
        return None

    def draw(self, rng, tries=200000):
        """One configuration by rejection sampling that stops at the first broken constraint."""
        conditional = any(t.condition is not None for t in self.tunables)
        for _ in range(tries):
            config, good = {}, True
            for i, t in enumerate(self.tunables):
                config[t.name] = rng.choice(t.values)
                if not conditional and not all(evaluate(c, config) for c in self.ready.get(i, ())):
                    good = False
                    break
            if good and conditional:
                config = self.settle(config)
                good = all(evaluate(c, config) for c in self.constraints)
            if good:
                return config
        raise RuntimeError("no configuration found that satisfies the constraints")

    def neighbour(self, config, rng):
        config = dict(config)
        for t in rng.sample(self.tunables, min(len(self.tunables), rng.choice((1, 1, 1, 2, 2, 3)))):
            if len(t.values) < 2:
                continue
            at = t.values.index(config[t.name])
            if rng.random() < 0.6:
                at = min(max(at + rng.choice((-1, 1)), 0), len(t.values) - 1)
                config[t.name] = t.values[at]
            else:
                config[t.name] = rng.choice(t.values)
        return self.settle(config)


def key_of(config):
    return json.dumps(config, sort_keys=True)


# ------------------------------------------------------------------------------------------------ the problem

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2,
         "u32": 4, "u64": 8, "bool": 1}
FLOATS = ("f16", "bf16", "f32", "f64")
TOLERANCES = {"f16": (1e-2, 1e-2), "bf16": (4e-2, 4e-2), "f32": (1e-4, 1e-4), "f64": (1e-10, 1e-10)}


class Problem:
    def __init__(self, folder):
        # NAME may be a folder, or NAME.json, which shares files with its neighbors; what is its own is in the folder all the same.
        path = folder.removesuffix(".json").rstrip("/")
        self.best_file = os.path.join(path, "best_h200.json")
        alone = os.path.isfile(os.path.join(path, "problem.json"))
        self.folder = path if alone else os.path.dirname(path)
        with open(os.path.join(path, "problem.json") if alone else path + ".json", encoding="utf-8") as file:
            self.json = json.loads(strip_comments(file.read()))
        j = self.json
        if j.get("backend") != "cuda":
            raise ValueError(f"backend {j.get('backend')!r}, not cuda")
        self.name = j["name"]
        self.function = j.get("function")
        self.space = Space(j)
        self.arguments = j["arguments"]
        self.by_name = {a["name"]: a for a in self.arguments}
        self.shapes = list(self.expand_shapes(j["shapes"]))
        kernel = j["kernel"]
        self.source = self.region(kernel["device"])
        self.macros = self.region(kernel.get("macros")) if kernel.get("macros") else ""
        self.reference = j.get("reference")
        self.reference_source = self.region(self.reference["source"]) if self.reference else None
        self.flags = (j.get("build") or {}).get("flags")
        if self.flags is None:
            self.flags = ["-std=c++20"]
        launch = j.get("launch")
        self.steps = launch if isinstance(launch, list) else [launch]

    def region(self, given):
        if isinstance(given, dict):
            text = given["text"]
            return "\n".join(text) if isinstance(text, list) else text
        with open(os.path.join(self.folder, given), encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def expand_shapes(shapes):
        for shape in shapes:
            variables = {k: v for k, v in shape.items() if k not in ("name", "weight")}
            choices = []
            for value in variables.values():
                if isinstance(value, list):
                    choices.append(value)
                elif isinstance(value, dict):
                    choices.append(list(range(*value["range"])))
                else:
                    choices.append([value])
            count = math.prod(len(c) for c in choices)
            for values in itertools.product(*choices):
                named = dict(zip(variables, values))
                name = shape.get("name", ",".join(f"{k}={v}" for k, v in named.items()))
                if count > 1 and "name" in shape:
                    name += "," + ",".join(f"{k}={v}" for k, v in named.items() if variables[k] != v)
                yield {"name": name, "weight": shape.get("weight", 1), "variables": named}

    def shape(self, name):
        for s in self.shapes:
            if s["name"] == name:
                return s
        raise ValueError(f"no shape {name!r}; there are {', '.join(s['name'] for s in self.shapes)}")

    def valid(self, shape, config):
        if self.json.get("valid") is None:
            return True
        return bool(evaluate(self.json["valid"], {**shape["variables"], **config}))

    def tolerance(self, argument):
        base = TOLERANCES.get(argument["type"])
        if base is None:
            return None
        bounds = {"absolute": base[0], "relative": base[1]}
        for given in ((self.json.get("tolerances") or {}).get(argument["type"]), argument.get("tolerance")):
            if given:
                bounds.update(given)
        return bounds

    def is_array(self, a):
        return "size" in a and a["size"] is not None

    def count(self, a, shape, config):
        return whole(a["size"], {**shape["variables"], **config}, f"size of {a['name']}")

    def scalar(self, a, shape):
        if a.get("value") is not None:
            return evaluate(a["value"], shape["variables"])
        if a["name"] not in shape["variables"]:
            raise ValueError(f"scalar {a['name']} has no value in shape {shape['name']}")
        return shape["variables"][a["name"]]

    def rate(self, which, shape):
        expression = self.json.get(which)
        return None if expression is None else float(evaluate(expression, shape["variables"]))

    def active_steps(self, names):
        return [s for s in self.steps if s.get("if") is None or evaluate(s["if"], names)]

    def geometry(self, step, names):
        """grid, block, cluster (or None) and dynamic shared bytes of a step."""
        def extents(key):
            values = [whole(v, names, key) for v in step.get(key) or []]
            if any(v < 1 for v in values):
                raise ValueError(f"{key} is {values}")
            return values + [1] * (3 - len(values))
        cluster = extents("cluster") if step.get("cluster") else None
        shared = whole(step.get("shared_bytes") or 0, names, "shared_bytes")
        return extents("grid"), extents("block"), cluster, shared


def text_of(value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list):
        return "{" + ", ".join(text_of(v) for v in value) + "}"
    if isinstance(value, float):
        return repr(value)
    return str(value)


def substitute(text, config):
    def replace(match):
        if match.group(1) not in config:
            raise ValueError(f"{match.group(0)} in {text!r} is no tunable")
        return text_of(config[match.group(1)])
    return re.sub(r"\$\{(\w+)\}", replace, text)


# ------------------------------------------------------------------------------------------------------ NVRTC

TYPEDEFS = """#ifndef KERNELSEARCH_FIXED_WIDTH
#define KERNELSEARCH_FIXED_WIDTH
typedef signed char int8_t; typedef signed short int16_t; typedef signed int int32_t; typedef signed long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long long uint64_t; typedef long long intptr_t; typedef unsigned long long uintptr_t;
#ifdef __cplusplus
namespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;
using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t; }
#endif
#endif
"""
HEADERS = {"cstdint": TYPEDEFS, "stdint.h": TYPEDEFS, "cstddef": "namespace std { using ::size_t; }\n",
           "stddef.h": "\n"}
_nvrtc = None


def toolkit_folders():
    roots = [os.environ.get(v) for v in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    roots += sorted(glob.glob("/usr/local/cuda-*"), reverse=True)
    for path in sys.path:
        roots += sorted(glob.glob(os.path.join(path, "nvidia", "cu1*")), reverse=True)
        roots += glob.glob(os.path.join(path, "nvidia", "cuda_nvrtc")) + \
            glob.glob(os.path.join(path, "nvidia", "cuda_runtime"))
    return [r for r in dict.fromkeys(roots) if r and os.path.isdir(r)]


def nvrtc():
    global _nvrtc
    if _nvrtc is None:
        candidates = []
        for root in toolkit_folders():
            for sub in ("lib64", "lib", "targets/x86_64-linux/lib"):
                candidates += sorted(glob.glob(os.path.join(root, sub, "libnvrtc.so.*"))) + \
                    sorted(glob.glob(os.path.join(root, sub, "libnvrtc.so")))
        found = ctypes.util.find_library("nvrtc")
        candidates += [found] if found else []
        errors = []
        for candidate in candidates:
            if ".alt." in candidate:
                continue
            try:
                _nvrtc = ctypes.CDLL(candidate)
                break
            except OSError as error:
                errors.append(str(error))
        if _nvrtc is None:
            raise RuntimeError(f"no libnvrtc found: {errors}")
        _nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    return _nvrtc


def include_folders():
    folders = []
    for root in toolkit_folders():
        for sub in ("include", "targets/x86_64-linux/include"):
            path = os.path.join(root, sub)
            if os.path.isfile(os.path.join(path, "cuda_fp16.h")):
                folders.append(path)
                if os.path.isdir(os.path.join(path, "cccl")):
                    folders.append(os.path.join(path, "cccl"))
                return folders
    return folders


def compile_cubin(source, expressions, flags, name):
    """Compiles with NVRTC: a dict of cubin, lowered names, log, seconds; or error and log. Never raises."""
    began = time.perf_counter()
    try:
        lib = nvrtc()
        program = ctypes.c_void_p()
        count = len(HEADERS)
        contents = (ctypes.c_char_p * count)(*[t.encode() for t in HEADERS.values()])
        titles = (ctypes.c_char_p * count)(*[t.encode() for t in HEADERS])
        status = lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), count, contents,
                                        titles)
        if status:
            return {"error": lib.nvrtcGetErrorString(status).decode(), "log": ""}
        try:
            for expression in expressions:
                lib.nvrtcAddNameExpression(program, expression.encode())
            options = (ctypes.c_char_p * len(flags))(*[f.encode() for f in flags])
            status = lib.nvrtcCompileProgram(program, len(flags), options)
            size = ctypes.c_size_t()
            lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            buffer = ctypes.create_string_buffer(max(size.value, 1))
            lib.nvrtcGetProgramLog(program, buffer)
            log = buffer.value.decode(errors="replace")
            seconds = time.perf_counter() - began
            if status:
                return {"error": lib.nvrtcGetErrorString(status).decode(), "log": log, "seconds": seconds}
            lowered = {}
            for expression in expressions:
                text = ctypes.c_char_p()
                if lib.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(text)) == 0:
                    lowered[expression] = text.value.decode()
            lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
            cubin = ctypes.create_string_buffer(size.value)
            status = lib.nvrtcGetCUBIN(program, cubin)
            if status:
                return {"error": "no cubin: " + lib.nvrtcGetErrorString(status).decode(), "log": log}
            return {"cubin": cubin.raw, "lowered": lowered, "log": log, "seconds": time.perf_counter() - began,
                    "resources": parse_resources(log)}
        finally:
            lib.nvrtcDestroyProgram(ctypes.byref(program))
    except Exception as error:  # a compile job must come back, whatever happens
        return {"error": f"{type(error).__name__}: {error}", "log": ""}


def parse_resources(log):
    """Registers, spills and static shared memory of each kernel, from ptxas -v in the log."""
    found, current = {}, None
    for line in log.splitlines():
        match = re.search(r"Compiling entry function '([^']+)'", line)
        if match:
            current = found.setdefault(match.group(1), {})
        if current is None:
            continue
        for key, pattern in (("registers", r"Used (\d+) registers"), ("stack", r"(\d+) bytes stack frame"),
                             ("spill_stores", r"(\d+) bytes spill stores"), ("static_shared", r"(\d+) bytes smem")):
            match = re.search(pattern, line)
            if match:
                current[key] = int(match.group(1))
    return found


def translation_unit(problem, config):
    lines = []
    for name in problem.space.names:
        value = config[name]
        lines.append(f"#define {name} {text_of(value)}")
        if isinstance(value, list):
            lines += [f"#define {name}_{i} {text_of(v)}" for i, v in enumerate(value)]
    parts = [TYPEDEFS, "\n".join(lines), problem.macros, '#line 1 "kernel.cu"', problem.source]
    return "\n".join(parts) + "\n"


def common_flags(arch):
    return [f"-arch={arch}"] + [f"-I{f}" for f in include_folders()] + ["-default-device", "-lineinfo"]


def kernel_job(problem, config, arch):
    """The arguments of compile_cubin for a configuration."""
    expressions = []
    for step in problem.steps:
        if step.get("zero"):
            continue
        expressions.append(substitute(step.get("function") or problem.function, config))
    expressions += ["&" + a["symbol"] for a in problem.arguments if a.get("symbol")]
    flags = [f for f in (substitute(f, config) for f in problem.flags) if f]
    flags = [p for f in flags for p in (f.split(" ") if f.startswith("-") and " " in f else [f])]
    flags = common_flags(arch) + ["--ptxas-options=-v"] + flags
    return translation_unit(problem, config), list(dict.fromkeys(expressions)), flags, "candidate.cu"


def reference_job(problem, real, arch):
    default = problem.space.complete({})
    text = TYPEDEFS + f"typedef {real} real;\n" + '#line 1 "reference.cu"\n' + problem.reference_source + "\n"
    own = [f for f in (substitute(f, default) for f in problem.reference.get("flags") or []) if f.startswith("-D")]
    return text, [problem.reference["function"]], common_flags(arch) + ["-std=c++20"] + own, "reference.cu"


# ---------------------------------------------------------------------------------------------- the GPU worker

class CudaError(RuntimeError):
    pass


class TimedOut(RuntimeError):
    pass


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)),
                ("count", ctypes.c_uint)]


class Driver:
    """The few driver calls that are needed, in torch's primary context."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        for name in ("cuMemsetD8Async", "cuModuleGetGlobal_v2", "cuMemcpyDtoDAsync_v2", "cuModuleLoadData",
                     "cuModuleGetFunction", "cuLaunchKernelEx", "cuFuncGetAttribute", "cuFuncSetAttribute",
                     "cuModuleUnload", "cuTensorMapEncodeTiled"):
            getattr(self.lib, name).restype = ctypes.c_int
        self.lib.cuMemsetD8Async.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
        self.lib.cuMemcpyDtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t,
                                                  ctypes.c_void_p]
        self.lib.cuLaunchKernelEx.argtypes = [ctypes.POINTER(LaunchConfig), ctypes.c_void_p, ctypes.c_void_p,
                                              ctypes.c_void_p]
        self.lib.cuFuncSetAttribute.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        self.lib.cuFuncGetAttribute.argtypes = [ctypes.POINTER(ctypes.c_int), ctypes.c_int, ctypes.c_void_p]
        self.lib.cuModuleGetFunction.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
        self.lib.cuModuleUnload.argtypes = [ctypes.c_void_p]

    def check(self, status, what):
        if status:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(status, ctypes.byref(text))
            name = text.value.decode() if text.value else str(status)
            raise CudaError(f"{what}: {name}")


class Module:
    """A loaded cubin."""

    def __init__(self, driver, built):
        self.driver, self.built, self.handle = driver, built, ctypes.c_void_p()
        driver.check(driver.lib.cuModuleLoadData(ctypes.byref(self.handle), built["cubin"]), "cuModuleLoadData")

    def function(self, expression):
        handle = ctypes.c_void_p()
        name = self.built["lowered"].get(expression, expression)
        self.driver.check(self.driver.lib.cuModuleGetFunction(ctypes.byref(handle), self.handle, name.encode()),
                          f"cuModuleGetFunction {name}")
        return handle

    def attribute(self, function, which):
        value = ctypes.c_int()
        self.driver.check(self.driver.lib.cuFuncGetAttribute(ctypes.byref(value), which, function),
                          "cuFuncGetAttribute")
        return value.value

    def symbol(self, name):
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        lowered = self.built["lowered"].get("&" + name, name)
        self.driver.check(self.driver.lib.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size),
                                                               self.handle, lowered.encode()),
                          f"cuModuleGetGlobal {lowered}")
        return address.value, size.value

    def unload(self):
        if self.handle:
            self.driver.lib.cuModuleUnload(self.handle)
            self.handle = ctypes.c_void_p()


SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i8": ctypes.c_int8, "i16": ctypes.c_int16,
           "i32": ctypes.c_int32, "i64": ctypes.c_int64, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16,
           "u32": ctypes.c_uint32, "u64": ctypes.c_uint64, "bool": ctypes.c_bool}
MAP_TYPES = {"u8": 0, "i8": 0, "bool": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6,
             "f32": 7, "f64": 8, "bf16": 9}
GUARD = 4096  # bytes before and after each array, filled with 0xFF (NaN)


class Lab:
    """What runs in the worker: one problem on one GPU."""

    def __init__(self, folder, options):
        import torch
        self.torch = torch
        self.options = options
        torch.cuda.init()
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        self.device = torch.device("cuda", 0)
        torch.zeros(1, device=self.device).sum().item()
        self.driver = Driver()
        self.problem = Problem(folder)
        self.types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
                      "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
                      "u8": torch.uint8, "u16": torch.int16, "u32": torch.int32, "u64": torch.int64,
                      "bool": torch.uint8}
        self.flush_buffer = torch.empty(256 << 20, dtype=torch.uint8, device=self.device)
        self.draws, self.sets = {}, {}
        self.reference_modules, self.library_calls, self.lows = {}, {}, {}
        self.generator = torch.Generator(device=self.device)
        self.generator.manual_seed(options["seed"])

    def about(self):
        p = self.torch.cuda.get_device_properties(0)
        return {"name": p.name, "capability": [p.major, p.minor], "multiprocessors": p.multi_processor_count,
                "memory": p.total_memory, "l2": getattr(p, "L2_cache_size", 0),
                "torch": self.torch.__version__, "cuda": self.torch.version.cuda}

    # ---- memory

    def array(self, count, dtype):
        """A guarded array: (view, whole allocation)."""
        torch = self.torch
        size = count * torch.empty(0, dtype=dtype).element_size()
        padded = (size + 255) // 256 * 256
        raw = torch.empty(padded + 2 * GUARD, dtype=torch.uint8, device=self.device)
        view = raw[GUARD:GUARD + size].view(dtype)
        self.guard(view, raw)
        return view, raw

    def guard(self, view, raw):
        """Sets the guards anew: an earlier configuration may have written there."""
        raw[:GUARD].fill_(255)
        raw[GUARD + view.numel() * view.element_size():].fill_(255)

    def guards_hold(self, view, raw):
        size = view.numel() * view.element_size()
        return bool((raw[:GUARD] == 255).all().item()) and bool((raw[GUARD + size:] == 255).all().item())

    def poison(self, view):
        if view.dtype.is_floating_point:
            view.fill_(float("nan"))
        else:
            view.view(self.torch.uint8).fill_(0xA5)

    def sync(self, seconds):
        """Waits for the device, but not for ever."""
        event = self.torch.cuda.Event()
        event.record()
        end = time.monotonic() + seconds
        try:
            spins = 0
            while not event.query():
                spins += 1
                if spins > 200:
                    time.sleep(0.0002)
                if time.monotonic() > end:
                    raise TimedOut(f"no end within {seconds:g} s")
            self.torch.cuda.synchronize()
        except TimedOut:
            raise
        except Exception as error:
            raise CudaError(f"running: {str(error).splitlines()[0]}") from None

    # ---- inputs

    def fill(self, argument, view, kind, seed=None):
        """New contents for an input: kind is random, edge or ill; without a seed, other ones each time."""
        torch = self.torch
        t, n = argument["type"], view.numel()
        init = argument.get("init") or "uniform"
        floating = t in FLOATS
        if n == 0:
            return
        if init in ("zeros", "ones"):
            view.fill_(1 if init == "ones" else 0)
            return
        if init == "arange":
            period = {"f16": 2049, "bf16": 257, "f32": 2 ** 24 + 1, "i8": 128, "u8": 256, "i16": 32768,
                      "u16": 65536, "bool": 2}.get(t, 2 ** 31)
            view.copy_((torch.arange(n, device=self.device) % period).to(view.dtype))
            return
        generator = self.generator
        if seed is not None:
            generator = torch.Generator(device=self.device)
            generator.manual_seed(seed)
        if init == "permutation":
            view.copy_(torch.randperm(n, device=self.device, generator=generator).to(view.dtype))
            return
        low, high = argument.get("low"), argument.get("high")
        if init == "normal":
            mean, deviation = argument.get("mean", 0), argument.get("deviation", 1)
            if kind == "random":
                if floating:
                    view.normal_(mean, deviation, generator=generator)
                else:
                    view.copy_(torch.empty(n, device=self.device).normal_(mean, deviation, generator=generator)
                               .round().to(view.dtype))
                return
            low, high = mean - 4 * deviation, mean + 4 * deviation
        if low is None:
            low = -1.0 if floating else (-64 if t[0] == "i" else 0)
        if high is None:
            high = 1.0 if floating else (64 if t[0] == "i" else (2 if t == "bool" else 128))
        low, high = evaluate(low, {}), evaluate(high, {})
        if init == "ill_conditioned":
            kind = "ill"
        if not floating:
            low, high = math.ceil(low), math.ceil(high)
            low, high = max(low, -2 ** 63), min(high, 2 ** 63 - 1)
        if kind == "edge":
            self.fill_edge(view, floating, low, high, seed)
        elif kind == "ill" and floating:
            self.fill_ill(view, t, low, high, generator)
        elif floating:
            if t == "f64" or t == "f32":
                view.uniform_(low, high, generator=generator)
            else:
                view.uniform_(low, high, generator=generator)
                view.clamp_(max=self.below(view.dtype, high))
        else:
            if view.dtype == torch.int32 and high - 1 <= 2 ** 31 - 1 and low >= -2 ** 31 or view.dtype == torch.int64:
                view.random_(low, high, generator=generator)
            else:
                view.copy_(torch.randint(low, high, (n,), device=self.device, generator=generator).to(view.dtype))

    def below(self, dtype, high):
        """The greatest number of the type below `high`, or nearly."""
        key = (dtype, high)
        if key not in self.lows:
            h = float(self.torch.tensor(float(high), dtype=dtype))
            self.lows[key] = h - abs(h) * self.torch.finfo(dtype).eps / 2 if h else -1e-7
        return self.lows[key]

    def fill_edge(self, view, floating, low, high, seed):
        torch = self.torch
        top = self.below(view.dtype, high) if floating else high - 1
        values = [low, top] + [v for v in (0.0, 1.0, -1.0, 2.0 ** -10, -2.0 ** -10)
                               if low < v < top and (floating or v == int(v))]
        rng = random.Random(seed)
        one, other, pattern = rng.choice(values), rng.choice(values), rng.randrange(4)
        cast = float if floating else int
        if pattern == 1:
            view.fill_(cast(low))
            view[1::2].fill_(cast(top))
        elif pattern == 3:
            table = torch.tensor([cast(v) for v in values], device=self.device,
                                 dtype=torch.float64 if floating else torch.int64).to(view.dtype)
            view.copy_(table[torch.randint(0, len(values), (view.numel(),), device=self.device)])
        else:
            view.fill_(cast(one))
            if pattern == 2:
                view[rng.randrange(view.numel())] = cast(other)

    def fill_ill(self, view, t, low, high, generator):
        """Magnitudes over many decades; about half of the elements cancel an earlier one."""
        torch = self.torch
        depth = {"f16": 4.0, "f64": 24.0}.get(t, 12.0) * math.log(10.0)
        n = view.numel()
        top = self.below(view.dtype, high)
        step = 1 << 26
        for at in range(0, n, step):
            part = view[at:at + step]
            m = part.numel()
            u = torch.rand(m, device=self.device, generator=generator)
            fraction = torch.exp(-depth * u.double() if t == "f64" else -depth * u)
            if low < 0 < top:
                sign = torch.rand(m, device=self.device, generator=generator) < 0.5
                value = torch.where(sign, low * fraction, top * fraction)
                if m > 1:
                    cancels = torch.rand(m, device=self.device, generator=generator) < 0.5
                    # The pair may lie up to eight elements back.
                    back = min(m - 1, 1 + int(torch.randint(0, 8, (1,), device=self.device).item()))
                    value = torch.where(cancels, -torch.roll(value, back), value)
            elif low >= 0:
                value = low + (top - low) * fraction
            else:
                value = top - (top - low) * fraction
            part.copy_(value.clamp(low, top).to(view.dtype))

    # ---- the reference

    def run_reference(self, shape, inputs, real, absolute=False):
        """Outputs by name, of the reference in double or float."""
        torch, p = self.torch, self.problem
        if real not in self.reference_modules:
            built = self.options["reference"].get(real)
            if not built or "cubin" not in built:
                raise CudaError("the reference does not compile")
            self.reference_modules[real] = Module(self.driver, built)
        module = self.reference_modules[real]
        wide = torch.float64 if real == "double" else torch.float32
        default = p.space.complete({})
        params, keep, outputs = [], [], {}
        for a in p.arguments:
            if a.get("tensor_map") or a.get("role") == "workspace":
                continue
            if not p.is_array(a):
                value = p.scalar(a, shape)
                if a["type"] in FLOATS:
                    if a["type"] in ("f16", "bf16", "f32"):  # the value that the kernel gets
                        value = torch.tensor(float(value), dtype=self.types[a["type"]]).double().item()
                    params.append((ctypes.c_double if real == "double" else ctypes.c_float)(value))
                else:
                    params.append(SCALARS[a["type"]](value))
                continue
            role = a.get("role") or "in"
            dtype = wide if a["type"] in FLOATS else self.types[a["type"]]
            if role == "in":
                source = inputs[a["name"]]
                if source.numel() < p.count(a, shape, default):
                    raise CudaError(f"{a['name']} is smaller than the reference expects")
                array = source.to(dtype) if dtype != source.dtype else source
                if absolute and a["type"] in FLOATS:
                    array = array.abs()
            else:
                array, _ = self.array(p.count(a, shape, default), dtype)
                if role == "inout":
                    array.copy_(inputs[a["name"]])
                    if absolute and a["type"] in FLOATS:
                        array.abs_()
                else:
                    self.poison(array)
                outputs[a["name"]] = array
            keep.append(array)
            params.append(ctypes.c_uint64(array.data_ptr()))
        grid, block, cluster, shared = p.geometry(p.reference["launch"], shape["variables"])
        function = module.function(p.reference["function"])
        call = self.prepare(function, params, grid, block, cluster, shared)
        call()
        self.sync(self.options["reference_timeout"])
        return outputs

    def draw(self, shape, kind, number):
        """Inputs and what the outputs must be; kept, since every configuration is checked against them."""
        key = (shape["name"], kind, number)
        if key in self.draws:
            return self.draws[key]
        torch, p = self.torch, self.problem
        inputs = {}
        for i, a in enumerate(p.arguments):
            if p.is_array(a) and (a.get("role") or "in") in ("in", "inout"):
                biggest = p.count(a, shape, p.space.complete({}))
                view = torch.empty(biggest, dtype=self.types[a["type"]], device=self.device)
                self.fill(a, view, kind, hash((self.options["seed"], number, i, kind == "edge")) & 0x7fffffff)
                inputs[a["name"]] = view
        expected, slack = None, {}
        if p.reference:
            expected = self.run_reference(shape, inputs, "double")
            if kind != "random":
                # What an honest kernel may be off by on inputs made to provoke rounding: the relative bound on
                # the result of the absolute values, and four times the reference's own error in float.
                magnitude = self.run_reference(shape, inputs, "double", absolute=True)
                single = self.run_reference(shape, inputs, "float")
                for a in p.arguments:
                    name = a["name"]
                    if name in expected and a["type"] in FLOATS:
                        e, m, k = expected[name], magnitude[name], single[name].double()
                        bound = p.tolerance(a)["relative"] * (m.abs() - e.abs()).clamp(min=0) + 4 * (k - e).abs()
                        slack[name] = torch.where(torch.isfinite(bound), bound, torch.full_like(bound, math.inf))
        for name, e in (expected or {}).items():
            if kind == "random" and e.dtype.is_floating_point and not bool(torch.isfinite(e).all().item()):
                bad = int((~torch.isfinite(e)).nonzero()[0].item())
                raise CudaError(f"the reference leaves {name}[{bad}] = {e[bad].item()} (of {e.numel()})")
        entry = {"inputs": inputs, "expected": expected, "slack": slack, "kind": kind}
        self.draws[key] = entry
        return entry

    # ---- calls

    def prepare(self, function, params, grid, block, cluster, shared):
        """A function that enqueues one launch."""
        config = LaunchConfig()
        config.grid[:], config.block[:], config.shared = grid, block, shared
        config.stream = self.torch.cuda.current_stream().cuda_stream or None
        lib, check = self.driver.lib, self.driver.check
        if shared > 0:  # also below 48 KiB: static shared memory counts too
            check(lib.cuFuncSetAttribute(function, 8, shared), f"{shared} bytes of dynamic shared memory")
        keep = []
        if cluster and math.prod(cluster) > 1:
            if math.prod(cluster) > 8:
                check(lib.cuFuncSetAttribute(function, 14, 1), "non-portable cluster")
            attribute = (LaunchAttribute * 1)()
            attribute[0].id = 4
            attribute[0].value[0:3] = cluster
            config.attributes, config.count = ctypes.cast(attribute, ctypes.POINTER(LaunchAttribute)), 1
            keep.append(attribute)
        pointers = (ctypes.c_void_p * max(len(params), 1))(*[ctypes.addressof(p) for p in params])
        keep += [params, pointers, config]
        launch, reference = lib.cuLaunchKernelEx, ctypes.byref(config)
        what = f"launch grid {grid} block {block}" + (f" cluster {cluster}" if cluster else "") + \
            (f" shared {shared}" if shared else "")

        def call(_keep=keep):
            status = launch(reference, function, pointers, None)
            if status:
                check(status, what)
        return call

    def tensor_map(self, spec, arrays, names, types):
        map_type = ctypes.c_ubyte * (128 + 128)
        storage = map_type()
        address = (ctypes.addressof(storage) + 127) // 128 * 128
        sizes = [whole(v, names, "tensor map size") for v in spec["sizes"]]
        strides = [whole(v, names, "tensor map stride") for v in spec.get("strides") or []]
        box = [whole(v, names, "tensor map box") for v in spec["box"]]
        rank = len(sizes)
        swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[whole(spec.get("swizzle") or 0, names, "swizzle")]
        given = spec.get("promotion")
        promotion = {0: 0, 64: 1, 128: 2, 256: 3}[whole(128 if given is None else given, names, "promotion")]
        array = arrays[spec["array"]]
        status = self.driver.lib.cuTensorMapEncodeTiled(
            ctypes.c_void_p(address), ctypes.c_int(MAP_TYPES[types[spec["array"]]]), ctypes.c_uint32(rank),
            ctypes.c_void_p(array.data_ptr()), (ctypes.c_uint64 * rank)(*sizes),
            (ctypes.c_uint64 * max(rank - 1, 1))(*(strides[:rank - 1] or [0])), (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank), ctypes.c_int(0), ctypes.c_int(swizzle),
            ctypes.c_int(promotion), ctypes.c_int(0))
        self.driver.check(status, f"tensor map of {spec['array']}: sizes {sizes} strides {strides} box {box} "
                                  f"swizzle {spec.get('swizzle', 0)}")
        param = (ctypes.c_ubyte * 128).from_address(address)
        param.storage = storage
        return param

    def buffers(self, shape, config, number):
        """The arrays of one set by name; inputs and outputs are shared by configurations, workspaces are not."""
        p = self.problem
        arrays, fresh = {}, {}
        for a in p.arguments:
            if not p.is_array(a):
                continue
            count = p.count(a, shape, config)
            key = (shape["name"], a["name"], count, number)
            if a.get("role") == "workspace":
                arrays[a["name"]], fresh[a["name"]] = self.array(count, self.types[a["type"]])
                continue
            if key not in self.sets:
                self.sets[key] = self.array(count, self.types[a["type"]])
            arrays[a["name"]], fresh[a["name"]] = self.sets[key]
        return arrays, fresh

    def call_of(self, module, shape, config, arrays):
        """(before, call): `before` copies constants, `call` enqueues every step."""
        p = self.problem
        names = {**shape["variables"], **config}
        types = {a["name"]: a.get("type") for a in p.arguments}
        symbols, values = [], {}
        for a in p.arguments:
            if a.get("symbol"):
                address, size = module.symbol(a["symbol"])
                array = arrays[a["name"]]
                bytes_ = array.numel() * array.element_size()
                if bytes_ > size:
                    raise CudaError(f"{a['symbol']} holds {size} bytes, {a['name']} has {bytes_}")
                symbols.append((address, array.data_ptr(), bytes_))
            elif a.get("tensor_map"):
                continue
            elif p.is_array(a):
                values[a["name"]] = ctypes.c_uint64(arrays[a["name"]].data_ptr())
            elif a["type"] in ("f16", "bf16"):
                bits = self.torch.tensor([float(p.scalar(a, shape))], dtype=self.types[a["type"]])
                values[a["name"]] = ctypes.c_uint16(bits.view(self.torch.int16).item() & 0xffff)
            else:
                values[a["name"]] = SCALARS[a["type"]](p.scalar(a, shape))
        default_order = [a["name"] for a in p.arguments if not a.get("symbol")]
        calls = []
        stream = self.torch.cuda.current_stream().cuda_stream or None
        lib, check = self.driver.lib, self.driver.check
        for step in p.active_steps(names):
            if step.get("zero"):
                array = arrays[step["zero"]]

                def zero(pointer=array.data_ptr(), size=array.numel() * array.element_size()):
                    check(lib.cuMemsetD8Async(pointer, 0, size, stream), "memset")
                calls.append(zero)
                continue
            function = module.function(substitute(step.get("function") or p.function, config))
            params = []
            for name in step.get("arguments") or default_order:
                a = p.by_name[name]
                if a.get("tensor_map"):
                    if name not in values:
                        values[name] = self.tensor_map(a["tensor_map"], arrays, names, types)
                params.append(values[name])
            calls.append(self.prepare(function, params, *p.geometry(step, names)))

        def before():
            for address, source, size in symbols:
                check(lib.cuMemcpyDtoDAsync_v2(address, source, size, stream), "constant symbol")
        if len(calls) == 1:
            return before, calls[0]

        def call():
            for c in calls:
                c()
        return before, call

    # ---- checking

    def check(self, module, shape, config, kinds):
        """Runs the configuration on several draws; (ok, worst error over tolerance, text)."""
        torch, p = self.torch, self.problem
        arrays, raws = self.buffers(shape, config, 0)
        before, call = self.call_of(module, shape, config, arrays)
        worst, worst_absolute = 0.0, 0.0
        for number, kind in enumerate(kinds):
            entry = self.draw(shape, kind, number)
            for a in p.arguments:
                if not p.is_array(a):
                    continue
                view = arrays[a["name"]]
                self.guard(view, raws[a["name"]])
                if (a.get("role") or "in") in ("in", "inout"):
                    source = entry["inputs"][a["name"]]
                    if source.numel() >= view.numel():
                        view.copy_(source[:view.numel()])
                    else:
                        self.fill(a, view, "random", number)
                        view[:source.numel()].copy_(source)
                else:
                    self.poison(view)
            before()
            call()
            self.sync(self.options["timeout"])
            if entry["expected"] is None:
                continue
            for a in p.arguments:
                if not p.is_array(a):
                    continue
                name, role = a["name"], a.get("role") or "in"
                if not self.guards_hold(arrays[name], raws[name]):
                    return False, math.inf, f"{kind}: wrote outside {name}"
                if role == "in":
                    n = min(arrays[name].numel(), entry["inputs"][name].numel())
                    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[
                        arrays[name].element_size()]
                    if not torch.equal(arrays[name][:n].view(bits), entry["inputs"][name][:n].view(bits)):
                        return False, math.inf, f"{kind}: changed its input {name}"
                elif role in ("out", "inout"):
                    ok, ratio, absolute, text = self.compare(a, arrays[name], entry["expected"][name],
                                                             entry["slack"].get(name))
                    worst, worst_absolute = max(worst, ratio), max(worst_absolute, absolute)
                    if not ok:
                        return False, worst, f"{kind}: {text}"
        return True, worst, f"max error {worst_absolute:.3g}"

    def compare(self, argument, got, expected, slack):
        """(ok, worst error / bound, worst absolute error, first difference)."""
        torch = self.torch
        name, n = argument["name"], min(got.numel(), expected.numel())
        ratio, absolute, wrong, first = 0.0, 0.0, 0, None
        bounds = self.problem.tolerance(argument)
        step = 1 << 26
        for at in range(0, n, step):
            g, e = got[at:at + step], expected[at:at + step]
            g = g[:e.numel()]
            if bounds is None:
                bad = g != e
                count = int(bad.sum().item())
            else:
                error = (g.double() - e).abs()
                bound = bounds["absolute"] + bounds["relative"] * e.abs()
                if slack is not None:
                    bound = bound + slack[at:at + step]
                same = (g.double() == e) | (torch.isnan(g) & torch.isnan(e) if slack is not None else False)
                error = torch.where(same, torch.zeros_like(error), error)
                bad = ~(error <= bound)
                count = int(bad.sum().item())
                relative = torch.where(bound > 0, error / bound, error)
                top = torch.nan_to_num(relative, nan=math.inf).max().item() if relative.numel() else 0.0
                ratio = max(ratio, top)
                finite = torch.nan_to_num(error, nan=math.inf).max().item() if error.numel() else 0.0
                absolute = max(absolute, finite)
            if count and first is None:
                i = int(bad.nonzero()[0].item())
                first = (at + i, g[i].item(), e[i].item())
                last = at + int(bad.nonzero()[-1].item())
            elif count:
                last = at + int(bad.nonzero()[-1].item())
            wrong += count
        if wrong:
            return False, ratio, absolute, (f"{wrong} of {n} of {name} wrong, first [{first[0]}] is {first[1]:.9g}, "
                                            f"should be {first[2]:.9g}; last [{last}]")
        return True, ratio, absolute, ""

    # ---- timing

    def set_count(self, shape, config):
        p = self.problem
        size = sum(p.count(a, shape, config) * SIZES[a["type"]] for a in p.arguments if p.is_array(a)) or 1
        return int(min(max(2, (256 << 20) // size + 1), 6, max(2, (24 << 30) // size)))

    def refresh(self, sets, which, poison=True):
        """New random inputs and poisoned outputs for a set, enqueued."""
        p = self.problem
        arrays = sets[which]["arrays"]
        for a in p.arguments:
            if not p.is_array(a):
                continue
            role = a.get("role") or "in"
            if role in ("in", "inout"):
                self.fill(a, arrays[a["name"]], "random")
            elif role == "out" and poison:
                self.poison(arrays[a["name"]])

    def flush(self):
        if self.options["flush"] == "read":
            self.flush_buffer.view(self.torch.int32).max()
        else:
            self.flush_buffer.zero_()

    def spin(self, seconds):
        self.torch.cuda._sleep(int(seconds * 1.7e9))

    def make_sets(self, module, shape, config):
        sets = []
        for i in range(self.set_count(shape, config)):
            arrays, raws = self.buffers(shape, config, i)
            before, call = self.call_of(module, shape, config, arrays)
            sets.append({"arrays": arrays, "raws": raws, "before": before, "call": call, "keep": []})
        return sets

    def rival(self, module, shape, config, sets):
        """Another configuration on the same inputs and outputs: a function of a set."""
        calls = {}
        for i, s in enumerate(sets):
            arrays = {**self.buffers(shape, config, i)[0]}
            before, calls[id(s)] = self.call_of(module, shape, config, arrays)
            s["keep"].append(arrays)
            first = s["before"]
            s["before"] = lambda first=first, before=before: (first(), before())
        return lambda s: calls[id(s)]()

    def time_calls(self, contenders, sets, cold, repeats, budget, fresh=True, limit=None, mine=1):
        """Milliseconds of each contender, call by call in turns. A contender is a function of a set.

        `limit`: with one contender, stops after three calls whose best is above it. The first `mine` contenders are
        ours, the others libraries.
        """
        torch = self.torch
        seconds = [[] for _ in contenders]
        for s in range(len(sets)):
            self.refresh(sets, s)
        # Warm-up: everything is loaded and the clocks are up.
        self.sync(self.options["timeout"])
        began = time.perf_counter()
        single = 0.0
        for turn in range(2 if limit is not None else 4):
            for c in contenders:
                s = sets[turn % len(sets)]
                s["before"]()
                c(s)
            self.sync(self.options["timeout"])
            if turn == 0:
                began = time.perf_counter()
            single = (time.perf_counter() - began) / max(turn, 1)
        extra = 0.0 if limit is not None else min(self.options["warm_up"], budget)
        while time.perf_counter() - began < extra:
            for turn in range(8):
                for c in contenders:
                    s = sets[turn % len(sets)]
                    s["before"]()
                    c(s)
                if single > 0.05:
                    break
            self.sync(self.options["timeout"])
        batch = max(1, min(24 // len(contenders), int(0.5 / max(single, 1e-6)) or 1))
        turn, began = 0, time.perf_counter()
        while len(seconds[0]) < repeats:
            count = min(batch, repeats - len(seconds[0]))
            if limit is not None and not seconds[0]:
                count = min(count, 3)
            events = []
            self.spin(0.002)
            for _ in range(count):
                for which, c in enumerate(contenders):
                    at = turn % len(sets)
                    s = sets[at]
                    if cold:
                        if fresh:
                            # Libraries may write elsewhere: ours must leave no NaN.
                            self.refresh(sets, at, poison=which < mine)
                        s["before"]()
                        self.flush()
                    else:
                        s["before"]()
                    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    a.record()
                    c(s)
                    b.record()
                    events.append((which, a, b))
                turn += 1
            self.sync(self.options["timeout"] + count * len(contenders) * max(single, 0.01) * 4)
            for which, a, b in events:
                seconds[which].append(a.elapsed_time(b))
            if limit is not None and min(seconds[0]) > limit:
                break
            if time.perf_counter() - began > budget and len(seconds[0]) >= 5:
                break
        return seconds

    def unwritten(self, sets):
        """The name of an output with NaN left in it after timing, or None."""
        for s in sets:
            for a in self.problem.arguments:
                if self.problem.is_array(a) and (a.get("role") or "in") == "out" and a["type"] in FLOATS:
                    if bool(self.torch.isnan(s["arrays"][a["name"]]).any().item()):
                        return a["name"]
        return None

    # ---- jobs

    def job(self, request):
        """One configuration on one shape, as asked for: checks, times, compares."""
        p = self.problem
        shape, config = p.shape(request["shape"]), request["config"]
        names = {**shape["variables"], **config}
        result = {"verdict": "ok"}
        module = Module(self.driver, request["built"])
        hung, others = False, []
        try:
            resources = []
            for step in p.active_steps(names):
                if step.get("zero"):
                    continue
                expression = substitute(step.get("function") or p.function, config)
                f = module.function(expression)
                resources.append({"function": expression, "registers": module.attribute(f, 4),
                                  "local": module.attribute(f, 3), "static_shared": module.attribute(f, 1),
                                  "dynamic_shared": p.geometry(step, names)[3]})
            result["resources"] = resources
            if request["kinds"] and self.options["reference"]:
                ok, ratio, text = self.check(module, shape, config, request["kinds"])
                result["error_ratio"], result["check"] = ratio, text
                if not ok:
                    result["verdict"] = "wrong"
                    return result
            elif request["kinds"]:
                result["check"] = "unchecked: no reference"
            if request["modes"]:
                sets = self.make_sets(module, shape, config)
                rivals = []
                for rival in request.get("rivals") or []:
                    others.append(Module(self.driver, rival["built"]))
                    rivals.append(self.rival(others[-1], shape, rival["config"], sets))
                ours = lambda s: s["call"]()  # noqa: E731
                for mode in request["modes"]:
                    contenders, labels = [ours] + rivals, ["ours"] + [""] * len(rivals)
                    if request.get("library"):
                        for label, function in self.libraries(shape):
                            contenders.append(function)
                            labels.append(label)
                    times = self.time_calls(contenders, sets, mode == "cold", request["repeats"],
                                            request["budget"], request.get("fresh", True), request.get("limit"),
                                            1 + len(rivals))
                    if mode == "cold" and request.get("fresh", True):
                        name = self.unwritten(sets)
                        if name:
                            result.update(verdict="wrong", check=f"{name} has NaN after timed calls")
                            return result
                    result[mode] = {"ms": statistics.median(times[0]), "min": min(times[0]),
                                    "samples": len(times[0]), "all": times[0][:200]}
                    if rivals:
                        result[mode]["rivals"] = [{"ms": statistics.median(t), "min": min(t), "samples": len(t)}
                                                  for t in times[1:1 + len(rivals)]]
                    for label, t in list(zip(labels, times))[1 + len(rivals):]:
                        entry = {"ms": statistics.median(t), "min": min(t), "samples": len(t)}
                        entry["speedup"], entry["interval"] = ratio_interval(times[0], t)
                        result[mode].setdefault("library", {})[label] = entry
                if request.get("library"):
                    result["library_check"] = self.check_libraries(shape)
        except TimedOut:
            hung = True  # unloading would wait for the kernel
            raise
        finally:
            if not hung:
                for m in [module] + others:
                    m.unload()
        return result

    def libraries(self, shape):
        if shape["name"] in self.library_calls:
            return self.library_calls[shape["name"]]
        found = self.library_calls[shape["name"]] = []
        for label, builder in library_of(self.problem):
            try:
                function = builder(self.torch, shape["variables"], self.problem)
                arrays = self.buffers(shape, self.problem.space.complete({}), 0)[0]
                self.refresh([{"arrays": arrays}], 0)
                function(arrays)
                self.sync(60)
                found.append((label, lambda s, f=function: f(s["arrays"])))
            except CudaError:
                raise
            except Exception as error:
                print(f"  library {label} left out: {type(error).__name__}: {str(error)[:300]}", flush=True)
        return found

    def check_libraries(self, shape):
        """The library's own error against the reference: shows that it computes the same."""
        p, texts = self.problem, {}
        outputs = [a for a in p.arguments if p.is_array(a) and (a.get("role") or "in") in ("out", "inout")]
        if not p.reference or len(outputs) != 1:
            return texts
        entry = self.draw(shape, "random", 0)
        arrays, _ = self.buffers(shape, p.space.complete({}), 0)
        for label, function in self.libraries(shape):
            if label.startswith("copy"):
                continue
            for a in p.arguments:
                if p.is_array(a) and a["name"] in entry["inputs"]:
                    arrays[a["name"]].copy_(entry["inputs"][a["name"]][:arrays[a["name"]].numel()])
            value = function({"arrays": arrays})
            self.sync(60)
            if value is None:
                continue
            value = value.reshape(-1)
            e = entry["expected"][outputs[0]["name"]]
            if value.numel() != e.numel():
                texts[label] = f"gives {value.numel()} elements, not {e.numel()}"
                continue
            ok, ratio, absolute, text = self.compare(outputs[0], value, e, None)
            texts[label] = f"max error {absolute:.3g}" if ok else "DIFFERS: " + text
        return texts


def ratio_interval(ours, theirs, rounds=2000):
    """theirs / ours of medians, with a 95 % bootstrap interval over rounds."""
    ratio = statistics.median(theirs) / statistics.median(ours)
    n = min(len(ours), len(theirs))
    if n < 4:
        return ratio, [ratio, ratio]
    rng = random.Random(1)
    values = []
    for _ in range(min(rounds, max(200, 200000 // n))):
        picks = [rng.randrange(n) for _ in range(n)]
        values.append(statistics.median([theirs[i] for i in picks]) / statistics.median([ours[i] for i in picks]))
    values.sort()
    return ratio, [values[int(0.025 * len(values))], values[int(0.975 * len(values))]]


def die_with_parent():
    """No process is left behind when this program is killed."""
    try:
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
    except (OSError, AttributeError):
        pass


def device_arch():
    """Like sm_90a, asked of the driver without a context; None without a GPU."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0):
        return None
    if cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device) or \
            cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device):
        return None
    return f"sm_{major.value}{minor.value}" + ("a" if major.value >= 9 else "")


def worker_main(connection):
    """The worker's loop: messages open a problem folder or are jobs. The first starts the GPU; failures end it."""
    die_with_parent()
    try:
        import torch  # noqa: F401 (a spare worker has this behind it)
        first = connection.recv()
        lab = Lab(first["open"], first["options"])
        connection.send({"about": lab.about()})
    except EOFError:
        return
    except Exception as error:
        connection.send({"fatal": f"{type(error).__name__}: {error}"})
        return
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        if request is None:
            return
        if "reference" in request:
            lab.options["reference"] = request["reference"]
            continue
        if "open" in request:
            try:
                empty = lab.torch.cuda.empty_cache
                del lab
                gc.collect()
                empty()
                lab = Lab(request["open"], request["options"])
                connection.send({"about": lab.about()})
            except Exception as error:
                connection.send({"fatal": f"{type(error).__name__}: {error}"})
                return
            continue
        try:
            result = lab.job(request)
        except TimedOut as error:
            connection.send({"verdict": "timed_out", "check": str(error), "broken": True})
            os._exit(1)
        except CudaError as error:
            broken = False
            try:
                lab.torch.cuda.synchronize()
            except Exception:
                broken = True
            connection.send({"verdict": "launch_failed", "check": str(error), "broken": broken})
            if broken:
                os._exit(1)
            continue
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {str(error)[:400]} (lab.py:{where.lineno})"
            broken = True
            if isinstance(error, (ValueError, KeyError)):
                broken = False
            connection.send({"verdict": "harness_error", "check": text, "broken": broken})
            if broken:
                os._exit(1)
            continue
        connection.send(result)


class Worker:
    """The process that uses the GPU; replaced by a spare when a kernel breaks it."""

    def __init__(self):
        self.folder = self.options = None
        self.context = multiprocessing.get_context("spawn")
        self.spare = self.fresh()
        self.process = self.connection = None
        self.about = None

    def fresh(self):
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=worker_main, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def open(self, folder, options):
        """Sets the problem folder; does not wait."""
        self.folder, self.options = folder, options
        self.begin()

    def begin(self):
        if self.process is None:
            self.process, self.connection = self.spare or self.fresh()
            self.spare = None
        self.answered = False
        try:
            self.connection.send({"open": self.folder, "options": self.options})
        except OSError:  # it ended since its last answer
            self.discard()
            self.begin()

    def ready(self):
        if self.answered:
            return
        self.answered = True
        try:
            answer = self.connection.recv() if self.connection.poll(180) else {"fatal": "does not start"}
        except (EOFError, OSError):
            answer = {"fatal": "ended while starting"}
        if "fatal" in answer:
            self.discard()
            raise RuntimeError("the GPU worker: " + answer["fatal"])
        self.about = answer["about"]
        if self.spare is None:
            self.spare = self.fresh()  # only now, so that the two do not load torch at the same time

    def stop(self):
        for process, connection in filter(None, (self.spare, (self.process, self.connection)
                                                 if self.process else None)):
            try:
                connection.close()
            except OSError:
                pass
            process.kill()

    def discard(self):
        try:
            self.connection.close()
        except OSError:
            pass
        self.process.kill()
        self.process.join(20)
        self.process = None

    def do(self, request, seconds):
        """The result of a job; a death or a hang is a result too."""
        if self.process is None:
            self.begin()
        self.ready()
        try:
            self.connection.send(request)
            if not self.connection.poll(seconds):
                self.discard()
                return {"verdict": "timed_out", "check": f"the worker did not answer within {seconds:g} s"}
            result = self.connection.recv()
        except (EOFError, OSError):
            code = self.process.exitcode
            self.discard()
            return {"verdict": "crashed", "check": f"the worker ended ({code})"}
        if result.pop("broken", False):
            self.discard()
        return result


# -------------------------------------------------------------------------------------------------- reporting

def rates(problem, shape, ms):
    text = ""
    operations, size = problem.rate("operations", shape), problem.rate("bytes", shape)
    if operations:
        text += f" {operations / ms / 1e9:8.2f} TFLOP/s"
    if size:
        text += f" {size / ms / 1e6:7.0f} GB/s"
    return text


def describe(problem, shape, result):
    if "resources" in result:
        used = " ".join(f"r{r['registers']}" + (f" LOCAL {r['local']}" if r["local"] else "") +
                        f" s{(r['static_shared'] + r['dynamic_shared']) / 1024:.0f}K" for r in result["resources"])
    else:
        used = ""
    text = f"{result['verdict']:<9} {used}"
    for mode in ("cold", "warm"):
        if mode in result:
            text += f" | {mode} {result[mode]['ms']:.4f} ms{rates(problem, shape, result[mode]['ms'])}"
    if result.get("check"):
        text += f" | {result['check']}"
    return text


def print_library(problem, shape, result):
    for mode in ("cold", "warm"):
        for label, entry in (result.get(mode, {}).get("library") or {}).items():
            low, high = entry["interval"]
            rate = entry.get("rate") or rates(problem, shape, entry["ms"])
            if label.startswith("copy"):
                size = problem.rate("bytes", shape)
                moved = 2.0 * COPY_BYTES / entry["ms"] / 1e6
                share = f"; ours moves {100 * size / result[mode]['ms'] / 1e6 / moved:.1f} % of that" if size else ""
                print(f"    {mode} {label:<22} {entry['ms']:.4f} ms {moved:7.0f} GB/s{share}")
                continue
            print(f"    {mode} {label:<22} {entry['ms']:.4f} ms{rate}; ours is {entry['speedup']:.4f} times as fast "
                  f"[{low:.4f}, {high:.4f}]" + (f"; {result['library_check'][label]}"
                                                if label in result.get("library_check", {}) else ""))


def short(config, default):
    """A configuration by what differs from the default."""
    different = {k: v for k, v in config.items() if v != default[k]}
    return json.dumps(different) if different else "default"


# ---------------------------------------------------------------------------------------------------- commands

class Session:
    """Compilers, worker and options of one command; one problem folder is open at a time."""

    def __init__(self, arguments):
        self.began = time.perf_counter()
        self.arguments = arguments
        self.cores = arguments.jobs or len(os.sched_getaffinity(0))
        self.pool = None
        self.new_pool()
        self.worker = None if arguments.compile_only else Worker()
        self.arch = arguments.arch
        self.written, self.greeted = [], False

    def open(self, folder):
        self.problem = Problem(folder)
        self.default = self.problem.space.complete({})
        if self.worker:
            arguments = self.arguments
            self.worker.open(folder, {
                "timeout": arguments.timeout, "reference_timeout": arguments.reference_timeout, "reference": {},
                "seed": arguments.seed, "flush": arguments.flush, "warm_up": arguments.warm_up})
            if not self.arch:
                self.arch = self.pool.submit(device_arch).result(60)
        self.arch = self.arch or "sm_90a"

    def new_pool(self):
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool = concurrent.futures.ProcessPoolExecutor(self.cores, multiprocessing.get_context("fork"),
                                                           die_with_parent)

    def reference(self):
        if not self.problem.reference:
            print("no reference: nothing is checked")
            return
        futures = {real: self.pool.submit(compile_cubin, *reference_job(self.problem, real, self.arch))
                   for real in ("double", "float")}
        built = {real: f.result(300) for real, f in futures.items()}
        for real, b in built.items():
            if "error" in b:
                print(f"reference.cu with real = {real}: {b['error']}\n{b['log']}")
                if real == "double":
                    raise RuntimeError("the reference does not compile")
        if self.worker:
            self.worker.options["reference"] = built
            self.worker.connection.send({"reference": built})

    def greet(self):
        if not self.worker:
            return
        self.worker.ready()
        about = self.worker.about
        if len(self.arguments.folder) > 1:
            print(f"== {self.problem.name}")
            if self.greeted:
                return
        self.greeted = True
        print(f"{about['name']}, {about['multiprocessors']} multiprocessors, torch {about['torch']} "
              f"CUDA {about['cuda']}, {self.arch}, {self.cores} cores, up after "
              f"{time.perf_counter() - self.began:.1f} s", flush=True)

    def submit(self, config):
        try:
            return self.pool.submit(compile_cubin, *kernel_job(self.problem, config, self.arch))
        except (concurrent.futures.BrokenExecutor, RuntimeError):
            self.new_pool()
            return self.pool.submit(compile_cubin, *kernel_job(self.problem, config, self.arch))

    def finish(self, future, seconds=240):
        try:
            return future.result(seconds)
        except concurrent.futures.TimeoutError:
            return {"error": "the compiler takes too long", "log": ""}
        except concurrent.futures.BrokenExecutor:
            return {"error": "the compiler crashed", "log": ""}
        except concurrent.futures.CancelledError:
            return {"error": "cancelled", "log": ""}

    def run(self, config, built, shape, kinds, modes, **more):
        """One job on the worker, with build failures as results."""
        if "error" in built:
            return {"verdict": "build", "check": built["error"] + ": " + first_errors(built["log"])}
        if not self.problem.valid(shape, config):
            return {"verdict": "rejected"}
        request = {"config": config, "built": {"cubin": built["cubin"], "lowered": built["lowered"]},
                   "shape": shape["name"], "kinds": kinds, "modes": modes, "repeats": self.arguments.repeats,
                   "budget": self.arguments.budget}
        request.update(more)
        allowed = 60 + self.arguments.reference_timeout * max(1, 3 * len(kinds)) + 4 * self.arguments.timeout + \
            10 * self.arguments.budget
        return self.worker.do(request, min(allowed, 240))

    def close(self):
        if self.worker:
            self.worker.stop()
        self.pool.shutdown(wait=False, cancel_futures=True)


def first_errors(log, count=3):
    lines = [line.strip() for line in log.splitlines() if "error" in line.lower()]
    return " / ".join(lines[:count]) or " / ".join(log.strip().splitlines()[:count])


def read_best(problem):
    path = problem.best_file
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as file:
        content = json.loads(strip_comments(file.read()))
    content = content.get("shapes", content) if isinstance(content, dict) else {}
    best = {}
    for name, entry in content.items():
        if isinstance(entry, dict):
            inner = entry.get("config", entry)
            if isinstance(inner, dict):
                best[name] = {k: v for k, v in inner.items() if k in problem.space.by_name}
    return best


def chosen_shapes(problem, names):
    if not names or "all" in names:
        return problem.shapes
    if "timed" in names:
        return [s for s in problem.shapes if s["weight"] > 0]
    return [problem.shape(n) for name in names for n in name.split(";")]


def chosen_configs(session, shapes):
    """[(label, config or {shape name: config})], as asked for."""
    problem, arguments = session.problem, session.arguments
    space, configs = problem.space, []
    for text in arguments.config or ([] if arguments.random or arguments.replay else ["default"]):
        if text == "default":
            configs.append(("default", session.default))
        elif text == "best":
            best = read_best(problem)
            if not best:
                print("no best_h200.json here: best is left out")
            else:
                configs.append(("best", {n: space.settle(space.complete(c)) for n, c in best.items()}))
        else:
            if text.startswith("@"):
                with open(text[1:], encoding="utf-8") as file:
                    given = json.load(file)
            else:
                given = json.loads(strip_comments(text))
            for part in given if isinstance(given, list) else [given]:
                config = space.settle(space.complete(part))
                configs.append((short(config, session.default), config))
    for path in arguments.replay or []:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
        for part in given["configs"] if isinstance(given, dict) else given:
            config = space.complete(part)
            configs.append((short(config, session.default), config))
    if arguments.random:
        rng, seen = random.Random(arguments.seed), set()
        timed = [s for s in shapes if s["weight"] > 0] or shapes
        tries = 0
        while len(seen) < arguments.random and tries < 400 * arguments.random + 2000:
            tries += 1
            config = space.draw(rng)
            key = key_of(config)
            if key in seen or not any(problem.valid(s, config) for s in timed):
                continue
            seen.add(key)
            configs.append((short(config, session.default), config))
        if len(seen) < arguments.random:
            print(f"only {len(seen)} different valid configurations found in {tries} draws")
    return configs


def modes_of(arguments):
    return {"cold": ["cold"], "warm": ["warm"], "both": ["cold", "warm"], "none": []}[arguments.mode]


def duel(session, shape, entries, mode, **more):
    """Right configurations [(config, built), ...] timed in turns: [(ms, config, built), ...], fastest first."""
    arguments = session.arguments
    rivals = [{"config": c, "built": {"cubin": b["cubin"], "lowered": b["lowered"]}} for c, b in entries[1:]]
    result = session.run(entries[0][0], entries[0][1], shape, [], [mode], rivals=rivals,
                         budget=min(arguments.budget * (1 + len(rivals)), 40.0), **more)
    if result["verdict"] != "ok":
        print(f"  duel on {shape['name']}: {describe(session.problem, shape, result)}")
        return [], result
    times = [result[mode]["ms"]] + [r["ms"] for r in result[mode]["rivals"]]
    return sorted(((t, c, b) for t, (c, b) in zip(times, entries)), key=lambda e: e[0]), result


def command_measure(session):
    problem, arguments = session.problem, session.arguments
    shapes = chosen_shapes(problem, arguments.shape)
    configs = chosen_configs(session, shapes)
    jobs = []  # (label, config, shapes)
    for label, config in configs:
        if label == "best":
            for shape in shapes:
                if shape["name"] in config:
                    jobs.append((f"best", config[shape["name"]], [shape]))
        else:
            jobs.append((label, config, shapes))
    for label, config, _ in jobs:
        broken = problem.space.broken(config)
        if broken:
            print(f"note: {label} breaks {broken}")
    session.reference()
    futures = {}
    for _, config, _ in jobs:
        futures.setdefault(key_of(config), None)
    order = list(dict.fromkeys(key_of(c) for _, c, _ in jobs))
    for key in order:
        futures[key] = session.submit(json.loads(key))
    session.greet()
    counts, results, summary, duels = {}, [], [], {}
    many = len(jobs) > 12
    for label, config, its_shapes in jobs:
        built = session.finish(futures[key_of(config)])
        log = built.get("log", "")
        if "error" in built and (arguments.log or counts.get("build", 0) < 2):
            print(f"BUILD of {label}: {built['error']}\n" + log[:4000 if arguments.log else 1500])
        elif arguments.log:
            print(log)
        else:
            warnings = [line for line in log.splitlines() if "warning" in line.lower()]
            if warnings and label in ("default", "best"):
                print("  " + "\n  ".join(warnings[:6]))
        if not many or "error" in built:
            print(f"{label}" + (f"  ({built['seconds']:.2f} s to compile)" if "seconds" in built else ""))
        for shape in its_shapes:
            kinds = arguments.draws.split(",") if arguments.draws else []
            size = sum(problem.count(a, shape, config) for a in problem.arguments if problem.is_array(a))
            if shape["weight"] > 0 and (many or size > 1 << 27) and not arguments.all_draws:
                kinds = kinds[:1]  # the references of big shapes take long and much memory
            modes = modes_of(arguments) if shape["weight"] > 0 or arguments.time_all else []
            if arguments.duel:
                modes = []
            began = time.perf_counter()
            result = session.run(config, built, shape, kinds, modes, library=arguments.library and bool(modes))
            result["wall_s"] = time.perf_counter() - began
            counts[result["verdict"]] = counts.get(result["verdict"], 0) + 1
            results.append({"label": label, "config": config, "shape": shape["name"],
                            "compile_s": built.get("seconds"), **result})
            if not many or result["verdict"] not in ("ok", "rejected", "build"):
                prefix = f"  {shape['name']:<12} " if not many else f"{label} | {shape['name']}: "
                print(prefix + describe(problem, shape, result), flush=True)
            if arguments.duel and result["verdict"] == "ok" and shape["weight"] > 0:
                duels.setdefault(shape["name"], []).append((config, built))
            if modes and result.get(modes[0]):
                summary.append((shape["name"], result[modes[0]]["ms"], label, result))
            if arguments.library:
                print_library(problem, shape, result)
            if result["verdict"] == "build":
                break
    for name, entries in duels.items():
        shape = problem.shape(name)
        for mode in modes_of(arguments):
            if len(entries) < 2:
                continue
            ranked, _ = duel(session, shape, entries, mode)
            print(f"{name}, {mode}, {len(entries)} configurations in turns:")
            for ms, config, _ in ranked:
                print(f"  {ms:.4f} ms{rates(problem, shape, ms)} | {short(config, session.default)}")
                results.append({"shape": name, "config": config, "duel": mode, "ms": ms})
    if many and not arguments.duel:
        for shape in shapes:
            ranked = sorted((s for s in summary if s[0] == shape["name"] and s[3]["verdict"] == "ok"),
                            key=lambda s: s[1])
            if ranked:
                print(f"{shape['name']}: {len(ranked)} right and timed; best:")
            for _, _, label, result in ranked[:arguments.top]:
                print(f"  {describe(problem, shape, result)} | {label}")
    print("verdicts: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())), flush=True)
    write_out(session, results)
    return 0 if set(counts) <= {"ok", "rejected"} else 1


def write_out(session, results, **more):
    if not session.arguments.out:
        return
    content = {"problem": session.problem.name, "device": session.worker.about if session.worker else None,
               "arch": session.arch, "date": time.strftime("%Y-%m-%d"), "results": results, **more}
    session.written.append(content)
    if len(session.arguments.folder) > 1:
        content = {"problems": session.written}
    with open(session.arguments.out, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, default=str)


def command_compile(session):
    shapes = chosen_shapes(session.problem, session.arguments.shape)
    session.reference()
    failed = 0
    for label, config in chosen_configs(session, shapes):
        for c in config.values() if label == "best" else [config]:
            built = session.finish(session.submit(c))
            for shape in shapes:
                if session.problem.valid(shape, c):
                    names = {**shape["variables"], **c}
                    for step in session.problem.active_steps(names):
                        if not step.get("zero"):
                            session.problem.geometry(step, names)
            if "error" in built:
                failed += 1
                print(f"BUILD of {label}: {built['error']}\n{built['log'][:3000]}")
            else:
                print(f"{label}: {built['seconds']:.2f} s; {json.dumps(built['resources'])}")
                if session.arguments.log:
                    print(built["log"])
    print(f"space: {session.problem.space.size()} points before constraints; {failed} failed")
    return 1 if failed else 0


def command_tune(session):
    """Random search, then hill climbing around the best; compiled on all cores, measured one at a time."""
    problem, arguments, space = session.problem, session.arguments, session.problem.space
    shapes = chosen_shapes(problem, arguments.shape)
    shape = next((s for s in shapes if s["weight"] > 0), shapes[0])
    mode = "warm" if arguments.mode == "warm" else "cold"
    rng = random.Random(arguments.seed)
    session.reference()
    session.greet()
    began = time.perf_counter()
    end = began + arguments.tune
    seen, known, counts, failures = set(), [], {}, []
    queue = []  # configurations to try before others
    best_file = read_best(problem)
    starts = [session.default] + [space.settle(space.complete(c)) for c in best_file.values()]
    for text in arguments.config or []:
        if text not in ("default", "best"):
            given = json.loads(strip_comments(text))
            starts += [space.settle(space.complete(c)) for c in (given if isinstance(given, list) else [given])]
    queue += starts

    def propose():
        while queue:
            config = queue.pop(0)
            if key_of(config) not in seen:
                return config
        for _ in range(2000):
            climbing = known and (time.perf_counter() - began > arguments.explore * arguments.tune or
                                  rng.random() < 0.25)
            if climbing:
                parent = known[min(int(rng.expovariate(0.5)), len(known) - 1)][1]
                config = space.neighbour(parent, rng)
            else:
                config = space.draw(rng)
            if key_of(config) in seen or space.broken(config) or not problem.valid(shape, config):
                continue
            return config
        return None

    pending = {}
    while time.perf_counter() < end:
        while len(pending) < 2 * session.cores:
            config = propose()
            if config is None:
                break
            seen.add(key_of(config))
            pending[session.submit(config)] = config
        if not pending:
            break
        done, _ = concurrent.futures.wait(pending, timeout=1.0,
                                          return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            config = pending.pop(future)
            if time.perf_counter() >= end:
                continue
            built = session.finish(future)
            limit = known[0][0] * 1.5 if known else 1e9
            result = session.run(config, built, shape, ["random"], [mode], repeats=arguments.tune_repeats,
                                 budget=0.5, fresh=False, limit=limit)
            counts[result["verdict"]] = counts.get(result["verdict"], 0) + 1
            if result["verdict"] == "ok":
                # The least of few calls ranks better than their median while searching.
                known.append((result[mode]["min"], config, built, result))
                known.sort(key=lambda k: k[0])
                if known[0][1] is config:
                    print(f"{time.perf_counter() - began:6.1f} s {describe(problem, shape, result)} | "
                          f"{short(config, session.default)}", flush=True)
                for entry in known[200:]:
                    known.remove(entry)
            elif result["verdict"] != "rejected":
                failures.append({"config": config, "verdict": result["verdict"], "check": result.get("check")})
                if len(failures) <= 8:
                    print(f"  {describe(problem, shape, result)[:300]} | {short(config, session.default)}", flush=True)
    for future in pending:
        future.cancel()
    print(f"tried {sum(counts.values())}: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    finals = []
    for _, config, built, _ in known[:arguments.top]:
        result = session.run(config, built, shape, arguments.draws.split(",")[:2], [])
        if result["verdict"] == "ok":
            finals.append((config, built))
        else:
            print(f"  finalist fails: {describe(problem, shape, result)}")
    if len(finals) > 1:  # in turns, since clocks drift
        finals, _ = duel(session, shape, finals, mode)
    else:
        finals = [(known[0][0], c, b) for c, b in finals]
    for ms, config, _ in finals:
        print(f"{mode} {ms:.4f} ms{rates(problem, shape, ms)} | {json.dumps(config)}")
    results = [{"shape": shape["name"], "config": c, "ms": ms} for ms, c, _ in finals]
    if finals:
        _, config, built = finals[0]
        for other in problem.shapes:  # the winner on every shape, and beside the library
            if not problem.valid(other, config):
                continue
            timed = [mode] if other is shape else []
            result = session.run(config, built, other, arguments.draws.split(",")[:1 if other["weight"] else 4],
                                 timed, library=arguments.library and bool(timed))
            print(f"  winner on {other['name']:<10} {describe(problem, other, result)}")
            print_library(problem, other, result)
            results.append({"shape": other["name"], "config": config, "winner": True, **result})
        print("best_h200.json entry: " + json.dumps({shape["name"]: config}))
    write_out(session, results, failures=failures[:50], counts=counts)
    return 0


# ------------------------------------------------------------------------------------------- vendor libraries

COPY_BYTES = 1 << 30


def copy_builder(torch, v, problem):
    source = torch.empty(COPY_BYTES // 4, dtype=torch.float32, device="cuda").uniform_(-1, 1)
    target = torch.empty_like(source)

    def copy(arrays):
        target.copy_(source)
    return copy


def inputs_of(problem):
    return [a["name"] for a in problem.arguments if problem.is_array(a) and (a.get("role") or "in") == "in"]


def outputs_of(problem):
    return [a["name"] for a in problem.arguments if problem.is_array(a) and a.get("role") in ("out", "inout")]


def pick(v, *names):
    for name in names:
        if name in v:
            return v[name]
    raise KeyError(f"none of {names} is a shape variable")


def matmul_builder(torch, v, problem):
    a, b = inputs_of(problem)[:2]
    c = outputs_of(problem)[0]
    n, k, m = pick(v, "n"), pick(v, "k", "n"), pick(v, "m", "n")

    def matmul(x):
        return torch.mm(x[a].view(n, k), x[b].view(k, m), out=x[c].view(n, m))
    return matmul


def rows_columns(v):
    return pick(v, "rows", "n", "m", "r"), pick(v, "columns", "cols", "m", "k", "n", "c")


def row_builder(which):
    def builder(torch, v, problem):
        ins = inputs_of(problem)
        rows, columns = rows_columns(v)
        eps = next((problem.scalar(a, {"variables": v, "name": ""}) for a in problem.arguments
                    if not problem.is_array(a) and a["name"] in ("eps", "epsilon")), 1e-5)
        f = torch.nn.functional

        def call(x):
            data = x[ins[0]].view(rows, columns)
            if which == "softmax":
                return torch.softmax(data, 1)
            if which == "layer_norm":
                return f.layer_norm(data, (columns,), x[ins[1]] if len(ins) > 1 else None,
                                    x[ins[2]] if len(ins) > 2 else None, eps)
            if which == "rms_norm":
                return f.rms_norm(data, (columns,), x[ins[1]] if len(ins) > 1 else None, eps)
            if which == "row_sums":
                return data.sum(-1)
            return data.t().contiguous()
        return call
    return builder


def histogram_builder(which):
    def builder(torch, v, problem):
        name = inputs_of(problem)[0]
        bins = v.get("bins", 256)

        def call(x):
            if which == "bincount":
                return torch.bincount(x[name], minlength=bins)
            return torch.histc(x[name], bins, 0, bins - 1)
        return call
    return builder


def conv_builder(torch, v, problem):
    ins = inputs_of(problem)
    batch, channels, height = pick(v, "images", "batch", "n"), pick(v, "channels", "c"), pick(v, "height", "h")
    width, filters = pick(v, "width", "w", "height", "h"), pick(v, "filters", "out_channels", "k")
    radius = v.get("pad", v.get("padding", 1))

    def call(x):
        return torch.nn.functional.conv2d(x[ins[0]].view(batch, channels, height, width),
                                          x[ins[1]].view(filters, channels, 3, 3), padding=radius)
    return call


def attention_builder(backend):
    def builder(torch, v, problem):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        q, k, o = inputs_of(problem)[0], inputs_of(problem)[1], inputs_of(problem)[2]
        size = (pick(v, "b", "batch", "B"), pick(v, "h", "heads", "H"), pick(v, "s", "n", "sequence", "S"),
                pick(v, "d", "dim", "head_dim", "D") if any(x in v for x in ("d", "dim", "head_dim", "D")) else 128)
        causal = bool(v.get("causal", "causal" in problem.name))
        kind = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}[backend]
        attention = torch.nn.functional.scaled_dot_product_attention

        def call(x):
            with sdpa_kernel(kind):
                return attention(x[q].view(size), x[k].view(size), x[o].view(size), is_causal=causal)
        return call
    return builder


# By the problem's name, first match; each entry: label and builder(torch, shape variables, problem) -> a function
# of the arrays by name that enqueues the operation and gives its result (or None).
LIBRARY = [
    (r"^matmul|^gemm", [("cuBLAS", matmul_builder)]),
    (r"^softmax", [("torch softmax", row_builder("softmax")), ("copy 1 GiB", copy_builder)]),
    (r"^layer_?norm", [("torch layer_norm", row_builder("layer_norm")), ("copy 1 GiB", copy_builder)]),
    (r"^rms_?norm", [("torch rms_norm", row_builder("rms_norm")), ("copy 1 GiB", copy_builder)]),
    (r"^transpose", [("torch transpose", row_builder("transpose")), ("copy 1 GiB", copy_builder)]),
    (r"^row_?sum", [("torch sum(-1)", row_builder("row_sums")), ("copy 1 GiB", copy_builder)]),
    (r"^histogram", [("torch bincount", histogram_builder("bincount")),
                      ("torch histc", histogram_builder("histc")), ("copy 1 GiB", copy_builder)]),
    (r"^conv", [("cuDNN", conv_builder)]),
    (r"^attention", [("cuDNN", attention_builder("cudnn")), ("FlashAttention", attention_builder("flash"))]),
    (r".", [("copy 1 GiB", copy_builder)]),
]


def library_of(problem):
    for pattern, entries in LIBRARY:
        if re.search(pattern, problem.name):
            return entries
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", help="CUDA problem folders")
    parser.add_argument("--shape", action="append", help="name of a shape, timed, or all (the default); repeatable")
    parser.add_argument("--config", action="append",
                        help="default, best (best_h200.json), JSON of what differs from the default, a list of such, "
                             "or @file; repeatable")
    parser.add_argument("--replay", action="append", help="a file with a list of configurations")
    parser.add_argument("--random", type=int, default=0, help="so many random valid configurations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=("cold", "warm", "both", "none"), default="cold",
                        help="flush the L2 before each call (cold, the default), not, both, or only check")
    parser.add_argument("--cold", dest="mode", action="store_const", const="cold")
    parser.add_argument("--warm", dest="mode", action="store_const", const="warm")
    parser.add_argument("--both", dest="mode", action="store_const", const="both")
    parser.add_argument("--check", dest="mode", action="store_const", const="none", help="check only")
    parser.add_argument("--time-all", action="store_true", help="time the shapes of weight 0 too")
    parser.add_argument("--flush", choices=("write", "read"), default="write")
    parser.add_argument("--draws", default="random,random,edge,ill",
                        help="inputs to check on; big timed shapes get the first only")
    parser.add_argument("--all-draws", action="store_true", help="all draws for big timed shapes too")
    parser.add_argument("--library", action="store_true", help="time the vendor library in turns with ours")
    parser.add_argument("--duel", action="store_true", help="check all configurations, then time them in turns")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of timing per configuration and shape")
    parser.add_argument("--warm-up", type=float, default=0.2, help="seconds of calls before timing")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds after which a call hangs")
    parser.add_argument("--reference-timeout", type=float, default=60.0)
    parser.add_argument("--tune", type=float, metavar="SECONDS", help="search on the first chosen timed shape")
    parser.add_argument("--tune-repeats", type=int, default=7)
    parser.add_argument("--explore", type=float, default=0.35, help="share of the tuning time drawn at random")
    parser.add_argument("--top", type=int, default=6)
    parser.add_argument("--arch", help="like sm_90a; that of the device if left out")
    parser.add_argument("--jobs", type=int, help="compilers at once; all cores if left out")
    parser.add_argument("--compile-only", action="store_true", help="compile, show resources, run nothing")
    parser.add_argument("--log", action="store_true", help="show compiler logs")
    parser.add_argument("--out", help="write results as JSON")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    session, code = Session(arguments), 0
    command = command_compile if arguments.compile_only else command_tune if arguments.tune else command_measure
    try:
        for folder in arguments.folder:
            try:
                session.open(folder)
                code = max(code, command(session))
            except Exception:
                code = 1
                print(f"{folder} fails:")
                traceback.print_exc(file=sys.stdout)
    except SystemExit as exit_:
        code = exit_.code
    except BaseException:
        traceback.print_exc()
    session.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)  # without waiting for compilers that are still busy


if __name__ == "__main__":
    sys.exit(main())
