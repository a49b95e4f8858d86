# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a Triton kernel to a cubin, without a GPU, and says next to it how it is to be launched.

compile.py SOURCE OUTPUT ARCHITECTURE FUNCTION TYPES [NAME=VALUE...]

TYPES are those of the parameters that are no constants, in their order with commas between them, as Triton writes them;
`:16` behind one promises that 16 divides its value: `*fp16:16,i32`. NAME=VALUE is a constant of the kernel, num_warps or
num_stages: a whole number, or a product such as 132*4. OUTPUT gets the cubin, OUTPUT.json the function, shared memory and block.

compile.py --version: prints the versions of what takes part.
"""

import importlib.util
import inspect
import json
import math
import re
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def fail(message: str) -> None:
    sys.exit(f"error: {message}")


def kernel_of(file: str, name: str):
    """The function of that name in the file, which has to be decorated with triton.jit."""
    spec = importlib.util.spec_from_file_location("kernel", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name, None)
    if not isinstance(kernel, triton.JITFunction):
        fail(f"{Path(file).name} has no Triton kernel {name}")
    return kernel


def versions() -> str:
    ptxas = triton.knobs.nvidia.ptxas
    return f"Python {sys.version}\nTriton {triton.__version__}\nptxas {ptxas.version}"


def main(source: str, output: str, architecture: str, function: str, types: str, *settings: str) -> None:
    number = re.fullmatch(r"sm_(\d+)[a-z]?", architecture)
    if number is None:
        fail(f"{architecture} is no architecture of CUDA such as sm_90a")
    kernel = kernel_of(source, function)
    names = [parameter.name for parameter in kernel.params]
    values = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        values[name] = math.prod(int(factor) for factor in value.split("*"))
    constants = {name: values.pop(name) for name in names if name in values}
    variables = [name for name in names if name not in constants]
    given = types.split(",")
    if len(given) != len(variables):
        fail(f"{function} has {len(variables)} parameters that are no constants ({', '.join(variables)}), and {len(given)} types are given")
    signature = {name: "constexpr" for name in constants}
    attributes = {}
    for name, text in zip(variables, given):
        signature[name], _, divisor = text.partition(":")
        if divisor:
            attributes[(names.index(name),)] = [["tt.divisibility", int(divisor)]]
    signature = {name: signature[name] for name in names}
    arguments = dict(constexprs=constants, attrs=attributes)
    compiled = triton.compile(
        ASTSource(kernel, signature, **arguments), target=GPUTarget("cuda", int(number[1]), 32), options=values
    )
    metadata = compiled.metadata
    # Behind the parameters are the places of two scratch memories (from Triton 3.4 on), for which the problem
    # passes nothing.
    for scratch in ("global_scratch_size", "profile_scratch_size"):
        if getattr(metadata, scratch, 0):
            fail(f"{function} needs scratch memory ({scratch} is {getattr(metadata, scratch)}), which nobody gives it here")
    if getattr(metadata, "num_ctas", 1) != 1:
        fail(f"{function} is launched in clusters, which are for `launch` to say")
    Path(output).write_bytes(compiled.asm["cubin"])
    launch = {"function": metadata.name, "shared": metadata.shared, "block": [32 * metadata.num_warps]}
    Path(output + ".json").write_text(json.dumps(launch))


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(versions())
    elif len(sys.argv) < 6:
        sys.exit(inspect.getdoc(sys.modules[__name__]))
    else:
        main(*sys.argv[1:])
