// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/cuda_skill_v2/cuda_skill_v2.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

namespace {

/// Writes the words of methods that it is asked for, and takes them out again.
ChatResult answer(const ChatRequest& request) {
  const std::string text = text_of(request);
  std::string kernel = SkilledModel::block_after(text, "# Kernel to change");
  const std::size_t task = text.rfind("# Task");
  for (const char* word : {"tiling", "vectorize", "prefetch"}) {
    if (text.find(word, task) == std::string::npos) continue;
    const std::string line = std::string("  ") + word + "\n";
    if (request.role == "ablator") {
      if (const std::size_t at = kernel.find(line); at != std::string::npos) kernel.erase(at, line.size());
    } else if (kernel.find(line) == std::string::npos) {
      kernel.insert(kernel.rfind('}'), line);
    }
  }
  if (request.role == "writer")
    kernel.insert(kernel.rfind('}'), "  variant" + std::to_string(request.repetition) + "\n");
  return RuleChat::replied("```cpp device\n" + kernel + "```\n");
}

}  // namespace

TEST_CASE("CUDA skill V2: a model's branches and ablations; what earned is told from what did not") {
  systems::CudaSkillV2Settings settings;
  CHECK(settings.search.iterations == 3);
  settings.search.iterations = 1;
  for (const auto& [name, axis] : {std::pair("tiling", Axis::memory), std::pair("vectorize", Axis::compute),
                                   std::pair("prefetch", Axis::latency)}) {
    Method method;
    method.id = method.name = name;
    method.axis = axis;
    method.description = std::string("Apply ") + name;
    settings.search.methods.push_back(method);
  }
  RuleChat chat{RuleChat::Rule(answer)};
  auto search = systems::cuda_skill_v2(chat, problem_of_words(), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 1 + 4 + 3);
  CHECK(chat.count("writer") == 4);
  CHECK(chat.count("ablator") == 3);
  REQUIRE(search.policy().iterations().size() == 1);
  const SkillIteration& one = search.policy().iterations()[0];
  CHECK(one.degraded);  // nothing profiles here
  CHECK(one.status == SkillStatus::improved);
  REQUIRE(one.verdicts.size() == 3);
  for (const MethodVerdict& verdict : one.verdicts) {
    const std::string& id = settings.search.methods[verdict.method].id;
    CAPTURE(id);
    CHECK(verdict.fate == (id == "prefetch" ? MethodFate::ineffective : MethodFate::effective));
    CHECK(verdict.evidence == Evidence::unknown);
    if (id == "vectorize") CHECK(verdict.attribution.effect == approx(1 / 0.6 - 1));
  }
}
