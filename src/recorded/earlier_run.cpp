// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/earlier_run.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelsearch {
namespace {

constexpr std::uint32_t absent = ~std::uint32_t{0};

/// A tunable of the space searched now: where the recording has it, and the positions of the recording's
/// values here.
struct Column {
  std::size_t recorded = 0;
  std::vector<std::uint32_t> position;
};

std::vector<Column> columns_of(const Space& recorded, const Space& space) {
  std::vector<Column> columns;
  for (const Tunable& tunable : space.tunables()) {
    const auto found = recorded.find(tunable.name);
    if (!found) return {};
    Column column{*found, {}};
    for (const Value& value : recorded.tunable(*found).values) {
      const auto at = tunable.position(value);
      column.position.push_back(at ? static_cast<std::uint32_t>(*at) : absent);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

std::optional<EarlierRun> earlier_run(const Recording& recording, const Space& space) {
  if (recording.space.size() != space.size()) return std::nullopt;
  const std::vector<Column> columns = columns_of(recording.space, space);
  if (columns.size() != space.size()) return std::nullopt;
  EarlierRun run{recording.name, {}};
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    Config config;
    for (const Column& column : columns)
      config.indices.push_back(column.position[recording.trials[i].config.indices[column.recorded]]);
    // contains() is false for positions that are out of range
    if (space.contains(config)) run.outcomes.push_back({std::move(config), recording.objective(i)});
  }
  if (run.outcomes.empty()) return std::nullopt;
  return run;
}

}  // namespace kernelsearch
