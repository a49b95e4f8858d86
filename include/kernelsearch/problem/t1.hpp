// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// One entry of `KernelSpecification.Arguments`, as written; formulas stay text.
struct T1Argument {
  std::string name;
  std::string type;         ///< float, int32, half, float4, ...
  std::string memory_type;  ///< Scalar, Vector, Local or Symbol
  std::string access_type;  ///< ReadOnly, WriteOnly or ReadWrite
  std::string fill_type;    ///< Constant, Random, ...
  std::string size;         ///< number of elements, a formula
  double fill_value = 0;
  std::string data_source{};     ///< of KTT's BinaryRaw: a file of the folder, raw in little-endian order
  bool constant_memory = false;  ///< the hub's `MemType: Constant`
  bool output = false;           ///< the hub's `Output: 1`, or written by the kernel
};

/// A T1 input file: its space, and what it says about the kernel.
struct T1File {
  Space space;
  std::string name{};  ///< General.BenchmarkName, else the kernel's name
  std::string language{};
  std::string kernel_name{};
  std::string kernel_file{};
  std::vector<std::string> compiler_options{};
  std::string global_size_type{};                         ///< CUDA: global sizes are blocks; OpenCL: threads
  std::int64_t shared_memory = 0;                         ///< bytes asked for at launch
  std::array<std::string, 3> global_size{"1", "1", "1"};  ///< formulas
  std::array<std::string, 3> local_size{"1", "1", "1"};
  std::vector<std::string> grid_div_x{};  ///< the hub's: what divides each grid dimension
  std::vector<std::string> grid_div_y{};
  std::vector<std::string> grid_div_z{};
  std::vector<std::int64_t> problem_size{};
  std::vector<T1Argument> arguments{};
  /// Deviations that were put right: defaults outside the values, repeated values.
  std::vector<std::string> notes{};
};

/// Reads T1 JSON (schema 1.0.0, and the files of the tuning hub, which deviate from it). ConfigError names
/// `source`, the entry and what is wrong with it.
[[nodiscard]] T1File read_t1(std::istream& text, const std::string& source = "T1 input",
                             SpaceOptions options = {});

/// The same from a file.
[[nodiscard]] T1File read_t1(const std::filesystem::path& path, SpaceOptions options = {});

}  // namespace kernelsearch
