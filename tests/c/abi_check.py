#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what leaves libkernelsearch.so, and how the header declares it, with what was released.

    abi_check.py LIBRARY HEADER SNAPSHOT            what is in one and not in the other, and exit status 1
    abi_check.py LIBRARY HEADER SNAPSHOT --update   adds what is new to the snapshot; what is changed or gone stays a fault

The snapshot has one line for each symbol with its version and its signature (types alone: names of parameters may
change), for each type of callback, and for each constant. A line that was released is never changed or taken away
while the library's number (SOVERSION) is the same: programs that were built with it would break.
"""
import pathlib
import re
import subprocess
import sys


def words_of(text):
    """However it is laid out."""
    return re.sub(r"\s*\*\s*", " * ", text).split()


def types_of(parameters):
    """The types of a list of parameters, without their names and with one space between words."""
    types = []
    for parameter in parameters.split(","):
        words = words_of(parameter)
        if len(words) > 1 and re.fullmatch(r"[A-Za-z_]\w*", words[-1]) and words[-1] != "const":
            words.pop()
        types.append(" ".join(words))
    return "(" + ", ".join(types) + ")"


def declared(header):
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    functions = {name: " ".join(words_of(result)) + " " + types_of(parameters) for result, name, parameters in
                 re.findall(r"KS_API\s+([\w\s*]+?)\s*\b(ks_\w+)\(([^)]*)\);", text)}
    lines = {f"callback {name}": f"{result.strip()} {types_of(parameters)}" for result, name, parameters in
             re.findall(r"typedef\s+(\w[\w\s]*?)\s*\(\*(\w+)\)\(([^)]*)\);", text)}
    lines.update({f"opaque {name}": "" for name in re.findall(r"typedef struct (\w+) \1;", text)})
    for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", text, flags=re.S):
        lines.update({f"constant {name} {one}": value for one, value in re.findall(r"(\w+)\s*=\s*(-?\d+)", body)})
        if len(re.findall(r"\w+\s*=", body)) != len([one for one in body.split(",") if one.strip()]):
            sys.exit(f"every constant of {name} needs its value written out")
    return functions, lines


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True,
                             capture_output=True, text=True).stdout
    symbols = {}
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the names of the versions themselves
            symbols[name.split("@")[0]] = name.split("@")[-1] if "@" in name else "no version"
    return symbols


def main():
    library, header, snapshot = sys.argv[1:4]
    functions, lines = declared(pathlib.Path(header).read_text())
    symbols = exported(library)
    faults = [f"{name} leaves the library and is not declared in the header" for name in symbols if name not in functions]
    faults += [f"{name} is declared in the header and does not leave the library: add it to src/c/kernelsearch.map"
               for name in functions if name not in symbols]
    now = {f"function {name}": f"{symbols[name]} {signature}" for name, signature in functions.items() if name in symbols}
    now.update(lines)

    file = pathlib.Path(snapshot)
    released = dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "")
                    for line in file.read_text().splitlines() if line and not line.startswith("#")) if file.exists() else {}
    for name, what in released.items():
        if name not in now:
            faults.append(f"{name} was released and is gone: put it back, or raise the library's number")
        elif now[name] != what:
            faults.append(f"{name} was released as `{what}` and is `{now[name]}`: add another one instead")
    added = [name for name in now if name not in released]
    if "--update" in sys.argv:
        comment = "# What libkernelsearch.so.0 has released. Checked by tests/c/abi_check.py, which --update lets add lines.\n"
        merged = {**released, **{name: now[name] for name in added}}
        file.write_text(comment + "".join(f"{name}: {what}".rstrip() + "\n" for name, what in sorted(merged.items())))
    else:
        faults += [f"{name} is new: tests/c/abi_check.py {library} {header} {snapshot} --update" for name in added]
    print("\n".join(faults) or f"{len(symbols)} symbols and {len(lines)} types and constants are as released")
    sys.exit(1 if faults else 0)


main()
