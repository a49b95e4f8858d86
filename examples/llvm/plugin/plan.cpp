// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/space/space_builder.hpp"

namespace kernelsearch_loops {

namespace {

using namespace kernelsearch;

constexpr const char* form =
    "write FUNCTION:LOOP:NAME=VALUE,... such as dot:0:vectorize_width=8,unroll_count=2";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// The part up to `separator`, which `rest` then begins behind.
std::string_view next_part(std::string_view& rest, std::string_view separators) {
  const std::size_t at = rest.find_first_of(separators);
  const std::string_view part = rest.substr(0, at);
  rest = at == rest.npos ? std::string_view{} : rest.substr(at + 1);
  return trimmed(part);
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string without_comments(std::string_view text) {
  std::string kept;
  for (bool comment = false; const char c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment) kept += c;
  }
  return kept;
}

std::string values_of(const Tunable& tunable) {
  std::string texts;
  for (const Value& value : tunable.values) texts += (texts.empty() ? "" : ", ") + to_string(value);
  return texts;
}

Result<LoopHints> try_read_entry(std::string_view entry) {
  const Space& space = hint_space();
  LoopHints hints{
      .function = {}, .values = std::vector<std::int64_t>(space.size()), .text = std::string(entry)};
  const std::size_t settings_at = entry.rfind(':');
  const std::size_t loop_at =
      settings_at == entry.npos || settings_at == 0 ? entry.npos : entry.rfind(':', settings_at - 1);
  if (loop_at == entry.npos) return Fault{"an entry of the plan has no loop", hints.text, form};
  hints.function = trimmed(entry.substr(0, loop_at));
  if (hints.function.empty()) return Fault{"an entry of the plan names no function", hints.text, form};

  std::string_view loop = trimmed(entry.substr(loop_at + 1, settings_at - loop_at - 1));
  hints.by_line = loop.starts_with('L');
  const auto place = number<unsigned>(hints.by_line ? loop.substr(1) : loop);
  if (!place)
    return Fault{"an entry of the plan names its loop by no number", hints.text,
                 "name it by its place from 0, or by its line as L12"};
  hints.number = *place;

  std::vector<bool> given(space.size());
  std::string_view settings = trimmed(entry.substr(settings_at + 1));
  if (settings.empty()) return Fault{"an entry of the plan sets nothing", hints.text, form};
  while (!settings.empty()) {
    std::string_view value_text = next_part(settings, ",");
    const bool has_value = value_text.find('=') != value_text.npos;
    const std::string name(next_part(value_text, "="));
    const auto which = space.find(name);
    if (!which) {
      std::vector<std::string> names;
      for (const Tunable& tunable : space.tunables()) names.push_back(tunable.name);
      const std::string near = nearest_name(name, names);
      std::string all;
      for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
      return Fault{"an entry of the plan sets what is no hint", "`" + name + "` in " + hints.text,
                   near.empty() ? "there are " + all : "did you mean " + near + "? There are " + all};
    }
    const Tunable& tunable = space.tunable(*which);
    if (given[*which])
      return Fault{"an entry of the plan sets a hint twice", name + " in " + hints.text, "set it once"};
    given[*which] = true;
    const auto value = has_value ? number<std::int64_t>(trimmed(value_text)) : std::nullopt;
    if (!value || !tunable.position(Value{*value}))
      return Fault{"an entry of the plan has a value that its hint cannot have", name + " in " + hints.text,
                   "it can be " + values_of(tunable)};
    hints.values[*which] = *value;
  }

  std::vector<Value> values(hints.values.begin(), hints.values.end());
  const auto config = space.config_of(values);
  if (!config || !space.contains(*config)) {
    std::string all;
    for (const Constraint& constraint : space.constraints())
      all += (all.empty() ? "" : " and ") + constraint.text();
    return Fault{"an entry of the plan asks for too much at once", hints.text, "keep to " + all};
  }
  return hints;
}

}  // namespace

const Space& hint_space() {
  // Wider than 64 elements LLVM takes no hint. The product bounds the turns in one body of the loop: beyond
  // it only compile time grows.
  constexpr std::int64_t widths[] = {0, 1, 2, 4, 8, 16, 32, 64};
  constexpr std::int64_t counts[] = {0, 1, 2, 4, 8};
  static const Space space =
      SpaceBuilder()
          .add(Tunable::integers("vectorize_width", widths))
          .add(Tunable::integers("interleave_count", counts))
          .add(Tunable::integers("unroll_count", counts))
          .add(Tunable::integer("distribute", 0, 1))
          .require("max(1, vectorize_width) * max(1, interleave_count) * max(1, unroll_count) <= 512")
          .build();
  return space;
}

std::int64_t LoopHints::value(std::string_view name) const {
  return values[*hint_space().find(name)];
}

Result<std::vector<LoopHints>> try_read_plan(std::string_view text) {
  const std::string plan = without_comments(text);
  std::vector<LoopHints> read;
  for (std::string_view rest = plan; !rest.empty();) {
    const std::string_view entry = next_part(rest, "\n;");
    if (entry.empty()) continue;
    Result<LoopHints> hints = try_read_entry(entry);
    if (!hints) return hints.error();
    for (const LoopHints& other : read)
      if (other.function == hints->function && other.by_line == hints->by_line &&
          other.number == hints->number)
        return Fault{"the plan has two entries of one loop", other.text + " and " + hints->text,
                     "keep one of them"};
    read.push_back(*std::move(hints));
  }
  return read;
}

}  // namespace kernelsearch_loops
