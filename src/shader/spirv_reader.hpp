// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shader/spirv_module.hpp"
#include "shader/spirv_words.hpp"

namespace kernelsearch::detail::spirv {

struct Type {
  enum Kind : std::uint8_t {
    other,
    boolean,
    integer,
    floating,
    vector,
    matrix,
    array,
    runtime_array,
    structure,
    pointer
  };
  Kind kind = other;
  std::uint32_t width = 0;  ///< bits of a number; components of a vector, columns of a matrix
  bool is_signed = false;
  std::uint32_t element = 0;  ///< type of elements, or of what is pointed to
  std::uint32_t length = 0;   ///< id of an array's length
  std::uint32_t storage = 0;
  std::vector<std::uint32_t> members{};
};

struct Constant {
  std::uint32_t type = 0;
  std::uint64_t bits = 0;
  bool is_boolean = false;
};

struct Decorations {
  std::optional<std::uint32_t> spec_id, binding, set, built_in;
  bool buffer_block = false;
  std::map<std::uint32_t, std::uint32_t> offsets;  ///< of members
};

struct Variable {
  std::uint32_t id = 0, type = 0, storage = 0;
};

/// A text of an instruction's words from `at` on, and how many words it takes; nothing where it does not end.
[[nodiscard]] std::optional<std::pair<std::string, std::size_t>> text_at(std::span<const std::uint32_t> words,
                                                                         std::size_t at);

/// The fault of words that are not a compute shader which can be launched.
[[nodiscard]] kernelsearch::Fault bad(std::string given);

/// Reads one module: first its instructions in their order, then what the chosen entry point is of them.
class ModuleReader {
 public:
  ModuleReader(const std::string& entry, std::span<const std::pair<std::string, Value>> values)
      : wanted_(entry), values_(values) {}

  Result<SpirvKernel> read(std::span<const std::uint32_t> words);

 private:
  using Words = std::span<const std::uint32_t>;

  // Instructions (spirv_reader.cpp). What is wrong with one is returned.
  std::optional<std::string> take(std::uint32_t op, Words w);
  void use(std::uint32_t op, Words w);
  [[nodiscard]] std::set<std::uint32_t> used_from(std::uint32_t function) const;
  [[nodiscard]] std::string name(std::uint32_t id) const;
  // Constants and what follows from them (spirv_constants.cpp).
  void find_named_defaults(Words words);
  std::optional<std::string> constant(std::uint32_t id, Constant c, bool specialised);
  [[nodiscard]] std::string name_of_spec(std::uint32_t spec_id) const;
  static std::optional<std::string> set(SpirvConstant& constant, const Value& value);
  [[nodiscard]] std::optional<std::int64_t> whole(std::uint32_t id) const;
  void operate(Words w);
  // The kernel (spirv_kernel.cpp).
  Result<SpirvKernel> finish();
  static bool is_supported(std::uint32_t capability);
  std::optional<std::string> find_local_size(std::uint32_t entry, SpirvKernel& kernel) const;
  template <class Ids>
  std::optional<std::string> set_local_size(const Ids& ids, SpirvKernel& kernel) const;
  std::optional<std::string> take(const Variable& variable, SpirvKernel& kernel);
  std::optional<std::string> take_push(std::uint32_t target, SpirvKernel& kernel);
  [[nodiscard]] std::optional<std::uint64_t> bytes_of(std::uint32_t id, int depth = 0) const;

  const std::string& wanted_;
  std::span<const std::pair<std::string, Value>> values_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> member_names_;
  std::set<std::uint32_t> capabilities_;
  std::vector<std::pair<std::uint32_t, std::string>> entries_;
  /// For an entry point: whether these are ids of constants, and the three of them.
  std::unordered_map<std::uint32_t, std::pair<bool, std::array<std::uint32_t, 3>>> sizes_;
  std::map<std::uint32_t, Decorations> decorations_;
  std::unordered_map<std::uint32_t, Type> types_;
  std::unordered_map<std::uint32_t, Constant> values_of_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> composites_;
  std::vector<Variable> variables_;
  std::set<std::uint32_t> measured_;
  std::uint32_t function_ = 0;                                       ///< whose instructions are being read
  std::unordered_map<std::uint32_t, std::set<std::uint32_t>> used_;  ///< by functions: what they name
  std::vector<SpirvConstant> constants_;
  std::map<std::uint32_t, std::uint32_t> named_defaults_;
};

}  // namespace kernelsearch::detail::spirv
