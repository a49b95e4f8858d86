// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/mlir_schedule.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "mlir_constraint.hpp"
#include "mlir_generic.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {

/// An operation that chooses.
struct MlirChoice {
  std::size_t tunable = 0;
  MlirSpan properties;  ///< `<{...}>`, or where it would stand
  std::string before;   ///< its entries but the selection
  const char* key = "selected";
  std::vector<std::string> options;  ///< as printed, for the values of the tunable
  bool selected = false;             ///< the text selects one already
};

/// A constrain_params: what is written in its place.
struct MlirStripped {
  MlirSpan span;
  std::string result, type;  ///< `%6 = ` and its type; empty: it has no result
  std::optional<Expression> value;
  std::optional<Expression> active;  ///< of the region that it is in
};

struct MlirScheduleData {
  std::string original;  ///< what was read: all spans are of it
  std::string text;
  std::vector<MlirSpan> locations;
  std::vector<Tunable> tunables;
  std::vector<std::string> names;  ///< of the tunables, as the schedule has them
  std::vector<std::string> constraints;
  std::vector<Expression> parsed;  ///< the constraints
  std::vector<MlirChoice> choices;
  std::vector<MlirStripped> stripped;
};

namespace {

struct MlirEdit {
  MlirSpan span;
  std::string text;
};

std::string edited(const std::string& original, std::vector<MlirEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const MlirEdit& a, const MlirEdit& b) { return a.span.begin < b.span.begin; });
  std::string result;
  std::size_t at = 0;
  for (const MlirEdit& edit : edits) {
    if (edit.span.begin < at) continue;  // a location within what is taken out
    result.append(original, at, edit.span.begin - at).append(edit.text);
    at = edit.span.end;
  }
  return result.append(original, at);
}

/// An attribute as it is printed among others, where `: i64` and `: f64` are left out.
std::string_view plain(std::string_view printed) {
  for (const std::string_view type : {" : i64", " : f64"})
    if (printed.ends_with(type)) printed.remove_suffix(type.size());
  return printed;
}

std::vector<Value> values_of_options(const std::vector<std::string>& options) {
  std::vector<Value> integers, bools, texts;
  std::optional<std::string> type;
  for (const std::string& option : options) {
    texts.emplace_back(option);
    if (option == "true" || option == "false") bools.emplace_back(option == "true");
    const auto number = mlir_integer(option);
    if (!number) continue;
    const std::string its = number->type.empty() ? "i64" : number->type;
    if (!type) type = its;
    if (*type == its) integers.emplace_back(number->value);
  }
  return integers.size() == options.size() ? integers : bools.size() == options.size() ? bools : texts;
}

/// The knob's name as a name of C++ and of expressions, another one than those taken.
std::string tunable_name(const std::string& given, const std::vector<Tunable>& taken) {
  std::string name;
  for (const char c : given) name += is_alphanumeric(c) ? c : '_';
  const bool of_build_commands = name == "SOURCE" || name == "LIBRARY" || name == "NAME";
  if (!is_name(name) || name.starts_with("__") || of_build_commands) name = "knob_" + name;
  const auto is_taken = [&](const std::string& one) {
    return std::any_of(taken.begin(), taken.end(), [&](const Tunable& t) { return t.name == one; });
  };
  std::string result = name;
  for (int i = 2; is_taken(result); ++i) result = name + "_" + std::to_string(i);
  return result;
}

/// For the condition under which a region is run, in characters.
constexpr std::size_t longest_condition = 20'000;

/// Walks the operations of a schedule in their order.
class ScheduleReader {
 public:
  explicit ScheduleReader(MlirScheduleData& data) : data_(data) {}

