#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the scripts choose packages by what a system has and offers: package_choice.py SOURCE.

The systems are made up: programs named dpkg-query, apt-cache and apt-get that answer from a table. Nothing is installed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BOOST = "libboost-dev>=1.81|libboost1.81-dev"
failures = 0

PROGRAM = """#!/bin/sh
case "${0##*/}" in
  dpkg-query) for name; do :; done; sed -n "s/^$name installed /installed /p" "$TABLE" | grep . ;;
  apt-cache) version=$(sed -n "s/^$2 offered //p" "$TABLE"); echo "$2:"; echo "  Installed: (none)"; echo "  Candidate: ${version:-(none)}" ;;
  apt-get) echo "apt-get $*" >> "$CALLS" ;;
  id) echo "${TEST_USER:-0}" ;;
esac
"""


def on(system, script, user=0):
    """What `script` prints after common.sh was read on a system of lines `PACKAGE installed|offered VERSION`, and what apt-get was told."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("dpkg-query", "apt-cache", "apt-get", "id"):
            (folder / name).write_text(PROGRAM)
            (folder / name).chmod(0o755)
        (folder / "sudo").symlink_to("/bin/false")
        (folder / "table").write_text("\n".join(system) + "\n")
        (folder / "calls").touch()
        done = subprocess.run(
            ["bash", "-c", f'source "{SOURCE}/scripts/common.sh"; {script}'], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TABLE": str(folder / "table"), "CALLS": str(folder / "calls"),
                 "TEST_USER": str(user), "CI": "true"})
        return done, (folder / "calls").read_text().splitlines()


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


def chosen(what, system, expected):
    done, _ = on(system, f"offered_packages '{BOOST}'")
    check(what, done.stdout.split() == expected, done)


DEBIAN_12 = ["libboost-dev offered 1.74.0.3", "libboost1.74-dev offered 1.74.0", "libboost1.81-dev offered 1.81.0-5"]
DEBIAN_13 = ["libboost-dev offered 1.83.0.2+b2", "libboost1.83-dev offered 1.83.0-4.2", "libboost1.88-dev offered 1.88.0-1"]
UBUNTU_24_04 = ["libboost-dev offered 1.83.0.1ubuntu2", "libboost1.83-dev offered 1.83.0-2.1ubuntu3"]
UBUNTU_22_04 = ["libboost-dev offered 1.74.0.3ubuntu7"]

if shutil.which("dpkg") is None:
    print("skipped: there is no dpkg to compare versions with")
    sys.exit(77)
chosen("Debian 12: the package of its own name, since the plain one is too old", DEBIAN_12, ["libboost1.81-dev"])
chosen("Debian 13: the plain one", DEBIAN_13, ["libboost-dev"])
chosen("Ubuntu 24.04: the plain one", UBUNTU_24_04, ["libboost-dev"])
done, _ = on(UBUNTU_22_04, f"offered_packages '{BOOST}'; echo went on")
check("Ubuntu 22.04 has none: the script ends", done.returncode == 1 and "went on" not in done.stdout, done)
check("and says what it looked for", "libboost-dev >= 1.81 or libboost1.81-dev" in done.stderr, done)

done, calls = on([*DEBIAN_12, "libboost1.81-dev installed 1.81.0-5"], f"need_packages '{BOOST}'")
check("what is installed is not installed again", done.returncode == 0 and calls == [], (done, calls))
done, calls = on([*DEBIAN_12, "libboost-dev installed 1.74.0.3"], f"need_packages '{BOOST}'")
check("one that is installed and too old is not taken", len(calls) == 2 and calls[1].endswith(" libboost1.81-dev"), (done, calls))
done, calls = on([*DEBIAN_13, "cmake offered 3.31.6-2", "g++ installed 4:14.2.0-1"], f"need_packages g++ cmake '{BOOST}'")
check("lists are updated first, then what is missing is installed at once",
      len(calls) == 2 and calls[0].endswith("update") and calls[1].endswith("--no-install-recommends cmake libboost-dev"), (done, calls))
done, calls = on(DEBIAN_13, f"need_packages '{BOOST}'", user=1000)
check("nobody but root: says what to install, and installs nothing",
      done.returncode == 1 and "libboost-dev >= 1.81 or libboost1.81-dev" in done.stderr and calls == [], (done, calls))
done, _ = on(DEBIAN_12, 'printf "%s\\n" "${build_packages[@]}"')
check("the scripts' own list has this choice", BOOST in done.stdout.split("\n"), done)
sys.exit(1 if failures else 0)
