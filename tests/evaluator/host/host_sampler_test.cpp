// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_sampler.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/code_samples.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "support.hpp"

using namespace kernelsearch;

static_assert(Profiler<HostSampler, Candidate>);

namespace {

ObjectCode code_of_a_loop() {
  ObjectCode code;
  code.functions = {{"_ZL4gatef", 0x100, {}}, {"k", 0x200, {}}, {"kernelsearch_entry", 0x300, {}}};
  code.calls = {{.function = "expf", .returns_to = 0x110, .source_line = 3},
                {.function = "gate", .returns_to = 0x210, .target = 0x100, .source_line = 7},
                {.function = "tanhf", .returns_to = 0x220, .source_line = 8},
                {.function = "k", .returns_to = 0x310, .target = 0x200}};
  code.places = {{0x108, 4}, {0x204, 7}, {0x224, 8}, {0x304, 0}};
  return code;
}

}  // namespace

TEST_CASE("HostSampler: samples become shares of functions and of the hottest line") {
  using detail::CodeSample;
  const std::vector<CodeSample> samples = detail::read_samples(
      "something else\nkernelsearch-sample 1 272 50\nkernelsearch-sample 0 264 10\n"
      "kernelsearch-sample 1 544 25\nkernelsearch-sample 0 516 10\nkernelsearch-sample 1 0 5\n"
      "kernelsearch-sample x\n");
  REQUIRE(samples.size() == 5);
  CHECK(samples[0].outside);
  CHECK(samples[0].address == 0x110);
  CHECK(samples[0].count == 50);
  const Features features = detail::sampled_features(code_of_a_loop(), samples);
  CHECK(features.find("code.call.expf.share") == 50);
  CHECK(features.find("code.call.gate.share") == 60);  // its own instructions, and what it calls
  CHECK(features.find("code.call.tanhf.share") == 25);
  CHECK(features.find("code.call.tanhf.line") == 8);
  CHECK(features.find("code.hot_line") == 3);
  CHECK(features.find("code.hot_line.share") == 50);
  // too few say nothing
  CHECK(detail::sampled_features(code_of_a_loop(), {{true, 0x110, 49}}).empty());
  // a function without a share worth telling
  CHECK_FALSE(detail::sampled_features(code_of_a_loop(), {{true, 0x110, 199}, {true, 0x220, 1}})
                  .find("code.call.tanhf.share"));
}

TEST_CASE("HostSampler: the loop with most samples is the hot one, not the one that looks as if") {
  const ObjectCode code = parse_object_code(
      "k.so:     file format elf64-x86-64\n\nDisassembly of section .text:\n\n"
      "0000000000001130 <gate>:\n"
      "    1130:\tvaddss %xmm0,%xmm0,%xmm0\n"
      "    1134:\tret\n\n"
      "0000000000001160 <k>:\n"
      "    1160:\tvmulps %ymm1,%ymm2,%ymm0\n"  // the guess: eight numbers at a time
      "    1164:\tcall   1050 <expf@plt>\n"
      "    1169:\tvmulps %ymm1,%ymm2,%ymm0\n"
      "    116d:\tjne    1160 <k>\n"
      "    1170:\tvmovss (%rbx),%xmm1\n"
      "    1174:\tcall   1130 <gate>\n"
      "    1179:\tcall   1040 <tanhf@plt>\n"
      "    117e:\tadd    $0x4,%rbx\n"
      "    1182:\tjne    1170 <k+0x10>\n"
      "    1184:\tret\n\n"
      "00000000000011e0 <kernelsearch_entry>:\n"
      "    11e0:\tjmp    1160 <k>\n",
      "kernelsearch_entry");
  REQUIRE(code.loops.size() == 2);
  REQUIRE(code.hot_loop() != nullptr);
  CHECK(code.hot_loop()->begin == 0x1160);
  const Features guessed = object_features(code);
  CHECK(guessed.find("code.loop.vector_256") == 2);
  CHECK_FALSE(guessed.find("code.hot_loop.share"));
  // In the loop itself, in what it calls outside of the library and in what it calls inside.
  const Features sampled = detail::sampled_features(
      code, {{false, 0x1164, 30}, {false, 0x1182, 20}, {true, 0x117e, 40}, {false, 0x1130, 5}, {true, 0, 5}});
  CHECK(sampled.find("code.hot_loop.share") == 65);
  CHECK(sampled.find("code.loop.vector_256") == 0);
  CHECK(sampled.find("code.loop.call") == 2);
  CHECK(sampled.find("code.loop.instructions") == 7);  // the two of `gate` too
  // The calls are those of that loop, and none of the guessed loop's.
  CHECK(guessed.find("code.call.expf") == 1);
  CHECK_FALSE(guessed.find("code.call.tanhf"));
  CHECK(sampled.find("code.call.expf") == 0);
  CHECK(sampled.find("code.call.tanhf") == 1);
  CHECK(sampled.find("code.call.gate") == 1);
  // Where the samples say the same as the guess, and where they say nothing of loops.
  CHECK(detail::sampled_features(code, {{false, 0x1164, 80}, {false, 0x1182, 20}})
            .find("code.loop.vector_256") == 2);
  CHECK_FALSE(detail::sampled_features(code, {{false, 0x1184, 80}}).find("code.loop.instructions"));
  ObjectCode hidden = code;
  hidden.loops_complete = false;
  CHECK_FALSE(detail::sampled_features(hidden, {{false, 0x1164, 80}}).find("code.hot_loop.share"));
}

TEST_CASE("HostSampler: a kernel that lives in a function of the library for mathematics") {
#if defined(__x86_64__)
  if (find_objdump().empty()) {
    MESSAGE("skipped: no objdump");
    return;
  }
  const std::string kernel =
      "#include <cmath>\nextern \"C\" void scale(int n, const float* x, float* y) {\n  for (int i = 0; i < "
      "n; "
      "++i)\n    y[i] = std::exp(x[i]) + 3 * x[i];\n}";
  const Problem problem = parse_problem(support::scale_problem(kernel), support::sources);
  HostSampler sampler(problem, support::quick());
  const Candidate candidate = support::default_candidate(problem);
  const Features features = sampler.profile(candidate);
  REQUIRE(features.find("code.call.expf.share"));
  CHECK(*features.find("code.call.expf.share") > 20);
  CHECK(*features.find("code.call.expf.share") <= 100);
  CHECK(features.find("code.hot_line") == 4);
  CHECK(*features.find("code.hot_line.share") > 50);
  CHECK(*features.find("code.hot_loop.share") > 50);
  CHECK(sampler.profile(candidate) == features);  // a library that was seen before is not sampled again
  HostSampler without(problem, support::quick(), {.objdump = "/nonexistent/objdump"});
  CHECK(without.profile(candidate).empty());
  HostSampler small(problem, support::quick(), {.max_bytes = 1});
  CHECK(small.profile(candidate).empty());
#endif
}
