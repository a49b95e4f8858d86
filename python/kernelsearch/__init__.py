# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches tuning spaces: see docs/python.md.

    import kernelsearch as ks
    space = ks.Space({"block": [32, 64, 128, 256], "unroll": [1, 2, 4]}, ["block * unroll <= 512"])
    result = ks.minimize(time_of, space, trials=40)
    print(result.best.config, result.best.value)
"""
from __future__ import annotations

try:
    from ._kernelsearch import (
        ConfigError,
        DeviceError,
        Error,
        Recording,
        Space,
        StoreError,
        Trial,
        __version__,
        policies,
        policy_options,
        read_recording,
    )
    from ._optimizer import Failed, Optimizer, Result, minimize
    from ._spaces import permutation, powers_of_two
except ModuleNotFoundError as _missing:
    # A copy of the sources for another version of Python than the wheel's: `kernelsearch.triton`, `.external` and `.exports` work in it.
    if _missing.name != __name__ + "._kernelsearch":
        raise

# What is seldom needed, and what needs other packages, is imported when it is first asked for.
_later = {"compare": "_compare", "Comparison": "_compare", "run_options": "_tune", "tune": "_tune", "TuneResult": "_tune"}

__all__ = [
    "Comparison",
    "ConfigError",
    "DeviceError",
    "Error",
    "Failed",
    "Optimizer",
    "Recording",
    "Result",
    "Space",
    "StoreError",
    "Trial",
    "TuneResult",
    "__version__",
    "compare",
    "minimize",
    "permutation",
    "policies",
    "policy_options",
    "powers_of_two",
    "read_recording",
    "run_options",
    "tune",
]

TYPE_CHECKING = False  # as typing's, without the milliseconds of importing it
if TYPE_CHECKING:
    from ._compare import Comparison, compare
    from ._tune import TuneResult, run_options, tune


def __getattr__(name: str):
    if name in _later:
        from importlib import import_module

        value = getattr(import_module("." + _later[name], __name__), name)
        globals()[name] = value
        return value
    if name in ("exports", "plots", "triton", "external", "helion"):
        from importlib import import_module

        return import_module("." + name, __name__)
    if name in __all__:
        raise ImportError(f"kernelsearch.{name} needs the package's extension, which this Python has none of: pip install it")
    raise AttributeError(f"module 'kernelsearch' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, "exports", "external", "helion", "plots", "triton"])
