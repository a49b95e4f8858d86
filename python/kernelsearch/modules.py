# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python side of problems whose reference is a PyTorch module: docs/torch.md.

One file that is started in one of two roles, by the last word of its command, and needs PyTorch alone:

reference   holds Model, its weights and the generator of inputs; draws inputs, says what is right. Never sees a
            candidate.
candidates  imports torch once and forks for each candidate, which makes its calls when it is told to.

Neither has a clock that anything is judged by: the command that starts them times and judges. What `explain` says of
the time goes into questions to models alone. Messages are lines of JSON.
"""

import ast
import base64
import ctypes
import copy
import gc
import importlib.util
import inspect
import itertools
import json
import math
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings

PROTOCOL = 2
ALIGNMENT = 256
# Of so many draws of the generator it is seen what it promises.
DRAWS_SEEN = 3
# Bytes of a device that the reference may keep unused between two questions; to ask for them again takes milliseconds.
KEPT_UNUSED = 256 << 20
# Outputs are compared in parts of this many elements: what is computed of a part takes ten times its memory.
COMPARED_AT_ONCE = 1 << 24
# Of timed calls this share has contents that are not as the generator draws them; they take longer to make.
MIXED = 0.3
# For `explain`: lines of operators, their length, names of those that matter most, calls that are profiled.
OPERATORS_SHOWN, LONGEST_LINE, NAMES_SHOWN, CALLS_PROFILED = 32, 190, 5, 10
# Stricter than KernelBench's: relative to an element, and to the root mean square of its output.
STRICT = {"f64": 1e-10, "f32": 1e-5, "f16": 4e-3, "bf16": 1e-2}

torch = None  # imported by `start`, so that the text can be read without it


class Declined(Exception):
    """What cannot be judged, with the reason for people."""


# Messages ----------------------------------------------------------------------------------------------------


class Channel:
    """Lines of JSON on descriptors of their own: what libraries print goes to standard error."""

    def __init__(self):
        self.source, self.sink = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        self.rest = b""

    def read(self):
        while b"\n" not in self.rest:
            more = os.read(self.source, 1 << 16)
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def write(self, message):
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(self.sink, line) :]


def one_line(text, most=1500):
    text = " ".join(str(text).split())
    return text if len(text) <= most else text[:most] + "..."


def said_by(error, file=None):
    """An exception in a line, with the place in `file` that it came from."""
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if file is not None and frame.filename == file:
            where = f"line {frame.lineno}: "
    if isinstance(error, SyntaxError) and error.lineno:
        where = f"line {error.lineno}: "
    return one_line(f"{where}{type(error).__name__}: {error}")


# Types and structures ----------------------------------------------------------------------------------------


def type_names():
    known = {
        torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.int8: "i8",
        torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8", torch.bool: "bool",
        torch.complex64: "c64",
    }  # fmt: skip
    for name, called in (("float8_e4m3fn", "f8e4m3"), ("float8_e5m2", "f8e5m2"), ("float4_e2m1fn_x2", "f4e2m1")):
        if hasattr(torch, name):
            known[getattr(torch, name)] = called
    return known


def type_name(dtype):
    name = type_names().get(dtype)
    if name is None:
        raise Declined(f"tensors of {dtype} are not supported")
    return name


def type_called(name):
    return {name: dtype for dtype, name in type_names().items()}[name]


def flatten(value, tensors):
    """The structure of a value as JSON; its tensors are appended to `tensors` and stand there by number."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if value is None or isinstance(value, (bool, int, str)):
        return {"value": value}
    if isinstance(value, float):
        return {"value": value} if math.isfinite(value) else {"number": str(value)}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).replace("torch.", "")}
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Declined("a dictionary has keys that are no strings")
        return {"dict": {key: flatten(one, tensors) for key, one in value.items()}}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [flatten(one, tensors) for one in value]}
    raise Declined(f"a value of type {type(value).__name__} is neither a tensor nor a number nor a list of such")


def unflatten(tree, tensors):
    (kind, value), = tree.items()
    if kind == "tensor":
        return tensors[value]
    if kind == "number":
        return float(value)
    if kind == "dtype":
        return getattr(torch, value)
    if kind == "dict":
        return {key: unflatten(one, tensors) for key, one in value.items()}
    if kind in ("list", "tuple"):
        parts = [unflatten(one, tensors) for one in value]
        return parts if kind == "list" else tuple(parts)
    return value


def holds_numbers(tree):
    (kind, value), = tree.items()
    if kind == "dict":
        return any(holds_numbers(one) for one in value.values())
    if kind in ("list", "tuple"):
        return any(holds_numbers(one) for one in value)
    return kind != "tensor" and value is not None


def span_bytes(shape, strides, size):
    """Of the memory between the first element and the end of the last."""
    if any(extent == 0 for extent in shape):
        return 0
    return (sum((extent - 1) * stride for extent, stride in zip(shape, strides)) + 1) * size


def arguments_of(tree, tensors):
    """What `*args, **kwargs` are, of the list, tuple or dictionary that get_inputs or get_init_inputs returns."""
    value = unflatten(tree, tensors)
    if isinstance(value, dict):
        return (), value
    return tuple(value), {}


def view_of(memory, offset, spec):
    """A tensor in mapped memory."""
    dtype = type_called(spec["type"])
    count = spec["bytes"] // dtype.itemsize if hasattr(dtype, "itemsize") else spec["bytes"] // element_size(dtype)
    if count == 0:
        return torch.empty_strided(spec["shape"], spec["strides"], dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that memory which cannot be written is none to write to
        flat = torch.frombuffer(memory, dtype=dtype, count=count, offset=offset)
    return flat.as_strided(spec["shape"], spec["strides"])


def element_size(dtype):
    return torch.empty(0, dtype=dtype).element_size()


def is_packed(tensor):
    """Two floats of 4 bits in a byte, for which torch has hardly an operation."""
    return tensor.dtype == getattr(torch, "float4_e2m1fn_x2", None)


def decoded(tensor):
    """Its numbers as torch can compute with them: packed floats one by one, complex numbers as pairs."""
    if tensor.is_complex():
        return torch.view_as_real(tensor)
    if not is_packed(tensor):
        return tensor
    sizes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device=tensor.device)
    bits = tensor.contiguous().view(torch.uint8).int()
    nibbles = torch.stack((bits & 15, bits >> 4), dim=-1)
    return sizes[nibbles & 7] * torch.where(nibbles >= 8, -1.0, 1.0)


def widened(tensor):
    tensor = decoded(tensor)
    return tensor.double() if tensor.is_floating_point() else tensor


def put(tensor, into):
    """Copies into a view that may have dimensions of stride 0."""
    for dimension, stride in enumerate(into.stride()):
        if stride == 0 and into.shape[dimension] > 1:
            into, tensor = into.narrow(dimension, 0, 1), tensor.narrow(dimension, 0, 1)
    into.copy_(tensor)


def bits_of(tensor):
    """Its bytes: of some types nothing else can be compared, and NaN is itself."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


# Devices -----------------------------------------------------------------------------------------------------


class DeviceMemory:
    """Memory of a CUDA device that two processes share, by the runtime's own handles."""

    def __init__(self):
        torch.cuda.init()
        version = (torch.version.cuda or "12").split(".")[0]
        for name in (f"libcudart.so.{version}", "libcudart.so"):
            try:
                self.runtime = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            self.runtime = ctypes.CDLL(None)
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.opened, self.exported = {}, {}

    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_byte * 64)]

    def done(self, status, what):
        if status != 0:
            raise Declined(f"{what} failed with {status}")

    def allocate(self, size):
        """Bytes in an allocation of their own: whoever opens its handle has all of it. For `free`."""
        pointer, size = ctypes.c_void_p(), max(size, ALIGNMENT)
        if self.runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) != 0:
            torch.cuda.empty_cache()
            self.done(self.runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)), "taking memory")
        spec = {"type": "u8", "bytes": size, "shape": [size], "strides": [1]}
        return self.tensor_at(pointer.value, spec)

    def free(self, tensor):
        self.exported = {key: one for key, one in self.exported.items() if one[0] != tensor.data_ptr()}
        self.done(self.runtime.cudaFree(ctypes.c_void_p(tensor.data_ptr())), "giving memory back")

    def whole(self, address):
        """Where the allocation that holds an address begins, and its size."""
        base, size = ctypes.c_void_p(), ctypes.c_size_t()
        found = self.driver.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_void_p(address))
        self.done(found, "finding memory")
        return base.value or 0, size.value

    def export(self, tensor):
        """A handle of the allocation that holds the tensor, and where in it the tensor begins."""
        if tensor.numel() == 0:
            return {"handle": "", "offset": 0}
        base, size = self.whole(tensor.data_ptr())
        for key, (start, _) in self.opened.items():
            if start == base:  # what others have exported can only be named again
                return {"handle": key, "offset": tensor.data_ptr() - base}
        handle = self.Handle()
        self.done(self.runtime.cudaIpcGetMemHandle(ctypes.byref(handle), ctypes.c_void_p(base)), "sharing memory")
        key = base64.b64encode(bytes(handle)).decode()
        self.exported[key] = base, size
        return {"handle": key, "offset": tensor.data_ptr() - base}

    def view(self, shared, spec):
        """The tensor in memory that another process has exported, or this one."""
        if spec["bytes"] == 0:
            return self.tensor_at(0, spec)
        key = shared["handle"]
        if key not in self.opened and key not in self.exported:
            handle = self.Handle.from_buffer_copy(base64.b64decode(key))
            pointer = ctypes.c_void_p()
            self.done(self.runtime.cudaIpcOpenMemHandle(ctypes.byref(pointer), handle, 1), "opening shared memory")
            self.opened[key] = self.whole(pointer.value)
        base, size = self.opened.get(key) or self.exported[key]
        if not 0 <= shared["offset"] <= size - spec["bytes"]:
            raise Declined("a tensor does not lie in the memory that it is said to be in")
        return self.tensor_at(base + shared["offset"], spec)

    @staticmethod
    def tensor_at(address, spec):
        dtype = type_called(spec["type"])

        class Bytes:
            __cuda_array_interface__ = {
                "shape": (spec["bytes"],), "typestr": "|u1", "data": (address, False), "version": 3,
            }  # fmt: skip

        if spec["bytes"] == 0:
            return torch.empty_strided(spec["shape"], spec["strides"], dtype=dtype, device="cuda")
        return torch.as_tensor(Bytes(), device="cuda").view(dtype).as_strided(spec["shape"], spec["strides"])

    def close(self):
        for pointer, _ in self.opened.values():
            self.runtime.cudaIpcCloseMemHandle(ctypes.c_void_p(pointer))
        self.opened = {}


