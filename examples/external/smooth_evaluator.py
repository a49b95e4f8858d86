# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels written in plain Python: what `build` makes of a text is a function that is called."""

import platform
from array import array

import kernelsearch_external


def build(source, configuration):
    names = {"array": array, **configuration}
    exec(compile(source, "kernel", "exec"), names)
    return names[configuration["WAY"]], {"source_bytes": len(source)}


kernelsearch_external.serve(build, name="python", version=platform.python_version(), device=platform.machine())
