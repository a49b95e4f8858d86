// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/run_manager.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "support/temporary_folder.hpp"
#include "support/word_evaluator.hpp"

/// A problem whose kernels are judged by the words in them.
namespace run_test {

using namespace kernelsearch;
using nlohmann::json;

using support::small_problem;
using support::Words;

/// Code that says these words. A comment would not tell it from code that says others.
inline std::string words_line(const std::string& words) {
  return "inline const char* const words = \"" + words + "\";\n";
}

/// A kernel of the problem with these words in it.
inline std::string code_with(const std::string& words) {
  return words_line(words) + small_problem().kernel.regions.device;
}

/// A root with the problem in the folder `twice`, a store beside it, and options for a book on both.
struct Place {
  TemporaryFolder folder;
  std::shared_ptr<Words::Gate> gate = std::make_shared<Words::Gate>();
  std::string device = "a scripted device";
  std::unique_ptr<RunStore> store;

  Place() {
    std::filesystem::create_directories(folder / "root" / "twice");
    std::ofstream(folder / "root" / "twice" / "problem.json") << support::problem_text;
    store = std::make_unique<RunStore>(folder / "runs.db");
  }
  [[nodiscard]] RunManagerOptions options() const {
    RunManagerOptions options;
    options.root = folder / "root";
    options.measuring.jobs = 1;
    options.evaluator = [gate = gate, device = device](Problem problem, const MeasurementOptions&, bool) {
      return Words{std::move(problem), gate, device};
    };
    return options;
  }
};

/// Waits for what another thread does; false after a minute.
template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace run_test
