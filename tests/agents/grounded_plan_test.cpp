// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/grounded_plan.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

const Kernel parent{{"extern \"C\" void f() {\n  load();\n  store();\n}\n", "", "#define A 1\n"}};
const ReplyExpectation expectation{.parent = &parent, .functions = {"f"}};
const std::string marked =
    "```cpp device\nextern \"C\" void f() {\n<<<IMPROVE BEGINS>>>\n  load();\n<<<IMPROVE ENDS>>>\n"
    "<<<IMPROVE BEGINS>>>\n  store();\n<<<IMPROVE ENDS>>>\n}\n```\n";

ReplyFault fault_of(const std::string& reply, bool cut = false) {
  return read_plan(reply, cut, expectation).judgement.fault;
}

}  // namespace

TEST_CASE("grounded plan: places and an instruction for each") {
  for (const char* instructions :
       {"1. Load four.\n2. Store four.\n", "1) a\n2) b\n", "**1.** a\n**2.** b\n",
        "Place 1: a\n\nPlace 2: b\n", "- Span #1: a\n- Span #2: b\n", "### 1. a\n### 2. b\n"}) {
    CAPTURE(instructions);
    const GroundedPlan plan = read_plan("Here.\n" + marked + instructions, false, expectation);
    REQUIRE_MESSAGE(plan.judgement.ok(), plan.judgement.detail);
    REQUIRE(plan.parts.size() == 1);
    CHECK(plan.parts[0].region == KernelRegion::device);
    CHECK(plan.places() == 2);
    CHECK(plan.instructions.find("a") != std::string::npos);
  }
  const GroundedPlan macros =
      read_plan("```cpp macros\n<<<IMPROVE BEGINS>>>\n#define A 1\n<<<IMPROVE ENDS>>>\n```\nSet it to 2.",
                false, expectation);
  REQUIRE(macros.judgement.ok());  // one place needs no number
  CHECK(macros.parts.at(0).region == KernelRegion::macros);
  // the region is found where the block does not name it
  const GroundedPlan unnamed = read_plan(
      "```\n<<<IMPROVE BEGINS>>>\n#define A 1\n<<<IMPROVE ENDS>>>\n```\nSet it to 2.", false, expectation);
  CHECK(unnamed.parts.at(0).region == KernelRegion::macros);
}

TEST_CASE("grounded plan: faults") {
  CHECK(fault_of("Do it faster.") == ReplyFault::no_code);
  CHECK(fault_of("```cpp device\n" + parent.regions.device + "```\n1. x") == ReplyFault::no_anchors);
  CHECK(fault_of(marked) == ReplyFault::missing_instruction);
  CHECK(fault_of(marked + "1. only one\n") == ReplyFault::missing_instruction);
  CHECK(fault_of(marked.substr(0, marked.size() - 5), true) == ReplyFault::truncated);
  CHECK(fault_of("Let me think", true) == ReplyFault::truncated);
  std::string changed = marked + "1. a\n2. b\n";
  changed.replace(changed.find("load"), 4, "lend");
  CHECK(fault_of(changed) == ReplyFault::outside_anchors);
  std::string host = marked + "1. a\n2. b\n";
  host.replace(host.find("device"), 6, "host");
  CHECK(fault_of(host) == ReplyFault::wrong_region);
}

TEST_CASE("grounded plan: one plan changes several regions, and both are filled") {
  const std::string both = marked +
                           "```cpp macros\n<<<IMPROVE BEGINS>>>\n#define A 1\n<<<IMPROVE ENDS>>>\n```\n"
                           "1. Load four.\n2. Store four.\n3. Set it to 4.\n";
  const GroundedPlan plan = read_plan(both, false, expectation);
  REQUIRE_MESSAGE(plan.judgement.ok(), plan.judgement.detail);
  REQUIRE(plan.parts.size() == 2);
  CHECK(plan.parts[1].region == KernelRegion::macros);
  CHECK(plan.places() == 3);
  CHECK(fault_of(both.substr(0, both.find("3."))) == ReplyFault::missing_instruction);
  // A draft of a region that a later block has right does not count; a region that is never right does.
  std::string draft = marked;
  draft.replace(draft.find("load"), 4, "lend");
  CHECK(read_plan(draft + both, false, expectation).judgement.ok());
  CHECK(fault_of(both + draft) == ReplyFault::outside_anchors);

  const std::string device =
      "```cpp device\nextern \"C\" void f() {\n<<<IMPROVE BEGINS>>>\n  load4();\n<<<IMPROVE ENDS>>>\n"
      "<<<IMPROVE BEGINS>>>\n  store4();\n<<<IMPROVE ENDS>>>\n}\n```\n";
  const std::string macros = "<<<IMPROVE BEGINS>>>\n#define A 4\n<<<IMPROVE ENDS>>>\n```\n";
  for (const std::string& reply : {device + "```cpp macros\n" + macros, "```cpp macros\n" + macros + device,
                                   device + "```\n" + macros}) {
    CAPTURE(reply);
    const ReplyCode code = read_filled_plan(reply, false, plan, expectation);
    REQUIRE_MESSAGE(code.judgement.ok(), code.judgement.detail);
    CHECK(code.kernel->regions.device.find("load4();\n  store4();") != std::string::npos);
    CHECK(code.kernel->regions.macros == "#define A 4\n");
    CHECK(code.changed.size() == 2);
  }
  const ReplyCode half = read_filled_plan(device, false, plan, expectation);
  CHECK(half.judgement.fault == ReplyFault::no_code);
  CHECK(half.judgement.detail.find("region macros") != std::string::npos);
}

