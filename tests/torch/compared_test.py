# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Outputs are compared in parts, and quickly where they are right: the verdict is that of the rule, element by element."""

import math
import random
import types

from with_torch import modules, torch

TOLERANCES = {"f32": (1e-4, 1e-4), "f16": (1e-2, 1e-2), "bf16": (1e-2, 1e-2), "f64": (1e-4, 1e-4)}
FLOATS = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64"}
rng = random.Random(7)
torch.manual_seed(7)


def by_the_rule(answer, expected, tolerance, strict, allowed):
    """Whether it is right, the number of elements that are not, the first of them, and the bounds of the largest error,
    spelled for one element at a time: what is rounded right may count as no error, or as what it is off by."""
    kind = FLOATS.get(answer.dtype)
    given, wanted = answer.double().flatten().tolist(), expected.double().flatten().tolist()
    rounded = expected.to(answer.dtype).double().flatten().tolist()
    finite = [one for one, seen in zip(wanted, rounded) if math.isfinite(seen)]
    scale = math.sqrt(sum(one * one for one in finite) / len(finite)) if finite else 1.0
    off, never, least, most = [], [], 0.0, 0.0
    for one, right, near in zip(given, wanted, rounded):
        same = one in (right, near) or (math.isnan(one) and math.isnan(near))
        if kind is None:
            off.append(one != near)
            continue
        absolute, relative = TOLERANCES[kind] if tolerance is None else (tolerance["absolute"], tolerance["relative"])
        bound = absolute + relative * abs(right)
        if strict:
            bound = modules.STRICT[kind] * (abs(right) + min(1.0, scale))
        distance = abs(one - right)
        error = distance / (bound + 1e-300) if math.isfinite(right) else 0.0
        least, most = max(least, 0.0 if same else error), max(most, error)
        off.append(not same and not (math.isfinite(near) and distance <= allowed * (bound + 1e-300)))
        cap = tolerance["error_cap"] if tolerance else None
        finite_both = math.isfinite(one) and math.isfinite(near)
        lowest = tolerance is not None and tolerance["allow_negative_infinity"] and one == near == -math.inf
        beyond = cap is not None and not same and not distance <= cap * max(1, allowed)
        never.append(tolerance is not None and not strict and ((not finite_both and not lowest) or beyond))
    if kind is not None and tolerance is not None and not strict:
        if 1 - sum(off) / len(off) >= tolerance["matched_ratio"] and not any(never):
            return True, sum(off), None, least, most
        off = [a or b for a, b in zip(off, never)]
    return not any(off), sum(off), off.index(True) if any(off) else None, least, most


def place_of(where, sizes):
    place = 0
    for index, extent in zip(eval(where[len("at ") : where.index("]") + 1]), sizes):
        place = place * extent + index
    return place


def pair():
    dtype = rng.choice([*FLOATS, torch.int32, torch.bool])
    sizes = [rng.randrange(1, 9) for _ in range(rng.randrange(0, 4))]
    expected = torch.randn(sizes, dtype=torch.float64) * 10 ** rng.uniform(-3, 3)
    flat = expected.view(-1)
    if rng.random() < 0.2:
        flat[rng.randrange(len(flat))] = rng.choice([math.inf, -math.inf, math.nan, 1e39, 7e4])
    if dtype not in FLOATS:
        expected = expected.nan_to_num(0, 0, 0).to(dtype)
        answer = expected.clone()
    else:
        share = rng.choice([0, 0, 1e-6, 1e-4, 3e-3, 0.02])
        answer = (expected * (1 + share * torch.randn(sizes, dtype=torch.float64))).to(dtype)
    if rng.random() < 0.3:
        answer.view(-1)[rng.randrange(answer.numel())] = rng.choice([0, 1])
    if rng.random() < 0.1 and answer.dim() > 1:
        answer = answer.transpose(0, 1).contiguous().transpose(0, 1)
    return answer, expected


def check_pairs():
    seen = set()
    for trial in range(1500):
        answer, expected = pair()
        tolerance = None
        if rng.random() < 0.4:
            tolerance = {"absolute": rng.choice([0, 1e-3]), "relative": rng.choice([0, 1e-3]), "matched_ratio": rng.choice([1.0, 0.9, 0.5]),
                         "error_cap": rng.choice([None, 0.01]), "allow_negative_infinity": rng.random() < 0.5}  # fmt: skip
        strict, allowed = rng.random() < 0.3, rng.choice([1, 1, 3.0])
        modules.COMPARED_AT_ONCE = rng.choice([1, 7, 1 << 24])
        reference = object.__new__(modules.Reference)
        reference.tolerances, reference.strict = TOLERANCES, strict
        right, count, error, strict_error, where = reference.compared(types.SimpleNamespace(tolerance=tolerance), answer, expected, allowed)
        case = f"trial {trial}: {answer} {expected} {tolerance} strict {strict} allowed {allowed}"
        wanted_right, wanted_count, wanted_first, least, most = by_the_rule(answer, expected, tolerance, strict, allowed)
        assert (right, count) == (wanted_right, wanted_count), f"{right} {count}, {wanted_right} {wanted_count}, {case}"
        assert right or place_of(where, answer.shape) == wanted_first, f"{where} {case}"
        if right and tolerance is None and FLOATS.get(answer.dtype):
            assert least * (1 - 1e-9) <= error <= most * (1 + 1e-9), f"{least} {error} {most} {case}"
            assert not strict or error == strict_error, case
        apart = [(abs(a - b), abs(a - b) / (abs(b) + 1e-8)) for a, b in zip(answer.double().flatten().tolist(), expected.double().flatten().tolist())
                 if math.isfinite(a - b)]  # fmt: skip
        for got, most in zip(modules.differences(answer, expected), (max((one[n] for one in apart), default=0.0) for n in (0, 1))):
            assert math.isclose(got, most, rel_tol=1e-9, abs_tol=1e-300), f"{got} {most} {case}"
        seen.add((right, tolerance is None, strict))
    assert len(seen) == 8, seen


check_pairs()
print("compared_test: passed")
