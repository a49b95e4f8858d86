// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/run/change_file.hpp"
#include "kernelsearch/run/change_recall.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct MemoryCommand {
  std::string store;
  ChangeFilter filter;
  std::vector<std::int64_t> numbers;
  std::string file = "-";
  bool all = false;
  bool json = false;
};

std::string joined_names(const std::vector<std::string>& names, const char* none) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? none : text;
}

std::string effect_words(const RememberedChange& change) {
  if (!change.effect) return std::string(shown_verdict(change.verdict, change.overrun));
  return fmt::format("{:.3g}x ({:.3g} to {:.3g})", change.effect->ratio, change.effect->interval.low,
                     change.effect->interval.high);
}

nlohmann::ordered_json change_json(const StoredChange& one) {
  nlohmann::ordered_json out{{"number", one.number}};
  out.update(nlohmann::ordered_json::parse(change_text(one.change)));
  return out;
}

StoredChange require_change(const RunStore& store, std::int64_t number) {
  if (std::optional<StoredChange> found = store.change(number)) return *std::move(found);
  detail::raise<ConfigError>("there is no such change in the memory", std::to_string(number),
                             "see `kernelsearch memory list` for what there is");
}

int list_changes(const MemoryCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const std::vector<StoredChange> changes = store.changes(command.filter);
  if (command.json) {
    auto array = nlohmann::ordered_json::array();
    for (const StoredChange& one : changes) array.push_back(change_json(one));
    print_json(array);
    return success;
  }
  print_clean("{:>6}  {:<16} {:<28} {:<24} {:<20} {}\n", "change", "problem", "strategies",
              "effect or failure", "model", "at");
  for (const StoredChange& one : changes)
    print_clean("{:>6}  {:<16} {:<28} {:<24} {:<20} {}\n", one.number, one.change.problem,
                joined_names(one.change.strategies, "its own choice"), effect_words(one.change),
                one.change.model.empty() ? "-" : one.change.model, one.change.at.substr(0, 19));
  return success;
}

int show_change(const MemoryCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const StoredChange one = require_change(store, command.numbers.front());
  const RememberedChange& change = one.change;
  if (command.json) {
    print_json(change_json(one));
    return success;
  }
  const auto row = [](const char* name, const std::string& text) {
    if (!text.empty()) print_clean("{:<12} {}\n", name, text);
  };
  row("change", std::to_string(one.number));
  row("problem", change.problem + ", " + change.backend);
  row("traits", joined_names(change.traits, ""));
  row("device", change.device);
  row("toolchain", change.toolchain);
  row("asked",
      std::string(to_string(change.kind)) + ", " + joined_names(change.strategies, "its own choice"));
  row("by", change.system + (change.prompt.empty() ? "" : ", prompt " + change.prompt));
  row("model", change.model);
  row("limited by", change.limiter);
  row("verdict", std::string(shown_verdict(change.verdict, change.overrun)));
  if (change.verdict != Verdict::ok) row("came", fmt::format("{:.0f} % of the way", 100 * change.progress));
  if (change.effect)
    row("effect", effect_words(change) +
                      (change.effect->paired ? ", in pairs with its parent" : ", of two times on their own"));
  row("at", change.at);
  if (!change.reason.empty()) print_clean("\n{}\n", change.reason);
  if (!change.settings.empty()) print_clean("\n{}", change.settings);
  if (!change.diff.empty()) print_clean("\n{}", change.diff);
  return success;
}

int count_table(const MemoryCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  std::vector<RememberedChange> changes;
  for (StoredChange& one : store.changes(command.filter)) changes.push_back(std::move(one.change));
  const std::vector<ChangeCount> counts = count_changes(changes);
  if (command.json) {
    auto array = nlohmann::ordered_json::array();
    for (const ChangeCount& row : counts)
      array.push_back({{"strategy", row.strategy},
                       {"trait", row.trait},
                       {"model", row.model},
                       {"tried", row.tried},
                       {"faster", row.faster},
                       {"failed", row.failed},
                       {"median_effect", row.median_effect ? nlohmann::ordered_json(*row.median_effect)
                                                           : nlohmann::ordered_json()}});
    print_json(array);
    return success;
  }
  print_clean("{:<28} {:<16} {:<20} {:>6} {:>6} {:>6}  {}\n", "strategy", "trait", "model", "tried", "faster",
              "failed", "median effect");
  for (const ChangeCount& row : counts)
    print_clean("{:<28} {:<16} {:<20} {:>6} {:>6} {:>6}  {}\n",
                row.strategy.empty() ? "its own choice" : row.strategy, row.trait.empty() ? "-" : row.trait,
                row.model.empty() ? "-" : row.model, row.tried, row.faster, row.failed,
                row.median_effect ? fmt::format("{:.3g}x", *row.median_effect) : "-");
  return success;
}

