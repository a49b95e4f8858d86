// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "support/device_problem.hpp"
#include "support/temporary_folder.hpp"

/// The GPU evaluator on the stand-in of HIP, which runs kernels on the processor.
namespace gpu_test {

using namespace kernelsearch;
using support::default_candidate;
using support::DeviceProblem;
using support::with_code;

/// Settings of the stand-in for the processes that are started while it lives: `{"DEVICES", "2"}` sets
/// KERNELSEARCH_STANDIN_DEVICES.
class Setting {
 public:
  Setting(const std::string& name, const std::string& value) : name_("KERNELSEARCH_STANDIN_" + name) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Setting() { unsetenv(name_.c_str()); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  std::string name_;
};

inline const std::filesystem::path& scratch() {
  static const TemporaryFolder folder;
  return folder.path();
}

/// For programs that are started: where the stand-ins are.
inline void use_stand_ins() {
  setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 1);
  setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 1);
}

/// Fast settings: the tests judge verdicts, not times.
inline GpuOptions quick() {
  use_stand_ins();
  GpuOptions options;
  options.cache_directory = scratch() / "cache";
  options.worker = KERNELSEARCH_GPU_WORKER_PROGRAM;
  options.builders = 2;
  options.limits.call = 2;
  options.sampling = {.precision = 0.5, .min_samples = 6, .max_samples = 12, .budget_seconds = 0.05};
  options.pairs.when = Pairing::never;
  options.sandbox = Sandbox::none;  // the stand-ins may be where nobody else can read
  return options;
}

/// An evaluator that is asked to judge one piece of device code after another.
class Judge {
 public:
  explicit Judge(const DeviceProblem& problem = {}, GpuOptions options = quick())
      : problem_(problem.parsed()), evaluator(problem_, std::move(options)) {}

  [[nodiscard]] Evaluation code(const std::string& device, const EvaluationContext& context = {}) {
    return evaluator.evaluate(with_code(problem_, device), context);
  }
  [[nodiscard]] Evaluation config(std::vector<std::uint32_t> indices) {
    return evaluator.evaluate({std::make_shared<const Kernel>(problem_.kernel), Config{std::move(indices)}},
                              {});
  }
  [[nodiscard]] Evaluation own() { return evaluator.evaluate(default_candidate(problem_), {}); }

 private:
  Problem problem_;

 public:
  GpuEvaluator evaluator;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace gpu_test