TEST_CASE("grounded plan: a comment or a line break that was lost outside of the anchors refuses nothing") {
  const Kernel commented{
      {"// Adds up.\nextern \"C\" void f() {  // the entry\n  load();  // four\n\n"
       "  /* then */\n  store();\n  end();  // done\n}\n",
       "", ""}};
  const ReplyExpectation wanted{.parent = &commented, .functions = {"f"}};
  const std::string bare =
      "```cpp device\nextern \"C\" void f()\n{\n  load();\n<<<IMPROVE BEGINS>>>\n  store();\n"
      "<<<IMPROVE ENDS>>>\n  end();\n}\n```\n";
  const GroundedPlan plan = read_plan(bare + "Store more.", false, wanted);
  REQUIRE_MESSAGE(plan.judgement.ok(), plan.judgement.detail);
  const AnchorSpan span = plan.parts.at(0).spans.at(0);
  CHECK(commented.regions.device.substr(span.begin, span.end - span.begin) == "  store();\n");
  std::string filled = bare;
  filled.replace(filled.find("store();"), 8, "store4();");
  const ReplyCode code = read_filled_plan(filled, false, plan, wanted);
  REQUIRE_MESSAGE(code.judgement.ok(), code.judgement.detail);
  // What stands outside is the original's, with its comments.
  std::string whole = commented.regions.device;
  whole.replace(whole.find("store();"), 8, "store4();");
  CHECK(code.kernel->regions.device == whole);
  std::string changed = filled;
  changed.replace(changed.find("end();"), 6, "end2();");
  CHECK(read_filled_plan(changed, false, plan, wanted).judgement.fault == ReplyFault::outside_anchors);
}

TEST_CASE("grounded plan: the coder's reply") {
  const GroundedPlan plan = read_plan(marked + "1. a\n2. b\n", false, expectation);
  const std::string filled =
      "```cpp device\nextern \"C\" void f() {\n<<<IMPROVE BEGINS>>>\n  load4();\n<<<IMPROVE ENDS>>>\n"
      "<<<IMPROVE BEGINS>>>\n  store4(W);\n<<<IMPROVE ENDS>>>\n}\n```\n";
  ReplyCode code = read_filled_plan("Draft:\n```cpp\nload4();\n```\n" + filled, false, plan, expectation);
  REQUIRE_MESSAGE(code.judgement.ok(), code.judgement.detail);
  CHECK(code.kernel->regions.device == "extern \"C\" void f() {\n  load4();\n  store4(W);\n}\n");
  CHECK(code.kernel->regions.macros == "#define A 1\n");
  code =
      read_filled_plan(filled + "```json\n{\"tunables\": {\"W\": [2, 4]}}\n```\n", false, plan, expectation);
  REQUIRE(code.judgement.ok());
  CHECK(code.kernel->space.size() == 1);

  const auto fault = [&](const std::string& reply, bool cut = false) {
    return read_filled_plan(reply, cut, plan, expectation).judgement.fault;
  };
  CHECK(fault("no code") == ReplyFault::no_code);
  CHECK(fault("```cpp device\n" + parent.regions.device + "```\n") == ReplyFault::same_code);
  CHECK(fault(filled.substr(0, filled.size() - 5), true) == ReplyFault::truncated);
  std::string signature = filled;
  signature.replace(signature.find("f()"), 3, "g()");
  CHECK(fault(signature) == ReplyFault::outside_anchors);
  std::string region = filled;
  region.replace(region.find("device"), 6, "macros");
  CHECK(fault(region) == ReplyFault::wrong_region);
  // a plan that marks the signature lets nobody change it either
  const GroundedPlan wide =
      read_plan("```cpp\n<<<IMPROVE BEGINS>>>\n" + parent.regions.device + "<<<IMPROVE ENDS>>>\n```\nAll.",
                false, expectation);
  REQUIRE(wide.judgement.ok());
  CHECK(read_filled_plan(
            "```cpp\n<<<IMPROVE BEGINS>>>\nextern \"C\" void f(int n) {\n}\n<<<IMPROVE ENDS>>>\n```\n", false,
            wide, expectation)
            .judgement.fault == ReplyFault::changed_signature);
}

TEST_CASE("grounded plan: any replies are read") {
  Rng rng(6);
  const std::string parts[] = {"```cpp device\n",
                               "```\n",
                               "<<<IMPROVE BEGINS>>>\n",
                               "<<<IMPROVE ENDS>>>\n",
                               "extern \"C\" void f() {\n",
                               "  load();\n",
                               "  store();\n",
                               "}\n",
                               "1. a\n",
                               "2. b\n",
                               marked,
                               "```json\n{\"tunables\": {}}\n```\n"};
  const GroundedPlan good = read_plan(marked + "1. a\n2. b\n", false, expectation);
  for (int round = 0; round < 20000; ++round) {
    std::string reply;
    for (std::uint64_t i = rng.below(12); i > 0; --i) reply += parts[rng.below(std::size(parts))];
    const bool cut = rng.chance(0.2);
    const GroundedPlan plan = read_plan(reply, cut, expectation);
    if (plan.judgement.ok()) CHECK(plan.places() > 0);
    const ReplyCode code = read_filled_plan(reply, cut, good, expectation);
    CHECK(code.judgement.ok() == code.kernel.has_value());
  }
}
