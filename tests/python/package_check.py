# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the Python package on the libraries of a build folder, installs it into a virtual environment and runs the tests beside this file.

    package_check.py SOURCE BUILD FOLDER SEQUENCES

SEQUENCES is the program of policy_sequences.cpp. The packages that it needs are taken from the interpreter where it has them all,
else installed where KERNELSEARCH_TEST_NETWORK=1 allows to; exits with 77 (skipped) without."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import zipfile

source, build, folder, sequences = (pathlib.Path(a).resolve() for a in sys.argv[1:5])
sys.path.insert(0, str(source / "tests/support"))
import python_environment  # noqa: E402

packages = ["nanobind", "scikit-build-core", "numpy", "pandas", "matplotlib", "pytest"]


def run(command, **more):
    print("$", *command, flush=True)
    done = subprocess.run(command, **more)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}")


if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").is_file():
    python_environment.skip("Python.h is not there; python3-dev has it")
if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
    python_environment.skip("there is no module venv; python3-venv has it")
if not (build / "cmake/kernelsearchConfig.cmake").is_file():
    python_environment.skip("the build folder has no package of its libraries (KERNELSEARCH_INSTALL is off)")
if all(importlib.util.find_spec(name.replace("-", "_")) for name in packages):
    folder.mkdir(parents=True, exist_ok=True)
    run([sys.executable, "-m", "venv", "--clear", str(folder / "venv")])
    python = str(folder / "venv/bin/python")
    # What this interpreter sees, which a virtual environment made of another one would not.
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "interpreter.pth").write_text("".join(p + "\n" for p in sys.path if p.endswith("-packages")))
else:
    python = python_environment.environment(folder, packages)

environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1", "MPLBACKEND": "Agg"}
environment.pop("KERNELSEARCH_WORKER", None)  # the wheel brings its own
if shutil.which("ccache"):
    environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
wheels = folder / "wheels"
shutil.rmtree(wheels, ignore_errors=True)
run([python, "-m", "pip", "-q", "wheel", "--no-build-isolation", "--no-deps", "-w", str(wheels), str(source),
     "-C", f"build-dir={folder / 'build'}", "-C", f"cmake.define.kernelsearch_DIR={build / 'cmake'}",
     "-C", "cmake.define.KERNELSEARCH_PYTHON_RUN=ON"], env=environment)
(wheel,) = wheels.glob("*.whl")
names = zipfile.ZipFile(wheel).namelist()
for wanted in ("_kernelsearch.pyi", "py.typed", "__init__.py", "libexec/kernelsearch-worker"):
    if f"kernelsearch/{wanted}" not in names:
        sys.exit(f"the wheel lacks kernelsearch/{wanted}; it has {names}")
if any(name.endswith((".a", ".hpp", ".cmake")) for name in names):
    sys.exit(f"the wheel brings what only developers need: {names}")
run([python, "-m", "pip", "-q", "install", "--force-reinstall", "--no-deps", str(wheel)], env=environment)
environment.update(
    KERNELSEARCH_TEST_SEQUENCES=str(sequences), KERNELSEARCH_TEST_SOURCE=str(source), KERNELSEARCH_TEST_COMMAND=str(build / "apps/kernelsearch/kernelsearch"),
    KERNELSEARCH_STORE=str(folder / "runs.db"), PYTHONWARNINGS="error::RuntimeWarning",
)
run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(source / "tests/python")], env=environment, cwd=folder)
