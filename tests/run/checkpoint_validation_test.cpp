// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint_validation.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "run/support.hpp"
#include "support/check_has.hpp"

using namespace run_test;
using detail::CheckpointValidation;
using detail::spread_over;
using detail::validated_checkpoint;
using Keys = std::vector<std::string>;

namespace {

Evaluation right_at(const std::string& key) {
  Evaluation evaluation = Evaluation::succeeded(0.5);
  evaluation.tuned_key = key;
  evaluation.features.set("inner_trials", 9);
  evaluation.phases.check = 1;
  return evaluation;
}

/// Remembers what it saw, and objects to the configurations that it is told to object to.
struct Objecting {
  std::set<std::string> faulty = {};
  std::shared_ptr<Keys> seen = std::make_shared<Keys>();
  std::optional<Evaluation> operator()(const Candidate& candidate, const std::stop_token&) const {
    seen->push_back(candidate.kernel->space.key(candidate.config));
    if (!faulty.contains(seen->back())) return std::nullopt;
    return Evaluation::failed(Verdict::wrong_result, "a race");
  }
};

}  // namespace

TEST_CASE("checkpoint validation: a few of many, the ends among them") {
  const Keys keys{"a", "b", "c", "d", "e", "f", "g"};
  CHECK(spread_over(keys, 3) == Keys{"a", "d", "g"});
  CHECK(spread_over(keys, 2) == Keys{"a", "g"});
  CHECK(spread_over(keys, 1) == Keys{"d"});
  CHECK(spread_over(keys, 0).empty());
  CHECK(spread_over(keys, 7) == keys);
  CHECK(spread_over({}, 3).empty());
}

TEST_CASE(
    "checkpoint validation: the best and a few samples are seen, and an objection to any is the verdict") {
  const Candidate kernel = support::candidate_with("void f() {}");
  const Keys right{"1,16,false", "2,16,false", "4,16,false", "8,16,false", "1,32,false", "4,16,false"};
  const std::string best = "4,16,false";
  std::string said;
  const auto judged = [&](const Objecting& validator, std::size_t samples, const std::stop_token& stop = {}) {
    CheckpointValidation how{validator, "validated", samples, [&](const std::string& text) { said = text; }};
    return validated_checkpoint(how, kernel, right_at(best), right, TrialId{5}, stop);
  };
  Objecting fine;
  Evaluation evaluation = judged(fine, 2);
  CHECK(evaluation.verdict == Verdict::ok);
  CHECK(evaluation.tuned_key == best);
  CHECK(evaluation.features.find("validated") == 1.0);
  CHECK(evaluation.phases.check >= 1);
  CHECK(*fine.seen == Keys{best, "1,16,false", "8,16,false"});  // the best once
  check_has(said, "trial 5 passed the validator at 3 configurations");

  evaluation = judged({{best}}, 2);
  CHECK(evaluation.verdict == Verdict::wrong_result);
  CHECK(evaluation.features.find("inner_trials") == 9.0);
  CHECK_FALSE(evaluation.features.find("validated"));
  CHECK(evaluation.reason == "at the configuration 4,16,false: a race");
  check_has(said, "trial 5 did not pass the validator at 1 configuration,");
  // One that is not the best counts as well, where it is among the samples.
  const Objecting sample{{"8,16,false"}};
  CHECK(judged(sample, 2).reason == "at the configuration 8,16,false: a race");
  CHECK(judged(Objecting{{"2,16,false"}}, 2).verdict == Verdict::ok);
  CHECK(judged(Objecting{{"2,16,false"}}, 16).verdict == Verdict::wrong_result);
  CHECK(judged(Objecting{{"8,16,false"}}, 0).verdict == Verdict::ok);

  // A stop is no verdict, and a kernel that is wrong anyway is not looked at.
  std::stop_source stop;
  stop.request_stop();
  CHECK(judged({}, 2, stop.get_token()).verdict == Verdict::rejected);
  Objecting unseen;
  CheckpointValidation how{unseen, "validated", 2};
  CHECK(validated_checkpoint(how, kernel, Evaluation::failed(Verdict::build_failed, "no"), right, TrialId{5},
                             {})
            .verdict == Verdict::build_failed);
  CHECK(unseen.seen->empty());
  CHECK(validated_checkpoint({}, kernel, right_at(best), right, TrialId{5}, {}).verdict == Verdict::ok);
}