  std::optional<Fault> walk(const std::vector<MlirOperation>& operations, const std::string& active) {
    for (const MlirOperation& operation : operations) {
      if (operation.name == "transform.tune.knob")
        knob(operation, active);
      else if (operation.name == "transform.tune.alternatives")
        alternatives(operation, active);
      else if (operation.name == "transform.smt.constrain_params")
        constrain(operation, active);
      else if (operation.name.starts_with("transform.tune.") || operation.name.starts_with("transform.smt."))
        refuse(operation, "is unknown here", "use knob, alternatives and constrain_params");
      else
        other(operation, active);
      if (fault_) return std::move(fault_);
    }
    return std::nullopt;
  }

 private:
  void refuse(const MlirOperation& operation, const std::string& why, const std::string& todo) {
    if (!fault_)
      fault_ = Fault{"an operation of the schedule " + why, operation.place + ": " + operation.name, todo};
  }

  /// Nothing where it always holds.
  std::optional<Expression> condition(const MlirOperation& operation, const std::string& text) {
    if (text.empty()) return std::nullopt;
    std::optional<Expression> expression;
    if (text.size() <= longest_condition) expression = Expression::try_parse(text, unparsed_);
    if (!expression) refuse(operation, "is nested in too many alternatives", "nest fewer of them");
    return expression;
  }

  void know(const std::string& name, MlirTerm term) {
    const auto found = known_.find(name);
    undo_.emplace_back(name, found == known_.end() ? std::nullopt : std::optional(found->second));
    known_[name] = std::move(term);
  }

  void forget(std::size_t down_to) {
    for (; undo_.size() > down_to; undo_.pop_back()) {
      auto& [name, earlier] = undo_.back();
      if (earlier)
        known_[name] = *std::move(earlier);
      else
        known_.erase(name);
    }
  }

  void regions(const MlirOperation& operation, const std::vector<std::string>& active) {
    for (std::size_t i = 0; i < operation.regions.size() && !fault_; ++i)
      for (const MlirBlock& block : operation.regions[i]) {
        const std::size_t before = undo_.size();
        if (auto fault = walk(block.operations, active[i])) fault_ = std::move(fault);
        forget(before);
      }
  }

  void other(const MlirOperation& operation, const std::string& active) {
    if (operation.name == "transform.param.constant" && operation.results.size() == 1) {
      const std::string* const value = operation.find("value");
      const auto number = value == nullptr ? std::nullopt : mlir_integer(*value);
      if (number)
        know(operation.results[0],
             {number->value < 0 ? "(" + std::to_string(number->value) + ")" : std::to_string(number->value),
              false});
      else if (value != nullptr && (*value == "true" || *value == "false"))
        know(operation.results[0], {*value == "true" ? "True" : "False", true});
    }
    regions(operation, std::vector<std::string>(operation.regions.size(), active));
  }

  /// The tunable of that name, a new one or that of an earlier operation with the same options.
  std::optional<std::size_t> choice(const MlirOperation& operation, std::vector<Value> values,
                                    std::vector<std::string> options, const char* key,
                                    const std::string& active) {
    const std::string* const printed = operation.find("name");
    const auto name = printed == nullptr ? std::nullopt : mlir_string(*printed);
    if (!name) {
      refuse(operation, "has no name", "name it");
      return std::nullopt;
    }
    MlirChoice made;
    made.key = key;
    made.properties = {operation.heading_end, operation.properties_end};
    std::size_t at = 0;
    for (const auto& [entry, value] : operation.properties) {
      if (entry == key) {
        const std::string_view selection = plain(value);
        made.selected = true;
        const auto position = std::find_if(options.begin(), options.end(), [&](const std::string& option) {
          return plain(option) == selection;
        });
        if (position == options.end()) {
          refuse(operation, "selects what is not one of its options: " + value,
                 "select one of them, or none");
          return std::nullopt;
        }
        at = static_cast<std::size_t>(position - options.begin());
      } else {
        made.before += entry + (value == "unit" ? "" : " = " + value) + ", ";
      }
    }
    const auto known = std::find(data_.names.begin(), data_.names.end(), *name);
    made.tunable = static_cast<std::size_t>(known - data_.names.begin());
    if (known == data_.names.end()) {
      Tunable tunable = Tunable::of(tunable_name(*name, data_.tunables), std::move(values));
      tunable.default_index = at;
      tunable.active_if = condition(operation, active);
      data_.tunables.push_back(std::move(tunable));
      data_.names.push_back(*name);
      activity_.push_back(active);
      option_texts_.push_back(options);
    } else if (option_texts_[made.tunable] != options || data_.tunables[made.tunable].values != values) {
      refuse(operation, "has the name of an earlier one with other options: " + *name,
             "choices of one name are one choice: give them the same options, or another name");
      return std::nullopt;
    } else {  // it counts where any of them does
      std::string& both = activity_[made.tunable];
      both = both.empty() || active.empty() ? "" : both == active ? both : "(" + both + " or " + active + ")";
      data_.tunables[made.tunable].active_if = condition(operation, both);
    }
    made.options = std::move(options);
    data_.choices.push_back(std::move(made));
    return data_.choices.back().tunable;
  }

