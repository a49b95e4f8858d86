#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the order of a Kernel Tuner cachefile round: the fastest configuration becomes the slowest.

    reverse_recording.py FOLDER FILE.json.gz...

Writes FOLDER/NAME_reversed.json.gz for each. Such recordings are the worst that a search can be told to learn
from: `kernelsearch compare ... --learn-from FOLDER/*` shows what they cost.
"""
import gzip
import json
import os
import sys


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for path in sys.argv[2:]:
        with gzip.open(path, "rt") as file:
            recording = json.load(file)
        times = [e["time"] for e in recording["cache"].values() if isinstance(e.get("time"), (int, float))]
        product = min(times) * max(times)
        for entry in recording["cache"].values():
            entry.pop("times", None)
            if isinstance(entry.get("time"), (int, float)):
                entry["time"] = product / entry["time"]
        name = os.path.basename(path).removesuffix(".json.gz")
        with gzip.open(os.path.join(folder, name + "_reversed.json.gz"), "wt") as file:
            json.dump(recording, file)


main()