def chosen_device():
    return "cuda" if torch.cuda.is_available() else "cpu"


def library_text():
    triton = sys.modules.get("triton")
    return f"{torch.__version__}, Triton {triton.__version__}" if triton is not None else f"{torch.__version__}, no Triton"


def device_text(device):
    if device == "cuda":
        return one_line(torch.cuda.get_device_name(), 150)
    return "the processor"


# Packages that kernels are written with, and programs that they are built with.
MAKERS, BUILDERS = ("triton", "numba", "cupy", "cutlass", "tilelang", "pycuda"), ("g++", "clang++", "ninja", "nvcc", "hipcc")


def is_installed(package):
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def makers_text(device):
    """What a kernel can be written with, in addition to PyTorch."""
    triton = sys.modules.get("triton")
    known = [f"Triton {triton.__version__}" + ("" if device == "cuda" else " (which runs on a GPU only)")] if triton is not None else []  # fmt: skip
    known += [one for one in MAKERS[1:] if is_installed(one)]
    built = [one for one in BUILDERS if shutil.which(one)]
    text = "kernels of your own: " + (", ".join(known) if known else f"there is no {', '.join(MAKERS)}")
    return text + "; " + (f"programs that build C++: {', '.join(built)}" if built else "there is no compiler for C++")


def features_of(device):
    """What strategies may ask for: docs/formats/strategies.md."""
    return ["torch"] + (["gpu"] + (["triton"] if "triton" in sys.modules else []) if device == "cuda" else [])


# What the generator promises ---------------------------------------------------------------------------------


class Promise:
    """What is the same in all draws of one input, so that other contents keep it."""

    def __init__(self, samples):
        packed = is_packed(samples[0])
        samples = [decoded(one) for one in samples] if packed else samples
        if samples[0].is_floating_point() and samples[0].element_size() == 1:
            samples = [one.float() for one in samples]  # few operations are there for these types
        first = samples[0]
        self.floating = first.is_floating_point()
        self.boolean = first.dtype == torch.bool
        self.size = first.numel()
        self.constant = self.size == 0 or all(torch.equal(one, first) for one in samples[1:])
        self.kept = self.constant or packed or not (self.floating or self.boolean or self.integral(first))
        if self.kept or self.boolean:
            return
        self.low = min(float(one.min()) for one in samples)
        self.high = max(float(one.max()) for one in samples)
        if not (math.isfinite(self.low) and math.isfinite(self.high)) or self.low == self.high:
            self.kept = True
            return
        self.rows = first.dim() >= 1 and first.shape[-1] > 1
        # Differences of bytes are never below 0.
        self.ascending = self.rows and all(bool((one[..., 1:] >= one[..., :-1]).all()) for one in samples)
        self.descending = self.rows and all(bool((one[..., 1:] <= one[..., :-1]).all()) for one in samples)
        square = first.dim() >= 2 and first.shape[-1] == first.shape[-2] and first.shape[-1] > 1
        self.symmetric = square and all(torch.equal(one, one.transpose(-1, -2)) for one in samples)
        zeros = torch.stack([one == 0 for one in samples]).all(dim=0)
        self.zeros = zeros if bool(zeros.any()) else None
        self.whole = self.floating and all(bool((one == one.round()).all()) for one in samples)
        if self.floating:
            sums = [one.sum(dim=-1, dtype=torch.float64) for one in samples] if self.rows else []
            if sums and all(bool(((one - 1).abs() < 1e-3).all()) for one in sums):
                self.kept = True  # shares of a whole
        else:
            ends = {(int(one.flatten()[0]), int(one.flatten()[-1])) for one in samples}
            distinct = all(len(one.unique()) == one.shape[-1] for row in samples for one in row.reshape(-1, row.shape[-1])[:4]) if self.rows else False  # fmt: skip
            # Offsets and permutations: other contents would mean something else.
            if (self.ascending and len(ends) == 1) or (distinct and self.size > 8 and not self.ascending):
                self.kept = True

    @staticmethod
    def integral(tensor):
        return tensor.dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

    def text(self):
        if self.constant:
            return "always the same"
        if self.boolean:
            return "true or false"
        if self.kept:
            return "as the generator draws it"
        words = [f"from {self.low:.4g} to {self.high:.4g}"]
        if self.ascending or self.descending:
            words.append("sorted")
        if self.symmetric:
            words.append("symmetric")
        if self.zeros is not None:
            words.append("zero at the same places")
        return ", ".join(words)

    def varied(self, tensor, rng):
        """Other contents than the generator's that keep what it promises; `rng` is Python's."""
        if self.kept:
            return tensor
        made = torch.Generator(device=tensor.device)
        made.manual_seed(rng.getrandbits(62))

        def uniform(shape):
            return torch.rand(shape, generator=made, device=tensor.device)

        if self.boolean:
            return uniform(tensor.shape) < rng.uniform(0.02, 0.98)
        rows = list(tensor.shape)
        if tensor.dim() > 0:
            # One factor for each place along some of the dimensions.
            for dimension in range(tensor.dim()):
                if rng.random() < 0.5:
                    rows[dimension] = 1
        if not self.floating:
            one_value = tensor.flatten()[rng.randrange(self.size)]
            x = torch.where(uniform(tensor.shape) < rng.uniform(0, 0.9), one_value, tensor)
        else:
            x = tensor if tensor.element_size() == 8 else tensor.float()
            middle = 0.0 if self.low <= 0 <= self.high else (self.low if rng.random() < 0.5 else self.high)
            if rng.random() < 0.7:
                x = middle + (x - middle) * (rng.uniform(0.05, 1) + (1 - 0.05) * uniform(rows).to(x.dtype)).clamp(max=1)
            if self.low >= 0 and rng.random() < 0.5:
                share = ((x - self.low) / (self.high - self.low)).clamp(0, 1)
                x = self.low + (self.high - self.low) * share ** math.exp(rng.uniform(-1.4, 1.4))
            if self.low < 0 < self.high and rng.random() < 0.5:
                x = x * torch.where(uniform(rows) < 0.5, -1.0, 1.0)
            if self.low <= 0 <= self.high and rng.random() < 0.5:
                x = torch.where(uniform(tensor.shape) < rng.uniform(0.1, 0.9), torch.zeros_like(x), x)
            if rng.random() < 0.5:
                ends = torch.where(uniform(tensor.shape) < 0.5, self.low, self.high)
                x = torch.where(uniform(tensor.shape) < 0.002, ends.to(x.dtype), x)
            x = x.clamp(self.low, self.high)
            if self.whole:
                x = x.round()
        if self.zeros is not None:
            x = torch.where(self.zeros, torch.zeros_like(x), x)
        if self.symmetric:
            x = torch.triu(x) + torch.triu(x, 1).transpose(-1, -2)
        if self.ascending or self.descending:
            x = x.sort(dim=-1, descending=not self.ascending).values
        return x.to(tensor.dtype)


# Tasks ---------------------------------------------------------------------------------------------------------
#
# A module that the command has made of a task in another form (docs/tasks.md) ends with `TASK = {...}`, a literal:
#
# form        "definition": a function, and its inputs as definition.json and its workloads say; "gpu_mode": a
#             function and its one input, which `generate_input` makes of a spec for each shape; "tritonbench":
#             functions, and the calls of them that a test makes
# definition  axes, inputs, outputs, constraints, custom_inputs_entrypoint, as in definition.json
# workloads   by the name of their shape: axes, inputs, tolerance (absolute, relative, matched_ratio, error_cap,
#             allow_negative_infinity)
# calls       gpu_mode: the specs by the name of their shape. tritonbench: the names of functions
# test        tritonbench: the name of the test


def task_of(text):
    """The literal of the last `TASK = {...}` of a module; None where it has none. Nothing is run."""
    found = None
    try:
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and [getattr(one, "id", "") for one in node.targets] == ["TASK"]:
                found = ast.literal_eval(node.value)
    except (SyntaxError, ValueError):
        return None
    return found if isinstance(found, dict) and "form" in found else None


OPERATORS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b if abs(b) <= 64 else 1 / 0,
}  # fmt: skip


