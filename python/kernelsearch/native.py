# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds solutions that are not one file of Python, and calls them: docs/tasks.md.

An answer made of such a solution imports this as `kernelsearch_native`. It is built in the process of the candidate, in the
sandbox, and needs the compiler there:

function(sources, entry, language, binding, destination_passing_style, options)

language  "python": several files; "cpp", "cuda": with the binding
binding   "tvm-ffi": a library whose function is called by its C ABI, with tensors as DLPack has them; apache-tvm-ffi must be
          installed next to PyTorch, for its headers and its library. "torch": an extension of PyTorch
options   cflags, cuda_cflags, ld_flags
"""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

import torch

CUDA_FILES, CPP_FILES = (".cu",), (".cpp", ".cc", ".cxx", ".c")
NONE, INT, BOOL, FLOAT, DLTENSOR, ERROR = 0, 1, 2, 3, 7, 67
KINDS = {
    "int8": (0, 8), "int16": (0, 16), "int32": (0, 32), "int64": (0, 64), "uint8": (1, 8), "bool": (6, 8),
    "float16": (2, 16), "float32": (2, 32), "float64": (2, 64), "bfloat16": (4, 16), "complex64": (5, 64),
    "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8), "float4_e2m1fn_x2": (17, 4),
}  # fmt: skip


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Value(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("number", ctypes.c_double), ("pointer", ctypes.c_void_p)]


class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", Value)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    def text(self):
        return ctypes.string_at(self.data, min(self.size, 2000)).decode(errors="replace") if self.data else ""


class ErrorObject(ctypes.Structure):
    """The head of an object, and of an error's cell."""

    _fields_ = [("references", ctypes.c_uint64), ("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32),
                ("deleter", ctypes.c_void_p), ("kind", Bytes), ("message", Bytes)]  # fmt: skip


def written(sources):
    folder = tempfile.mkdtemp()
    for name, text in sources.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
    return folder


def ran(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).splitlines()
        told = [line for line in lines if "error" in line] or lines
        raise RuntimeError(f"{words[0]} ended with {done.returncode}: " + " | ".join(told[:5]))


def compiler(name):
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"the solution needs {name}, which is not there")
    return found


def library_of(folder, sources, options):
    """Builds a shared library of the sources, with the headers of apache-tvm-ffi."""
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is None:
        raise RuntimeError("the solution needs apache-tvm-ffi in the Python that has PyTorch: pip install apache-tvm-ffi")
    package = os.path.dirname(spec.origin)
    runtime = os.path.join(package, "lib", "libtvm_ffi.so")
    headers = [f"-I{path}" for path in (folder, os.path.join(package, "include"), os.path.join(package, "3rdparty", "dlpack", "include"))]
    cuda = [name for name in sources if name.endswith(CUDA_FILES)]
    plain = [name for name in sources if name.endswith(CPP_FILES)]
    if not cuda and not plain:
        raise RuntimeError("the solution has no source file: " + ", ".join(sources))
    target = os.path.join(folder, "kernelsearch_solution.so")
    if cuda:
        major, minor = torch.cuda.get_device_capability()
        flags = ["-std=c++17", "-O3", "-Xcompiler", "-fPIC", f"-gencode=arch=compute_{major}{minor},code=sm_{major}{minor}"]
        ran([compiler("nvcc"), "-shared", *flags, *options.get("cuda_cflags", []), *headers, *cuda, *plain, "-o", target, runtime,
             *options.get("ld_flags", [])], folder)  # fmt: skip
    else:
        flags = ["-std=c++17", "-O3", "-fPIC"]
        ran([compiler("c++"), "-shared", *flags, *options.get("cflags", []), *headers, *plain, "-o", target, runtime,
             *options.get("ld_flags", [])], folder)  # fmt: skip
    return ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL), ctypes.CDLL(target)


def dl_tensor(tensor):
    name = str(tensor.dtype).replace("torch.", "")
    if name not in KINDS:
        raise TypeError(f"tensors of {tensor.dtype} cannot be passed to a library of tvm-ffi")
    code, bits = KINDS[name]
    count = tensor.dim()
    sizes = (ctypes.c_int64 * max(count, 1))(*tensor.shape)
    strides = (ctypes.c_int64 * max(count, 1))(*tensor.stride())
    device = (2, tensor.device.index or 0) if tensor.device.type == "cuda" else (1, 0)
    return DLTensor(tensor.data_ptr(), *device, count, code, bits, 2 if name.endswith("_x2") else 1, sizes, strides, 0)


def raised(runtime, code):
    """What a library has raised, for people."""
    try:
        handle = ctypes.c_void_p()
        runtime.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
        if handle.value:
            error = ErrorObject.from_address(handle.value)
            if error.type_index == ERROR:
                return f"{error.kind.text()}: {error.message.text()}"
    except AttributeError:
        pass
    return f"the library's function ended with {code}"


def tvm_ffi_function(folder, sources, entry, options):
    runtime, library = library_of(folder, sources, options)
    try:
        call = getattr(library, "__tvm_ffi_" + entry)
    except AttributeError:
        raise RuntimeError(f"the library exports no `{entry}`: TVM_FFI_DLL_EXPORT_TYPED_FUNC({entry}, ...) does") from None
    call.restype = ctypes.c_int
    call.argtypes = [ctypes.c_void_p, ctypes.POINTER(Any), ctypes.c_int32, ctypes.POINTER(Any)]

    def run(*arguments):
        packed, kept = (Any * max(len(arguments), 1))(), []
        for place, one in zip(packed, arguments):
            if isinstance(one, torch.Tensor):
                kept.append(dl_tensor(one))
                place.type_index, place.value.pointer = DLTENSOR, ctypes.addressof(kept[-1])
            elif isinstance(one, bool):
                place.type_index, place.value.integer = BOOL, int(one)
            elif isinstance(one, int):
                place.type_index, place.value.integer = INT, one
            elif isinstance(one, float):
                place.type_index, place.value.number = FLOAT, one
            elif one is not None:
                raise TypeError(f"a value of type {type(one).__name__} cannot be passed to a library of tvm-ffi")
        result = Any()
        code = call(None, packed, len(arguments), ctypes.byref(result))
        if code != 0:
            raise RuntimeError(raised(runtime, code))

    return run


def torch_function(folder, sources, entry, options):
    from torch.utils.cpp_extension import load

    files = [os.path.join(folder, name) for name in sources if name.endswith(CUDA_FILES + CPP_FILES)]
    module = load(name="kernelsearch_solution", sources=files, build_directory=folder, extra_include_paths=[folder],
                  extra_cflags=options.get("cflags", []), extra_cuda_cflags=options.get("cuda_cflags", []),
                  extra_ldflags=options.get("ld_flags", []), with_cuda=any(f.endswith(CUDA_FILES) for f in files) or None)  # fmt: skip
    return getattr(module, entry)


def python_function(folder, file, entry):
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("kernelsearch_solution", os.path.join(folder, file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, entry)


def function(sources, entry, language, binding="tvm-ffi", destination_passing_style=True, options=None):
    """The solution's function, built; `entry` is `file::name`."""
    file, name = entry.split("::")
    folder, options = written(sources), options or {}
    if language == "python":
        called = python_function(folder, file, name)
    elif binding == "torch":
        called = torch_function(folder, sources, name, options)
    else:
        called = tvm_ffi_function(folder, sources, name, options)

    def run(*arguments):
        return called(*arguments)

    run.destination_passing_style = destination_passing_style
    return run
