#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One version in every place that names it: version_test.py SOURCE. include/kernelsearch/version.hpp decides."""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
failures = []


def read(name):
    return (source / name).read_text()


def same(what, found, wanted):
    if found != wanted:
        failures.append(f"{what} has {found}, not {wanted}")


header = read("include/kernelsearch/version.hpp")
version = re.search(r'#define KERNELSEARCH_VERSION "([^"]*)"', header).group(1)
numbers = [re.search(rf"#define KERNELSEARCH_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH")]
minor = ".".join(numbers[:2])
same("version.hpp, by its numbers,", ".".join(numbers), version)

# Places that hold the version as a text: each must have it once or more, and never another.
for name, pattern, wanted in (
    ("CITATION.cff", r"^version: (.*)$", version),
    ("include/kernelsearch/c/kernelsearch.h", r'The library\'s version, e\.g\. "([^"]*)"', version),
    ("docs/external_evaluators.md", r'"kernelsearch": "([^"]*)"', version),
    ("docs/formats/policy_protocol.md", r'"kernelsearch": "([^"]*)"', version),
    ("tests/consumer/app/CMakeLists.txt", r"find_package\(kernelsearch ([0-9.]+)", minor),
    ("docs/promises.md", r"find_package\(kernelsearch ([0-9.]+)\)", minor),
    ("packaging/vcpkg/kernelsearch/vcpkg.json", r'"version": "([^"]*)"', version),
    ("SECURITY.md", r"^\| ([0-9.]+) \| yes \|$", minor),
):
    found = re.findall(pattern, read(name), re.MULTILINE)
    if not found:
        failures.append(f"{name} no longer names the version (looked for {pattern})")
    for one in found:
        same(name, one, wanted)

# The newest section of the changelog is this version's, and no version has two.
sections = re.findall(r"^## (\S+) \(", read("CHANGELOG.md"), re.MULTILINE)
same("the newest section of CHANGELOG.md", sections[0] if sections else "none", version)
if len(set(sections)) != len(sections):
    failures.append(f"CHANGELOG.md has a version twice: {sections}")

# Builds and packages take it from the header alone.
pattern = re.search(r"^regex = '(.*)'$", read("pyproject.toml"), re.MULTILINE).group(1)
same("pyproject.toml, by its expression,", re.search(pattern, header).group("value"), version)
for name in ("pyproject.toml", "CMakeLists.txt", "cmake/KernelsearchPackages.cmake", "cmake/KernelsearchPackages_deb.cmake", "cmake/KernelsearchPackages_rpm.cmake",
             "packaging/conan/conanfile.py", "packaging/docker/Dockerfile", "packaging/homebrew/kernelsearch.rb"):
    if version in read(name):
        failures.append(f"{name} names the version itself; it is to be taken from version.hpp")

print("\n".join(failures) or f"version {version} everywhere")
sys.exit(1 if failures else 0)