def extent_of(expression, axes):
    """The value of an axis that is an expression of others: + - * / // % ** and parentheses."""

    def value(node):
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return node.value
        if isinstance(node, ast.Name) and node.id in axes:
            return axes[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            return value(node.operand) if isinstance(node.op, ast.UAdd) else -value(node.operand)
        raise Declined(f"the axis `{expression}` is not an expression of axes: use numbers, names, + - * / // % **")

    try:
        extent = value(ast.parse(expression, mode="eval"))
    except (SyntaxError, ArithmeticError, ValueError) as error:
        raise Declined(f"the axis `{expression}` has no value: {said_by(error)}")
    if extent != int(extent) or not 0 <= extent < 1 << 40:
        raise Declined(f"the axis `{expression}` is {extent}: it must be a whole number from 0 to 2^40")
    return int(extent)


def resolved_axes(definition, given):
    axes = {name: axis["value"] for name, axis in definition["axes"].items() if axis["type"] == "const"}
    axes.update(given)
    waiting = {name: axis["expression"] for name, axis in definition["axes"].items() if axis["type"] == "expr"}
    while waiting:
        ready = {
            name: text for name, text in waiting.items()
            if not any(isinstance(node, ast.Name) and node.id in waiting for node in ast.walk(parsed_axis(text)))
        }  # fmt: skip
        if not ready:
            raise Declined(f"the axes {', '.join(waiting)} are expressions of each other")
        for name, text in ready.items():
            axes[name] = extent_of(text, axes)
            del waiting[name]
    return axes


def parsed_axis(text):
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError) as error:
        raise Declined(f"the axis `{text}` cannot be read: {said_by(error)}")


def task_types():
    """The names of element types in definitions, and torch's."""
    names = {
        "float64": "float64", "float32": "float32", "float16": "float16", "bfloat16": "bfloat16",
        "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2", "int64": "int64", "int32": "int32",
        "int16": "int16", "int8": "int8", "uint8": "uint8", "bool": "bool", "complex64": "complex64",
        "float4_e2m1": "float4_e2m1fn_x2", "float4_e2m1fn_x2": "float4_e2m1fn_x2",
    }  # fmt: skip
    return {name: getattr(torch, called) for name, called in names.items() if hasattr(torch, called)}


def safetensors_types():
    names = {
        "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32", "I16": "int16",
        "I8": "int8", "U8": "uint8", "BOOL": "bool", "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
        "F4": "float4_e2m1fn_x2",
    }  # fmt: skip
    return {name: getattr(torch, called) for name, called in names.items() if hasattr(torch, called)}


def safetensor(data, stored):
    """One tensor of a safetensors file's bytes, whose header the command has read and checked."""
    dtype, shape = safetensors_types().get(stored["dtype"]), stored["shape"]
    if dtype is None:
        raise Declined(f"tensors that a file stores as {stored['dtype']} are not supported")
    if stored["dtype"] == "F4" and shape and shape[-1] % 2 == 0:
        shape = [*shape[:-1], shape[-1] // 2]  # the file counts numbers, torch bytes of two
    if stored["bytes"] == 0:
        return torch.empty(shape, dtype=dtype)
    begin = stored["offset"]
    return torch.frombuffer(bytearray(data[begin : begin + stored["bytes"]]), dtype=dtype).reshape(shape)


class Definition:
    """Inputs and outputs as definition.json and its workloads say."""

    def __init__(self, task, module, device, file):
        self.definition, self.workloads = task["definition"], task["workloads"]
        self.module, self.device, self.file = module, device, file
        self.outputs = list(self.definition["outputs"])
        self.kept, self.axes = {}, {}

    def axes_of(self, shape):
        """The values of all axes in that shape's workload."""
        name = shape["name"]
        if name not in self.axes:
            self.axes[name] = resolved_axes(self.definition, self.workloads[name]["axes"])
        return self.axes[name]

    def type_of(self, dtype):
        found = task_types().get(dtype)
        if found is None:
            raise Declined(f"tensors of {dtype} are not supported")
        return found

    def shape_of(self, spec, axes):
        return [axes[axis] if isinstance(axis, str) else axis for axis in spec["shape"]]

    def random(self, name, spec, axes):
        dtype, shape = self.type_of(spec["dtype"]), self.shape_of(spec, axes)
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, dtype=torch.uint8, device=self.device).bool()
        if dtype == getattr(torch, "float4_e2m1fn_x2", None):
            return torch.randint(0, 256, shape, dtype=torch.uint8, device=self.device).view(dtype)
        if dtype.is_complex:
            return torch.randn(shape, dtype=dtype, device=self.device)
        if not dtype.is_floating_point:
            low, high = (-128, 128) if dtype == torch.int8 else (0, 256) if dtype == torch.uint8 else (-1024, 1024)
            return torch.randint(low, high, shape, dtype=dtype, device=self.device)
        x = torch.randn(shape, dtype=torch.float64 if dtype == torch.float64 else torch.float32, device=self.device)
        if element_size(dtype) == 1:
            x = x.clamp(-2, 2)
        elif len(shape) >= 2 and name.lower().endswith(("weight", "weights", "_proj", "_w")):
            x = x / max(1, shape[-1]) ** 0.5  # so that a product with it stays of the size of its inputs
        return x.to(dtype)

    def loaded(self, given):
        file = given["file"]
        if file not in self.kept:
            path = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), file)
            with open(path) as text:
                self.kept[file] = bytes.fromhex(text.read())
        return safetensor(memoryview(self.kept[file]), given["stored"]).to(self.device)

    def inputs(self, shape):
        workload = self.workloads[shape["name"]]
        axes = self.axes_of(shape)
        scalars = {name: one["value"] for name, one in workload["inputs"].items() if one["type"] == "scalar"}
        made = {}
        if any(one["type"] == "custom" for one in workload["inputs"].values()):
            entry = self.definition["custom_inputs_entrypoint"]
            made = getattr(self.module, entry)({**axes, **scalars}, torch.device(self.device))
            if not isinstance(made, dict):
                raise Declined(f"{entry} gives {type(made).__name__}: it must give a dictionary of inputs")
        values = {}
        for name, spec in self.definition["inputs"].items():
            given = workload["inputs"].get(name, {"type": "random"})
            if given["type"] == "scalar":
                values[name] = given["value"]
                continue
            if given["type"] == "custom":
                if name not in made:
                    raise Declined(f"{self.definition['custom_inputs_entrypoint']} gives no `{name}`")
                values[name] = made[name]
                if not isinstance(values[name], torch.Tensor):
                    continue
            elif given["type"] == "safetensors":
                values[name] = self.loaded(given)
            elif spec["shape"] is None:
                raise Declined(f"`{name}` is a number, and the workload gives no value for it")
            else:
                values[name] = self.random(name, spec, axes)
            if spec["shape"] is not None:
                wanted, got = self.shape_of(spec, axes), list(values[name].shape)
                if wanted != got or values[name].dtype != self.type_of(spec["dtype"]):
                    raise Declined(f"`{name}` is {values[name].dtype} {got}, the definition says {spec['dtype']} {wanted}")
        for constraint in self.definition.get("constraints") or []:
            try:
                holds = bool(eval(constraint, {**vars(self.module), **values, **axes}))
            except Exception:
                continue  # it names what only its own tool knows
            if not holds:
                raise Declined(f"the constraint `{constraint}` does not hold")
        return list(values.values())

    def fits(self, shape, outputs):
        """Refuses a reference whose outputs are not what the definition says."""
        axes = self.axes_of(shape)
        if len(outputs) != len(self.outputs):
            raise Declined(f"run gives {len(outputs)} outputs, the definition has {len(self.outputs)}")
        for name, one in zip(self.outputs, outputs):
            spec = self.definition["outputs"][name]
            wanted = self.shape_of(spec, axes) if spec["shape"] is not None else []
            if list(one.shape) != wanted or one.dtype != self.type_of(spec["dtype"]):
                raise Declined(f"`{name}` is {one.dtype} {list(one.shape)}, the definition says {spec['dtype']} {wanted}")

    def tolerance(self, shape):
        return self.workloads[shape["name"]].get("tolerance")

    def init(self):
        return {"call": {"results": self.outputs}}


class GpuMode:
    """A reference of GPU MODE: one input, made of a spec. Its own check says what is right, where it has one."""

    def __init__(self, task, module, device, file):
        self.specs, self.module = task["calls"], module
        self.check = getattr(module, "check_implementation", None)

    def inputs(self, shape):
        spec = dict(self.specs[shape["name"]])
        if "seed" in spec:
            spec["seed"] = random.getrandbits(31)
        return [self.module.generate_input(**spec)]

    def fits(self, shape, outputs):
        pass

    def tolerance(self, shape):
        return None

    def init(self):
        return {"call": {}}

    def reason(self, inputs, output):
        """Why its own check refuses an output; empty where it does not."""
        said = self.check(inputs[0], output)
        if isinstance(said, tuple):
            return "" if said[0] else one_line(said[1] or "its check refuses it", 300)
        return one_line(said or "", 300)


# Calls of a test, at most.
CALLS_SEEN = 64


class TritonBench:
    """Functions, and the calls of them that a test makes; what they give themselves is right."""

    def __init__(self, task, module, device, file):
        self.names, self.test, self.module = task["calls"], getattr(module, task["test"]), module

    def inputs(self, shape):
        seen, depth = [], [0]

        def recorder(name, function):
            def called(*args, **kwargs):
                if depth[0] == 0:
                    seen.append([name, [kept(one) for one in args], {key: kept(one) for key, one in kwargs.items()}])
                depth[0] += 1
                try:
                    return function(*args, **kwargs)
                finally:
                    depth[0] -= 1

            return called

        def kept(value):
            if isinstance(value, torch.Tensor):
                made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
                put(value.detach(), made)
                return made
            if isinstance(value, (list, tuple)):
                return type(value)(kept(one) for one in value) if not hasattr(value, "_fields") else value
            return value

        space, before, seed = vars(self.module), {name: vars(self.module)[name] for name in self.names}, torch.manual_seed
        space.update({name: recorder(name, function) for name, function in before.items()})
        torch.manual_seed = lambda number: torch.default_generator  # each draw has contents of its own
        try:
            self.test()
        finally:
            space.update(before)
            torch.manual_seed = seed
        if not seen:
            raise Declined(f"the test calls none of {', '.join(self.names)}")
        if len(seen) > CALLS_SEEN:
            raise Declined(f"the test makes {len(seen)} calls; {CALLS_SEEN} at most are judged")
        return seen

    def fits(self, shape, outputs):
        pass

    def tolerance(self, shape):
        return None

    def init(self):
        return {"call": {"all": True}}