  void knob(const MlirOperation& operation, const std::string& active) {
    const std::string* const printed = operation.find("options");
    const auto options = printed == nullptr ? std::nullopt : mlir_elements(*printed);
    if (!options || options->empty())
      return refuse(operation, "has no list of options: " + (printed == nullptr ? "" : *printed),
                    "write options = [8, 16]: a range or any other form says not which values it has");
    const auto tunable = choice(operation, values_of_options(*options), *options, "selected", active);
    if (!tunable || operation.results.size() != 1) return;
    const Tunable& made = data_.tunables[*tunable];
    if (std::holds_alternative<std::int64_t>(made.values[0])) know(operation.results[0], {made.name, false});
    if (std::holds_alternative<bool>(made.values[0])) know(operation.results[0], {made.name, true});
  }

  void alternatives(const MlirOperation& operation, const std::string& active) {
    std::string selector;
    const std::size_t count = operation.regions.size();
    if (operation.operands.empty()) {
      std::vector<Value> values;
      std::vector<std::string> options;
      for (std::size_t i = 0; i < count; ++i) {
        values.emplace_back(static_cast<std::int64_t>(i));
        options.push_back(std::to_string(i) + " : index");
      }
      if (count == 0) return refuse(operation, "has no regions", "give it some");
      const auto tunable =
          choice(operation, std::move(values), std::move(options), "selected_region_attr", active);
      if (!tunable) return;
      selector = data_.tunables[*tunable].name;
    } else {
      const auto found = known_.find(operation.operands[0]);
      if (operation.operands.size() != 1 || found == known_.end() || found->second.boolean)
        return refuse(
            operation, "is selected by a parameter that is not a choice of integers",
            "select by a knob or a transform.param.constant of type i64, or leave the selection out");
      selector = found->second.text;
      require(selector + " in range(" + std::to_string(count) + ")", active);
    }
    std::vector<std::string> within;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string here = "(" + selector + " == " + std::to_string(i) + ")";
      within.push_back(active.empty() ? here : "(" + active + " and " + here + ")");
    }
    regions(operation, within);
  }

  void require(const std::string& condition, const std::string& active) {
    data_.constraints.push_back(active.empty() ? condition : "not " + active + " or " + condition);
  }

  void constrain(const MlirOperation& operation, const std::string& active) {
    std::vector<MlirTerm> operands;
    for (const std::string& name : operation.operands) {
      const auto found = known_.find(name);
      if (found == known_.end())
        return refuse(operation, "constrains " + name + ", which is not a choice of integers or bools",
                      "constrain results of knobs, of transform.param.constant and of other constraints");
      operands.push_back(found->second);
    }
    if (operation.results.size() > 1)
      return refuse(operation, "has more than one result", "write one for each result");
    Result<MlirConditions> conditions = try_conditions(operation, operands);
    if (!conditions) {
      fault_ = conditions.error();
      return;
    }
    for (const std::string& text : conditions->asserted) require(text, active);
    MlirStripped stripped;
    stripped.span = operation.span;
    stripped.active = condition(operation, active);
    if (!operation.results.empty()) {
      stripped.result = operation.results[0];
      stripped.type = operation.result_types[0];
      stripped.value = Expression::try_parse(conditions->yielded[0].text, unparsed_);
      if (!stripped.value) return refuse(operation, "makes no expression (" + unparsed_ + ")", "simplify it");
      know(operation.results[0], conditions->yielded[0]);
    }
    data_.stripped.push_back(std::move(stripped));
  }

  MlirScheduleData& data_;
  std::map<std::string, MlirTerm> known_;
  std::vector<std::pair<std::string, std::optional<MlirTerm>>> undo_;
  std::vector<std::string> activity_;                   ///< of each tunable; empty: always
  std::vector<std::vector<std::string>> option_texts_;  ///< likewise
  std::string unparsed_;
  std::optional<Fault> fault_;
};

