#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes data/moves/measured.json: what strategies earned on kernels where that was measured.

    scripts/move_corpus.py

Moves come from the proofs of transformations (data/transformations/proofs, with the machine code of the kernels in
bench/evidence/kernels.json) and from the runs of the CUDA skill with kernels of known merit (bench/results, with the
counters of Nsight Compute and what the absence of each method costs). A move is a strategy of data/strategies on a
kernel; transformations and methods that are no application of one are left out.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/cuda"))
from proof_files import backend_of

TRANSFORMATIONS = {  # the strategies that a transformation is an application of
    "block_swizzle": ["reordering"],
    "coalesce_accesses": ["access_layout"],
    "fast_math": ["strength_reduction"],
    "fused_reductions": ["fusion"],
    "grid_stride": ["work_per_thread", "grid_shape"],
    "hoist_invariants": ["aliasing"],
    "independent_accumulators": ["unrolling"],
    "inline_calls": ["inline_calls"],
    "large_shared_memory": ["pipelining"],
    "launch_bounds": ["occupancy"],
    "ldmatrix_mma": ["tensor_cores", "access_layout"],
    "loop_interchange": ["loop_order"],
    "loop_tiling": ["tiling"],
    "offset": ["access_layout"],
    "persistent": ["grid_shape"],
    "pipelining": ["pipelining"],
    "register_block": ["tiling"],
    "register_staging": ["pipelining"],
    "split_k": ["grid_shape"],
    "stream_k": ["grid_shape"],
    "tb_tiling": ["tiling"],
    "tensor_core": ["tensor_cores"],
    "tensor_tiling": ["tiling"],
    "thread_chunk": ["vectorization"],
    "thread_tiling": ["tiling", "work_per_thread"],
    "tma_wgmma": ["tensor_cores"],
    "transpose": ["access_layout"],
    "unroll_loops": ["unrolling"],
    "use_shared_memory": ["tiling"],
    "vector_access": ["vectorization"],
    "vector_epilogue": ["vectorization"],
    "vectorize_accesses": ["vectorization"],
    "vectorize_loop": ["vectorization"],
    "warp_reduction": ["warp_primitives"],
    "warp_tiling": ["tiling"],
}
METHODS = {
    "compute.ilp_unroll_register_tile": ["work_per_thread"],
    "compute.launch_config": ["occupancy"],
    "compute.reduction": ["warp_primitives"],
    "compute.tensor_core": ["tensor_cores"],
    "latency.online_recomputation": ["fusion"],
    "latency.read_only_loads": ["access_layout"],
    "latency.warp_shuffle_sync": ["warp_primitives"],
    "memory.keep_row": ["fusion"],
    "memory.kernel_fusion": ["fusion"],
    "memory.ldg_cache_modifier_hint": ["access_layout"],
    "memory.tiling_smem": ["tiling"],
    "memory.vectorized_access": ["vectorization"],
}
# The profiling vectors of docs/systems/kernelband.md.
FEATURES = {
    "cuda": ["l2_hit", "dram_utilisation", "sm_utilisation", "warp_efficiency", "achieved_occupancy", "registers",
             "bank_conflicts", "coalescing", "tensor_utilisation"],
    "host": ["memory_utilisation", "compute_utilisation", "code.loop.scalar_fp", "code.loop.vector_128",
             "code.loop.vector_256", "code.loop.vector_512", "code.loop.spill", "code.loop.gather", "code.loop.fma"],
}
LEAST = 0.02  # a change of less is none: the noise of the skill's runs


def reward(gain):
    share = 1 - 1 / gain
    return round(max(-1.0, share), 4) if abs(share) >= LEAST else 0.0


def known(features, backend):
    return {name: round(features[name], 4) for name in FEATURES[backend] if name in features}


def proofs():
    recorded = {one["kernel"]: one for one in json.loads((ROOT / "bench/evidence/kernels.json").read_text())["kernels"]}
    for file in sorted((ROOT / "data/transformations/proofs").glob("*/proof.json")):
        proof = json.loads(file.read_text())
        gain = proof["measured"]["speedup"]
        problem = pathlib.Path(proof["problem"]).stem
        kernel = proof.get("before") or problem
        backend = backend_of(file.parent.name)
        features = recorded.get(kernel, {}).get("features", {})
        for strategy in TRANSFORMATIONS.get(proof["transformation"], []):
            yield {"backend": backend, "problem": problem, "kernel": kernel, "move": proof["transformation"],
                   "becomes": file.parent.name, "strategy": strategy, "gain": round(gain, 4), "reward": reward(gain),
                   "features": known(features, backend)}


def skill():
    for file in sorted((ROOT / "bench/results").glob("h200_*_skill_*.json")):
        run = json.loads(file.read_text())
        problem = pathlib.Path(run["problem"]).name
        for number in (1, 2, 3):
            iteration = run.get(f"iterv{number}")
            if not iteration:
                continue
            profile = iteration["roofline"].get("profile", {})
            for method in iteration["attribution"]["methods"]:
                effect = method.get("attribution")
                if not effect or effect.get("percent") is None:
                    continue  # its own share could not be told
                gain = 1 + effect["percent"] / 100
                for strategy in METHODS.get(method["id"], []):
                    yield {"backend": "cuda", "problem": problem, "kernel": f"{problem} {number}", "move": method["id"],
                           "strategy": strategy, "gain": round(gain, 4), "reward": reward(gain),
                           "features": known(profile, "cuda")}


def main():
    moves = [*proofs(), *skill()]
    out = ROOT / "data/moves/measured.json"
    out.parent.mkdir(exist_ok=True)
    lines = ",\n".join("    " + json.dumps(move) for move in moves)
    out.write_text(f'{{\n  "schema": 1,\n  "name": "measured",\n  "description": "What strategies earned on kernels where that '
                   f'was measured; scripts/move_corpus.py writes it",\n  "moves": [\n{lines}\n  ]\n}}\n')
    print(f"{len(moves)} moves, {sum(move['reward'] > 0 for move in moves)} of them gained")


if __name__ == "__main__":
    main()