FORMS = {"definition": Definition, "gpu_mode": GpuMode, "tritonbench": TritonBench}


def all_calls(module):
    """What makes the calls of a test with the functions of a module."""

    def calls(*wanted):
        return [getattr(module, name)(*args, **kwargs) for name, args, kwargs in wanted]

    return calls


def listed(value, names):
    """The outputs of a definition's function as a list in the definition's order; numbers become tensors."""
    if isinstance(value, dict):
        if set(value) != set(names):
            raise Declined(f"it gives {', '.join(map(str, value))}, the outputs are {', '.join(names)}")
        value = [value[name] for name in names]
    elif not isinstance(value, (list, tuple)):
        value = [value]
    return [torch.as_tensor(one) if isinstance(one, (bool, int, float)) else one for one in value]


class Called:
    """A function in the place of a module: `call` is what a reference says of it in `init`."""

    def __init__(self, function, call):
        self.function, self.results = function, call.get("results")
        self.outputs = None  # of the shape at hand, where they are given to be written to

    def __call__(self, *args, **kwargs):
        value = self.function(*args, **kwargs)
        return value if self.results is None else listed(value, self.results)


def takes_outputs(function, inputs, outputs):
    """Whether a function takes its outputs behind its inputs, to write to them."""
    marked = getattr(function, "destination_passing_style", None)
    if marked is not None:
        return bool(marked)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if any(one.kind == inspect.Parameter.VAR_POSITIONAL for one in parameters):
        return False
    taken = parameters[: inputs + outputs]
    return len(taken) == inputs + outputs and all(one.default is inspect.Parameter.empty for one in taken)


# What is told of a module ------------------------------------------------------------------------------------


def scaled(value, unit):
    """A count with its prefix, e.g. `4.19 MB`."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def scaled_time(seconds):
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def shares(rows, number):
    """The names with the largest values, each with its share of the sum, and the rest of them as one."""
    total = sum(rows.values())
    if not total > 0:
        return ""
    rows = sorted(rows.items(), key=lambda row: -row[1])
    words = [f"{name} {100 * value / total:.0f} %" for name, value in rows[:number]]
    if len(rows) > number:
        words.append(f"{len(rows) - number} others {100 * sum(value for _, value in rows[number:]) / total:.0f} %")
    return ", ".join(words)


def cut_line(text):
    text = one_line(text, 10 * LONGEST_LINE)
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."


def least_seconds(row, peaks):
    """By the roofline: everything is moved once, and the products run at the peak of their type; the longer of the two.
    None where a rate that is needed is not known."""
    if not peaks.get("bandwidth"):
        return None
    moving = row["bytes"] / peaks["bandwidth"]
    if not row["operations"]:
        return moving
    rate = peaks.get(row["type"] if row["type"] in ("f32", "f64") else "f16") or peaks.get("f32")
    return max(moving, row["operations"] / rate) if rate else None


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [one for part in value for one in tensors_in(part)] if isinstance(value, (list, tuple)) else []


def moved_bytes(tensors):
    """The bytes of distinct tensors; a dimension of stride 0 is read once."""
    distinct = {(one.data_ptr(), tuple(one.shape), one.stride(), one.dtype): one for one in tensors}
    return sum(
        math.prod(extent for extent, stride in zip(one.shape, one.stride()) if stride != 0 or extent == 0)
        * one.element_size()
        for one in distinct.values()
    )


def widest_type(tensors):
    """The name of the widest type of floats among tensors."""
    found = [one for one in tensors if one.is_floating_point()]
    return type_names().get(max(found, key=lambda one: one.element_size()).dtype, "f32") if found else "f32"


def operators_of(call):
    """The operators that a call runs, in order, equal neighbours as one; what only gives another view, or memory without
    contents, is left out."""
    from torch.utils._python_dispatch import TorchDispatchMode

    try:
        from torch.utils.flop_counter import flop_registry
    except ImportError:  # an older torch
        flop_registry = {}
    rows = []

    def place(tensor):
        return tensor.untyped_storage().data_ptr() if hasattr(tensor, "untyped_storage") else tensor.storage().data_ptr()

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = function(*args, **kwargs)
            taken, given = tensors_in(args) + tensors_in(kwargs), tensors_in(result)
            name = str(function._overloadpacket).replace("aten.", "")
            places = {place(one) for one in taken}
            is_view = not function._schema.is_mutable and all(place(one) in places for one in given)
            if is_view or not given or name.startswith(("empty", "new_empty")):
                return result
            operations = 0
            if function._overloadpacket in flop_registry:
                try:
                    operations = flop_registry[function._overloadpacket](*args, **kwargs, out_val=result)
                except Exception:
                    pass  # arguments that torch does not count
            row = {
                "name": name, "gives": ", ".join(f"{type_names().get(one.dtype, one.dtype)}{list(one.shape)}" for one in given),
                "bytes": moved_bytes(taken) + moved_bytes(given), "operations": operations, "type": widest_type(taken),
            }  # fmt: skip
            if rows and all(rows[-1][key] == value for key, value in row.items()):
                rows[-1]["times"] += 1
            else:
                rows.append({**row, "times": 1})
            return result

    with Seen():
        call()
    return rows


def sum_of(rows, key):
    return sum(row["times"] * row[key] for row in rows)


def operator_lines(rows, work, peaks):
    """Operators with what each moves and computes and, where peaks are known, the least time of each and of all."""
    lines = []
    most = sorted(range(len(rows)), key=lambda place: -rows[place]["times"] * rows[place]["bytes"])[:OPERATORS_SHOWN]
    by_name, number, others = {}, 1, []
    for place, row in enumerate(rows):
        several = row["times"] > 1
        begin = f"operators {number} to {number + row['times'] - 1}: " if several else f"operator {number}: "
        number += row["times"]
        if place not in most:
            others.append(row)
            continue
        end = ": " + scaled(row["bytes"], "B")
        if row["operations"]:
            end += ", " + scaled(row["operations"], "op")
        seconds = least_seconds(row, peaks)
        if seconds is not None:
            end += ", at best " + scaled_time(seconds)
        if several:
            end += " each"
        begin += f"{row['name']} -> {row['gives']}"
        room = LONGEST_LINE - len(end)
        lines.append((begin if len(begin) <= room else begin[: room - 3] + "...") + end)
    if others:
        lines.append(f"{sum(row['times'] for row in others)} further operators move {scaled(sum_of(others, 'bytes'), 'B')}")
    for row in rows:
        by_name[row["name"]] = by_name.get(row["name"], 0) + row["times"] * row["bytes"]
    everything = f"all operators move {scaled(sum_of(rows, 'bytes'), 'B')}, a single kernel for all needs to move {scaled(work['bytes'], 'B')}"
    parts, fused = [least_seconds(row, peaks) for row in rows], least_seconds(work, peaks)
    if fused is not None and None not in parts:
        total = sum(row["times"] * seconds for row, seconds in zip(rows, parts))
        everything += f"; at best {scaled_time(total)} one after the other, {scaled_time(fused)} as one kernel"
    lines += [everything, "shares of the bytes: " + shares(by_name, NAMES_SHOWN)]
    return lines


def profiled_shares(call, device, ends):
    """Which operators take the time of eager PyTorch, by torch.profiler, over a few calls. `ends`: when it must be known."""
    from torch.profiler import ProfilerActivity, profile

    def whole_call():
        call()
        if device == "cuda":
            torch.cuda.synchronize()

    whole_call()  # libraries choose their kernels in the first one
    begin = time.monotonic()
    whole_call()
    once = time.monotonic() - begin
    if begin + 3 * once > ends:
        raise Declined(f"a call takes {scaled_time(once)}: too long")
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    with profile(activities=activities) as seen:
        for _ in range(CALLS_PROFILED):
            whole_call()
            if time.monotonic() + 2 * once > ends:
                break
    spent = {}
    for one in seen.key_averages():
        if device == "cuda":
            microseconds = getattr(one, "self_device_time_total", None) or getattr(one, "self_cuda_time_total", 0)
        else:
            microseconds = one.self_cpu_time_total
        if one.key.startswith("aten::") and microseconds > 0:
            spent[one.key.replace("aten::", "")] = microseconds
    if not spent:
        raise Declined("it saw no operator")
    return shares(spent, NAMES_SHOWN)


# The reference -----------------------------------------------------------------------------------------------


def loaded_text(text, name, file):
    """A module made of a text; `file` is where it is kept, as some libraries read a function's text again."""
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    exec(compile(text, file, "exec"), module.__dict__)
    return module


def seed_everything(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)


class OnDevice:
    """Tensors that are made without a word of where are made on the device, where torch has that."""

    def __init__(self, device):
        self.context = torch.device(device) if device != "cpu" and torch.__version__ >= "2" else None

    def __enter__(self):
        if self.context is not None:
            self.context.__enter__()

    def __exit__(self, *error):
        if self.context is not None:
            self.context.__exit__(*error)


