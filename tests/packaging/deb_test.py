#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the Debian packages are split (cmake/KernelsearchPackages_deb.cmake): deb_test.py SOURCE WORK CMAKE. Configures, and builds nothing."""
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE, WORK, CMAKE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
failures = 0


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


def configure(**options):
    """What CMake says, and the settings of CPack, the last one of each name."""
    done = subprocess.run([CMAKE, "-S", SOURCE, "-B", WORK / "build", "-G", "Ninja", "-DKERNELSEARCH_BUILD_TESTS=OFF", "-DKERNELSEARCH_BUILD_EXAMPLES=OFF",
                           "-DKERNELSEARCH_PACKAGES=DEB", *(f"-D{name}={value}" for name, value in options.items())], capture_output=True, text=True)
    config = WORK / "build/CPackConfig.cmake"
    text = config.read_text() if done.returncode == 0 else ""
    return done, dict(re.findall(r'^set\((\w+) "(.*?)"\)$', text, re.MULTILINE | re.DOTALL))


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
version = re.search(r'#define KERNELSEARCH_VERSION "(.*)"', (SOURCE / "include/kernelsearch/version.hpp").read_text()).group(1)

done, settings = configure()
check("without a Python package there are three", settings.get("CPACK_COMPONENTS_ALL") == "command;runtime;development", done)

package = WORK / "package/kernelsearch"
package.mkdir(parents=True)
done, _ = configure(KERNELSEARCH_PACKAGES_PYTHON=WORK / "package")
check("a folder without an extension is refused", done.returncode != 0 and "scripts/packages.sh makes such a" in " ".join(done.stderr.split()), done)
(package / "_kernelsearch.cpython-39-x86_64-linux-gnu.so").write_text("")
(package / "_kernelsearch.cpython-311-x86_64-linux-gnu.so").write_text("")
done, _ = configure(KERNELSEARCH_PACKAGES_PYTHON=WORK / "package")
check("extensions for two versions are refused", done.returncode != 0 and "one extension" in " ".join(done.stderr.split()), done)
(package / "_kernelsearch.cpython-39-x86_64-linux-gnu.so").unlink()
done, settings = configure(KERNELSEARCH_PACKAGES_PYTHON=WORK / "package")
check("with one there are four", settings.get("CPACK_COMPONENTS_ALL") == "command;runtime;development;python", done)
check("the Python package needs the command of its version, and the Python that it was built for",
      settings.get("CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS") == f"kernelsearch (= {version}-1), python3 (>= 3.11), python3 (<< 3.12)", settings)
rules = (WORK / "build/cmake_install.cmake").read_text()
check("it is installed where Debian's Python looks", "/lib/python3/dist-packages" in rules, rules[-3000:])
names = {component: settings.get(f"CPACK_DEBIAN_{component.upper()}_PACKAGE_NAME") for component in settings.get("CPACK_COMPONENTS_ALL", "").split(";")}
for component, name in names.items():
    texts = {path.name for path in (SOURCE / "packaging/debian/lintian-overrides").iterdir()}
    wanted = f'RENAME "{name}" FILES "{SOURCE}/packaging/debian/lintian-overrides/{name if name in texts else "all"}"'
    check(f"{name} has its overrides for lintian", wanted in rules, re.findall(r"RENAME.*lintian.*", rules))
for script in settings.get("CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA", "").split(";"):
    path = pathlib.Path(script)
    check(f"{path.name} names its package and can be run", "-p python3-kernelsearch" in path.read_text() and path.stat().st_mode & 0o111 == 0o111, path)
shutil.rmtree(WORK, ignore_errors=True)
sys.exit(1 if failures else 0)
