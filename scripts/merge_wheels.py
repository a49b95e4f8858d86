#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one wheel of several that differ in their extension module only: merge_wheels.py OUT PLATFORM WHEEL...

Each wheel brings its extension for one version of Python (or, by the stable ABI, for that and later ones); the merged wheel brings all
of them, and its tags say for which. PLATFORM is its platform tag. Prints the path of the wheel. Hints for editors (.pyi) are those of
the first; what else differs is an error."""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile

NAME = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


def contents(wheel):
    """The members of a wheel by name, with their modes; without those that are made anew."""
    with zipfile.ZipFile(wheel) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist() if not info.is_dir()}
    return {name: member for name, member in members.items() if not name.endswith((".dist-info/RECORD", ".dist-info/WHEEL"))}


def is_extension(name):
    return re.search(r"\.(abi3|cpython-\d+[^/]*)\.so$", name) is not None


def merged(wheels):
    """What all wheels have together."""
    everything = {}
    for wheel in wheels:
        for name, (info, data) in contents(wheel).items():
            if name in everything and everything[name][1] != data and not name.endswith(".pyi"):
                raise ValueError(f"{name} differs in {wheel}")
            if name not in everything and everything and wheel != wheels[0] and not is_extension(name):
                raise ValueError(f"{name} is in {wheel} alone")
            everything.setdefault(name, (info, data))
    return everything


def write(out, platform, wheels):
    parts = [NAME.fullmatch(pathlib.Path(wheel).name) for wheel in wheels]
    if not all(parts):
        raise ValueError(f"not the name of a wheel: {[str(w) for w, part in zip(wheels, parts) if not part]}")
    if len({(part["name"], part["version"]) for part in parts}) > 1:
        raise ValueError("the wheels are of different projects or versions")
    everything = merged(wheels)
    # A tag in the name stands for each combination of its parts, those in WHEEL for themselves.
    order = {part["python"]: int(part["python"][3:]) for part in parts}
    pythons = sorted(order, key=order.get)
    abis = sorted({part["abi"] for part in parts}, key=lambda abi: int(abi[2:]) if abi.startswith("cp") else 999)
    base = f"{parts[0]['name']}-{parts[0]['version']}"
    tags = sorted({f"{part['python']}-{part['abi']}-{platform}" for part in parts})
    path = pathlib.Path(out) / f"{base}-{'.'.join(pythons)}-{'.'.join(abis)}-{platform}.whl"
    info = f"{base}.dist-info"
    text = "Wheel-Version: 1.0\nGenerator: merge_wheels.py\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {tag}\n" for tag in tags)
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name, data, mode):
            member = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes from the same contents
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = mode << 16
            archive.writestr(member, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")

        for name in sorted(everything, key=lambda name: (".dist-info/" in name, name)):
            member, data = everything[name]
            add(name, data, member.external_attr >> 16 or 0o100644)
        add(f"{info}/WHEEL", text.encode(), 0o100644)
        record.append(f"{info}/RECORD,,\n")
        member = zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0))
        member.external_attr = 0o100644 << 16
        archive.writestr(member, "".join(record))
    return path


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        print(write(sys.argv[1], sys.argv[2], sys.argv[3:]))
    except ValueError as error:
        sys.exit(f"merge_wheels.py: {error}")
