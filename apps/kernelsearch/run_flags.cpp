// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/systems/system_registry.hpp"

namespace kernelsearch::app {
namespace {

template <class T>
std::optional<T> whole_text(std::string_view text) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The text of a flag as a value of that type; as a text where it does not read so, which the row refuses.
FieldValue value_of(FieldType type, const std::string& text) {
  if (type == FieldType::count)
    if (const auto number = whole_text<std::int64_t>(text)) return *number;
  if (type == FieldType::natural)
    if (const auto number = whole_text<std::uint64_t>(text)) return *number;
  if (type == FieldType::number)
    if (const auto number = whole_text<double>(text)) return *number;
  if (type == FieldType::flag && (text == "true" || text == "false")) return text == "true";
  return text;
}

/// What the help says of a flag's value: `INT`, `INT in [1 - 64]`, `{warm,cold}`, `PATH`.
std::string kind_of(const RunOption& option) {
  if (!option.choices.empty()) return fmt::format("{{{}}}", fmt::join(option.choices, ","));
  constexpr const char* texts[] = {"TEXT", "PATH", "PATH", "PATH", "JSON"};
  constexpr const char* types[] = {"", "INT", "FLOAT", "", "TEXT", "INT", "UINT"};
  if (option.type == FieldType::text) return texts[static_cast<std::size_t>(option.path)];
  std::string text = types[static_cast<std::size_t>(option.type)];
  if (std::isfinite(option.least) && option.most < 1e6)
    text += fmt::format(" in [{:g} - {:g}]", option.least, option.most);
  return text;
}

std::string help_of(const RunOption& option) {
  std::string text(option.summary);
  if (option.negated()) return "Switch this off: " + text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (!option.otherwise.empty()) text += "; default " + std::string(option.otherwise);
  return text;
}

void write(const RunOption& option, RunOptions& into, FieldValue given) {
  const Result<FieldValue> value = option.try_given(std::move(given));
  if (!value) throw CLI::ValidationError(option.command_flag(), value.error().text());
  option.write(&into, *value);
}

CLI::Option* add(CLI::App& sub, const RunOption& option, RunOptions& into) {
  const std::string flag = option.command_flag(), help = help_of(option);
  if (option.type == FieldType::flag) {
    const bool value = !option.negated() && option.standard() == FieldValue(false);
    return sub.add_flag_callback(
        flag, [&option, &into, value] { option.write(&into, FieldValue(value)); }, help);
  }
  if (option.type == FieldType::texts)
    return sub
        .add_option_function<std::vector<std::string>>(
            flag, [&option, &into](const std::vector<std::string>& all) { write(option, into, all); }, help)
        ->allow_extra_args(option.several);
  CLI::Option* const added = sub.add_option_function<std::string>(
      flag, [&option, &into](const std::string& text) { write(option, into, value_of(option.type, text)); },
      help);
  const std::optional<FieldValue> standard = option.standard();
  if (option.otherwise.empty() && standard && *standard != FieldValue(std::string()))
    added->default_str(option.type == FieldType::text ? std::get<std::string>(*standard)
                                                      : field_text(*standard));
  if (option.path == OptionPath::file) added->check(CLI::ExistingFile);
  if (option.path == OptionPath::folder) added->check(CLI::ExistingDirectory);
  return added;
}

}  // namespace

void add_run_flags(CLI::App& sub, RunOptions& into) {
  for (const RunOption& option : run_options()) {
    if (option.command_flag().empty() || option.type == FieldType::counts) continue;
    CLI::Option* const added = add(sub, option, into);
    added->group(std::string(heading_of(option.group)));
    if (option.type != FieldType::flag) added->type_name(kind_of(option));
  }
}

namespace {

/// A flag of earlier versions, with the option that it gives and the system that has it first of all.
struct Former {
  std::string_view flag, option, system;
};
constexpr Former formers[] = {{"--repairs", "repairs", "best_of_k"},
                              {"--from-files", "from_files", "cuda_skill_v2"},
                              {"--wait", "wait", "cuda_skill_v2"},
                              {"--iterations", "iterations", "cuda_skill_v2"},
                              {"--branches", "branches", "cuda_skill_v2"},
                              {"--rewrites", "rewrites", "cuda_skill_v2"},
                              {"--ablate-pairs", "pairs", "cuda_skill_v2"},
                              {"--noise", "noise", "cuda_skill_v2"},
                              {"--from-frontier", "from_frontier", "cuda_skill_v2"},
                              {"--stage2", "stage2", "helion_hybrid"},
                              {"--workflow", "workflow", "peak"}};

const SystemOption& option_of(const Former& former) {
  for (const SystemOption& option : find_system(former.system).options)
    if (option.name == former.option) return option;
  detail::raise<ConfigError>("a flag of an earlier version names no option of a system", former.flag,
                             "correct the table of former flags");
}

/// `cuda_skill_v2(iterations=5)`.
std::string written_now(std::string_view system, const Former& former, const FieldValue& value) {
  return to_string(PolicyText{std::string(system), {{std::string(former.option), value}}});
}

/// The value of such a flag; CLI::ValidationError where the option cannot have it.
FieldValue former_value(const Former& former, const std::string& text) {
  const SystemOption& option = option_of(former);
  const auto type = static_cast<FieldType>(option.standard.index());
  FieldValue value = type == FieldType::flag ? FieldValue(true) : value_of(type, text);
  const std::string given = json_text({{std::string(former.option), field_to_json(value)}});
  try {
    const SystemOptions checked(former.system, {&option, 1}, given);
  } catch (const ConfigError& error) {
    throw CLI::ValidationError(std::string(former.flag), error.what());
  }
  return value;
}

}  // namespace

struct FormerFlags::Given {
  std::vector<std::pair<const Former*, FieldValue>> values = {};
};

FormerFlags::FormerFlags(CLI::App& sub) : given_(std::make_shared<Given>()) {
  for (const Former& former : formers) {
    const auto take = [given = given_, &former](const std::string& text) {
      given->values.emplace_back(&former, former_value(former, text));
    };
    CLI::Option* const added = std::holds_alternative<bool>(option_of(former).standard)
                                   ? sub.add_flag_callback(std::string(former.flag), [take] { take("true"); })
                                   : sub.add_option_function<std::string>(std::string(former.flag), take);
    added->group("");
  }
}

std::string FormerFlags::options(const RunOptions& run, bool resumes) const {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [former, value] : given_->values) {
    if (run.system.empty() && !resumes)
      throw CLI::ValidationError(std::string(former->flag),
                                 "a policy has none: leave it out, or name --system '" +
                                     written_now(former->system, *former, value) + "'");
    RunOptions split;
    split.system = written_now(former->system, *former, value);
    split_system(split);
    all.update(nlohmann::json::parse(split.system_options));
  }
  return all.empty() ? "" : json_text(all);
}

std::string FormerFlags::notices(const RunOptions& run) const {
  std::string text;
  for (const auto& [former, value] : given_->values)
    text += fmt::format(
        "{} is an option of the system: write --system '{}'; the old spelling still works\n", former->flag,
        written_now(run.system.empty() ? former->system : policy_name(run.system), *former, value));
  return text;
}

}  // namespace kernelsearch::app
