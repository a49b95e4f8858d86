// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hostile/mutants.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <set>
#include <span>

#include "support/temporary_folder.hpp"
#include "support/thorough.hpp"

namespace {

using honest::Mutant;
using kernelsearch::Verdict;

/// Builds those that this machine can run, and calls `use(mutant, built)` for each.
template <class Use>
void each_mutant(std::span<const Mutant> mutants, Use&& use) {
  const auto folder = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests" / "hostile";
  const TemporaryFolder cache;
  std::vector<honest::JudgedKernel> kernels;
  std::vector<const Mutant*> origins;
  std::size_t index = 0;
  for (const Mutant& mutant : mutants) {
    if (!is_tested(index++, 3)) continue;
    auto kernel = honest::mutated(mutant, folder);
    if (const auto why = honest::obstacle(kernel); !why.empty()) {
      MESSAGE("skipped: ", mutant.name, ": ", why);
      continue;
    }
    kernels.push_back(std::move(kernel));
    origins.push_back(&mutant);
  }
  auto built = honest::build_all(kernels, honest::light_options(cache.path()), folder);
  for (std::size_t i = 0; i < built.size(); ++i) {
    CAPTURE(std::string(origins[i]->name));
    REQUIRE_MESSAGE(built[i].staged.artifact, built[i].staged.evaluation.reason);
    use(*origins[i], built[i]);
  }
}

}  // namespace

TEST_CASE("mutants of honest kernels are found") {
  std::set<std::string> names;
  for (const Mutant& mutant : honest::mutants) CHECK(names.insert(mutant.name).second);
  CHECK(names.size() >= 60);
  each_mutant(honest::mutants, [](const Mutant& mutant, honest::Built& built) {
    // So often that one in a million escapes this test by chance.
    const int most =
        mutant.chance >= 1 ? 1 : static_cast<int>(std::ceil(std::log(1e-6) / std::log(1 - mutant.chance)));
    bool found = false;
    std::string last;
    // A judgement that the machine's load prevented does not count.
    for (int attempt = 0, prevented = 0; attempt < most && !found && prevented < 5; ++attempt) {
      const auto evaluation = honest::judge(built);
      last = evaluation.reason.empty() ? to_string(evaluation.verdict) : evaluation.reason;
      if (honest::not_distinguishable(evaluation))
        --attempt, ++prevented;
      else
        found = evaluation.verdict != Verdict::ok;
    }
    CHECK_MESSAGE(found, "not found in " << most << " judgements, the last: " << last);
  });
}

TEST_CASE("mutants that no judgement finds are those that the list names") {
  each_mutant(honest::missed_mutants, [](const Mutant&, honest::Built& built) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto evaluation = honest::judge(built);
      CHECK_MESSAGE((evaluation.verdict == Verdict::ok || honest::not_distinguishable(evaluation)),
                    "it is found now, by " << evaluation.reason << ": move it to `mutants`");
    }
  });
}
