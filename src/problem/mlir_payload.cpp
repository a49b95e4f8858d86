// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/mlir_payload.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "mlir_generic.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 6> buffer_types{{{"f32", ElementType::f32},
                                                                                {"f64", ElementType::f64},
                                                                                {"i8", ElementType::i8},
                                                                                {"i16", ElementType::i16},
                                                                                {"i32", ElementType::i32},
                                                                                {"i64", ElementType::i64}}};

/// `memref<4x8xf32>`; nothing for anything else.
std::optional<MlirBuffer> buffer_of(std::string_view type) {
  if (!type.starts_with("memref<") || !type.ends_with(">")) return std::nullopt;
  type = type.substr(7, type.size() - 8);
  MlirBuffer buffer;
  std::int64_t elements = 1;
  while (!type.empty() && type.front() >= '0' && type.front() <= '9') {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(type.data(), type.data() + type.size(), extent);
    const auto length = static_cast<std::size_t>(end - type.data());
    if (error != std::errc() || length >= type.size() || *end != 'x') return std::nullopt;
    if (extent < 1 || extent > (std::int64_t{1} << 40) / elements) return std::nullopt;
    elements *= extent;
    buffer.extents.push_back(extent);
    type.remove_prefix(length + 1);
  }
  for (const auto& [name, element] : buffer_types)
    if (name == type) {
      buffer.type = element;
      return buffer;
    }
  return std::nullopt;
}

void functions_with_bodies(const std::vector<MlirOperation>& operations,
                           std::vector<const MlirOperation*>& into) {
  for (const MlirOperation& operation : operations) {
    if (operation.name == "func.func" && operation.regions.size() == 1 && !operation.regions[0].empty())
      into.push_back(&operation);
    if (operation.name != "builtin.module") continue;
    for (const MlirRegion& region : operation.regions)
      for (const MlirBlock& block : region) functions_with_bodies(block.operations, into);
  }
}

/// Which parameters are written, through whatever views of them.
class WrittenBuffers {
 public:
  explicit WrittenBuffers(const MlirBlock& entry, std::vector<MlirBuffer>& buffers) : buffers_(buffers) {
    for (std::size_t i = 0; i < entry.arguments.size() && i < buffers.size(); ++i)
      of_[entry.arguments[i].first] = i;
  }

  void walk(const MlirRegion& region) {
    for (const MlirBlock& block : region)
      for (const MlirOperation& operation : block.operations) {
        look(operation);
        for (const MlirRegion& inner : operation.regions) walk(inner);
      }
  }

 private:
  static constexpr std::array<std::string_view, 5> views{"memref.subview", "memref.cast",
                                                         "memref.collapse_shape", "memref.expand_shape",
                                                         "memref.reinterpret_cast"};
  /// Operands that are only read.
  static bool only_reads(const MlirOperation& operation, std::size_t operand) {
    return operation.name == "memref.load" || operation.name == "memref.dim" ||
           (operation.name == "memref.copy" && operand == 0);
  }

  void look(const MlirOperation& operation) {
    const bool view = std::find(views.begin(), views.end(), operation.name) != views.end();
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
      const auto buffer = of_.find(operation.operands[i]);
      if (buffer == of_.end()) continue;
      if (view && i == 0 && operation.results.size() == 1)
        of_[operation.results[0]] = buffer->second;
      else if (!only_reads(operation, i))
        buffers_[buffer->second].written = true;
    }
  }

  std::vector<MlirBuffer>& buffers_;
  std::map<std::string, std::size_t> of_;
};

}  // namespace
}  // namespace kernelsearch::detail

namespace kernelsearch {

Result<MlirPayload> try_read_mlir_payload(std::string_view generic, const std::string& function,
                                          const std::string& file) {
  const Result<detail::MlirText> text = detail::try_parse_mlir(generic, file);
  if (!text) return text.error();
  std::vector<const detail::MlirOperation*> functions;
  detail::functions_with_bodies(text->operations, functions);
  const auto name_of = [](const detail::MlirOperation* operation) {
    const std::string* const printed = operation->find("sym_name");
    return printed == nullptr ? std::string() : detail::mlir_string(*printed).value_or("");
  };
  std::string all;
  for (const auto* operation : functions) all += (all.empty() ? "" : ", ") + name_of(operation);
  std::erase_if(functions, [&](const auto* one) { return !function.empty() && name_of(one) != function; });
  if (functions.size() != 1)
    return Fault{functions.empty() ? "the payload has no such function" : "the payload has several functions",
                 file + ": " + (all.empty() ? "no func.func with a body" : all),
                 "name the one that the schedule transforms with --function"};
  const detail::MlirOperation& operation = *functions[0];
  MlirPayload result;
  result.function = name_of(&operation);
  if (!detail::is_name(result.function))
    return Fault{"the payload's function has a name that C++ cannot call",
                 operation.place + ": " + result.function, "rename it"};
  const std::string* const type = operation.find("function_type");
  const auto close = type == nullptr ? std::string::npos : type->rfind(") -> ");
  if (type == nullptr || type->empty() || type->front() != '(' || close == std::string::npos)
    return Fault{"the payload's function has no type", operation.place, "print it with mlir-opt"};
  if (type->substr(close) != ") -> ()")
    return Fault{"the payload's function returns something", operation.place + ": " + *type,
                 "write results to memref parameters, e.g. with bufferization.materialize_in_destination"};
  const auto parameters = detail::mlir_elements("[" + type->substr(1, close - 1) + "]");
  if (!parameters || parameters->empty())
    return Fault{"the payload's function has no parameters", operation.place + ": " + *type,
                 "pass buffers as memref<...>"};
  for (const std::string& parameter : *parameters) {
    auto buffer = detail::buffer_of(parameter);
    if (!buffer)
      return Fault{"a parameter of the payload's function cannot be passed",
                   operation.place + ": " + parameter,
                   "pass memrefs of static shape without a layout, of f32, f64, i8, i16, i32 or i64"};
    result.arguments.push_back(*std::move(buffer));
  }
  detail::WrittenBuffers(operation.regions[0][0], result.arguments).walk(operation.regions[0]);
  if (std::none_of(result.arguments.begin(), result.arguments.end(),
                   [](const MlirBuffer& one) { return one.written; }))
    return Fault{"the payload's function writes to none of its parameters", operation.place,
                 "return results through a memref parameter"};
  return result;
}

}  // namespace kernelsearch
