// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/kernel_codec.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "support/small_kernel.hpp"

using namespace kernelsearch;

static_assert(StorableCandidate<Candidate>);

TEST_CASE("CandidateCodec: candidates come back with their kernel and configuration") {
  const auto kernel = small_kernel();
  const auto other = small_kernel("// another");
  CandidateCodec<Candidate> codec{lookup_among({kernel, other})};
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    const Candidate candidate{i % 2 == 0 ? kernel : other, kernel->space.sample(rng)};
    const StoredCandidate stored = codec.encode(candidate);
    const Candidate back = codec.decode(stored);
    CHECK(back.kernel == candidate.kernel);
    CHECK(back.config == candidate.config);
    CHECK(stored.key == kernel->space.key(candidate.config));
    CHECK(stored.kernel == kernel_digest(*candidate.kernel));
    const auto text = codec.kernel(candidate);
    REQUIRE(text.has_value());
    CHECK(text->digest == stored.kernel);
    CHECK(text->device == candidate.kernel->regions.device);
    CHECK(text->host == candidate.kernel->regions.host);
    CHECK(text->macros == candidate.kernel->regions.macros);
  }
  const StoredCandidate at_default = codec.encode({kernel, kernel->space.default_config()});
  CHECK(at_default.values == R"({"FAST":false,"ORDER":[0,1],"TILE":4})");
}

TEST_CASE("CandidateCodec: unknown kernels, damaged configurations and a missing lookup are refused") {
  const auto kernel = small_kernel();
  CandidateCodec<Candidate> codec{lookup_among({kernel})};
  StoredCandidate stored = codec.encode({kernel, kernel->space.default_config()});
  const StoredCandidate good = stored;
  stored.config = "[0,0]";
  CHECK_THROWS_AS((void)codec.decode(stored), ConfigError);
  stored.config = "[9,0,0]";
  CHECK_THROWS_AS((void)codec.decode(stored), ConfigError);
  CHECK_THROWS_AS((void)CandidateCodec<Candidate>{}.decode(good), ConfigError);
  CHECK_THROWS_WITH_AS((void)CandidateCodec<Candidate>{lookup_among({small_kernel("// x")})}.decode(good),
                       doctest::Contains("changed"), ConfigError);
}
