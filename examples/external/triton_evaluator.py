# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs Triton kernels by PyTorch on an NVIDIA GPU, for any problem whose kernel is a Python file with

    def run(*arguments, **configuration)

that launches it once on the current stream: arrays come as tensors on the device, scalars as numbers, in the problem's order.
A request's time holds what a call needs besides the kernel: copying its inputs to the device and its outputs back, and
launching. The time between two events around the kernel alone is what the program claims. Where PyTorch, Triton or a GPU is
missing all requests are declined, with the reason.
"""

import importlib.util
import os
import platform
import tempfile
import warnings

# The sandbox's folder is the only one that can be written: Triton, its compilers and the driver keep files there.
os.environ["TMPDIR"] = tempfile.tempdir = os.environ.get("HOME", "/tmp")
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton"))

import kernelsearch_external  # noqa: E402

torch = triton = None
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16",
         "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool"}  # fmt: skip


def missing():
    """Imports what is needed; why that cannot be, else None."""
    global torch, triton
    where = f"Python {platform.python_version()} of external.command"
    todo = "have `command` begin with a python3 that has PyTorch and Triton, and name its folders in `readable` or by --readable"
    try:
        import torch
        import triton
    except (ImportError, OSError) as error:
        return f"{where} has no PyTorch or Triton ({type(error).__name__}: {error}); {todo}"
    try:
        torch.cuda.init()
        torch.cuda.synchronize()
    except (RuntimeError, AssertionError) as error:
        text = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return (f"PyTorch {torch.__version__} of {where} reaches no GPU of CUDA ({text}); it needs a driver, \"devices\": true, "
                "and the folder of the driver's libraries in `readable` where it is not the system's")  # fmt: skip
    return None


class Kernel:
    """A kernel with its memory: `load` hears of a shape, a call is a call of the problem's function."""

    def __init__(self):
        self.run, self.configuration, self.places = None, {}, []

    def build(self, source, configuration):
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:  # Triton reads the text of its functions
            file.write(source)
        spec = importlib.util.spec_from_file_location("kernel", file.name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.run, self.configuration = module.run, configuration
        return self

    def load(self, shape, arguments):
        """Allocates, and launches once on zeros: what Triton compiles for this shape is compiled before anything is timed."""
        self.places = []
        for one in arguments:
            if one.role is None:
                self.places.append((one, one.value, None))
                continue
            if one.type not in TYPES:
                raise kernelsearch_external.Declined(f"{one.name}: arrays of {one.type} are not for this program")
            dtype = getattr(torch, TYPES[one.type])
            self.places.append((one, torch.zeros(one.count, dtype=dtype, device="cuda"),
                                torch.empty(one.count, dtype=dtype, pin_memory=True)))  # fmt: skip
        self.run(*(device for _, device, _ in self.places), **self.configuration)
        torch.cuda.synchronize()
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def __call__(self, *values):
        views = [None if pinned is None else torch.frombuffer(value.cast("B"), dtype=pinned.dtype)
                 for value, (_, _, pinned) in zip(values, self.places)]  # fmt: skip
        for view, (one, device, pinned) in zip(views, self.places):
            if one.role in ("in", "inout"):
                pinned.copy_(view)
                device.copy_(pinned, non_blocking=True)
        self.begin.record()
        self.run(*(device for _, device, _ in self.places), **self.configuration)
        self.end.record()
        outputs = [(view, pinned, device) for view, (one, device, pinned) in zip(views, self.places) if one.role in ("out", "inout")]
        for _, pinned, device in outputs:
            pinned.copy_(device, non_blocking=True)
        torch.cuda.synchronize()
        for view, pinned, _ in outputs:
            view.copy_(pinned)
        return self.begin.elapsed_time(self.end) * 1e-3


def main():
    reason = missing()
    if reason is not None:
        kernelsearch_external.serve(None, name="Triton", version="none", device="none", declined=reason)
        return
    warnings.filterwarnings("ignore", message=".*buffer is not writable.*")
    kernel = Kernel()
    kernelsearch_external.serve(kernel.build, name="Triton", version=f"{triton.__version__}, PyTorch {torch.__version__}",
                                device=torch.cuda.get_device_name(), load=kernel.load)  # fmt: skip


main()