/// What expressions read; faults as of try_written.
class WrittenValues {
 public:
  WrittenValues(const MlirScheduleData& data, const MlirSchedule::ValueOf& value_of) : data_(data) {
    for (std::size_t i = 0; i < data.tunables.size() && !fault_; ++i) {
      const Tunable& tunable = data.tunables[i];
      const Value* const given = value_of(tunable.name);
      const bool selected = std::any_of(data.choices.begin(), data.choices.end(), [&](const MlirChoice& one) {
        return one.tunable == i && one.selected;
      });
      const auto at = given != nullptr ? tunable.position(*given) : std::optional(tunable.default_index);
      if (given == nullptr && !selected)
        fault_ = Fault{"a choice of the schedule has no value", tunable.name,
                       "give it one, or select one in the schedule"};
      else if (!at)
        fault_ = Fault{"a value is not one of the schedule's options",
                       tunable.name + " = " + to_string(*given), "give one of the options"};
      else
        positions_.push_back(*at);
    }
  }

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] std::size_t position(std::size_t tunable) const { return positions_[tunable]; }

  [[nodiscard]] std::optional<Value> evaluate(const Expression& expression, std::string* error) const {
    std::vector<Value> values;
    for (const std::string& name : expression.names())
      for (std::size_t i = 0; i < data_.tunables.size(); ++i)
        if (data_.tunables[i].name == name) values.push_back(data_.tunables[i].values[positions_[i]]);
    return expression.try_evaluate(values, error);
  }

 private:
  const MlirScheduleData& data_;
  std::vector<std::size_t> positions_;
  std::optional<Fault> fault_;
};

bool is_true(const std::optional<Value>& value) {
  return value && std::holds_alternative<bool>(*value) && std::get<bool>(*value);
}

/// The constant in place of a constraint with a result.
Result<std::string> constant_instead(const MlirStripped& stripped, const WrittenValues& values) {
  if (stripped.result.empty()) return std::string();
  std::string error, printed;
  const auto value = values.evaluate(*stripped.value, &error);
  const std::string type = stripped.type.starts_with("!transform.param<") && stripped.type.ends_with(">")
                               ? stripped.type.substr(17, stripped.type.size() - 18)
                               : "i64";
  if (value && std::holds_alternative<std::int64_t>(*value))
    printed = to_string(*value) + " : " + type;
  else if (value && std::holds_alternative<bool>(*value))
    printed = to_string(*value);
  else if (stripped.active && !is_true(values.evaluate(*stripped.active, nullptr)))
    printed = "0 : " + type;  // never run: any value will do
  else
    return Fault{"a result of the schedule's constraints has no value", stripped.value->text() + ": " + error,
                 "choose other values"};
  return stripped.result + " = \"transform.param.constant\"() <{value = " + printed + "}> : () -> " +
         stripped.type;
}

}  // namespace
}  // namespace kernelsearch::detail

