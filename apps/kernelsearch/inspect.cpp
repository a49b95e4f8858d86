// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "kernelsearch/recorded/implied_rules.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/recording_summary.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/space/guessed_role.hpp"
#include "kernelsearch/store/json.hpp"
#include "terminal.hpp"
#include "unit_option.hpp"

namespace kernelsearch::app {
namespace {

struct InspectCommand {
  std::string file, space, unit;
  bool json = false;
};

using nlohmann::ordered_json;

ordered_json settings(const Recording& recording, std::size_t trial) {
  ordered_json object = ordered_json::object();
  for (std::size_t i = 0; i < recording.space.size(); ++i)
    object[recording.space.tunable(i).name] =
        ordered_json(value_to_json(recording.space.value(recording.trials[trial].config, i)));
  return object;
}

ordered_json as_json(const Recording& recording, const RecordingSummary& summary, const ImpliedRules& rules) {
  ordered_json out{{"name", recording.name},
                   {"format", recording.format},
                   {"kernel", recording.kernel},
                   {"device", recording.device},
                   {"problem_size", recording.problem_size},
                   {"tunables", recording.space.size()},
                   {"combinations", recording.space.raw_count().to_string()},
                   {"recorded", recording.trials.size()}};
  // What each tunable does, as declared or by its name; those of which it is not known are left out.
  auto& roles = out["roles"] = ordered_json::object();
  for (const Tunable& tunable : recording.space.tunables())
    if (const TunableRole role = role_of(tunable); role != TunableRole::none)
      roles[tunable.name] = to_string(role);
  ordered_json verdicts = ordered_json::object();
  for (std::size_t i = 0; i < summary.verdicts.size(); ++i)
    if (summary.verdicts[i] > 0)
      verdicts[std::string(to_string(static_cast<Verdict>(i)))] = summary.verdicts[i];
  out["verdicts"] = std::move(verdicts);
  if (summary.best) {
    out["best"] = {{"seconds", summary.best_seconds}, {"settings", settings(recording, *summary.best)}};
    out["median_seconds"] = summary.median_seconds;
    out["quantiles_seconds"] = {{"5", summary.quantiles[0]},
                                {"25", summary.quantiles[1]},
                                {"75", summary.quantiles[2]},
                                {"95", summary.quantiles[3]}};
    out["within_percent_of_best"] = {
        {"1", summary.near_best[0]}, {"5", summary.near_best[1]}, {"10", summary.near_best[2]}};
    out["budget"] = summary.budget;
    out["sample_spread"] = summary.spread;
  }
  out["recorded_seconds"] = {{"build", summary.phases.build},
                             {"check", summary.phases.check},
                             {"measure", summary.phases.measure},
                             {"framework", summary.framework_seconds}};
  auto& list = out["implied_rules"] = ordered_json::array();
  for (const ImpliedRule& rule : rules.rules)
    list.push_back({{"about", rule.subject == RuleSubject::recorded ? "recorded" : "right"},
                    {"rule", rule.text},
                    {"excluded", rule.excluded}});
  out["allowed_by_rules"] = rules.allowed.to_string();
  out["notes"] = recording.notes;
  return out;
}

void print_times(const Recording& recording, const RecordingSummary& summary) {
  const auto time = [](double seconds) { return format_seconds(seconds, 4); };
  print_clean("best       {}", time(summary.best_seconds));
  const char* separator = " at ";
  for (std::size_t i = 0; i < recording.space.size(); ++i) {
    const Tunable& tunable = recording.space.tunable(i);
    if (tunable.values.size() < 2) continue;
    print_clean("{}{}={}", separator, tunable.name,
                to_string(recording.space.value(recording.trials[*summary.best].config, i)));
    separator = " ";
  }
  print_clean("\nmedian     {}, {:.2f} times the best\n", time(summary.median_seconds),
              summary.median_seconds / summary.best_seconds);
  print_clean("quantiles  5 % {}, 25 % {}, 75 % {}, 95 % {}\n", time(summary.quantiles[0]),
              time(summary.quantiles[1]), time(summary.quantiles[2]), time(summary.quantiles[3]));
  print_clean("near best  {} within 1 %, {} within 5 %, {} within 10 %\n", summary.near_best[0],
              summary.near_best[1], summary.near_best[2]);
  print_clean("samples    spread {:.2f} % in the median\n", 100 * summary.spread);
  print_clean("budget     {} evaluations bring random search 95 % of the way from the median to the best\n",
              summary.budget);
}

void print_rules(const Recording& recording, const ImpliedRules& rules) {
  for (const RuleSubject subject : {RuleSubject::recorded, RuleSubject::right}) {
    const bool any = std::any_of(rules.rules.begin(), rules.rules.end(),
                                 [&](const ImpliedRule& rule) { return rule.subject == subject; });
    if (!any) continue;
    print_clean(
        "\n{}\n",
        subject == RuleSubject::recorded
            ? fmt::format(
                  "Rules that the recorded of {} combinations meet (together {} do, {} are recorded):",
                  recording.space.raw_count().to_string(), rules.allowed.to_string(), recording.trials.size())
            : "Rules that those of the recorded ones meet that did not fail:");
    for (const ImpliedRule& rule : rules.rules)
      if (rule.subject == subject) print_clean("  {}\n", rule.text);
  }
}

int run(const InspectCommand& command) {
  const Recording recording = read_recording(command.file, {.space = command.space, .unit = command.unit});
  const RecordingSummary summary = summarize_recording(recording);
  const ImpliedRules rules = implied_rules(recording);
  const int code = summary.best ? success : nothing_found;
  if (command.json) {
    print_clean(
        "{}\n",
        as_json(recording, summary, rules).dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return code;
  }
  const auto or_unknown = [](const std::string& text) {
    return text.empty() ? std::string("unknown") : text;
  };
  if (!recording.format.empty()) print_clean("format     {}\n", recording.format);
  print_clean("kernel     {}\ndevice     {}\nsize       {}\n", or_unknown(recording.kernel),
              or_unknown(recording.device), or_unknown(recording.problem_size));
  const auto tunables = recording.space.tunables();
  print_clean(
      "space      {} tunables ({} with a choice), {} combinations, {} recorded\n", tunables.size(),
      std::count_if(tunables.begin(), tunables.end(), [](const Tunable& t) { return t.values.size() > 1; }),
      recording.space.raw_count().to_string(), recording.trials.size());
  print_clean("verdicts  ");
  for (std::size_t i = 0; i < summary.verdicts.size(); ++i)
    if (summary.verdicts[i] > 0)
      print_clean(" {} {}", to_string(static_cast<Verdict>(i)), summary.verdicts[i]);
  print_clean("\n");
  if (summary.best) print_times(recording, summary);
  print_clean("recorded   {}: {} building, {} checking, {} measuring, {} else\n",
              format_duration(summary.phases.total() + summary.framework_seconds),
              format_duration(summary.phases.build), format_duration(summary.phases.check),
              format_duration(summary.phases.measure), format_duration(summary.framework_seconds));
  print_rules(recording, rules);
  if (!recording.notes.empty()) print_clean("\nNotes:\n");
  for (const std::string& note : recording.notes) print_clean("  {}\n", note);
  return code;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("inspect", "What a recording holds: verdicts, times, implied constraints");
  auto command = std::make_shared<InspectCommand>();
  sub->add_option("FILE", command->file,
                  "A tuner's results (docs/formats/recordings.md lists the formats), an export, or STORE:RUN")
      ->required();
  sub->add_option("--space", command->space,
                  "T1 file or problem folder that declares the space; default: a T1 file next to FILE");
  add_unit_option(*sub, command->unit);
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer("Example: kernelsearch inspect convolution_A100.json.gz");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