def made_model(kind, tree, seed, device, module=None):
    """The module as its constructor makes it of these arguments and this seed; of a function, what calls it."""
    if "call" in tree:
        own = sys.modules.get(getattr(kind, "__module__", None)) if module is None else module
        return Called(all_calls(own) if tree["call"].get("all") else kind, tree["call"])
    args, kwargs = arguments_of(tree, [])
    seed_everything(seed)
    return kind(*args, **kwargs).to(device)


def weights_of(model):
    """Its tensors by name, as they are; a function has none."""
    if isinstance(model, Called):
        return {}
    return {name: one for name, one in model.state_dict(keep_vars=True).items() if isinstance(one, torch.Tensor)}


def randomness_of(model):
    if isinstance(model, Called):
        return None
    for name, module in model.named_modules():
        kind = type(module).__name__
        share = getattr(module, "p", None) if "Dropout" in kind else getattr(module, "dropout", 0)
        if module.training and isinstance(share, (int, float)) and share > 0:
            if "Dropout" in kind or isinstance(module, (torch.nn.RNNBase, torch.nn.MultiheadAttention)):
                return f"`{name or 'Model'}` ({kind}) drops out {share:g} of its elements at random in training mode"
    return None


class Side:
    """The reference with the weights of one candidate."""

    def __init__(self, model):
        self.native, self.wide = model, None
        self.memory = None  # on a device, of the weights that candidates take


class ShapeKnown:
    """What the reference knows of the calls of one shape."""

    def __init__(self, told):
        self.told, self.tolerance = told, None
        self.tree = self.result = None
        self.promises, self.specs, self.outputs, self.slots = [], [], [], []
        self.precision, self.work = "f64", {}

    def described(self):
        return {"arguments": self.tree, "inputs": self.specs, "outputs": self.outputs, "result": self.result, "work": self.work}


