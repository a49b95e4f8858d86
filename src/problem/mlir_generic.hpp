// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/result.hpp"

/// MLIR's generic operation form, as `mlir-opt --mlir-print-op-generic --mlir-print-local-scope` prints it:
/// the one form that has the same grammar for every operation (mlir.llvm.org/docs/LangRef, "Operations").
/// Texts of attributes and types are kept as they are printed. The custom form, of which each operation has
/// its own, is not read.
namespace kernelsearch::detail {

/// Bytes [begin, end) of the text.
struct MlirSpan {
  std::size_t begin = 0, end = 0;
};

struct MlirOperation;

struct MlirBlock {
  std::vector<std::pair<std::string, std::string>> arguments;  ///< `%arg0` and its type
  std::vector<MlirOperation> operations;
};

using MlirRegion = std::vector<MlirBlock>;

struct MlirOperation {
  std::string name;                                             ///< `transform.tune.knob`
  std::vector<std::string> results;                             ///< `%0`, or `%1#0`, `%1#1` of several
  std::vector<std::string> operands;                            ///< as they are printed
  std::vector<std::pair<std::string, std::string>> properties;  ///< within `<{...}>`: key and printed value
  std::vector<std::pair<std::string, std::string>> attributes;  ///< within `{...}` after the regions
  std::vector<MlirRegion> regions;
  std::vector<std::string> operand_types, result_types;
  MlirSpan span;                   ///< from the first result to the end of its type
  std::size_t heading_end = 0;     ///< where `<{...}>` stands or would stand
  std::size_t properties_end = 0;  ///< its end; `heading_end` where there is none
  std::string place;               ///< `schedule.mlir:12`: of its location, else of this text

  /// The printed value of a property; null where there is none.
  [[nodiscard]] const std::string* find(std::string_view key) const noexcept;
};

struct MlirText {
  std::vector<MlirOperation> operations;  ///< of the top level
  std::vector<MlirSpan> locations;        ///< every ` loc(...)`, in ascending order
};

/// Parses `text`; `file` is how messages call it. At most 16 MiB, regions at most 64 deep.
[[nodiscard]] Result<MlirText> try_parse_mlir(std::string_view text, const std::string& file);

/// The elements of a printed array `[a, b]`; nothing for other text.
[[nodiscard]] std::optional<std::vector<std::string>> mlir_elements(std::string_view array);

/// The value of a printed string attribute `"a\22b"`; nothing for other text.
[[nodiscard]] std::optional<std::string> mlir_string(std::string_view printed);

/// A printed integer attribute such as `8 : i64` or `28 : ui8`, its type empty where it is not printed (i64).
struct MlirInteger {
  std::int64_t value = 0;
  std::string type;
};
[[nodiscard]] std::optional<MlirInteger> mlir_integer(std::string_view printed);

}  // namespace kernelsearch::detail
