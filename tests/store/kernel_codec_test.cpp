// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/kernel_codec.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "support/small_kernel.hpp"
#include "support/temporary_folder.hpp"

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

TEST_CASE("lookup_in: kernels are made of stored text, once each; what is not that kernel is refused") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  RunInfo info;
  info.name = info.problem = "p";
  const RunId run = store.begin_run(info);
  const auto first = small_kernel(), second = small_kernel("// another");
  CandidateCodec<Candidate> writes{lookup_among({first, second})};
  std::uint64_t id = 0;
  for (const auto& kernel : {first, second}) {
    const Candidate candidate{kernel, kernel->space.default_config()};
    StoredTrial trial;
    trial.point = "0";
    trial.outcome.id = TrialId{id++};
    trial.candidate = writes.encode(candidate);
    store.add_trial(run, {}, trial, writes.kernel(candidate));
  }
  int made = 0;
  Space space = first->space;
  const KernelLookup lookup = lookup_in(store, [&](Regions regions) {
    ++made;
    return std::make_shared<const Kernel>(Kernel{std::move(regions), space});
  });
  for (int i = 0; i < 3; ++i)
    for (const auto& kernel : {first, second}) {
      const auto found = lookup(kernel_digest(*kernel));
      CHECK(found->regions == kernel->regions);
      CHECK(kernel_digest(*found) == kernel_digest(*kernel));
    }
  CHECK(made == 2);
  CHECK(lookup(kernel_digest(*first)) == lookup(kernel_digest(*first)));
  CHECK_THROWS_AS((void)lookup(kernel_digest(*small_kernel("// a third"))), ConfigError);
  // The same text with other tunables is another kernel, and one that cannot be made is none.
  space = Space::build({Tunable::boolean("FAST")});
  const KernelLookup changed = lookup_in(store, [&](Regions regions) {
    return std::make_shared<const Kernel>(Kernel{std::move(regions), space});
  });
  CHECK_THROWS_WITH_AS((void)changed(kernel_digest(*first)), doctest::Contains("tunables have changed"),
                       ConfigError);
  const KernelLookup none = lookup_in(store, [](Regions) { return std::shared_ptr<const Kernel>(); });
  CHECK_THROWS_AS((void)none(kernel_digest(*first)), ConfigError);
}

TEST_CASE("tuned: the configuration of each key, and the candidate itself where there is none") {
  const auto kernel = small_kernel();
  const Space& space = kernel->space;
  const Candidate candidate{kernel, space.default_config()};
  Rng rng(3);
  for (int i = 0; i < 50; ++i) {
    const Config config = space.sample(rng);
    const Candidate found = tuned(candidate, space.key(config));
    CHECK(found.kernel == kernel);
    CHECK(found.config == config);
  }
  const std::string whole = space.key(space.default_config());
  for (const std::string& key : {std::string(), std::string("7"), whole + ",1", whole + "0", "," + whole,
                                 whole.substr(0, whole.size() - 1), whole.substr(1), std::string("4,4,4")})
    CHECK_MESSAGE(tuned(candidate, key).config == candidate.config, key);
  // Values that begin like others, and values with commas in their text.
  const auto words = std::make_shared<const Kernel>(
      Kernel{{"", "", ""},
             Space::build({Tunable::of("A", {Value(std::string("x")), Value(std::string("x,y"))}),
                           Tunable::of("B", {Value(std::string("1")), Value(std::string("10"))})})});
  for (std::uint32_t a = 0; a < 2; ++a)
    for (std::uint32_t b = 0; b < 2; ++b) {
      Config config = words->space.default_config();
      config.indices = {a, b};
      CHECK(tuned({words, words->space.default_config()}, words->space.key(config)).config == config);
    }
  // A kernel without tunables has one configuration, whose key is empty.
  const auto plain = std::make_shared<const Kernel>(Kernel{{"", "", ""}, Space::build({})});
  CHECK(tuned({plain, plain->space.default_config()}, "").config == plain->space.default_config());
}
