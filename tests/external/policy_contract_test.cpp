// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/policy_contract.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/registry.hpp"

using namespace kernelsearch;

namespace {

/// Random search with one thing wrong.
struct Flawed {
  using Proposal = Config;
  enum class Flaw { none, again, outside, early, too_many, forgets, unseeded, deaf, throws };

  Flawed(const Space& s, std::uint64_t seed, Flaw f)
      : space(s), flaw(f), search(s, {.seed = f == Flaw::unseeded ? ++instances : seed}) {}

  std::vector<Config> ask(std::size_t n) {
    if (flaw == Flaw::throws && asked > 3) throw std::runtime_error("lost my way");
    if (flaw == Flaw::early && asked > 20) return {};
    std::vector<Config> proposals = search.ask(n);
    asked += proposals.size();
    if (flaw == Flaw::again && asked > 8 && !proposals.empty()) proposals.back() = *first;
    if (flaw == Flaw::outside && asked > 8 && !proposals.empty() && space.size() == 4)
      proposals.back() = Config{{4, 5, 0, 0}};  // 256 * 6 > 512
    if (flaw == Flaw::too_many && asked > 8 && !proposals.empty()) proposals.push_back(proposals.back());
    if (!first && !proposals.empty()) first = proposals.front();
    return proposals;
  }
  void tell(std::span<const Observation<Config>> batch) {
    if (flaw == Flaw::deaf) return;
    search.tell(batch);
  }

  static inline std::uint64_t instances = 0;
  Space space;
  Flaw flaw;
  RandomSearch search;
  std::optional<Config> first;
  std::size_t asked = 0;
};

/// The names of the properties that are broken, and the fault of the first.
std::pair<std::string, std::string> broken(Flawed::Flaw flaw) {
  std::pair<std::string, std::string> result;
  for (const ContractProperty& property : check_policy_contract(
           [flaw](const Space&s, std::uint64_t seed) { return AnyPolicy<Config>(Flawed(s, seed, flaw)); })) {
    if (property.holds()) continue;
    if (result.first.empty()) result.second = property.fault;
    result.first += (result.first.empty() ? "" : " ") + property.name;
  }
  return result;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("policy_contract: a policy without a flaw keeps all of it") {
  CHECK(broken(Flawed::Flaw::none).first.empty());
  const auto properties = check_policy_contract([](const Space& s, std::uint64_t seed) {
    return make_config_policy("greedy", {s, seed});
  });
  CHECK(properties.size() == 7);
  for (const ContractProperty& property : properties) CHECK_MESSAGE(property.holds(), property.fault);
}

TEST_CASE("policy_contract: each flaw breaks what it should, and the fault says what was seen") {
  using Flaw = Flawed::Flaw;
  const auto again = broken(Flaw::again);
  CHECK(mentions(again.first, "proposes ends"));
  CHECK(mentions(again.second, "again after "));
  const auto outside = broken(Flaw::outside);
  CHECK(mentions(outside.first, "proposes ends"));
  CHECK(mentions(outside.second, "256,6,false,row does not meet the constraints"));
  const auto early = broken(Flaw::early);
  CHECK(mentions(early.first, "ends"));
  CHECK_FALSE(mentions(early.first, "proposes"));
  CHECK(mentions(early.second, "it ended after "));
  CHECK(mentions(broken(Flaw::too_many).second, "asked for at most"));
  CHECK(mentions(broken(Flaw::deaf).first, "foreign"));
  CHECK(mentions(broken(Flaw::unseeded).first, "repeats"));
  CHECK(mentions(broken(Flaw::throws).second, "lost my way"));
}
