// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three policies, of which one throws and one has options; or, by the environment, none, or one with a
// built-in name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/external/policy_plugin.hpp"
#include "kernelsearch/policy/random_search.hpp"

using namespace kernelsearch;

namespace {

struct CountedOptions {
  int first = 3;
  bool backwards = false;
  std::uint64_t seed = 0;
};
/// Proposes configurations by rank, from an option on.
class Counted {
 public:
  using Proposal = Config;
  Counted(Space space, CountedOptions options)
      : space_(std::move(space)),
        at_(static_cast<std::uint64_t>(options.first)),
        backwards_(options.backwards) {}
  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    for (; proposals.size() < n; ++at_)
      proposals.push_back(space_.unrank(BigCount(backwards_ ? 100 - at_ : at_)));
    return proposals;
  }
  void tell(std::span<const Observation<Config>>) {}

 private:
  Space space_;
  std::uint64_t at_;
  bool backwards_;
};
constexpr PolicyOption counted_options[] = {
    policy_option<&CountedOptions::first>("first", "the rank that comes first", 0, 5),
    policy_option<&CountedOptions::backwards>("backwards", "counts ranks down from 100"),
};

}  // namespace

KERNELSEARCH_POLICY_PLUGIN(policies) {
  const char* wish = std::getenv("KERNELSEARCH_TEST_PLUGIN");
  const std::string mode = wish != nullptr ? wish : "";
  if (mode == "none") return;
  if (mode == "throws") throw std::runtime_error("not today");
  const auto random = [](const PolicySetup& setup) {
    return AnyPolicy<Config>(RandomSearch(setup.space, {.seed = setup.seed}));
  };
  policies.add(mode == "built_in" ? "greedy" : "one", "draws", random);
  policies.add(mode == "twice" ? "one" : "two", "throws",
               [](const PolicySetup&) -> AnyPolicy<Config> { throw std::runtime_error("two is not ready"); });
  policies.add(policy_entry<Counted, CountedOptions>("counted", "by rank", counted_options));
}
