#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/iree: specs change what IREE compiles, and one that matches nothing is found out.

iree_matmul_test.py SOURCE KERNELSEARCH WORK. Ends with 77, saying why, where this Python has no IREE.
"""
import json
import pathlib
import subprocess
import sys
import unittest

SOURCE, COMMAND, WORK = (pathlib.Path(word) for word in sys.argv[1:4])
EXAMPLE = SOURCE / "examples/iree"
sys.path.insert(0, str(EXAMPLE))
import iree_matmul  # noqa: E402

OWN = {"spec": 0, "block_m": 64, "block_n": 64, "rows": 8, "columns": 16, "depth": 16}
CONVOLUTION = """
func.func @conv(%a: tensor<1x34x34x32xf32>, %b: tensor<3x3x32x64xf32>) -> tensor<1x32x32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x32x32x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32>
  %sum = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<1x34x34x32xf32>, tensor<3x3x32x64xf32>) outs(%none : tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32>
  return %sum : tensor<1x32x32x64xf32>
}
"""


class Iree(unittest.TestCase):
    def test_a_spec_changes_the_module(self):
        source = (EXAMPLE / "matmul.mlir").read_text()
        own = iree_matmul.compiled(source, OWN)
        hinted = iree_matmul.compiled(source, OWN | {"spec": 1, "block_m": 128, "block_n": 128, "rows": 4, "columns": 32, "depth": 8})
        self.assertNotEqual(own, hinted)

    def test_a_spec_that_matches_nothing_is_found_out(self):
        with self.assertRaises(iree_matmul.Ignored):
            iree_matmul.compiled(CONVOLUTION, OWN | {"spec": 1, "depth": 8}, "linalg.conv_2d_nhwc_hwcf")

    def test_makes_a_problem_and_a_spec(self):
        folder = WORK / "matmul"
        iree_matmul.make(folder)
        told = subprocess.run([str(COMMAND), "space", str(folder)], capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        best = WORK / "best.json"
        best.write_text(json.dumps({"settings": OWN | {"spec": 1, "rows": 4}}))
        spec = subprocess.run([sys.executable, str(EXAMPLE / "iree_matmul.py"), "spec", str(best)], capture_output=True, text=True)
        self.assertIn("vector_common_parallel = [4, 16, 0]", spec.stdout)

    def test_rounds_compare_with_the_default(self):
        best = WORK / "rounds.json"
        best.parent.mkdir(parents=True, exist_ok=True)
        best.write_text(json.dumps({"settings": OWN | {"spec": 1, "rows": 4}}))
        script = [sys.executable, str(SOURCE / "bench/iree/rounds.py")]
        told = subprocess.run([*script, str(best), "--rounds", "4"], capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"rounds\.json: [0-9.]+ times as fast \(quartiles [0-9.]+ to [0-9.]+\), median [0-9.]+ ms")
        best.write_text(json.dumps({"settings": {"spec": 1}}))
        refused = subprocess.run([*script, str(best)], capture_output=True, text=True)
        self.assertIn("has no value of block_m", refused.stderr)


if __name__ == "__main__":
    try:
        import iree.compiler  # noqa: F401
        import iree.runtime  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {sys.executable} has no {missing.name}; pip install iree-base-compiler iree-base-runtime numpy")
        sys.exit(77)
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
