#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tuning specs for IREE's matmuls on processors, which IREE reads but has no tuner for.

    pip install iree-base-compiler iree-base-runtime numpy
    python3 iree_matmul.py make FOLDER             a problem folder; run by the Python that has IREE
    kernelsearch tune FOLDER --budget 40
    python3 iree_matmul.py spec FOLDER_tuned/matmul_best.json > spec.mlir
    iree-compile --iree-codegen-tuning-spec-path=spec.mlir ...

Without further words it is the program of the folder's problem (docs/external_evaluators.md): it writes a spec,
compiles, sees in IREE's dump that the spec was followed, and runs the module.

What can be tuned is what is still `linalg.matmul` when specs are matched: a convolution has become `linalg.generic`
by then, and a spec that names it does nothing, without a word. Hence the look at the dump.
"""
import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
# The blocks of a thread, of registers and of sums; `spec` 0 leaves all to IREE and is the default.
TUNABLES = {"spec": [0, 1], "block_m": [64, 32, 128, 256], "block_n": [64, 32, 128, 256], "rows": [8, 4, 16],
            "columns": [16, 32, 64], "depth": [16, 1, 4, 8, 32]}
CONSTRAINTS = ["block_n % columns == 0", "rows * columns <= 512",
               "spec == 1 or (block_m == 64 and block_n == 64 and rows == 8 and columns == 16 and depth == 16)"]


def configuration_text(c):
    return (f"#iree_cpu.lowering_config<distribution = [{c['block_m']}, {c['block_n']}, 0], "
            f"vector_common_parallel = [{c['rows']}, {c['columns']}, 0], vector_reduction = [0, 0, {c['depth']}]>")


def spec_text(c, operation="linalg.matmul"):
    """A tuning spec that gives every such operation this configuration."""
    return f"""module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @apply(%op: !transform.any_op {{transform.readonly}}, %config: !transform.any_param {{transform.readonly}}) {{
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }}
  transform.named_sequence @match(%op: !transform.any_op {{transform.readonly}}) -> (!transform.any_op, !transform.any_param) {{
    transform.match.operation_name %op ["{operation}"] : !transform.any_op
    %config = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = {configuration_text(c)},
      translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>> -> !transform.any_param
    transform.yield %op, %config : !transform.any_op, !transform.any_param
  }}
  transform.named_sequence @__kernel_config(%variant: !transform.any_op {{transform.consumed}}) -> !transform.any_op
      attributes {{iree_codegen.tuning_spec_entrypoint}} {{
    %done = transform.foreach_match in %variant @match -> @apply : (!transform.any_op) -> !transform.any_op
    transform.yield %done : !transform.any_op
  }}
}}
"""


class Ignored(Exception):
    """IREE has compiled, but not as the spec says."""


def compiled(source, configuration, operation="linalg.matmul"):
    """The module's bytes. `Ignored` where the spec matched nothing; IREE's own error where it does not compile."""
    import iree.compiler

    with tempfile.TemporaryDirectory() as folder:
        arguments = [*FLAGS, f"--iree-hal-dump-executable-configurations-to={folder}/dump"]
        if configuration["spec"]:
            spec = pathlib.Path(folder, "spec.mlir")
            spec.write_text(spec_text(configuration, operation))
            arguments.append(f"--iree-codegen-tuning-spec-path={spec}")
        module = iree.compiler.compile_str(source, extra_args=arguments)
        dumped = "".join(path.read_text() for path in pathlib.Path(folder, "dump").glob("*.mlir"))
        if configuration["spec"] and configuration_text(configuration) not in dumped:
            raise Ignored(f"the spec matched nothing: no {operation} is left where IREE looks for it")
    return module


def serve():
    import iree.compiler.version
    import iree.runtime
    import kernelsearch_external
    import numpy

    config = iree.runtime.Config("local-sync")

    def build(source, configuration):
        try:
            module = compiled(source, configuration)
        except Ignored as ignored:
            raise kernelsearch_external.Declined(str(ignored))
        context = iree.runtime.SystemContext(config=config)
        context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, module))
        matmul = context.modules.module["matmul"]

        def kernel(a, b, c):
            side = int(len(c) ** 0.5)
            product = matmul(numpy.frombuffer(a, numpy.float32).reshape(side, side), numpy.frombuffer(b, numpy.float32).reshape(side, side))
            numpy.copyto(numpy.frombuffer(c, numpy.float32).reshape(side, side), product.to_host())

        return kernel, {"module_bytes": len(module)}

    kernelsearch_external.serve(build, name="IREE", version=str(iree.compiler.version.VERSION), device="llvm-cpu, local-sync")


def make(folder):
    try:
        import iree.compiler
        import iree.runtime  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        sys.exit(f"iree_matmul.py: {sys.executable} cannot import {error.name}: pip install iree-base-compiler iree-base-runtime numpy")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    client = HERE.parent / "external" / "kernelsearch_external.py"
    for path in (HERE / "matmul.mlir", HERE / "matmul_reference.cpp", HERE / "iree_matmul.py", client):
        shutil.copyfile(path, folder / path.name)
    # The sandbox sees the system's folders and these: an environment, and the Python that it is made of.
    places = {str(pathlib.Path(one).resolve()) for one in (sys.prefix, sys.base_prefix)}
    readable = sorted(one for one in places if not one.startswith(("/usr", "/lib")))
    array = {"type": "f32", "size": "512 * 512"}
    problem = {
        "schema": 1, "name": "matmul", "backend": "external", "function": "matmul",
        "description": "A product of matrices by IREE, blocks by a tuning spec; times include copies of the three matrices.",
        "kernel": {"device": "matmul.mlir"},
        "arguments": [array | {"name": "a", "role": "in"}, array | {"name": "b", "role": "in"}, array | {"name": "c", "role": "out"}],
        "shapes": [{"name": "static"}], "tunables": TUNABLES, "constraints": CONSTRAINTS,
        "reference": {"source": "matmul_reference.cpp", "function": "matmul_reference"},
        "external": {"command": [sys.executable, "${FILES}/iree_matmul.py"], "files": ["iree_matmul.py", client.name],
                     "identity": [[sys.executable, "-m", "pip", "list"]], "readable": readable, "time": "slope"}}
    (folder / "problem.json").write_text(json.dumps(problem, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 3:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["spec"] and len(sys.argv) == 3:
        settings = json.loads(pathlib.Path(sys.argv[2]).read_text())["settings"]
        print(spec_text(settings) if settings["spec"] else "// nothing beat IREE's own choice: no spec is needed")
    elif len(sys.argv) == 1:
        serve()
    else:
        sys.exit(__doc__)
