#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One wheel of several (scripts/merge_wheels.py): merge_wheels_test.py SOURCE. The wheels are made up; where pip is, it installs one."""
import base64
import hashlib
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
SCRIPT = SOURCE / "scripts/merge_wheels.py"
failures = 0


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


def wheel(folder, tag, extension, **more):
    """A wheel of `made` with that extension; `more`: texts of members in place of the usual ones."""
    members = {"made/__init__.py": "value = 7\n", f"made/{extension}": f"of {tag}", "made/libexec/program": "#!/bin/sh\necho from the wheel\n",
               "made-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: made\nVersion: 1.0\n",
               "made-1.0.dist-info/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n", "made-1.0.dist-info/RECORD": "", **more}
    path = folder / f"made-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o100755 if "libexec" in name else 0o100644) << 16
            archive.writestr(info, text)
    return path


def merge(folder, wheels, platform="manylinux_2_34_x86_64"):
    return subprocess.run([sys.executable, SCRIPT, folder, platform, *wheels], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    # The stable ABI's first: the order of the arguments is not that of the tags.
    three = [wheel(folder, "cp312-abi3-linux_x86_64", "_made.abi3.so"), wheel(folder, "cp39-cp39-linux_x86_64", "_made.cpython-39-x86_64-linux-gnu.so"),
             wheel(folder, "cp311-cp311-linux_x86_64", "_made.cpython-311-x86_64-linux-gnu.so")]
    done = merge(folder, three)
    path = pathlib.Path(done.stdout.strip())
    check("the name says for which versions of Python it is, in their order",
          path.name == "made-1.0-cp39.cp311.cp312-cp39.cp311.abi3-manylinux_2_34_x86_64.whl", done)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        extensions = sorted(name for name in names if name.endswith(".so"))
        tags = [line for line in archive.read("made-1.0.dist-info/WHEEL").decode().splitlines() if line.startswith("Tag: ")]
        record = {line.split(",")[0]: line.split(",")[1:] for line in archive.read("made-1.0.dist-info/RECORD").decode().splitlines()}
        digests = {name: "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode() for name in names}
        mode = archive.getinfo("made/libexec/program").external_attr >> 16
    check("it has the extension of each", extensions == ["made/_made.abi3.so", "made/_made.cpython-311-x86_64-linux-gnu.so",
                                                         "made/_made.cpython-39-x86_64-linux-gnu.so"], names)
    check("and everything else once", len(names) == len(set(names)) == 8, names)
    check("its tags are those of the wheels alone", tags == [f"Tag: {tag}-manylinux_2_34_x86_64" for tag in ("cp311-cp311", "cp312-abi3", "cp39-cp39")], tags)
    check("the record is right", set(record) == set(names) and all(record[name][0] == digests[name] for name in names if not name.endswith("RECORD")), record)
    check("programs can still be run", mode == 0o100755, oct(mode))
    before = path.read_bytes()
    check("made again, it is the same", pathlib.Path(merge(folder, three).stdout.strip()).read_bytes() == before)

    (folder / "odd").mkdir()
    differs = wheel(folder / "odd", "cp310-cp310-linux_x86_64", "_made.cpython-310-x86_64-linux-gnu.so", **{"made/__init__.py": "value = 8\n"})
    done = merge(folder, [three[0], differs])
    check("wheels that differ elsewhere are refused", done.returncode == 1 and "made/__init__.py differs" in done.stderr, done)
    more = wheel(folder / "odd", "cp310-cp310-linux_x86_64", "_made.cpython-310-x86_64-linux-gnu.so", **{"made/more.py": ""})
    done = merge(folder, [three[0], more])
    check("and those that have more", done.returncode == 1 and "made/more.py is in" in done.stderr, done)

    hints = wheel(folder / "odd", "cp310-cp310-linux_x86_64", "_made.cpython-310-x86_64-linux-gnu.so", **{"made/_made.pyi": "of 3.10"})
    first = wheel(folder / "odd", "cp311-cp311-linux_x86_64", "_made.cpython-311-x86_64-linux-gnu.so", **{"made/_made.pyi": "of 3.11"})
    done = merge(folder / "odd", [first, hints])
    texts = zipfile.ZipFile(done.stdout.strip()).read("made/_made.pyi") if done.returncode == 0 else None
    check("hints for editors are those of the first", texts == b"of 3.11", done)

    if importlib.util.find_spec("pip") is not None:
        version = f"cp{sys.version_info.major}{sys.version_info.minor}"
        own = merge(folder, [wheel(folder, f"{version}-{version}-linux_x86_64", "_made.so.txt")], "any").stdout.strip()
        own = pathlib.Path(own).rename(folder / f"made-1.0-py3-none-any.whl")
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", "--target",
                               folder / "target", own], capture_output=True, text=True)
        program = folder / "target/made/libexec/program"
        ran = subprocess.run([program], capture_output=True, text=True) if program.exists() else None
        check("pip installs what it wrote, and the program runs", done.returncode == 0 and ran is not None and ran.stdout == "from the wheel\n", (done, ran))
sys.exit(1 if failures else 0)