int forget(const MemoryCommand& command, bool filtered) {
  if (command.numbers.empty() && !command.all && !filtered)
    detail::raise<ConfigError>(
        "nothing is named that is to be forgotten", "no ID",
        "give IDs of `kernelsearch memory list`, a filter such as --problem, or --all");
  if (!command.numbers.empty() && (command.all || filtered))
    detail::raise<ConfigError>("what is to be forgotten is named twice",
                               std::to_string(command.numbers.front()), "give IDs, or a filter, or --all");
  RunStore store = open_existing_store(command.store);
  std::vector<std::int64_t> numbers = command.numbers;
  for (const std::int64_t number : numbers) (void)require_change(store, number);
  if (numbers.empty())
    for (const StoredChange& one : store.changes(command.filter)) numbers.push_back(one.number);
  print_clean("{} forgotten\n", store.forget_changes(numbers));
  return success;
}

int export_memory(const MemoryCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  if (command.file == "-") {
    (void)export_changes(store, command.filter, std::cout);
    return success;
  }
  std::ofstream file(command.file);
  const std::size_t written = export_changes(store, command.filter, file);
  if (!file.flush())
    detail::raise<ConfigError>("cannot write the memory", command.file,
                               "name a file in a folder you may write to");
  print_clean("{} written to {}\n", written, command.file);
  return success;
}

int import_memory(const MemoryCommand& command) {
  std::ifstream file(command.file);
  if (!file)
    detail::raise<ConfigError>("cannot read the memory", command.file,
                               "name a file that `kernelsearch memory export` wrote");
  RunStore store(command.store.empty() ? RunStore::default_path() : std::filesystem::path(command.store));
  const ImportedChanges imported = import_changes(store, file, command.file);
  print_clean("{} read, {} of them new\n", imported.read, imported.added);
  return success;
}

}  // namespace

void add_memory(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("memory", "What changes of kernels taught earlier runs: list, show, forget");
  sub->require_subcommand(1);
  auto command = std::make_shared<MemoryCommand>();
  const auto filters = [&](CLI::App* one) {
    return std::vector<CLI::Option*>{
        one->add_option("--problem", command->filter.problem, "Only changes of the problem of this name"),
        one->add_option("--strategy", command->filter.strategy,
                        "Only those that this strategy, method or transformation was asked for"),
        one->add_option("--trait", command->filter.trait, "Only on problems with this trait"),
        one->add_option("--device", command->filter.device, "Only those measured on this device")};
  };
  const auto add = [&](const char* name, const char* summary) {
    CLI::App* one = sub->add_subcommand(name, summary);
    one->add_option("--store", command->store, "SQLite file of runs");
    return one;
  };

  CLI::App* list = add("list", "List remembered changes, newest first");
  (void)filters(list);
  list->add_option("--limit", command->filter.limit, "At most so many; default all");
  list->add_flag("--json", command->json, "Print a JSON array");
  list->footer("Example: kernelsearch memory list --trait matmul");
  list->callback([command, &exit_code] { exit_code = list_changes(*command); });

  CLI::App* table = add("table", "How often changes were faster, by strategy, trait and model");
  (void)filters(table);
  table->add_flag("--json", command->json, "Print a JSON array");
  table->footer("Example: kernelsearch memory table --trait reduction");
  table->callback([command, &exit_code] { exit_code = count_table(*command); });

  CLI::App* show = add("show", "Show one change with its diff");
  show->add_option("ID", command->numbers, "Its number in `memory list`")->required()->expected(1);
  show->add_flag("--json", command->json, "Print a JSON object");
  show->footer("Example: kernelsearch memory show 12");
  show->callback([command, &exit_code] { exit_code = show_change(*command); });

  CLI::App* drop = add("forget", "Forget changes: those named, those of a filter, or all");
  drop->add_option("ID", command->numbers, "Their numbers in `memory list`");
  const std::vector<CLI::Option*> chosen = filters(drop);
  drop->add_flag("--all", command->all, "Forget everything");
  drop->footer("Example: kernelsearch memory forget 12 13");
  drop->callback([command, chosen, &exit_code] {
    bool filtered = false;
    for (const CLI::Option* option : chosen) filtered = filtered || option->count() > 0;
    exit_code = forget(*command, filtered);
  });

  CLI::App* out = add("export", "Write changes as JSON Lines");
  out->add_option("FILE", command->file, "File to write; - for stdout")->capture_default_str();
  (void)filters(out);
  out->footer("Example: kernelsearch memory export memory.jsonl");
  out->callback([command, &exit_code] { exit_code = export_memory(*command); });

  CLI::App* in = add("import", "Add the changes of such a file that are not known yet");
  in->add_option("FILE", command->file, "File to read")->required();
  in->footer("Example: kernelsearch memory import memory.jsonl");
  in->callback([command, &exit_code] { exit_code = import_memory(*command); });

  sub->footer(
      "Examples:\n"
      "  kernelsearch memory list --problem matmul\n"
      "  kernelsearch memory table --trait reduction\n"
      "  kernelsearch memory export memory.jsonl");
}

}  // namespace kernelsearch::app