class Reference:
    def __init__(self, message):
        self.tolerances = message["tolerances"]
        self.strict = "strict" in message.get("flags", [])
        self.device = chosen_device()
        self.notes, self.sides, self.inputs_of, self.memory = [], {}, {}, None
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.shared = DeviceMemory() if self.device == "cuda" else None
        self.file = os.path.join(tempfile.mkdtemp(), "model.py")
        with open(self.file, "w") as out:
            out.write(message["module"])
        try:
            module = loaded_text(message["module"], "kernelsearch_reference", self.file)
        except Exception as error:
            raise Declined(f"the module cannot be loaded: {said_by(error, self.file)}")
        task = task_of(message["module"])
        self.kind = getattr(module, message["class"], None)
        self.generate = getattr(module, "get_inputs", None)
        self.module, self.task = module, None
        if task is not None and task["form"] in FORMS:
            self.task = FORMS[task["form"]](task, module, self.device, self.file)
        if self.task is not None:
            self.generate = self.task.inputs
        if self.kind is None or self.generate is None:
            raise Declined(f"the module needs `{message['class']}` and `def get_inputs()`")
        self.shapes = [ShapeKnown(told) for told in message["shapes"]]
        self.init = self.arguments_of_constructor(module)
        self.learn(message["seed"])

    def arguments_of_constructor(self, module):
        if self.task is not None:
            return self.task.init()
        start = getattr(module, "get_init_inputs", None)
        try:
            init = flatten(start() if start is not None else [], tensors := [])
        except Declined:
            raise
        except Exception as error:
            raise Declined(f"get_init_inputs: {said_by(error, self.file)}")
        if tensors:
            raise Declined("get_init_inputs gives tensors: give sizes, and let the constructor make tensors")
        return init if isinstance(self.kind, type) else {"call": {}}

    def drawn(self, shape, seed):
        """The inputs as the generator draws them, flat, and their structure."""
        seed_everything(seed)
        tensors = []
        try:
            with OnDevice(self.device):
                value = self.generate(shape.told) if self.task is not None else self.generate(**shape.told["variables"])
            tree = flatten(value, tensors)
        except Declined:
            raise
        except Exception as error:
            raise Declined(f"get_inputs: {said_by(error, self.file)}")
        if not isinstance(value, (list, tuple, dict)):
            raise Declined("get_inputs must give the list of forward's arguments")
        return tree, [one.detach().to(self.device) for one in tensors]

    def call(self, model, tree, tensors, seed=0):
        args, kwargs = arguments_of(tree, tensors)
        seed_everything(seed)
        with torch.no_grad():
            result = model(*args, **kwargs)
        outputs = []
        return flatten(result, outputs), outputs

    def learn(self, seed):
        rng = random.Random(seed)
        try:
            model = made_model(self.kind, self.init, rng.getrandbits(62), self.device, self.module)
        except Exception as error:
            raise Declined(f"Model(*get_init_inputs()): {said_by(error, self.file)}")
        reason = randomness_of(model)
        if reason is not None:
            raise Declined(f"{reason}: nothing says what is right; set it to 0, or call eval() in __init__")
        self.state = [
            {"name": name, "type": type_name(one.dtype), "shape": list(one.shape),
             "strides": list(one.contiguous().stride()), "bytes": one.numel() * one.element_size()}
            for name, one in weights_of(model).items()
        ]  # fmt: skip
        self.trivial, self.facts = [], self.facts_of(model)
        for shape in self.shapes:
            try:
                self.learn_shape(shape, model, rng)
            except Declined as declined:
                if len(self.shapes) == 1:
                    raise
                raise Declined(f"shape {shape.told['name']}: {declined}")
        self.notes = list(dict.fromkeys(self.notes))

    def learn_shape(self, shape, model, rng):
        draws = [self.drawn(shape, rng.getrandbits(62)) for _ in range(DRAWS_SEEN)]
        shape.tree = draws[0][0]
        kinds = {json.dumps([tree, [(str(t.dtype), list(t.shape), list(t.stride())) for t in tensors]]) for tree, tensors in draws}  # fmt: skip
        if len(kinds) != 1:
            raise Declined("get_inputs gives other shapes or types from call to call: one shape a file")
        shape.promises = [Promise(list(samples)) for samples in zip(*[tensors for _, tensors in draws])]
        tensors = draws[0][1]
        del draws  # of inputs of gigabytes one is enough from here on
        shape.specs = [
            {"type": type_name(one.dtype), "shape": list(one.shape), "strides": list(one.stride()),
             "bytes": span_bytes(one.shape, one.stride(), one.element_size()), "written": False,
             "about": promise.text()}
            for one, promise in zip(tensors, shape.promises)
        ]  # fmt: skip
        if self.task is not None:
            shape.tolerance = self.task.tolerance(shape.told)
        try:
            copies = self.copies(tensors)
            before = [one._version for one in copies]
            shape.result, outputs = self.call(copy.deepcopy(model), shape.tree, copies)
            for spec, one, version in zip(shape.specs, copies, before):
                spec["written"] = one._version != version
            if self.task is not None:  # kernels write without a word
                for spec, one, given in zip(shape.specs, copies, tensors):
                    spec["written"] = spec["written"] or not torch.equal(bits_of(one), bits_of(given))
            tracked = copy.deepcopy(model)
            first = self.whole_call(shape, tracked, tensors, seed=1)
            second = self.whole_call(shape, tracked, tensors, seed=2)
        except Declined:
            raise
        except Exception as error:
            raise Declined(f"{'run' if self.task else 'Model.forward'}: {said_by(error, self.file)}")
        if holds_numbers(shape.result):
            raise Declined("forward gives numbers or texts: let it give tensors, or lists and dictionaries of them")
        if not outputs and not any(spec["written"] for spec in shape.specs):
            raise Declined("forward gives no tensor")
        if self.task is not None:
            self.task.fits(shape.told, outputs)
        shape.outputs = [{"type": type_name(one.dtype), "shape": list(one.shape)} for one in outputs]
        del copies, outputs
        for one, other in zip(first, second):
            if self.forbidden(shape, one, one).any():
                raise Declined("the reference gives infinities or NaN, which the workload's tolerance does not allow")
            if one.shape != other.shape or not self.verdict(shape, one, other, 1)[0]:
                raise Declined(
                    "the same inputs give other outputs from call to call: it keeps state or draws random numbers, "
                    "so nothing says what is right"
                )
        first = second = one = other = None  # large ones take memory that is wanted below
        state = weights_of(model)
        changed = [n for n, one in weights_of(tracked).items() if n in state and not torch.equal(one, state[n])]
        if changed:
            self.notes.append(f"calls change buffers ({', '.join(changed[:3])}); what they become is not compared")
        # Kernels are made for their types.
        shape.precision = "native" if isinstance(self.task, TritonBench) else self.widest(shape, model, tensors)
        shape.work = self.work_of(shape, model, tensors)
        self.facts += self.facts_of_shape(shape)
        for answer in self.trivial_answers(shape, model, rng):
            if answer not in self.trivial:
                self.trivial.append(answer)

    def copies(self, tensors):
        out = []
        for one in tensors:
            made = torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device=one.device)
            put(one, made)
            out.append(made)
        return out

    def whole_call(self, shape, model, tensors, seed=0, copied=()):
        """The outputs, and behind them the inputs that a call writes. `copied`: inputs that nobody else has."""
        copies = [one if number in copied else self.copies([one])[0] for number, one in enumerate(tensors)]
        _, outputs = self.call(model, shape.tree, copies, seed)
        return [one.detach().clone() for one in outputs] + [
            one for one, spec in zip(copies, shape.specs) if spec["written"]
        ]

    def usual_call(self, shape, model, tensors):
        """As PyTorch computes it if nobody says otherwise: convolutions and recurrent layers of a device in TF32."""
        torch.backends.cudnn.allow_tf32 = True
        try:
            return self.whole_call(shape, model, tensors)
        finally:
            torch.backends.cudnn.allow_tf32 = False

    def wide(self, model):
        return model if isinstance(model, Called) else copy.deepcopy(model).double()

    def wide_call(self, shape, model, tensors):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            wide = [one.double() if one.is_floating_point() else one for one in tensors]
            copied = {number for number, (one, other) in enumerate(zip(wide, tensors)) if one is not other}
            return self.whole_call(shape, model, wide, copied=copied)
        finally:
            torch.set_default_dtype(before)

    def widest(self, shape, model, tensors):
        """f64 where the module can be computed so, with the same results but for rounding."""
        native = self.whole_call(shape, copy.deepcopy(model), tensors)
        try:
            wide = self.wide_call(shape, self.wide(model), tensors)
        except Exception as error:
            self.notes.append(f"computed in its own precision, as f64 fails: {said_by(error)}")
            return "native"
        for one, other in zip(native, wide):
            if one.is_floating_point() != other.is_floating_point() or one.shape != other.shape:
                self.notes.append("computed in its own precision, as it gives something else in f64")
                return "native"
            if not one.is_floating_point() or one.numel() == 0:
                continue
            size = sum(float(widened(part).abs().sum()) for part, _ in parts_of(other, other)) / other.numel()
            if not all(torch.allclose(widened(a), widened(b), 0.05, 0.05 * size + 1e-6, equal_nan=True) for a, b in parts_of(one, other)):  # fmt: skip
                self.notes.append("computed in its own precision, as it gives other values in f64")
                return "native"
        return "f64"

    def facts_of(self, model):
        facts = [f"PyTorch {torch.__version__} on {device_text(self.device)}"]
        facts.append(makers_text(self.device))
        if not isinstance(model, Called):
            facts.append("training mode, as its constructor leaves it" if model.training else "evaluation mode")
        return facts

    def facts_of_shape(self, shape):
        facts = [f"shape {shape.told['name']}:"] if len(self.shapes) > 1 else []
        for spec in shape.specs:
            facts.append(f"input {spec['type']}{spec['shape']}, {spec['about']}" + (", changed by the call" if spec["written"] else ""))  # fmt: skip
        for spec in shape.outputs:
            facts.append(f"output {spec['type']}{spec['shape']}")
        facts.append(f"{shape.work['bytes']} bytes of inputs, weights and outputs")
        return facts

    def work_of(self, shape, model, tensors):
        """What a call cannot do without: everything moved once, what it changes twice, and the products that torch counts."""
        moved = sum(one["bytes"] * (2 if one.get("written") else 1) for one in shape.specs + self.state)
        moved += sum(math.prod(one["shape"]) * element_size(type_called(one["type"])) for one in shape.outputs)
        try:  # FlopCounterMode counts the same, but takes seconds to import what compiles
            copies = self.copies(tensors)
            operations = sum_of(operators_of(lambda: self.call(copy.deepcopy(model), shape.tree, copies)), "operations")
        except Exception:
            operations = 0  # an older torch, or kernels that nothing is known of
        kinds = [one for one in (spec["type"] for spec in shape.specs) if one[0] in "fb" and one != "bool"]
        widest = max(kinds, key=lambda one: element_size(type_called(one)), default="f32")
        return {"bytes": moved, "operations": operations, "type": widest}

    def trivial_answers(self, shape, model, rng):
        """The names of answers without work that would pass, and what that means."""
        native = Side(model)
        found = []
        first, second = self.varied(shape, rng.getrandbits(62)), self.varied(shape, rng.getrandbits(62))
        right, other = self.expected(shape, native, first), self.expected(shape, native, second)
        del first, second

        def mean_everywhere(one):
            if is_packed(one):
                return torch.zeros_like(one)
            return torch.full_like(one, float(one.double().mean()) if one.is_floating_point() and one.numel() else 0)

        answers = {
            "zeros": lambda number: torch.zeros_like(right[number]),
            "the outputs for other inputs": lambda number: other[number],
            "its mean everywhere": lambda number: mean_everywhere(right[number]),
        }
        types = [one["type"] for one in shape.outputs]
        types += [spec["type"] for spec in shape.specs if spec["written"]]
        for name, answer in answers.items():
            if all(self.verdict(shape, answer(number).to(type_called(kind)), right[number], 1)[0] for number, kind in enumerate(types)):  # fmt: skip
                found.append(name)
        return found

    def varied(self, shape, seed):
        rng = random.Random(seed)
        _, tensors = self.drawn(shape, rng.getrandbits(62))
        return [promise.varied(one, rng) for promise, one in zip(shape.promises, tensors)]

    def expected(self, shape, side, tensors):
        if shape.precision != "f64":
            return self.whole_call(shape, side.native, tensors)
        if side.wide is None:
            side.wide = self.wide(side.native)
        return self.wide_call(shape, side.wide, tensors)

    def give_back(self):
        """Memory that PyTorch keeps for later is not there for the candidate, a process beside this one."""
        if self.device != "cpu" and torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > KEPT_UNUSED:
            torch.cuda.empty_cache()

    def explained_shape(self, shape, model, message, ends):
        """What PyTorch runs in a call of the shape, and where its time goes."""
        # Seeds that are nowhere else: these inputs are not judged by.
        tensors = self.drawn(shape, 0)[1]
        changes = any(spec["written"] for spec in shape.specs)

        def call():
            self.call(model, shape.tree, self.copies(tensors) if changes else tensors)

        lines, begin, peaks = [], time.monotonic(), message.get("peaks") or {}
        try:
            rows = operators_of(call)
            if rows:
                lines += operator_lines(rows, shape.work, peaks)
            if rows and self.device == "cuda" and not peaks.get("bandwidth"):
                lines.append("least times by the roofline are left out: peak rates of the device are not known")
        except Exception as error:
            lines.append(f"its operators cannot be told: {said_by(error)}")
        threads = torch.get_num_threads()
        torch.set_num_threads(max(1, message["threads"]))  # as it is timed
        torch.backends.cudnn.allow_tf32 = True  # as PyTorch is usually run
        try:
            if 2 * time.monotonic() - begin > ends:
                raise Declined("a call takes too long")
            kind = "time on the device" if self.device == "cuda" else "processor time"
            lines.append(f"shares of eager PyTorch's {kind} (torch.profiler): {profiled_shares(call, self.device, ends)}")
        except Exception as error:
            lines.append(f"its time by operator is not known: {error if isinstance(error, Declined) else said_by(error)}")
        finally:
            torch.backends.cudnn.allow_tf32 = False
            torch.set_num_threads(threads)
        return lines

    # Messages

    def explain(self, message):
        """For models that are asked for a faster module; nothing is judged by it."""
        begin, facts, wanted = time.monotonic(), [], message["shapes"]
        model = made_model(self.kind, self.init, 0, self.device, self.module)
        for place, number in enumerate(wanted):
            ends = begin + message["seconds"] * (place + 1) / len(wanted)
            name = f", shape {self.shapes[number].told['name']}" if len(self.shapes) > 1 else ""
            facts.append(f"a call of the reference as PyTorch runs it{name}, operator by operator without views: bytes read and written, operations of products where PyTorch counts them")  # fmt: skip
            facts += self.explained_shape(self.shapes[number], model, message, ends)
        return {"facts": [cut_line(line) for line in facts]}

    def described(self):
        return {
            "protocol": PROTOCOL, "name": "torch", "version": library_text(), "device": device_text(self.device),
            "memory": "device" if self.device == "cuda" else "shared", "init": self.init,
            "shapes": [shape.described() for shape in self.shapes], "state": self.state,
            "precision": "f64" if all(shape.precision == "f64" for shape in self.shapes) else "native", "facts": self.facts, "notes": self.notes, "trivial": self.trivial,
            "compiles": hasattr(torch, "compile"), "explains": True, "features": features_of(self.device),
        }  # fmt: skip

    def load(self, message):
        if self.memory is None:
            self.memory = mmap.mmap(3, message["bytes"])
        handle = {}
        if self.device != "cpu":
            self.inputs = self.shared.allocate(message["input_bytes"])
            handle = {"handle": self.shared.export(self.inputs)}
        for shape, laid in zip(self.shapes, message["shapes"]):
            places = zip(*laid["inputs"]) if laid["inputs"] else [()] * laid["slots"]
            shape.slots = [[self.view(at, spec) for at, spec in zip(one, shape.specs)] for one in places]
        return handle

    def view(self, at, spec):
        if self.device == "cpu":
            return view_of(self.memory, at, spec)
        flat = self.inputs[at : at + spec["bytes"]].view(type_called(spec["type"]))
        return flat.as_strided(spec["shape"], spec["strides"])

    def weights(self, message):
        model = made_model(self.kind, self.init, message["seed"], self.device, self.module)
        if message["mode"] in ("names", "order"):
            rng = random.Random(message["secret"])
            made = torch.Generator(device=self.device)
            made.manual_seed(rng.getrandbits(62))
            seen = set()
            parameters = set() if isinstance(model, Called) else {id(one) for one in model.parameters()}
            with torch.no_grad():
                for name, one in weights_of(model).items():
                    free = id(one) in parameters or name.endswith(("running_mean", "running_var"))
                    if not free or not one.is_floating_point() or one.data_ptr() in seen or one.numel() == 0:
                        continue
                    seen.add(one.data_ptr())
                    noise = torch.rand(one.shape, generator=made, device=self.device).to(one.dtype) * 2 - 1
                    # What a constructor sets to a constant is no constant for those who train it.
                    changed = one + 0.3 * noise if bool((one == one.flatten()[0]).all()) else one * (1 + 0.3 * noise)
                    one.copy_(changed)
        before = self.sides.get(message["side"])
        if before is not None and before.memory is not None:
            self.shared.free(before.memory)
        side = self.sides[message["side"]] = Side(model)
        offset = message["offset"]
        kept = []
        if self.device != "cpu":
            sizes = [(spec["bytes"] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT for spec in self.state]
            *places, whole = itertools.accumulate(sizes, initial=0)
            side.memory = self.shared.allocate(whole)
            for at, spec, one in zip(places, self.state, weights_of(model).values()):
                flat = side.memory[at : at + spec["bytes"]].view(one.dtype)
                kept.append(flat.as_strided(spec["shape"], spec["strides"]))
                kept[-1].copy_(one.detach())
            torch.cuda.synchronize()
            return {"handles": [self.shared.export(one) for one in kept]}
        for spec, one in zip(self.state, weights_of(model).values()):
            put(one.detach(), view_of(self.memory, offset, spec))
            offset += (spec["bytes"] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return {}

    def draw(self, message):
        rng, shape = random.Random(message["seed"]), self.shapes[message["shape"]]
        for slot in message["slots"]:
            seed = rng.getrandbits(62)
            varied = message["manner"] == "varied" or (message["manner"] == "mixed" and rng.random() < MIXED)
            tensors = self.varied(shape, seed) if varied else self.drawn(shape, seed)[1]
            for one, into in zip(tensors, shape.slots[slot]):
                put(one, into)
            # A candidate may write to memory of a device; what is right is computed of what it never had.
            self.inputs_of[slot] = tensors if self.device != "cpu" else shape.slots[slot]
        if self.device != "cpu":
            torch.cuda.synchronize()
        return {}

    def check(self, message):
        slot, side, shape = message["slot"], self.sides[message["side"]], self.shapes[message["shape"]]
        inputs = self.inputs_of[slot]
        right = self.expected(shape, side, inputs)
        answers = []
        for spec, place in zip(message["outputs"], message["places"]):
            full = dict(spec, bytes=span_bytes(spec["shape"], spec["strides"], element_size(type_called(spec["type"]))))
            answers.append(self.shared.view(place, full) if isinstance(place, dict) else view_of(self.memory, place, full))  # fmt: skip
        written = [number for number, spec in enumerate(shape.specs) if spec["written"]]
        for number, place in zip(written, message["written"]):
            spec = shape.specs[number]
            answers.append(shape.slots[slot][number] if self.device != "cpu" else view_of(self.memory, place, spec))
        names = [f"output {n}" if len(message["outputs"]) > 1 else "the output" for n in range(len(message["outputs"]))]
        names += [f"input {number} after the call" for number in written]
        worst, strict, wrong, total, reason = 0.0, 0.0, 0, 0, ""
        absolute, relative = 0.0, 0.0
        own_check = isinstance(self.task, GpuMode) and self.task.check is not None
        if own_check:
            given = arguments_of(shape.tree, self.copies(inputs))[0]
            reason = self.task.reason(given, unflatten(shape.result, answers[: len(message["outputs"])]))
        for number, (spec, seen, one) in enumerate(zip(shape.specs, shape.slots[slot], inputs)):
            # Memory of a device cannot be shared for reading only.
            if not reason and seen is not one and not spec["written"] and not torch.equal(bits_of(seen), bits_of(one)):
                reason = f"input {number} is changed by a call, which the module leaves as it is"
                wrong = 1
        native = None
        try:
            for number, (answer, expected) in enumerate(zip(answers, right)):
                fine, off, error, strict_error, where = self.compared(shape, answer, expected, 1)
                if not fine and (shape.precision == "f64" or self.device != "cpu"):
                    # Where PyTorch itself is off by more than the tolerance, so may others be by twice that.
                    if native is None:
                        native = self.usual_call(shape, side.native, inputs)
                    allowed = 2 * self.compared(shape, native[number], expected, 1)[2]
                    if allowed > 1:
                        fine, off, _, _, where = self.compared(shape, answer, expected, allowed)
                if own_check:
                    fine, off, error, strict_error = True, 0, 0.0, 0.0
                worst, strict = max(worst, error), max(strict, strict_error)
                absolute, relative = (max(a, b) for a, b in zip((absolute, relative), differences(answer, expected)))
                total += max(answer.numel(), 1)
                wrong += off
                if not fine and not reason:
                    reason = f"{names[number]} {where}"
        finally:
            if self.shared is not None:
                del answers
                self.shared.close()
        finite = [one if math.isfinite(one) else 1e30 for one in (worst, strict)]
        if reason and own_check:
            wrong = total
        elif reason and wrong < total:
            reason += f"; {100 * wrong / total:.3g} % of the elements are wrong"
        return {"ok": not reason, "reason": reason, "right_share": 1 - wrong / total, "error": finite[0],
                "strict_error": finite[1], "absolute_error": absolute, "relative_error": relative}  # fmt: skip

    def forbidden(self, shape, answer, expected):
        """Where a workload's tolerance allows no infinity and no NaN, not even the reference's."""
        answer, expected = decoded(answer), decoded(expected)
        if shape.tolerance is None or not answer.is_floating_point():
            return torch.zeros((), dtype=torch.bool)
        given, right = answer.double(), expected.to(answer.dtype).double()
        wrong = ~(given.isfinite() & right.isfinite())
        if shape.tolerance["allow_negative_infinity"]:
            wrong &= ~((given == -math.inf) & (right == -math.inf))
        return wrong

    def verdict(self, shape, answer, expected, allowed):
        return self.compared(shape, answer, expected, allowed)[:2]

    def compared(self, shape, answer, expected, allowed):
        """Whether it is right, how many elements are not, the largest error over what is tolerated, the same by
        stricter bounds, and where the first one is."""
        if answer.numel() == 0:
            return True, 0, 0.0, 0.0, ""
        answer, expected = decoded(answer), decoded(expected)
        scale, finite = 0.0, 0
        if answer.is_floating_point():
            for part, right in parts_of(answer, expected):
                size, usable = right.double(), right.to(part.dtype).isfinite()
                size = size if bool(usable.all()) else size[usable]
                scale, finite = scale + float(torch.dot(size, size)), finite + size.numel()
        scale = math.sqrt(scale / finite) if finite else 1.0
        error, strict, count, capped, never, begin = 0.0, 0.0, 0, 0, 0, 0
        first = first_never = None
        for part, right in parts_of(answer, expected):
            off, beyond, *errors = self.compared_part(shape, part, right, allowed, scale)
            error, strict = max(error, errors[0]), max(strict, errors[1])
            if first is None and bool(off.any()):
                first = begin + int(off.to(torch.uint8).argmax())
            count += int(off.sum())
            if beyond is not None:
                either = off | beyond
                if first_never is None and bool(either.any()):
                    first_never = begin + int(either.to(torch.uint8).argmax())
                never, capped = never + int(beyond.sum()), capped + int(either.sum())
            begin += part.numel()
        if shape.tolerance is not None and not self.strict and answer.is_floating_point():
            # Elements may be off in part; none by more than the cap, none without being a number.
            if 1 - count / answer.numel() >= shape.tolerance["matched_ratio"] and never == 0:
                return True, count, min(error, 1.0), strict, ""
            count, first = capped, first_never
        if count == 0:
            return True, 0, error, strict, ""
        at, place = [], first
        for extent in reversed(answer.shape):
            at.insert(0, place % extent)
            place //= extent
        index = tuple(at)
        where = f"at {at}: {float(answer[index]):.7g}, expected {float(expected[index]):.7g}"
        return False, count, error, strict, where

    def compared_part(self, shape, answer, expected, allowed, scale):
        """Which elements are off, which can be no part of those that a workload's tolerance lets be off (or None), and
        the two errors. `scale`: the root mean square of the whole output."""
        if not answer.is_floating_point():
            off = answer != expected.to(answer.dtype)
            error = 1e30 if bool(off.any()) else 0.0
            return off, None, error, error
        kind = type_name(answer.dtype)
        absolute, relative = self.tolerances[kind]
        if shape.tolerance is not None:
            absolute, relative = shape.tolerance["absolute"], shape.tolerance["relative"]
        expected, given = expected.double(), answer.double()
        distance, size = (given - expected).abs_(), expected.abs()
        strictly = (size + min(1.0, scale)).mul_(STRICT.get(kind, 0.1)).add_(1e-300)
        bound = strictly if self.strict else size.mul_(relative).add_(absolute + 1e-300)
        error, strict = distance / bound, distance / strictly
        if shape.tolerance is None and self.worst(error) <= allowed:
            # Nearly always all of it is right, which is seen in a third of the time.
            return torch.zeros((), dtype=torch.bool), None, self.worst(error), self.worst(strict)
        rounded = expected.to(answer.dtype).double()  # what is too large for the type is infinite there
        same = (given == expected) | (given == rounded) | (given.isnan() & rounded.isnan())
        # Within the bound of an infinity would be any number.
        off, beyond = ~same & ~((distance <= allowed * bound) & rounded.isfinite()), None
        if shape.tolerance is not None and not self.strict:
            beyond = self.forbidden(shape, answer, expected)
            if shape.tolerance["error_cap"] is not None:
                beyond = beyond | (~same & ~(distance <= shape.tolerance["error_cap"] * max(1, allowed)))
        # NaN that is expected is no error.
        return off, beyond, self.worst(error[~same]), self.worst(strict[~same])

    @staticmethod
    def worst(ratio):
        value = float(ratio.max()) if ratio.numel() else 0.0
        return value if not math.isnan(value) else math.inf


def parts_of(answer, expected):
    """Both, flat and in order, in parts that are compared at once."""
    return zip(decoded(answer).reshape(-1).split(COMPARED_AT_ONCE), decoded(expected).reshape(-1).split(COMPARED_AT_ONCE))


def differences(answer, expected):
    """The largest absolute and relative difference of the elements that are finite on both sides, as FlashInfer-Bench has them."""
    absolute, relative = 0.0, 0.0
    for given, right in parts_of(answer, expected):
        if given.numel() == 0:
            continue
        right = right.double()
        apart = (given.double() - right).abs_().nan_to_num_(0, 0, 0)
        absolute = max(absolute, float(apart.max()))
        relative = max(relative, float(apart.div_(right.abs().add_(1e-8)).nan_to_num_(0, 0, 0).max()))
    return absolute, relative


def serve_reference(channel):
    reference = None
    while True:
        message = channel.read()
        if message is None or message["type"] == "end":
            return
        kind, name = message["type"], message["id"]
        answers = {"describe": "described", "explain": "explained", "load": "loaded", "draw": "drawn", "check": "checked"}
        try:
            if kind == "describe":
                torch.set_num_threads(max(1, message.get("threads", 1), len(os.sched_getaffinity(0)) - 1))
                reference = Reference(message)
                reply = reference.described()
            else:
                reply = getattr(reference, kind)(message)
        except Declined as declined:
            reply = {"ok": False, "reason": one_line(declined)}
        except Exception as error:
            traceback.print_exc()
            reply = {"ok": False, "reason": f"the reference fails: {said_by(error)}"}
        if reference is not None:
            reference.give_back()
        channel.write({"type": answers.get(kind, kind), "id": name, **reply})


# Candidates --------------------------------------------------------------------------------------------------


class Candidate:
    """One candidate, in a process of its own."""

    def __init__(self, message, folder):
        torch.set_num_threads(max(1, message["threads"]))
        self.device = "cuda" if message["memory"] == "device" else "cpu"
        self.file = os.path.join(folder, "model_new.py")
        with open(self.file, "w") as out:
            out.write(message["source"])
        sys.path.insert(0, folder)
        try:
            module = loaded_text(message["source"], "model_new", self.file)
        except BaseException as error:
            raise Declined(said_by(error, self.file))
        kind = getattr(module, message["class"], None)
        if kind is None:
            raise Declined(f"it defines no `{message['class']}`")
        try:
            self.model = made_model(kind, message["init"], message["seed"], self.device, module)
        except BaseException as error:
            raise Declined(f"{message['class']}: {said_by(error, self.file)}")
        self.outputs, self.memory, self.shared = [], {}, None
        self.own = self.matched(message["state"])

    def matched(self, wanted):
        """Which of its tensors take the weights, and by what they were found."""
        self.weights = "none" if not wanted else "seed"
        own = weights_of(self.model)

        def alike(one, spec):
            return list(one.shape) == spec["shape"] and type_names().get(one.dtype) == spec["type"]

        if wanted and all(spec["name"] in own and alike(own[spec["name"]], spec) for spec in wanted):
            self.weights = "names"
            return [own[spec["name"]] for spec in wanted]
        if wanted and len(own) == len(wanted) and all(alike(one, spec) for one, spec in zip(own.values(), wanted)):
            self.weights = "order"
            return list(own.values())
        return []

    def load(self, message):
        if self.device == "cuda" and self.shared is None:
            self.shared = DeviceMemory()
        for number, part in enumerate(message["memory"]):
            if number not in self.memory and self.device == "cpu":
                access = mmap.ACCESS_WRITE if part["writable"] else mmap.ACCESS_READ
                self.memory[number] = mmap.mmap(part["descriptor"], part["bytes"], access=access)

        def tensor(spec, at):
            if self.device == "cpu":
                return view_of(self.memory[spec["memory"]], at, spec)
            if not isinstance(at, dict):
                whole = message["memory"][0]["device"]
                at = {"handle": whole["handle"], "offset": whole["offset"] + at}
            return self.shared.view(at, spec)

        self.shapes = []
        for shape in message["shapes"]:
            slots = []
            for slot in range(shape["slots"]):
                inputs = [tensor(spec, spec["places"][slot]) for spec in shape["inputs"]]
                slots.append(arguments_of(shape["arguments"], inputs))
            self.shapes.append(slots)
        self.results = []
        if isinstance(self.model, Called) and self.model.results is not None:
            count = len(self.shapes[0][0][0]) if self.shapes and self.shapes[0] else 0
            if takes_outputs(self.model.function, count, len(self.model.results)):
                for shape in message["shapes"]:
                    self.results.append([
                        [torch.empty(spec["shape"], dtype=type_called(spec["type"]), device=self.device) for spec in shape["outputs"]]
                        for _ in range(shape["slots"])
                    ])  # fmt: skip
        if self.own:
            with torch.no_grad():
                for one, spec in zip(self.own, message["state"]):
                    one.copy_(tensor(spec, spec["places"][0]))
        if self.device == "cuda":
            torch.cuda.synchronize()
        return {}

    def run(self, message):
        model, slots, outputs = self.model, self.shapes[message["shape"]], self.outputs
        try:
            with torch.no_grad():
                if self.results:
                    given = self.results[message["shape"]]
                    for slot in message["slots"]:
                        model.function(*slots[slot][0], *given[slot])
                        outputs.append(given[slot])
                else:
                    for slot in message["slots"]:
                        args, kwargs = slots[slot]
                        outputs.append(model(*args, **kwargs))
            if self.device == "cuda":
                torch.cuda.synchronize()
        except BaseException as error:
            return {"ok": False, "reason": f"forward: {said_by(error, self.file)}"}
        if not message["layout"] and self.device == "cpu":
            return {"places": [self.places(one) for one in outputs]}
        layout, trees, places = [], [], []
        for one in outputs:
            tensors = []
            try:
                trees.append(flatten(one, tensors))
            except Declined as declined:
                return {"ok": False, "reason": f"forward's result: {declined}"}
            for tensor in tensors:
                if tensor.layout != torch.strided or tensor.device.type != self.device:
                    return {"ok": False, "reason": f"forward gives a {tensor.layout} tensor on {tensor.device}"}
            layout = [
                {"type": type_names().get(t.dtype, str(t.dtype)), "shape": list(t.shape), "strides": list(t.stride())}
                for t in tensors
            ]
            if self.device == "cuda":
                places.append([self.shared.export(t) for t in tensors])
            else:
                places.append([t.data_ptr() for t in tensors])
        return {"layout": layout, "result": trees[0], "places": places}

    def places(self, value):
        if type(value) is torch.Tensor:
            return [value.data_ptr()]
        tensors = []
        flatten(value, tensors)
        return [one.data_ptr() for one in tensors]

    def release(self, message):
        self.outputs.clear()
        gc.collect(0)
        return {}


def serve_candidate(channel, message, folder):
    answers = {"load": "loaded", "run": "ran", "release": "released"}
    candidate = None
    while message is not None and message["type"] != "end":
        kind = message["type"]
        try:
            if kind == "build":
                candidate = Candidate(message, folder)
                gc.disable()
                reply = {"weights": candidate.weights}
            else:
                reply = getattr(candidate, kind)(message)
        except Declined as declined:
            reply = {"ok": False, "reason": one_line(declined)}
        except BaseException as error:
            reply = {"ok": False, "reason": said_by(error)}
        channel.write({"type": "built" if kind == "build" else answers[kind], "id": message["id"], **reply})
        message = channel.read()


def prctl(option, value):
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def ended_text(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"it was ended by {signal.Signals(number).name}"
        except ValueError:
            return f"it was ended by signal {number}"
    return f"it ended with exit code {os.WEXITSTATUS(status)}"


def serve_candidates(channel):
    set_dumpable, set_subreaper = 4, 36
    kept = set(os.listdir(tempfile.gettempdir()))
    prctl(set_subreaper, 1)  # what a candidate leaves behind stays below us, where it is found
    prctl(set_dumpable, 0)  # and cannot look into us
    while True:
        message = channel.read()
        if message is None or message["type"] == "end":
            return
        if message["type"] == "describe":
            channel.write(
                {"type": "described", "id": message["id"], "protocol": PROTOCOL, "name": "torch",
                 "version": library_text(), "device": "cuda" if torch.version.cuda else "cpu"}
            )  # fmt: skip
            continue
        folder = tempfile.mkdtemp()
        child = os.fork()
        if child == 0:
            prctl(set_dumpable, 1)  # its outputs are read from outside, without a call of its own
            os.environ.update(HOME=folder, TMPDIR=folder, TRITON_CACHE_DIR=os.path.join(folder, "triton"))
            tempfile.tempdir = folder
            code = 1
            try:
                serve_candidate(channel, message, folder)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        for name in set(os.listdir(tempfile.gettempdir())) - kept:
            path = os.path.join(tempfile.gettempdir(), name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                try:
                    os.unlink(path)
                except OSError:
                    pass
        channel.write({"type": "ended", "id": message["id"], "reason": ended_text(status)})


def start(role):
    global torch
    channel = Channel()
    warnings.simplefilter("ignore")
    try:
        import torch as imported
    except Exception as error:
        message = channel.read()
        channel.write({"type": "described", "id": message["id"], "ok": False, "reason": f"import torch: {said_by(error)}"})
        return
    torch = imported
    try:
        import triton  # noqa: F401
    except Exception:
        pass
    serve_reference(channel) if role == "reference" else serve_candidates(channel)


if __name__ == "__main__":
    start(sys.argv[-1])
