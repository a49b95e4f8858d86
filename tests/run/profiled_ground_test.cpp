// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/service/profiled_ground.hpp"

#include <doctest/doctest.h>

#include "run/support.hpp"

using namespace run_test;

TEST_CASE(
    "ProfiledGround: right candidates have what the profiler saw, in phases and in one; the rest stays") {
  struct Length {
    std::shared_ptr<int> asked = std::make_shared<int>(0);
    Features profile(const Candidate& candidate) const {
      ++*asked;
      Features features;
      features.set("length", static_cast<double>(candidate.kernel->regions.device.size()));
      return features;
    }
  };
  struct Renewing : Words {
    std::shared_ptr<int> renewed = std::make_shared<int>(0);
    void renew() const { ++*renewed; }
  };
  Renewing words{Words{small_problem()}};
  const Length length;
  AnyEvaluator any(ProfiledGround<Length>(words, length));
  CHECK(any.problem().name == "twice");
  CHECK(any.device_id() == "a scripted device");
  CHECK(any.toolchain_id() == "a scripted compiler 1.0");
  CHECK(any.lanes() == 1);
  any.renew();
  CHECK(*words.renewed == 1);
  const Problem problem = small_problem();
  const auto candidate = [&problem](const std::string& text) {
    return Candidate{std::make_shared<const Kernel>(Kernel{{text, "", ""}, problem.kernel.space}),
                     problem.kernel.space.default_config()};
  };
  CHECK(any.evaluate(candidate("fast"), {}).features.find("length") == 4.0);
  auto staged = any.build(candidate("slow"), {});
  REQUIRE(staged.artifact);
  CHECK(*length.asked == 1);
  CHECK(any.run(std::move(staged), {}).features.find("length") == 4.0);
  CHECK(*length.asked == 2);
  CHECK(any.evaluate(candidate("bug"), {}).verdict == Verdict::wrong_result);
  CHECK(any.evaluate(candidate("broken"), {}).verdict == Verdict::build_failed);
  CHECK(*length.asked == 2);  // what is wrong is not looked into
}
