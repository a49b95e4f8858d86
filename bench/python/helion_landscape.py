# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a recording (T4) of Helion's own log of a search, so that policies can be compared on it.

    python bench/python/helion_landscape.py LOG.csv KERNEL DEVICE OUT.t4.json.gz

LOG.csv is what HELION_AUTOTUNE_LOG writes, or OUT/NAME-theirs.csv of helion_compare.py. Lists become a tunable for each of their values, as in
kernelsearch.helion; fields that never differ are left out, and a field with values of several kinds has their texts. Of a configuration that was timed
several times the last time counts, as for Helion. Nothing but Python's own library is needed.
"""

import ast
import csv
import gzip
import json
import pathlib
import sys


def configuration(text):
    """The fields of `Config(block_sizes=[64], ...)`."""
    call = ast.parse(text.removeprefix("helion."), mode="eval").body
    fields = {}
    for keyword in call.keywords:
        value = ast.literal_eval(keyword.value)
        if keyword.arg == "loop_orders":
            fields.update({f"{keyword.arg}_{i}": repr(tuple(one)) for i, one in enumerate(value)})
        elif isinstance(value, list):
            fields.update({f"{keyword.arg}_{i}": one for i, one in enumerate(value)})
        else:
            fields[keyword.arg] = value
    return fields


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    log, kernel, device, out = sys.argv[1:]
    with open(log, newline="") as file:
        rows = list({row["config_id"]: row for row in csv.DictReader(file) if row["status"] != "started"}.values())
    configurations = [configuration(row["config"]) for row in rows]
    names = list(dict.fromkeys(name for one in configurations for name in one))
    columns = {name: [one.get(name) for one in configurations] for name in names}
    columns = {name: values for name, values in columns.items() if len({repr(value) for value in values}) > 1}
    for name, values in columns.items():
        if len({type(value) for value in values}) > 1:  # a tunable has values of one kind
            columns[name] = [repr(value) for value in values]
    results = []
    for i, row in enumerate(rows):
        ms = float(row["perf_ms"]) if row["perf_ms"] else None
        results.append({
            "timestamp": "", "configuration": {name: values[i] for name, values in columns.items()}, "objectives": ["time"],
            "invalidity": "correct" if ms is not None else "runtime", "correctness": int(ms is not None),
            "times": {"compilation_time": 1e3 * float(row["compile_time_s"] or 0), "runtimes": [] if ms is None else [ms]},
            "measurements": [] if ms is None else [{"name": "time", "value": ms, "unit": "ms"}],
        })  # fmt: skip
    text = {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds", "kernel": kernel, "device": device}, "results": results}
    with gzip.GzipFile(filename="", fileobj=pathlib.Path(out).open("wb"), mode="wb", mtime=0) as file:
        file.write(json.dumps(text).encode())
    print(f"{out}: {len(rows)} configurations, {sum(row['perf_ms'] == '' for row in rows)} failed, {len(columns)} tunables")


if __name__ == "__main__":
    main()
