# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches over a list of configurations: by the package's extension, else by libkernelsearch.so through ctypes.

The library of C (docs/c.md) needs no Python of its own version, so what needs no more than this works in any.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import pathlib

_OK, _NOT_NOW, _END, _BUILD_FAILED, _LAUNCH_FAILED = 0, 1, 2, 3, 4


def _plain(value):
    """A value that a tunable can have: what is none goes by its text."""
    return value if isinstance(value, (bool, int, float, str)) else repr(value)


def columns_of(configs):
    """The names of `configs`, dicts, in the order in which they occur, and the values of each in that order."""
    columns = {}
    for config in configs:
        for name in config:
            columns.setdefault(name, [])
    for config in configs:
        for name, values in columns.items():
            value = _plain(config.get(name))
            if not any(type(value) is type(one) and value == one for one in values):
                values.append(value)
    for name, values in columns.items():
        if len({type(value) for value in values}) > 1:  # a tunable has values of one kind
            columns[name] = list(dict.fromkeys(repr(value) for value in values))
    return columns


def _rows(configs, columns):
    rows = []
    for config in configs:
        row = []
        for name, values in columns.items():
            value = _plain(config.get(name))
            row.append(value if any(type(value) is type(one) and value == one for one in values) else repr(value))
        rows.append(row)
    return rows


class InOrder:
    """Without the library: the configurations one after another."""

    def __init__(self, configs):
        self._left = list(range(len(configs)))

    def ask(self, n):
        """At most n positions in the list, none twice; [] when there are none now, None at the end."""
        given, self._left = self._left[:n], self._left[n:]
        return given or None

    def tell(self, index, value, reason=""):
        """What became of a position: a number, lower is better, or None and why."""


class PackageSearch:
    """The same by the package's extension."""

    def __init__(self, configs, policy, seed, budget):
        from ._kernelsearch import Space
        from ._optimizer import Failed, Optimizer

        self._failed = Failed
        columns = columns_of(configs)
        rows = _rows(configs, columns)
        self._names = list(columns)
        self._at = {tuple(row): i for i, row in enumerate(rows)}
        space = Space.listed(columns, [dict(zip(columns, row)) for row in rows])
        self._optimizer = Optimizer(space, policy, seed, budget=budget)
        self._trials = {}

    def ask(self, n):
        given = []
        for trial in self._optimizer.ask(n):
            index = self._at[tuple(trial.config[name] for name in self._names)]
            self._trials[index] = trial
            given.append(index)
        return given if given or self._optimizer.pending else None

    def tell(self, index, value, reason=""):
        self._optimizer.tell(self._trials.pop(index), self._failed("launch", reason) if value is None else value)


def find_library():
    """The path of libkernelsearch.so.0: $KERNELSEARCH_LIBRARY, beside this file, or where the loader looks; or None."""
    given = os.environ.get("KERNELSEARCH_LIBRARY")
    if given:
        return given
    beside = pathlib.Path(__file__).with_name("libkernelsearch.so.0")
    return str(beside) if beside.exists() else ctypes.util.find_library("kernelsearch")


class LibrarySearch:
    """The same through libkernelsearch.so."""

    def __init__(self, configs, policy, seed, budget, library=None):
        path = library or find_library()
        if path is None:
            raise ImportError("there is no libkernelsearch.so.0: set KERNELSEARCH_LIBRARY to it (docs/c.md builds it)")
        self._c = ctypes.CDLL(path)
        self._c.ks_last_error.restype = ctypes.c_char_p
        columns = columns_of(configs)
        rows = _rows(configs, columns)
        self._width = len(columns)
        self._at = {tuple(values.index(value) for value, values in zip(row, columns.values())): i for i, row in enumerate(rows)}
        names = ", ".join(columns)
        # Where the list is all there is of each tunable's values no constraint is needed.
        text = {"tunables": columns}
        whole = 1
        for values in columns.values():
            whole *= len(values)
        if whole != len(self._at):
            listed = ", ".join("[" + ", ".join(_literal(value) for value in row) + "]" for row in rows)
            text["constraints"] = [f"[{names}] in [{listed}]"]
        text["default"] = dict(zip(columns, rows[0]))
        self._space, self._policy, self._search = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        options = json.dumps({"budget": budget, "try_default": False} if budget else {"try_default": False})
        self._call("ks_space_parse", json.dumps(text).encode(), ctypes.byref(self._space))
        self._call("ks_policy_named", policy.encode(), options.encode(), ctypes.byref(self._policy))
        self._call("ks_search_new", self._space, self._policy, ctypes.c_uint64(seed), ctypes.byref(self._search))
        self._jobs = {}

    def _call(self, name, *arguments, answers=(_OK,)):
        status = getattr(self._c, name)(*arguments)
        if status not in answers:
            raise ValueError((self._c.ks_last_error() or b"").decode(errors="replace"))
        return status

    def ask(self, n):
        jobs, given = (ctypes.c_uint64 * n)(), ctypes.c_size_t()
        configs = (ctypes.c_uint32 * (n * self._width))()
        status = self._call("ks_search_ask", self._search, ctypes.c_size_t(n), jobs, configs,
                            ctypes.c_size_t(n * self._width), ctypes.byref(given), answers=(_OK, _NOT_NOW, _END))  # fmt: skip
        if status == _END:
            return None
        found = []
        for k in range(given.value if status == _OK else 0):
            index = self._at[tuple(configs[k * self._width : (k + 1) * self._width])]
            self._jobs[index] = jobs[k]
            found.append(index)
        return found

    def tell(self, index, value, reason=""):
        verdict = _OK if value is not None else _LAUNCH_FAILED
        self._call("ks_search_tell", self._search, ctypes.c_uint64(self._jobs.pop(index)), ctypes.c_int(verdict),
                   ctypes.c_double(value or 0.0), reason.encode() if reason else None)  # fmt: skip

    def __del__(self):
        for name, handle in (("ks_search_free", "_search"), ("ks_policy_free", "_policy"), ("ks_space_free", "_space")):
            if getattr(self, handle, None):
                getattr(self._c, name)(getattr(self, handle))


def _literal(value):
    return repr(value) if not isinstance(value, str) else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def searcher(configs, policy, seed, budget):
    """A search over `configs`, a list of dicts, by a policy's name; `"in order"` needs no library."""
    if policy == "in order" or len(configs) == 1:
        return InOrder(configs)
    try:
        from . import _kernelsearch  # noqa: F401
    except ImportError:
        return LibrarySearch(configs, policy, seed, budget)
    return PackageSearch(configs, policy, seed, budget)
