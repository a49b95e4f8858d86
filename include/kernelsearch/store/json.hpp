// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/core/field.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/store/finalist_comparison.hpp"
// Users of the library need not have nlohmann/json: without it they have to_json_text and from_json_text.
#if __has_include(<nlohmann/json_fwd.hpp>)
#  include <nlohmann/json_fwd.hpp>
#  define KERNELSEARCH_HAS_JSON 1
#endif

/// The vocabulary as JSON, found by nlohmann's json through these overloads. Layout: docs/formats/store.md.
///
/// Finite numbers read back the same to the last bit. JSON has no others, so those are written as the strings
/// "Infinity", "-Infinity" and "NaN", which Python's float() and JavaScript's Number() take as they are.
/// Reading raises a ConfigError that names what is missing or malformed.
namespace kernelsearch {

#ifdef KERNELSEARCH_HAS_JSON
void to_json(nlohmann::json& json, const Interval& interval);
void from_json(const nlohmann::json& json, Interval& interval);
void to_json(nlohmann::json& json, const Speedup& speedup);
void from_json(const nlohmann::json& json, Speedup& speedup);
void to_json(nlohmann::json& json, const ShapeMeasurement& shape);
void from_json(const nlohmann::json& json, ShapeMeasurement& shape);
void to_json(nlohmann::json& json, const Measurement& measurement);
void from_json(const nlohmann::json& json, Measurement& measurement);
void to_json(nlohmann::json& json, const Features& features);
void from_json(const nlohmann::json& json, Features& features);
void to_json(nlohmann::json& json, const Overrun& overrun);
void from_json(const nlohmann::json& json, Overrun& overrun);
void to_json(nlohmann::json& json, const Evaluation& evaluation);
void from_json(const nlohmann::json& json, Evaluation& evaluation);
void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);
void to_json(nlohmann::json& json, const FinalistComparison& comparison);
void from_json(const nlohmann::json& json, FinalistComparison& comparison);
void to_json(nlohmann::json& json, const Move& move);
void from_json(const nlohmann::json& json, Move& move);
void to_json(nlohmann::json& json, const Config& config);
void from_json(const nlohmann::json& json, Config& config);

/// Booleans, integers, floats, strings and permutations as the JSON values of those kinds. (Not a to_json
/// overload: Value is a std::variant, which argument-dependent look-up would not find.)
[[nodiscard]] nlohmann::json value_to_json(const Value& value);
[[nodiscard]] Value value_from_json(const nlohmann::json& json);

/// A value of an option as JSON, and back; nothing for JSON that no option can be: null, objects, mixed
/// lists.
[[nodiscard]] nlohmann::json field_to_json(const FieldValue& value);
[[nodiscard]] std::optional<FieldValue> field_from_json(const nlohmann::json& json);

/// The text of `json` on one line, with bytes that are not UTF-8 (compilers print them) replaced by U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json);

/// Parses what `json_text` wrote; a ConfigError says that `what` is damaged.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view what);
#endif

/// `json_text` of a value of the vocabulary and back, for callers without the JSON library's header.
template <class T>
[[nodiscard]] std::string to_json_text(const T& value);
template <class T>
[[nodiscard]] T from_json_text(std::string_view text);

extern template std::string to_json_text(const Measurement&);
extern template std::string to_json_text(const Features&);
extern template std::string to_json_text(const Overrun&);
extern template std::string to_json_text(const Evaluation&);
extern template std::string to_json_text(const Outcome&);
extern template std::string to_json_text(const FinalistComparison&);
extern template std::string to_json_text(const Move&);
extern template std::string to_json_text(const Config&);
extern template Measurement from_json_text(std::string_view);
extern template Features from_json_text(std::string_view);
extern template Overrun from_json_text(std::string_view);
extern template Evaluation from_json_text(std::string_view);
extern template Outcome from_json_text(std::string_view);
extern template FinalistComparison from_json_text(std::string_view);
extern template Move from_json_text(std::string_view);
extern template Config from_json_text(std::string_view);

}  // namespace kernelsearch
