#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where ccache or doctest is missing, configuring ends with the name of the package to install.

  missing_tools_test.py SOURCE"""
import subprocess
import sys
import tempfile

SOURCE = sys.argv[1]


def refusal(*options):
    with tempfile.TemporaryDirectory() as build:
        run = subprocess.run(["cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, *options], capture_output=True, text=True)
        if run.returncode == 0:
            sys.exit(f"configured in spite of {options}")
        return " ".join(run.stderr.split())


def check_has(text, part):
    if part not in text:
        sys.exit(f"'{part}' is missing in: {text}")


said = refusal("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache-of-nowhere")
check_has(said, "ccache-of-nowhere, which is not installed")
check_has(said, "apt-get install ccache-of-nowhere")
check_has(said, "-DCMAKE_CXX_COMPILER_LAUNCHER= to build without it")

said = refusal("-DCMAKE_DISABLE_FIND_PACKAGE_doctest=ON")
check_has(said, "apt-get install doctest-dev")
check_has(said, "-DKERNELSEARCH_BUILD_TESTS=OFF to build without tests")
