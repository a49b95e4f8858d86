#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a configured build was found to use: the versions of compiler, CMake and libraries, as a row of the table in docs/install.md.

    dependencies.py BUILD            two lines of Markdown: heading and row
    dependencies.py --self-test      with a made-up build"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where each says its version: the variable of the cache that leads to its files, those files, and the expression in them.
IN_FILES = {
    "Boost": ("Boost_DIR", ("BoostConfigVersion.cmake",), r'set\(PACKAGE_VERSION "?([0-9.]+)'),
    "Eigen3": ("Eigen3_DIR", ("Eigen3ConfigVersion.cmake",), r'set\(PACKAGE_VERSION "?([0-9.]+)'),
    "nlohmann_json": ("nlohmann_json_DIR", ("nlohmann_jsonConfigVersion.cmake",), r'set\(PACKAGE_VERSION "?([0-9.]+)'),
    "fmt": ("fmt_DIR", ("fmt-config-version.cmake",), r'set\(PACKAGE_VERSION "?([0-9.]+)'),
    "CLI11": ("CLI11_DIR", ("CLI11ConfigVersion.cmake",), r'set\(PACKAGE_VERSION "?([0-9.]+)'),
    "SQLite": ("SQLite3_INCLUDE_DIR", ("sqlite3.h",), r'#define SQLITE_VERSION +"([0-9.]+)"'),
    "OpenSSL": ("OPENSSL_INCLUDE_DIR", ("openssl/opensslv.h", "*/openssl/opensslv.h"), r'OPENSSL_VERSION_STR "([0-9.]+)"'),
    "ZLIB": ("ZLIB_INCLUDE_DIR", ("zlib.h",), r'#define ZLIB_VERSION "([0-9]+(?:\.[0-9]+)*)'),
}


def fail(what):
    sys.exit(f"dependencies.py: {what}")


def versions(build, lowest):
    """Name to version, of the libraries that a build found."""
    try:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE))
    except OSError:
        fail(f"{build} is no configured build; configure one, e.g. cmake --preset ci")
    found = {"CMake": ".".join(cache[f"CMAKE_CACHE_{part}_VERSION"] for part in ("MAJOR", "MINOR", "PATCH"))}
    for file in (build / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake"):
        text = file.read_text()
        name = re.search(r'set\(CMAKE_CXX_COMPILER_ID "(\w+)"', text).group(1)
        found["compiler"] = {"GNU": "g++", "Clang": "clang++"}.get(name, name) + " " + re.search(r'set\(CMAKE_CXX_COMPILER_VERSION "([0-9.]+)"', text).group(1)
    for name in [*lowest, "CLI11"]:
        if name not in IN_FILES:
            fail(f"{name} is in cmake/KernelsearchHelpers.cmake; say in IN_FILES of this script where it says its version")
        variable, patterns, expression = IN_FILES[name]
        folder = pathlib.Path(cache.get(variable, ""))
        if variable not in cache or not folder.is_dir():
            continue  # this build does not use it
        for file in [file for pattern in patterns for file in sorted(folder.glob(pattern))]:
            match = re.search(expression, file.read_text(errors="replace"))
            if match:
                found[name] = match.group(1)
                break
        else:
            fail(f"no version of {name} in {folder}/{' or '.join(patterns)}: correct IN_FILES of this script")
    return found


def lowest_versions():
    text = (ROOT / "cmake/KernelsearchHelpers.cmake").read_text()
    return {name: version for name, version in re.findall(r"^set\(KERNELSEARCH_PACKAGE_OF_(\w+) \w+ ?([0-9.]*)", text, re.MULTILINE) if name != "Threads"}


def table(found):
    return f"| {' | '.join(found)} |\n| {' | '.join(found.values())} |"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "CMakeFiles/3.25.1").mkdir(parents=True)
        (folder / "CMakeFiles/3.25.1/CMakeCXXCompiler.cmake").write_text('set(CMAKE_CXX_COMPILER_ID "GNU")\nset(CMAKE_CXX_COMPILER_VERSION "12.2.0")\n')
        (folder / "zlib.h").write_text('#define ZLIB_VERSION "9.8.7.f-vendor"\n')
        (folder / "CMakeCache.txt").write_text(f"ZLIB_INCLUDE_DIR:PATH={folder}\n" + "".join(
            f"CMAKE_CACHE_{part}_VERSION:INTERNAL={number}\n" for part, number in (("MAJOR", 3), ("MINOR", 25), ("PATCH", 1))))
        wanted = {"CMake": "3.25.1", "compiler": "g++ 12.2.0", "ZLIB": "9.8.7"}
        if versions(folder, lowest_versions()) != wanted:
            fail(f"of a made-up build: {versions(folder, lowest_versions())}, not {wanted}")
    unknown = set(lowest_versions()) ^ set(IN_FILES) - {"CLI11"}
    if unknown:
        fail(f"IN_FILES and cmake/KernelsearchHelpers.cmake differ in {sorted(unknown)}")
    print("versions of a made-up build read")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2:
        print(table(versions(pathlib.Path(sys.argv[1]), lowest_versions())))
    else:
        sys.exit(__doc__)
