// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/policy_contract.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <span>
#include <unordered_set>
#include <utility>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/space/space_builder.hpp"

namespace kernelsearch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void tell(AnyPolicy<Config>& policy, const Observation<Config>& observation) {
  policy.tell(std::span<const Observation<Config>>(&observation, 1));
}

std::string outstanding_text(std::size_t window) {
  return "with " + std::to_string(window) + " outstanding";
}

/// The space is proposed whole, and nothing after it.
std::string ends_with_the_space(const PolicyMaker& make) {
  const Space space = contract_space();
  const std::size_t count = space.count().low();
  for (const std::size_t window : {1u, 4u, 300u}) {
    AnyPolicy<Config> policy = make(space, 1);
    const ContractDrive drive = drive_policy(policy, space, window, 11);
    if (!drive.fault.empty()) return outstanding_text(window) + ": " + drive.fault;
    if (drive.sequence.size() != count)
      return outstanding_text(window) + " it ended after " + std::to_string(drive.sequence.size()) + " of " +
             std::to_string(count) + " configurations";
    if (!policy.ask(3).empty()) return outstanding_text(window) + " it proposed more after its end";
  }
  return "";
}

/// At every step, on a part of the space, so that a policy that ends early is not blamed for this too.
std::string proposes_as_asked(const PolicyMaker& make) {
  const Space space = contract_space();
  for (const std::size_t window : {1u, 4u, 300u}) {
    AnyPolicy<Config> policy = make(space, 1);
    const ContractDrive drive = drive_policy(policy, space, window, 11, 60);
    if (!drive.fault.empty()) return outstanding_text(window) + ": " + drive.fault;
    if (drive.sequence.empty()) return outstanding_text(window) + " it proposed nothing at all";
  }
  return "";
}

std::string repeats_itself(const PolicyMaker& make) {
  const Space space = contract_space();
  AnyPolicy<Config> one = make(space, 5), other = make(space, 5);
  const ContractDrive first = drive_policy(one, space, 3, 7), second = drive_policy(other, space, 3, 7);
  for (std::size_t i = 0; i < std::min(first.sequence.size(), second.sequence.size()); ++i)
    if (first.sequence[i] != second.sequence[i])
      return "proposal " + std::to_string(i) + " was " + space.key(first.sequence[i]) +
             " and, told the same, " + space.key(second.sequence[i]) + "; draw only from the seed";
  if (first.sequence.size() != second.sequence.size())
    return "it proposed " + std::to_string(first.sequence.size()) + " configurations and, told the same, " +
           std::to_string(second.sequence.size());
  return "";
}

std::string takes_foreign_outcomes(const PolicyMaker& make) {
  const Space space = contract_space();
  AnyPolicy<Config> policy = make(space, 2);
  std::unordered_set<Config> foreign;
  Rng rng(3);
  for (std::uint64_t i = 0; foreign.size() < 10; ++i) {
    const Config config = space.sample(rng);
    if (foreign.insert(config).second)
      tell(policy, contract_observation(space, config, 1000 + i, std::nullopt));
  }
  const ContractDrive drive = drive_policy(policy, space, 2, 9);
  if (!drive.fault.empty()) return drive.fault;
  for (const Config& config : drive.sequence)
    if (foreign.contains(config))
      return "it proposed " + space.key(config) + ", of which it had been told the outcome";
  if (drive.sequence.size() != space.count().low() - foreign.size())
    return "it ended after " + std::to_string(drive.sequence.size()) + " of the " +
           std::to_string(space.count().low() - foreign.size()) + " configurations that were left";
  return "";
}

std::string survives_odd_outcomes(const PolicyMaker& make) {
  const Space space = contract_space();
  AnyPolicy<Config> policy = make(space, 4);
  const std::vector<Config> first = policy.ask(2);
  if (first.empty()) return "it proposed nothing at all";
  Observation<Config> nothing = contract_observation(space, first[0], 0, 0);
  nothing.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "no reply");
  nothing.outcome.objective = infinity;
  nothing.outcome.origin->count = 0;
  tell(policy, nothing);
  if (first.size() > 1) {
    tell(policy, contract_observation(space, first[1], 1, 1));
    tell(policy, contract_observation(space, first[1], 1, 1));
  }
  return policy.ask(1).empty() ? "it proposed nothing more" : "";
}

std::string searches_one_configuration(const PolicyMaker& make) {
  const Space one = SpaceBuilder().add(Tunable::integer("only", 3, 3)).build();
  AnyPolicy<Config> policy = make(one, 1);
  const std::size_t first = policy.ask(5).size();
  if (first != 1) return "asked for 5 it proposed " + std::to_string(first);
  return policy.ask(5).empty() ? "" : "it proposed the one configuration again";
}

