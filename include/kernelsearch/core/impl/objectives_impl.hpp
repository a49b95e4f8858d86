// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/core/objectives.hpp"

namespace kernelsearch {
namespace detail {

inline constexpr const char* objective_todo =
    "write [minimize|maximize] NAME [= FORMULA] [weight NUMBER], with a ; between each two";

/// The word at the beginning of `text`, which loses it and the blanks after it; empty where it begins
/// otherwise. Names are those of features, which may have dots.
inline std::string_view taken_word(std::string_view& text) {
  constexpr std::string_view first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  std::size_t end = 0;
  while (end < text.size() && (first.find(text[end]) != first.npos ||
                               (end > 0 && (text[end] == '.' || (text[end] >= '0' && text[end] <= '9')))))
    ++end;
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

/// The number after the last `weight`, which `text` loses with it; empty where it ends otherwise.
inline std::optional<double> taken_weight(std::string_view& text) {
  constexpr std::string_view word = "weight";
  const std::size_t at = text.rfind(word);
  if (at == text.npos || (at > 0 && !is_blank(text[at - 1]))) return std::nullopt;
  const std::string number(trimmed(text.substr(at + word.size())));
  char* end = nullptr;
  const double weight = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0') return std::nullopt;
  text = trimmed(text.substr(0, at));
  return weight;
}

inline Result<Objective> try_objective(std::string_view row) {
  const std::string given(row);
  std::string_view rest = row;
  std::string_view name = taken_word(rest);
  const bool maximize = name == "maximize";
  if ((maximize || name == "minimize") && !rest.empty() && rest.front() != '=') name = taken_word(rest);
  if (name.empty() || name.back() == '.') return Fault{"an objective has no name", given, objective_todo};
  const std::optional<double> weight = taken_weight(rest);
  if (weight && !(*weight > 0 && *weight <= 1e6))
    return Fault{"the weight of an objective is not a number above 0", given, "give one, e.g. weight 2"};
  const bool is_formula = !rest.empty() && rest.front() == '=';
  if (!is_formula && !rest.empty()) return Fault{"an objective is not understood", given, objective_todo};
  if (is_formula && name == "time")
    return Fault{"time is the time of a call, in seconds", given, "give the formula another name"};
  const std::string formula(is_formula ? trimmed(rest.substr(1)) : name);
  Result<Expression> value = Expression::try_parse(formula);
  if (!value) return std::move(value).error();
  return Objective{std::string(name), *std::move(value), maximize, weight.value_or(1.0), is_formula};
}

}  // namespace detail

KERNELSEARCH_INLINE Result<Objectives> Objectives::try_parse(std::string_view text) {
  Objectives objectives;
  if (detail::trimmed(text).empty()) return objectives;
  while (true) {
    const std::size_t end = text.find(';');
    Result<Objective> row = detail::try_objective(detail::trimmed(text.substr(0, end)));
    if (!row) return std::move(row).error();
    if (objectives.find(row->name) != nullptr)
      return Fault{"two objectives have the same name", row->name, "give each a name of its own"};
    objectives.rows_.push_back(*std::move(row));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  if (objectives.rows_.size() == 1 && objectives.rows_[0].name == "time" && !objectives.rows_[0].maximize)
    objectives.rows_.clear();
  return objectives;
}

KERNELSEARCH_INLINE Objectives Objectives::parse(std::string_view text) {
  return detail::value_or_raise(try_parse(text));
}

KERNELSEARCH_INLINE std::string Objectives::text() const {
  if (rows_.empty()) return "time";
  return detail::joined(rows_, "; ", &Objectives::text_of);
}

KERNELSEARCH_INLINE std::string Objectives::text_of(const Objective& row) {
  std::string text = (row.maximize ? "maximize " : "") + row.name;
  if (row.is_formula) text += " = " + row.value.text();
  if (row.weight != 1.0) text += " weight " + to_string(Value{row.weight});
  return text;
}

KERNELSEARCH_INLINE const Objective* Objectives::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const Objective& row) { return row.name == name; });
  return found == rows_.end() ? nullptr : &*found;
}

KERNELSEARCH_INLINE bool Objectives::reads(std::initializer_list<std::string_view> prefixes) const noexcept {
  for (const Objective& row : rows_)
    for (const std::string& name : row.value.names())
      for (const std::string_view prefix : prefixes)
        if (std::string_view(name).substr(0, prefix.size()) == prefix) return true;
  return false;
}

KERNELSEARCH_INLINE Result<std::vector<double>> Objectives::try_values(const Evaluation& evaluation) const {
  std::vector<double> values;
  for (const Objective& row : rows_) {
    std::vector<Value> inputs;
    for (const std::string& name : row.value.names()) {
      const std::optional<double> feature =
          name == "time" ? evaluation.measurement.seconds : evaluation.features.find(name);
      if (!feature) {
        std::vector<std::string> known{"time"};
        for (const auto& [one, value] : evaluation.features) known.push_back(one);
        const std::string nearest = nearest_name(name, known);
        return Fault{"objective " + row.name + " reads a feature that was not observed", name,
                     nearest.empty() ? "choose among: " + detail::joined(known, ", ")
                                     : "did you mean " + nearest + "?"};
      }
      inputs.emplace_back(*feature);
    }
    std::string error;
    const std::optional<Value> value = row.value.try_evaluate(inputs, &error);
    if (!value) return Fault{"objective " + row.name + " has no value", error, "change its formula"};
    const std::optional<double> number = try_to_number(*value);
    if (!number)
      return Fault{"objective " + row.name + " is not a number", row.value.text(), "change its formula"};
    if (!std::isfinite(*number) || *number <= 0)
      return Fault{"objective " + row.name + " is not a finite number above 0", std::to_string(*number),
                   "change its formula, e.g. 1 + x for a count that may be 0"};
    values.push_back(*number);
  }
  return values;
}

KERNELSEARCH_INLINE Result<std::vector<double>> Objectives::try_losses(const Evaluation& evaluation) const {
  Result<std::vector<double>> values = try_values(evaluation);
  if (values)
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].maximize) (*values)[i] = 1 / (*values)[i];
  return values;
}

KERNELSEARCH_INLINE double Objectives::scalar(std::span<const double> losses) const {
  if (losses.size() == 1) return losses[0];
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sum += rows_[i].weight * std::log(losses[i]);
    weights += rows_[i].weight;
  }
  return std::exp(sum / weights);
}

KERNELSEARCH_INLINE Result<double> Objectives::try_judge(Evaluation& evaluation) const {
  if (rows_.empty()) return evaluation.measurement.seconds;
  const Result<std::vector<double>> values = try_values(evaluation);
  if (!values) return values.error();
  std::vector<double> losses = *values;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    evaluation.features.set("objective." + rows_[i].name, (*values)[i]);
    if (rows_[i].maximize) losses[i] = 1 / losses[i];
  }
  return scalar(losses);
}

KERNELSEARCH_INLINE bool dominates(std::span<const double> a, std::span<const double> b) noexcept {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

KERNELSEARCH_INLINE std::vector<std::size_t> pareto_front(std::span<const std::vector<double>> losses) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses[i].empty()) continue;
    bool beaten = false;
    for (std::size_t j = 0; j < losses.size() && !beaten; ++j)
      beaten = !losses[j].empty() && (dominates(losses[j], losses[i]) || (j < i && losses[j] == losses[i]));
    if (!beaten) front.push_back(i);
  }
  return front;
}

}  // namespace kernelsearch
