#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libkernelsearch.so through ctypes alone: LIBRARY FOLDER. What a language without a C compiler has of it."""
import ctypes
import json
import math
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
folder = sys.argv[2]
library.ks_last_error.restype = library.ks_version.restype = ctypes.c_char_p
END, BAD_HANDLE, BUSY = 2, 5, 9


def ok(status):
    assert status == 0, (status, library.ks_last_error().decode())


def text(function, *before):
    """A text, by asking for its size first."""
    needed = ctypes.c_size_t()
    assert function(*before, None, ctypes.c_size_t(0), ctypes.byref(needed)) == 8
    buffer = ctypes.create_string_buffer(needed.value)
    ok(function(*before, buffer, needed, None))
    return buffer.value.decode()


def handle(function, *arguments):
    out = ctypes.c_void_p()
    ok(function(*arguments, ctypes.byref(out)))
    return out


space = handle(library.ks_space_parse, json.dumps(
    {"tunables": {"block": {"powers_of_two": [32, 256]}, "tile": {"range": [1, 9]}, "layout": ["größer", "kleiner"]},
     "constraints": ["block * tile <= 512"]}).encode())
assert text(library.ks_space_count, space) == "44"
assert text(library.ks_space_name, space, ctypes.c_size_t(2)) == "layout"
names = text(library.ks_policy_names).split("\n")
assert len(names) >= 20 and names == sorted(names)


def cost(settings):
    return 1 + abs(settings["block"] - 128) / 128 + abs(settings["tile"] - 3) / 8 + (settings["layout"] == "kleiner")


# A search to the end of the space, many asked at a time.
policy = handle(library.ks_policy_named, b"random", None)
search = handle(library.ks_search_new, space, policy, ctypes.c_uint64(1))
seen = {}
while True:
    jobs, configs, given = (ctypes.c_uint64 * 7)(), (ctypes.c_uint32 * 21)(), ctypes.c_size_t()
    status = library.ks_search_ask(search, ctypes.c_size_t(7), jobs, configs, ctypes.c_size_t(21), ctypes.byref(given))
    if status == END:
        break
    ok(status)
    for k in reversed(range(given.value)):
        config = (ctypes.c_uint32 * 3)(*configs[3 * k:3 * k + 3])
        settings = json.loads(text(library.ks_space_encode, space, config, ctypes.c_size_t(3)))
        seen[tuple(config)] = cost(settings)
        ok(library.ks_search_tell(search, ctypes.c_uint64(jobs[k]), 0, ctypes.c_double(cost(settings)), None))
assert len(seen) == 44
best, seconds = (ctypes.c_uint32 * 3)(), ctypes.c_double()
ok(library.ks_search_best(search, None, best, ctypes.c_size_t(3), ctypes.byref(seconds)))
assert seconds.value == min(seen.values()) == seen[tuple(best)]

# The last error is of its own thread; a freed object and one of another kind are told apart from a search.
assert library.ks_search_free(space) == BAD_HANDLE and b"another kind" in library.ks_last_error()
elsewhere = []
thread = threading.Thread(target=lambda: elsewhere.append(library.ks_last_error()))
thread.start()
thread.join()
assert elsewhere == [b""]

# Callbacks: an evaluator that is driven from a thread of its own, and a policy that is compared.
Evaluate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int),
                            ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


@Evaluate
def evaluate(user, trial, verdict, seconds, reason, capacity):
    lent, config = ctypes.c_void_p(), (ctypes.c_uint32 * 3)()
    ok(library.ks_trial_space(ctypes.c_void_p(trial), ctypes.byref(lent)))
    ok(library.ks_trial_config(ctypes.c_void_p(trial), config, ctypes.c_size_t(3)))
    settings = json.loads(text(library.ks_space_encode, lent, config, ctypes.c_size_t(3)))
    if settings["tile"] == 8:
        verdict[0] = 4
        ctypes.memmove(reason, b"no launch\0", 10)
    else:
        seconds[0] = cost(settings)
    return 0


problem = handle(library.ks_problem_new, b"from_python", b"", space)
evaluator = handle(library.ks_evaluator_own, b"a device", b"a toolchain", evaluate, None)
options = json.dumps({"store": os.path.join(folder, "ctypes.db"), "budget": "all", "policy": "exhaustive", "reuse": False})
run = handle(library.ks_run_start, problem, options.encode(), None, evaluator, None, None)
driver = threading.Thread(target=lambda: ok(library.ks_run_to_end(run)))
driver.start()
driver.join()
ok(library.ks_run_finish(run))
trials = ctypes.c_uint64()
ok(library.ks_run_trials(run, ctypes.byref(trials)))
ok(library.ks_run_best(run, None, ctypes.byref(seconds)))
assert trials.value == 44 and math.isclose(seconds.value, min(seen.values()))
assert cost(json.loads(text(library.ks_run_settings, run))) == seconds.value

for free, one in ((library.ks_run_free, run), (library.ks_evaluator_free, evaluator), (library.ks_problem_free, problem),
                  (library.ks_search_free, search), (library.ks_policy_free, policy), (library.ks_space_free, space)):
    ok(free(one))
print(f"kernelsearch {library.ks_version().decode()} through ctypes: {len(names)} policies, {len(seen)} configurations")
