// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "commands.hpp"
#include "input.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/run/narrowed_space.hpp"
#include "kernelsearch/space/space.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct SpaceCommand {
  std::vector<std::string> where = {};
  std::string file;
  std::size_t sample = 0;
  std::uint64_t seed = 0;
  bool json = false;
};

nlohmann::ordered_json values_as_json(const Space& space, const Config& config) {
  nlohmann::ordered_json object;
  for (std::size_t i = 0; i < space.size(); ++i) {
    auto& slot = object[space.tunable(i).name];
    std::visit([&slot](const auto& value) { slot = value; }, space.value(config, i));
  }
  return object;
}

/// A count as a JSON number where it is exact there, else as its digits.
nlohmann::ordered_json count_as_number(const BigCount& count) {
  if (count.fits_u64()) return count.low();
  return count.to_string();
}

int run(const SpaceCommand& command) {
  const Space space = narrowed(read_any_space(command.file), command.where);
  const std::optional<std::uint64_t> checksum = space.try_checksum();
  Rng rng(command.seed);
  if (command.json) {
    nlohmann::ordered_json out;
    out["raw"] = count_as_number(space.raw_count());
    out["valid"] = count_as_number(space.count());
    out["checksum"] = checksum ? nlohmann::ordered_json(*checksum) : nlohmann::ordered_json(nullptr);
    out["build_seconds"] = space.build_seconds();
    out["memory_bytes"] = space.memory_bytes();
    out["tunables"] = space.size();
    if (command.sample > 0) {
      auto& samples = out["sample"] = nlohmann::ordered_json::array();
      for (std::size_t i = 0; i < command.sample; ++i)
        samples.push_back(values_as_json(space, space.sample(rng)));
    }
    print_json(out);
    return success;
  }
  print_clean("raw        {}\n", space.raw_count().to_string());
  print_clean("valid      {}\n", space.count().to_string());
  print_clean("checksum   {}\n", checksum ? std::to_string(*checksum) : "- (too many to list)");
  print_clean("built in   {:.4f} s of processor time\n", space.build_seconds());
  print_clean("memory     {:.1f} KiB\n", static_cast<double>(space.memory_bytes()) / 1024);
  print_clean("default    {}\n", space.key(space.default_config()));
  print_clean("tunables   {} in groups of", space.size());
  for (const Space::Group& group : space.groups())
    print_clean(" {}->{}", group.tunables.size(), group.count.to_string());
  print_clean("\n");
  for (std::size_t i = 0; i < command.sample; ++i) print_clean("{}\n", space.key(space.sample(rng)));
  return success;
}

}  // namespace

void add_space(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("space", "Count, check and sample a space of configurations");
  auto command = std::make_shared<SpaceCommand>();
  sub->add_option("FILE", command->file, "A problem folder, a problem.json or a T1 file")->required();
  sub->add_option("--where", command->where,
                  "Only configurations for which this expression holds; repeatable")
      ->allow_extra_args(false);
  sub->add_option("--sample", command->sample, "Print that many uniformly drawn configurations");
  sub->add_option("--seed", command->seed, "Seed of the draws")->capture_default_str();
  sub->add_flag("--json", command->json, "Print one JSON object: raw, valid, checksum, build_seconds, ...");
  sub->footer("Example: kernelsearch space examples/host/matmul --sample 3");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
