// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/measured_moves.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch {
namespace {

MeasuredMove read_measured_move(const nlohmann::json& one) {
  MeasuredMove move;
  move.problem = one.at("problem").get<std::string>();
  move.kernel = one.at("kernel").get<std::string>();
  move.becomes = one.value("becomes", std::string());
  move.example.strategy = one.at("strategy").get<std::string>();
  move.example.reward = one.at("reward").get<double>();
  move.gain = one.at("gain").get<double>();
  for (const auto& [name, value] : one.at("features").items())
    move.example.features.set(name, value.get<double>());
  return move;
}

}  // namespace

std::vector<MeasuredMove> measured_moves(std::string_view backend, const std::filesystem::path& user) {
  std::vector<MeasuredMove> moves;
  for (const DataFile& file : data_files("moves", user)) {
    const auto document = nlohmann::json::parse(file.text, nullptr, false);
    try {
      for (const auto& one : document.at("moves"))
        if (one.at("backend").get<std::string>() == backend) moves.push_back(read_measured_move(one));
    } catch (const nlohmann::json::exception& error) {
      detail::raise<ConfigError>("a file of measured moves cannot be read",
                                 file.path.empty() ? file.name : file.path.string(),
                                 std::string("write it with scripts/move_corpus.py: ") + error.what());
    }
  }
  return moves;
}

std::vector<MoveExample> synthetic_moves(std::span<const std::string> strategies,
                                         std::span<const StrategyTarget> targets,
                                         std::span<const std::string> profile, std::uint64_t seed,
                                         std::size_t count) {
  constexpr double swing = 0.1;  // of the probability, to both sides of one half
  Rng rng = Rng::stream(seed, "synthetic moves");
  std::vector<MoveExample> moves;
  for (std::size_t i = 0; i < count && !strategies.empty(); ++i) {
    MoveExample move;
    for (const std::string& name : profile) move.features.set(name, rng.uniform(0.0, 100.0));
    move.strategy = strategies[rng.below(strategies.size())];
    double chance = 0.5;
    for (const StrategyTarget& target : targets)
      if (target.strategy == move.strategy)
        if (const auto used = move.features.find(target.feature)) chance += swing * (1 - *used / 50);
    move.reward = rng.chance(chance) ? 0.1 : -0.1;  // heads learn its sign alone
    moves.push_back(std::move(move));
  }
  return moves;
}

}  // namespace kernelsearch
