#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No two files of the tree are alike, and the proofs of transformations are stored as proof_files.py would store them: twins_test.py SOURCE."""
import collections
import hashlib
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
# Files that may have a twin, with the reason. A pattern that fits no twin is an error, too.
EXCEPT = {
    r"tests/standin/device/(cmath|cstdint|math\.h|stdint\.h)": "headers that hide the system's, found by their names; four lines each",
    r"tests/standin/device/hip/hip_\w+\.h": "headers that kernels include by these names; four lines each",
    r"tests/formats/0\.2\.0/problem/.*": "what a version wrote is never written again; the example that it came from may change",
    r"bench/cuda/skill/matmul/reference\.cu": "a problem reads nothing above its folder, and the other is among the examples",
    r"bench/cuda/skill(_registry)?/softmax/reference\.cu": "a problem reads nothing above its folder, and writer.py reads the folder",
}
EXCEPT[r"data/transformations/proofs/(fused_reductions|warp_reduction)/macros\.cuh"] = "two problems, and both transformations insert the same snippet"
failures = 0


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


def tracked():
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True)
    return listed.stdout.decode().split("\0")[:-1] if listed.returncode == 0 else None


def twins(files):
    """Names of files with the same bytes, in groups."""
    groups = collections.defaultdict(list)
    for name, content in files:
        groups[hashlib.sha256(content).digest()].append(name)
    return [sorted(names) for names in groups.values() if len(names) > 1]


assert twins([("a", b"x"), ("b", b"y"), ("c", b"x")]) == [["a", "c"]]
names = tracked()
if names is None:
    print("skipped: this is not a checkout of git")
    sys.exit(77)
found = twins((name, (SOURCE / name).read_bytes()) for name in names if (SOURCE / name).is_file() and not (SOURCE / name).is_symlink())
used = set()
for group in found:
    # One of a group needs no reason: the others are its copies.
    excused = [name for name in group if any(re.fullmatch(pattern, name) for pattern in EXCEPT)]
    used |= {pattern for pattern in EXCEPT for name in group if re.fullmatch(pattern, name)}
    if len(excused) < len(group) - 1:
        check("no two files are alike", False, ", ".join(group) + "; let one problem, test or fixture use the file of the other")
check("no two files are alike but for those with a reason", failures == 0)
check("every reason is still needed", used == set(EXCEPT), ", ".join(set(EXCEPT) - used) + ": remove it from this test")

sys.path.insert(0, str(SOURCE / "bench/cuda"))
import proof_files  # noqa: E402

for folder in sorted(path.parent for path in proof_files.PROOFS.glob("*/proof.json")):
    regions, before = proof_files.proof_regions(folder.name), proof_files.parent_regions(proof_files.content_of(folder.name))
    for part, file in proof_files.PARTS[proof_files.backend_of(folder.name)].items():
        whole, diff = folder / file, folder / (file + ".diff")
        told = f"{folder.name}/{file}"
        if whole.exists():
            check(f"{told}: a region that changes little is a diff", proof_files.is_whole(before.get(part, ""), regions[part]) and not diff.exists(), "bench/cuda/proof_files.py take FOLDER, of an empty folder")
        elif diff.exists():
            check(f"{told}.diff: changes something, and less than all", regions[part] != before.get(part, "") and not proof_files.is_whole(before.get(part, ""), regions[part]),
                  "bench/cuda/proof_files.py take FOLDER, of an empty folder")
sys.exit(1 if failures else 0)