namespace kernelsearch {

Result<MlirSchedule> MlirSchedule::try_read(std::string_view generic, const std::string& file) {
  const Result<detail::MlirText> text = detail::try_parse_mlir(generic, file);
  if (!text) return text.error();
  auto data = std::make_shared<detail::MlirScheduleData>();
  data->original = generic;
  data->locations = text->locations;
  if (std::optional<Fault> fault = detail::ScheduleReader(*data).walk(text->operations, ""))
    return *std::move(fault);
  if (data->choices.empty())
    return Fault{"the schedule leaves nothing open", file,
                 "write transform.tune.knob or transform.tune.alternatives where there is a choice"};
  for (const std::string& constraint : data->constraints) {
    std::string error;
    auto parsed = Expression::try_parse(constraint, error);
    if (!parsed)
      return Fault{"a constraint of the schedule makes no expression", file + ": " + error, "simplify it"};
    data->parsed.push_back(*std::move(parsed));
  }
  std::vector<detail::MlirEdit> edits;
  for (const detail::MlirSpan& span : data->locations) edits.push_back({span, ""});
  data->text = detail::edited(data->original, std::move(edits));
  return MlirSchedule(std::move(data));
}

MlirSchedule MlirSchedule::read(std::string_view generic, const std::string& file) {
  return detail::value_or_raise(try_read(generic, file));
}

const std::vector<Tunable>& MlirSchedule::tunables() const noexcept {
  return data_->tunables;
}

const std::vector<std::string>& MlirSchedule::constraints() const noexcept {
  return data_->constraints;
}

const std::string& MlirSchedule::text() const noexcept {
  return data_->text;
}

Result<Space> MlirSchedule::try_space() const {
  std::vector<Constraint> constraints;
  for (const Expression& expression : data_->parsed) constraints.emplace_back(expression);
  return Space::try_build(data_->tunables, std::move(constraints));
}

Result<std::string> MlirSchedule::try_written(const ValueOf& value_of) const {
  const detail::MlirScheduleData& data = *data_;
  const detail::WrittenValues values(data, value_of);
  if (values.fault()) return *values.fault();
  for (const Expression& constraint : data.parsed) {
    std::string error;
    if (!detail::is_true(values.evaluate(constraint, &error)))
      return Fault{"a constraint of the schedule does not hold",
                   constraint.text() + (error.empty() ? "" : ": " + error), "choose other values"};
  }
  std::vector<detail::MlirEdit> edits;
  for (const detail::MlirChoice& choice : data.choices) {
    std::string text =
        "<{" + choice.before + choice.key + " = " + choice.options[values.position(choice.tunable)] + "}>";
    if (choice.properties.begin == choice.properties.end) text += " ";
    edits.push_back({choice.properties, std::move(text)});
  }
  for (const detail::MlirStripped& stripped : data.stripped) {
    Result<std::string> instead = constant_instead(stripped, values);
    if (!instead) return instead.error();
    edits.push_back({stripped.span, *std::move(instead)});
  }
  for (const detail::MlirSpan& span : data.locations) {
    // What follows at once must not become part of the type before.
    const bool ends =
        span.end >= data.original.size() ||
        std::string_view(" \t\r\n,:)]}>").find(data.original[span.end]) != std::string_view::npos;
    edits.push_back({span, ends ? "" : " "});
  }
  return detail::edited(data.original, std::move(edits));
}

Result<std::string> MlirSchedule::try_written(const Space& space, const Config& config) const {
  return try_written([&](std::string_view name) -> const Value* {
    const auto i = space.find(name);
    return i ? &space.value(config, *i) : nullptr;
  });
}

bool is_mlir_source(std::string_view name) noexcept {
  return name.ends_with(".mlir");
}

std::string filled_mlir_source(const std::string& text, const MlirSchedule::ValueOf& value_of) {
  const auto schedule = MlirSchedule::try_read(text, "schedule.mlir");
  const auto filled = schedule ? schedule->try_written(value_of) : Result<std::string>(schedule.error());
  if (filled) return *filled;
  std::string reason = filled.error().text();
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return "// " + reason + "\n" + text;
}

}  // namespace kernelsearch
