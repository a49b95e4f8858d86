#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every recipe of packaging/ and every package names the dependencies that CMake looks for, and no others: recipes_test.py SOURCE."""
import fnmatch
import json
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
failures = []


def read(name):
    return (source / name).read_text()


def found(name, pattern):
    return set(re.findall(pattern, read(name), re.MULTILINE))


# What CMake looks for, with the lowest version; Threads are the compiler's, and CLI11 is the command's alone.
helpers = re.findall(r"^set\(KERNELSEARCH_PACKAGE_OF_(\w+) \w+ ?([0-9.]*)", read("cmake/KernelsearchHelpers.cmake"), re.MULTILINE)
lowest = {name: version for name, version in helpers if name != "Threads"}
if len(lowest) < 7:
    failures.append(f"cmake/KernelsearchHelpers.cmake no longer says what CMake looks for; found {lowest}")
if "find_package(CLI11 REQUIRED)" not in read("CMakeLists.txt"):
    failures.append("CMakeLists.txt no longer looks for CLI11 as this test knows it")
command = {**lowest, "CLI11": ""}

# What each recipe calls them.
NAMES = {
    "conan": {"eigen": "Eigen3", "boost": "Boost", "nlohmann_json": "nlohmann_json", "fmt": "fmt", "sqlite3": "SQLite", "openssl": "OpenSSL", "zlib": "ZLIB"},
    "vcpkg": {"eigen3": "Eigen3", "boost": "Boost", "nlohmann-json": "nlohmann_json", "fmt": "fmt", "sqlite3": "SQLite", "openssl": "OpenSSL", "zlib": "ZLIB", "cli11": "CLI11"},
    "homebrew": {"eigen": "Eigen3", "boost": "Boost", "nlohmann-json": "nlohmann_json", "fmt": "fmt", "sqlite": "SQLite", "openssl@3": "OpenSSL", "zlib-ng-compat": "ZLIB",
                 "cli11": "CLI11"},
    "Debian": {"libeigen3-dev": "Eigen3", "libboost-dev": "Boost", "libboost1.81-dev": "Boost", "nlohmann-json3-dev": "nlohmann_json", "libfmt-dev": "fmt", "libsqlite3-dev": "SQLite",
               "libssl-dev": "OpenSSL", "zlib1g-dev": "ZLIB", "libcli11-dev": "CLI11"},
}


def same(what, kind, named, wanted):
    """named: name in the recipe to the lowest version that it asks for, empty where it asks for none."""
    unknown = sorted(set(named) - set(NAMES[kind]))
    if unknown:
        failures.append(f"{what} depends on {', '.join(unknown)}, which is not among the names of {kind} that this test knows")
    have = {NAMES[kind][name]: version for name, version in named.items() if name in NAMES[kind]}
    for name in sorted(set(wanted) ^ set(have)):
        failures.append(f"{what} {'lacks' if name in wanted else 'names'} {name}, which CMake {'looks' if name in wanted else 'does not look'} for")
    for name, version in have.items():
        if wanted.get(name) and version and tuple(map(int, version.split(".")))[:2] < tuple(map(int, wanted[name].split("."))):
            failures.append(f"{what} takes {name} {version}, and CMake asks for {wanted[name]}")
        if wanted.get(name) and not version and kind in ("conan", "vcpkg"):
            failures.append(f"{what} takes any {name}, and CMake asks for {wanted[name]}")


recipe = "packaging/conan/conanfile.py"
same(recipe, "conan", dict(re.findall(r'self\.requires\("([a-z0-9_]+)/\[>=([0-9.]+)', read(recipe))), lowest)
# Conan builds a copy of the sources: the files outside of src/ that are compiled in must be in it too.
copied = re.findall(r'"([^"]+)"', re.search(r"for pattern in \((.*?)\):", read(recipe)).group(1))
embedded = re.findall(r"\.\./(\S+) kernelsearch::detail", read("src/CMakeLists.txt"))
if len(embedded) < 5:
    failures.append(f"src/CMakeLists.txt no longer names the files that are compiled in as this test knows it; found {embedded}")
for file in embedded:
    if not any(fnmatch.fnmatch(file, pattern) for pattern in copied):
        failures.append(f"{recipe} does not copy {file}, which src/CMakeLists.txt compiles in; add it to the patterns of `export_sources`")

recipe = "packaging/vcpkg/kernelsearch/vcpkg.json"
port = json.loads(read(recipe))
named = {}
for one in port["dependencies"] + [one for feature in port["features"].values() for one in feature["dependencies"]]:
    one = {"name": one} if isinstance(one, str) else one
    if not one.get("host") and one["name"] != "kernelsearch":
        named["boost" if one["name"].startswith("boost-") else one["name"]] = one.get("version>=", "")
same(recipe, "vcpkg", named, command)
# Boost is split there: each library that a file includes.
libraries = {file for folder in ("include", "src", "apps") for path in (source / folder).rglob("*.[hc]pp") for file in re.findall(r"#include <boost/(\w+)", path.read_text())}
ports = found(recipe, r'"boost-(\w+)"')
if libraries != ports:
    failures.append(f"{recipe} names of Boost {sorted(ports)}, and the sources include {sorted(libraries)}")

recipe = "packaging/homebrew/kernelsearch.rb"
tools = {"cmake", "ninja", "gcc", "llvm"}
same(recipe, "homebrew", {name: "" for name in found(recipe, r'depends_on "([^"]+)"') - tools}, command)

recipe = "cmake/KernelsearchPackages_deb.cmake"
suggested = re.search(r'DEVELOPMENT_PACKAGE_SUGGESTS\s+"([^"]*)"', read(recipe)).group(1)
same(recipe, "Debian", {name: "" for name in re.findall(r"\b((?:lib|zlib)[a-z0-9.]+-dev)\b", suggested)}, {name: at for name, at in lowest.items() if name != "nlohmann_json"})
packages = re.search(r"^build_packages=\((.*?)\)", read("scripts/common.sh"), re.MULTILINE | re.DOTALL).group(1)
same("scripts/common.sh", "Debian", {name: "" for name in re.findall(r"[a-z0-9.-]+-dev\b", packages)}, command)

# The image is built with the packages of common.sh.
if '"${build_packages[@]}"' not in read("packaging/docker/Dockerfile"):
    failures.append("packaging/docker/Dockerfile no longer takes its packages from scripts/common.sh")

print("\n".join(failures) or f"{len(command)} dependencies in every recipe")
sys.exit(1 if failures else 0)
