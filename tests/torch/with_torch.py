# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For tests of python/kernelsearch/modules.py alone: `torch` and `modules`, or the end of the test as skipped, with the reason."""

import importlib.util
import os
import pathlib
import sys

try:
    import torch
except ImportError:
    named = os.environ.get("KERNELSEARCH_PYTHON", "")
    if not named or os.path.realpath(named) == os.path.realpath(sys.executable):
        print("skipped: no PyTorch; name a Python that has it in KERNELSEARCH_PYTHON")
        sys.exit(77)
    os.execv(named, [named, *sys.argv])

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("modules", ROOT / "python" / "kernelsearch" / "modules.py")
modules = importlib.util.module_from_spec(spec)
spec.loader.exec_module(modules)
modules.torch = torch
