// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/process/sandbox.hpp"

/// What the subcommands of judge_bench share.
namespace judge_bench {

/// `--name value` pairs of the command line, of names that end with `!` here no value; a ConfigError names
/// what is unknown or no number.
class Arguments {
 public:
  Arguments(int argc, char** argv, const std::vector<std::string>& known);
  [[nodiscard]] bool has(const std::string& name) const { return given_.contains(name); }
  [[nodiscard]] int number(const std::string& name, int otherwise) const;
  [[nodiscard]] double real(const std::string& name, double otherwise) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;

 private:
  std::map<std::string, std::string> given_;
};

/// A folder for compiled kernels, removed at the end.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// The core that subcommands measure on: the last one.
[[nodiscard]] int measured_core_number();

/// Loops that do nothing but take processor time: the first on the measured core, the second on the next
/// core, the third on the measured one again, and so on.
class BusyLoops {
 public:
  explicit BusyLoops(int count, int measured = measured_core_number());

 private:
  std::vector<std::jthread> threads_;
};

/// The folder tests/hostile of the sources.
[[nodiscard]] std::filesystem::path hostile_folder();

/// Machine, compiler and load in a line that begins a report.
void print_machine(int loops, kernelsearch::Sandbox sandbox = kernelsearch::Sandbox::automatic);

int judge_honest(const Arguments& arguments);
int judge_attacks(const Arguments& arguments);
int judge_mutants(const Arguments& arguments);
int compare_kernels(const Arguments& arguments, bool truly_different);
int count_trials(const Arguments& arguments);

}  // namespace judge_bench
