# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bench/corpus/manifest.json and the cards in docs/benchmarks/corpus.md, or says where they are not what the files say.

    python bench/corpus_manifest.py [--check | --whole]

Counts, times and digests are read from the recordings; how each was made from bench/results/*_corpus.jsonl (what bench/record_corpus.py writes) or, of
older ones, from the page that has them; how many of the entries that were measured again are within 3 % from bench/results/*_corpus_again.jsonl. Only
Python's own library is needed.
"""

import argparse
import collections
import gzip
import hashlib
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANDSCAPES = ROOT / "bench" / "landscapes"
MANIFEST = ROOT / "bench" / "corpus" / "manifest.json"
PAGE = ROOT / "docs" / "benchmarks" / "corpus.md"
BEGIN, END = "<!-- cards: bench/corpus_manifest.py -->", "<!-- end of cards -->"

FAMILIES = {
    "attention": ["attention_f16", "helion_attention"],
    "dense": ["matmul_f32", "matmul_tiled", "matmul", "helion_matmul", "batched_matmul", "grouped_matmul", "matvec_i8", "matmul_hlsl"],
    "elementwise": ["black_scholes", "helion_rope"],
    "hashing and fractals": ["md5_search", "mandelbrot"],
    "image and signal": ["bilateral", "convolution", "conv1d", "depthwise_conv", "dedispersion"],
    "physics": ["nbody", "hotspot", "expdist"],
    "reductions": ["row_sums_f32", "reduction", "softmax_f32", "helion_softmax", "helion_layer_norm", "helion_rms_norm", "scan", "histogram_i32"],
    "sorting": ["sort_segments", "topk"],
    "sparse": ["spmv_ell", "pagerank"],
    "stencils": ["stencil", "stencil3d_f32"],
    "transforms": ["transpose_f32", "transpose", "fft_1024"],
}
# Kernels that compute the same as others.
TWINS = {
    "attention_f16": "attention", "helion_attention": "attention", "helion_matmul": "matmul", "helion_softmax": "softmax", "matmul_f32": "matmul",
    "matmul_hlsl": "matmul", "matmul_tiled": "matmul", "softmax_f32": "softmax", "stencil3d_f32": "stencil", "transpose_f32": "transpose",
}  # fmt: skip
# Who made the recordings of a prefix, the longest first, and the page that says how.
MAKERS = [
    ("h200_helion_", "CUDA (Triton)", "helion.md"), ("h200_opencl_", "OpenCL", "opencl.md"), ("h200_vulkan_", "Vulkan", "vulkan.md"),
    ("llvmpipe_", "Vulkan", "vulkan.md"), ("pocl_", "OpenCL", "opencl.md"), ("h200_", "CUDA", "cuda.md"),
]  # fmt: skip
CHECKS = {
    "corpus.md": "every entry compared with a reference in double precision, on several draws, edge values and sizes that it was not told",
    "helion.md": "Helion's own: compared with its default configuration",
}
COMMON_CHECKS = "every entry compared with a reference in double precision, on several draws"
LICENCE = "Apache-2.0 WITH LLVM-exception"


def lines(pattern):
    found = {}
    for path in sorted((ROOT / "bench" / "results").glob(pattern)):
        for text in path.read_text().splitlines():
            one = json.loads(text)
            if "file" in one:
                found[one["file"]] = one
    return found


def family_of(kernel):
    for family, kernels in FAMILIES.items():
        if kernel in kernels:
            return family
    sys.exit(f"corpus_manifest.py: {kernel} is of no family: add it to FAMILIES")


def time_of(result):
    return next((m["value"] for m in result["measurements"] if m["name"] == "time"), None) if result["invalidity"] == "correct" else None


def entry_of(path, recorded, again):
    packed = path.read_bytes()
    recording = json.loads(gzip.decompress(packed))
    results = recording["results"]
    name = path.name.removesuffix(".t4.json.gz")
    prefix, language, page = next(row for row in MAKERS if name.startswith(row[0]))
    made = recorded.get(path.name)
    kernel = made["problem"] if made else ("helion_" if prefix == "h200_helion_" else "") + name.removeprefix(prefix)
    page = "corpus.md" if made else page
    times = sorted(t for t in map(time_of, results) if t is not None)
    failed = collections.Counter(r.get("verdict", r["invalidity"]) for r in results if r["invalidity"] != "correct")
    entry = {
        "file": path.name, "sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed), "kernel": kernel, "computation": TWINS.get(kernel, kernel), "family": family_of(kernel),
        "language": language, "device": recording["metadata"].get("device", ""), "tunables": len(results[0]["configuration"]),
        "roles": len(recording["metadata"].get("tune_param_roles", {})), "entries": len(results), "failed": dict(sorted(failed.items())),
        "best_ms": times[0], "median_over_best": round(times[len(times) // 2] / times[0], 3),
        "features": sorted({m["name"] for r in results for m in r["measurements"]} & {"registers", "shared_bytes", "local_bytes", "occupancy"}),
        "how": {"page": f"docs/benchmarks/{page}"}, "checks": CHECKS.get(page, COMMON_CHECKS), "licence": LICENCE,
    }  # fmt: skip
    if made:
        sizes = "".join(f" --size {n}={v}" for n, v in made["sizes"].items()) if made.get("sizes") else ""
        entry["how"] |= {"command": f"bench/record_corpus.py BUILD OUT {made['problem']}{sizes}", "design": made["design"], "valid": made["valid"],
                         "whole": made["design"] == "whole" and made["complete"]}  # fmt: skip
        if made["design"] == "stratified":
            entry["how"] |= {"stratum": made["stratum"], "drawn": made["tried"], "neighbours_of_the_best": made["neighbours"]}
    if path.name in again:
        repeat = again[path.name]
        entry["again"] = {"measured": repeat["measured"], "within_3_percent": repeat["within"], "median_ratio": round(repeat["median_ratio"], 4)}
    return entry


def design_of(entry):
    how = entry["how"]
    if "design" not in how:
        return f"[{pathlib.PurePath(how['page']).stem}]({pathlib.PurePath(how['page']).name})"
    if how["whole"]:
        return "whole"
    if how["design"] == "whole":
        return f"random {entry['entries']} of {how['valid']}"
    return f"{how['drawn']} of {how['valid']} by {how['stratum']}, neighbours: {how['neighbours_of_the_best']}"


def table(entries):
    rows = ["| landscape | family | tunables (with roles) | entries | failed | best | median / best | how | again within 3 % |", "|---|---|--:|--:|--:|--:|--:|---|--:|"]
    for one in sorted(entries, key=lambda e: (e["family"], e["file"])):
        repeat = f"{one['again']['within_3_percent']} of {one['again']['measured']}" if "again" in one else ""
        rows.append(
            f"| {one['file'].removesuffix('.t4.json.gz')} | {one['family']} | {one['tunables']} ({one['roles']}) | {one['entries']} | {sum(one['failed'].values())} | "
            f"{one['best_ms']:.4g} ms | {one['median_over_best']:.2f} | {design_of(one)} | {repeat} |"
        )
    measured = sum(e["again"]["measured"] for e in entries if "again" in e)
    within = sum(e["again"]["within_3_percent"] for e in entries if "again" in e)
    kinds, families = {e["computation"] for e in entries}, {e["family"] for e in entries}
    large = [e for e in entries if e["entries"] >= 1000]
    text = (
        f"{len(entries)} landscapes of {len(kinds)} computations in {len(families)} families, {sum(e['entries'] for e in entries)} entries, "
        f"{sum(e['bytes'] for e in entries) / 2**20:.1f} MiB. {len(large)} landscapes of {len({e['computation'] for e in large})} computations in "
        f"{len({e['family'] for e in large})} families have at least 1,000 entries."
    )
    if measured:
        repeated = [e["again"] for e in entries if "again" in e]
        few = sum(r["within_3_percent"] < 0.9 * r["measured"] for r in repeated)
        text += f" {within} of {measured} entries that were measured again ({100 * within / measured:.1f} %) are within 3 % of the recorded time; in {few} of {len(repeated)} landscapes fewer than 90 % are."
    return "\n".join([text, "", *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where manifest or page are not what the files say")
    parser.add_argument("--whole", action="store_true", help="only print the files of landscapes that bench/record_corpus.py recorded whole")
    arguments = parser.parse_args()
    if arguments.whole:
        print(*(LANDSCAPES / e["file"] for e in json.loads(MANIFEST.read_text())["landscapes"] if e["how"].get("whole")))
        return
    recorded, again = lines("*_corpus.jsonl"), lines("*_corpus_again.jsonl")
    entries = [entry_of(path, recorded, again) for path in sorted(LANDSCAPES.glob("*.t4.json.gz"))]
    missing = [f for f in recorded if not (LANDSCAPES / f).exists()]
    if missing:
        sys.exit(f"corpus_manifest.py: recorded, but not in bench/landscapes: {', '.join(missing)}")
    manifest = json.dumps({"schema": 1, "licence": LICENCE, "landscapes": entries}, indent=1) + "\n"
    page = PAGE.read_text()
    head, _, rest = page.partition(BEGIN)
    _, found, tail = rest.partition(END)
    if not found:
        sys.exit(f"corpus_manifest.py: {PAGE.name} lacks {BEGIN} or {END}: write both lines where the cards belong")
    page = f"{head}{BEGIN}\n\n{table(entries)}\n\n{END}{tail}"
    stale = [p.name for p, text in ((MANIFEST, manifest), (PAGE, page)) if not p.exists() or p.read_text() != text]
    if arguments.check:
        if stale:
            sys.exit(f"corpus_manifest.py: not what the recordings say: {' and '.join(stale)}; run bench/corpus_manifest.py")
        return
    MANIFEST.write_text(manifest)
    PAGE.write_text(page)
    print(f"{len(entries)} landscapes; written anew: {', '.join(stale) or 'nothing'}")


if __name__ == "__main__":
    main()
