// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "kernelsearch/external/external_evaluator.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/test_data.hpp"

namespace kernelsearch::test {

/// The interpreter that sandboxes see; without it there is nothing to test with.
inline bool has_system_python() {
  return std::filesystem::exists("/usr/bin/python3");
}

/// A problem in `folder`, y = 2 x + 1 of 64 elements, whose program is scripted.py in that mode: each call
/// takes `microseconds` by the wall's clock.
inline Problem scripted_problem(const std::filesystem::path& folder, const std::string& mode,
                                double microseconds, const std::string& more = "") {
  namespace fs = std::filesystem;
  fs::copy_file(support::test_data() / "external" / "evaluators" / "scripted.py", folder / "scripted.py",
                fs::copy_options::overwrite_existing);
  std::ofstream(folder / "kernel.txt") << "y = 2 x + 1\n";
  std::ofstream(folder / "reference.cpp") << "void affine_reference(int n, const real* x, real* y) { for "
                                             "(int i = 0; i < n; ++i) y[i] = 2 * x[i] + 1; }\n";
  std::ofstream(folder / "problem.json")
      << R"({"schema": 1, "name": "affine", "backend": "external", "function": "affine",
  "kernel": {"device": "kernel.txt"},
  "arguments": [{"name": "n", "type": "i32", "value": "n"},
                {"name": "x", "type": "f32", "size": "n", "role": "in"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "small", "n": 64}],
  "tunables": {"BAD": [0, 1]},
  "reference": {"source": "reference.cpp", "function": "affine_reference"},
  "external": {"command": ["python3", "${FILES}/scripted.py", ")"
      << mode << "\", \"" << microseconds << "\"], \"files\": [\"scripted.py\"], \"answer_seconds\": 3"
      << more << "}}\n";
  return read_problem(folder);
}

/// y = w x whose reference is scripted_module.py, which needs no PyTorch.
inline Problem scripted_module(const std::filesystem::path& folder, const std::string& module = "y = w x",
                               const std::string& shapes = R"([{"name": "module"}])") {
  namespace fs = std::filesystem;
  fs::copy_file(support::test_data() / "external" / "evaluators" / "scripted_module.py",
                folder / "scripted_module.py", fs::copy_options::overwrite_existing);
  std::ofstream(folder / "model.py") << module << "\n";
  std::ofstream(folder / "model_new.py") << "honest\n";
  std::ofstream(folder / "problem.json")
      << R"({"schema": 1, "name": "scaled", "backend": "external", "function": "ModelNew",
  "kernel": {"device": "model_new.py"}, "arguments": [], "shapes": )"
      << shapes << R"(,
  "reference": {"python": "model.py", "function": "Model"},
  "external": {"command": ["python3", "${FILES}/scripted_module.py"], "files": ["scripted_module.py"],
               "answer_seconds": 3}})";
  return read_problem(folder);
}

}  // namespace kernelsearch::test