std::string searches_huge_spaces(const PolicyMaker& make) {
  SpaceBuilder builder;
  for (int i = 0; i < 20; ++i) builder.add(Tunable::integer("t" + std::to_string(i), 0, 15));
  const Space huge = builder.build();
  AnyPolicy<Config> policy = make(huge, 1);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::vector<Config> batch = policy.ask(1);
    if (batch.size() != 1) return "after " + std::to_string(i) + " trials it proposed nothing";
    if (!huge.contains(batch[0])) return "it left the space after " + std::to_string(i) + " trials";
    Observation<Config> observation{batch[0], {}};
    observation.outcome.id = TrialId{i};
    observation.outcome.origin = Origin{ProposalId{i}, 0, 1};
    observation.outcome.objective = static_cast<double>(100 - i);
    observation.outcome.evaluation = Evaluation::succeeded(static_cast<double>(100 - i));
    tell(policy, observation);
  }
  return "";
}

}  // namespace

Space contract_space() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("block", 16, 256))
      .add(Tunable::integer("unroll", 1, 6))
      .add(Tunable::boolean("pad"))
      .add(Tunable::categorical("layout", std::vector<std::string>{"row", "column", "tiled"}))
      .require("block * unroll <= 512")
      .require("pad or layout != 'tiled'")
      .build();
}

double contract_time(const Space& space, const Config& config) {
  const double block = std::log2(to_number(space.value(config, 0)));
  const double unroll = to_number(space.value(config, 1));
  if (block > 7.5 && unroll < 2) return infinity;
  return 1 + std::abs(block - 6) + 0.3 * std::abs(unroll - 4) +
         (to_number(space.value(config, 2)) > 0 ? 0.1 : 0.0) + 0.2 * static_cast<double>(config.indices[3]);
}

Observation<Config> contract_observation(const Space& space, const Config& config, std::uint64_t trial,
                                         std::optional<std::uint64_t> proposal) {
  Observation<Config> observation{config, {}};
  observation.outcome.id = TrialId{trial};
  if (proposal) observation.outcome.origin = Origin{ProposalId{*proposal}, 0, 1};
  const double time = contract_time(space, config);
  if (std::isinf(time)) {
    observation.outcome.evaluation = Evaluation::failed(Verdict::crashed, "forbidden corner");
  } else {
    observation.outcome.evaluation = Evaluation::succeeded(time);
    observation.outcome.objective = time;
  }
  return observation;
}

ContractDrive drive_policy(AnyPolicy<Config>& policy, const Space& space, std::size_t window,
                           std::uint64_t order_seed, std::size_t limit) {
  Rng order(order_seed);
  ContractDrive drive;
  std::unordered_set<Config> proposed;
  std::vector<std::pair<std::uint64_t, Config>> outstanding;
  std::uint64_t next_id = 0;
  const auto after = [&next_id] { return " after " + std::to_string(next_id) + " trials"; };
  while (drive.sequence.size() < limit) {
    const std::size_t wanted = window - outstanding.size();
    const std::vector<Config> batch = policy.ask(wanted);
    if (batch.size() > wanted) {
      drive.fault = "it proposed " + std::to_string(batch.size()) + " configurations" + after() +
                    ", asked for at most " + std::to_string(wanted);
      return drive;
    }
    for (const Config& config : batch) {
      if (!space.contains(config)) {
        const bool shaped = config.indices.size() == space.size();
        bool known = shaped;
        for (std::size_t i = 0; known && i < space.size(); ++i)
          known = config.indices[i] < space.tunable(i).values.size();
        drive.fault = "it left the space" + after() +
                      (known ? ": " + space.key(config) + " does not meet the constraints"
                             : ": a position that a tunable has no value at");
        return drive;
      }
      if (!proposed.insert(config).second) {
        drive.fault = "it proposed " + space.key(config) + " again" + after();
        return drive;
      }
      outstanding.emplace_back(drive.sequence.size(), config);
      drive.sequence.push_back(config);
    }
    if (outstanding.empty()) break;
    const std::size_t which = order.below(outstanding.size());
    const auto [proposal, config] = outstanding[which];
    outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(which));
    tell(policy, contract_observation(space, config, next_id++, proposal));
  }
  return drive;
}

std::vector<ContractProperty> check_policy_contract(const PolicyMaker& make) {
  struct Check {
    const char* name;
    const char* promise;
    std::string (*fault)(const PolicyMaker&);
  };
  constexpr Check checks[] = {
      {"proposes", "at most as many as asked for, inside the space, none that was proposed before",
       proposes_as_asked},
      {"ends", "proposes the whole space and then nothing more, with 1, 4 and 300 outstanding",
       ends_with_the_space},
      {"repeats", "the same seed and the same outcomes give the same proposals, so that runs can resume",
       repeats_itself},
      {"foreign", "takes outcomes that it did not propose, and does not propose those configurations",
       takes_foreign_outcomes},
      {"survives", "goes on after a proposal that yields no candidate, and when told an outcome twice",
       survives_odd_outcomes},
      {"single", "searches a space of one configuration", searches_one_configuration},
      {"huge", "searches a space of 2^80 configurations without listing it", searches_huge_spaces},
  };
  std::vector<ContractProperty> properties;
  for (const Check& check : checks) {
    ContractProperty property{check.name, check.promise, {}};
    try {
      property.fault = check.fault(make);
    } catch (const std::exception& error) {
      property.fault = error.what();
    } catch (...) {
      property.fault = "an exception that is not a std::exception";
    }
    properties.push_back(std::move(property));
  }
  return properties;
}

}  // namespace kernelsearch
