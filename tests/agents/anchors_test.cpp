// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/anchors.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

const std::string original = "void f() {\n  load();\n  compute();\n  store();\n}\n";
const std::string annotated =
    "void f() {\n<<<IMPROVE BEGINS>>>\n  load();\n<<<IMPROVE ENDS>>>\n  compute();\n"
    "  // <<<IMPROVE BEGINS>>>\n  store();\n  // <<<IMPROVE ENDS>>>\n}\n";

std::string inside(const std::string& text, const AnchorSpan& span) {
  return text.substr(span.begin, span.end - span.begin);
}

}  // namespace

TEST_CASE("anchors: a plan's places, on lines of their own, in comments and within lines") {
  const AnchoredText plan = read_anchors(original, annotated);
  REQUIRE(plan.judgement.ok());
  REQUIRE(plan.spans.size() == 2);
  CHECK(inside(original, plan.spans[0]) == "  load();\n");
  CHECK(inside(original, plan.spans[1]) == "  store();\n");

  const auto inline_plan = read_anchors(
      original,
      "void f() {\n  load(<<<IMPROVE BEGINS>>><<<IMPROVE ENDS>>>);\n  <<<improve begins>>>compute()"
      "<<<IMPROVE ENDS>>>;\n  store();\n}\n");
  REQUIRE(inline_plan.judgement.ok());
  REQUIRE(inline_plan.spans.size() == 2);
  CHECK(inside(original, inline_plan.spans[0]).empty());
  CHECK(inside(original, inline_plan.spans[1]) == "compute()");

  // An empty place is where something is to be put in.
  const auto insertion = read_anchors(
      original,
      "void f() {\n<<<IMPROVE BEGINS>>>\n<<<IMPROVE ENDS>>>\n  load();\n  compute();\n  store();\n}");
  REQUIRE(insertion.judgement.ok());
  CHECK(insertion.spans[0] == AnchorSpan{11, 11});
}

TEST_CASE("anchors: nested ones count as the outermost") {
  const auto plan = read_anchors(
      original,
      "void f() {\n<<<IMPROVE BEGINS>>>\n  load();\n<<<IMPROVE BEGINS>>>\n  compute();\n<<<IMPROVE ENDS>>>\n"
      "  store();\n<<<IMPROVE ENDS>>>\n}\n");
  REQUIRE(plan.judgement.ok());
  REQUIRE(plan.spans.size() == 1);
  CHECK(inside(original, plan.spans[0]) == "  load();\n  compute();\n  store();\n");
}

TEST_CASE("anchors: faults of a plan") {
  const auto fault = [](const std::string& text) { return read_anchors(original, text).judgement.fault; };
  CHECK(fault(original) == ReplyFault::no_anchors);
  CHECK(fault("<<<IMPROVE BEGINS>>>\n" + original) == ReplyFault::bad_anchors);
  CHECK(fault(original + "<<<IMPROVE ENDS>>>\n") == ReplyFault::bad_anchors);
  std::string changed = annotated;
  changed.replace(changed.find("compute"), 7, "combine");
  CHECK(fault(changed) == ReplyFault::outside_anchors);
  CHECK(read_anchors(original, changed).judgement.detail.find("compute();") != std::string::npos);
  // also what stands inside must be as it was: the plan only marks
  changed = annotated;
  changed.replace(changed.find("load"), 4, "lend");
  CHECK(fault(changed) == ReplyFault::outside_anchors);
  CHECK(read_anchors("<<<IMPROVE BEGINS>>>", "<<<IMPROVE BEGINS>>>").judgement.fault ==
        ReplyFault::bad_anchors);
}

TEST_CASE("anchors: blanks at ends of lines and empty lines around do not count") {
  const auto plan = read_anchors("\n\n" + original,
                                 "void f() {  \n<<<IMPROVE BEGINS>>>\n  load();\t\n<<<IMPROVE ENDS>>>\n"
                                 "  compute();\n  store();\n}\n\n\n");
  REQUIRE(plan.judgement.ok());
  CHECK(inside("\n\n" + original, plan.spans[0]) == "  load();\n");
}

TEST_CASE("anchors: what the coder is given reads back") {
  const AnchoredText plan = read_anchors(original, annotated);
  const std::string skeleton = with_anchors(original, plan.spans);
  CHECK(skeleton.find("<<<IMPROVE BEGINS>>>\n  load();\n<<<IMPROVE ENDS>>>\n") != std::string::npos);
  CHECK(read_anchors(original, skeleton).spans == plan.spans);
  const FilledText same = fill_anchors(original, plan.spans, skeleton);
  REQUIRE(same.judgement.ok());
  CHECK(same.text == original);
}

TEST_CASE("anchors: the coder fills places and nothing else") {
  const auto spans = read_anchors(original, annotated).spans;
  const std::string filled =
      "void f() {\n<<<IMPROVE BEGINS>>>\n  load4();\n  wait();\n<<<IMPROVE ENDS>>>\n  compute();\n"
      "<<<IMPROVE BEGINS>>>\n  store4();<<<IMPROVE ENDS>>>\n}\n";
  FilledText result = fill_anchors(original, spans, filled);
  REQUIRE(result.judgement.ok());
  CHECK(result.text == "void f() {\n  load4();\n  wait();\n  compute();\n  store4();\n}\n");

  // without anchors, as long as what was outside is there
  result = fill_anchors(original, spans, "void f() {\n  load4();\n  compute();\n  store4();\n}\n");
  REQUIRE(result.judgement.ok());
  CHECK(result.text == "void f() {\n  load4();\n  compute();\n  store4();\n}\n");

  const auto fault = [&](const std::string& text) {
    return fill_anchors(original, spans, text).judgement.fault;
  };
  CHECK(fault("void f() {\n  load4();\n  combine();\n  store4();\n}\n") == ReplyFault::outside_anchors);
  CHECK(fault("void g() {\n  load4();\n  compute();\n  store4();\n}\n") == ReplyFault::outside_anchors);
  CHECK(fault("void f() {\n  load4();\n  compute();\n  store4();\n}\nint more;\n") ==
        ReplyFault::outside_anchors);
  // lines outside that were made longer, at either end
  for (const char* longer : {"void f() { extra();\n  load4();\n  compute();\n  store4();\n}\n",
                             "void f() {\n  load4();\n  compute(); extra();\n  store4();\n}\n",
                             "void f() {\n  load4();\n  extra(); compute();\n  store4();\n}\n",
                             "void f() {\n  load4();\n  compute();\n  store4(); }\n"})
    CHECK(fault(longer) == ReplyFault::outside_anchors);
  CHECK(fault("void f() {\n  compute(); more();\n  compute();\n  store4();\n}\n") == ReplyFault::none);
  std::string changed = filled;
  changed.replace(changed.find("compute"), 7, "combine");
  CHECK(fault(changed) == ReplyFault::outside_anchors);
  CHECK(fill_anchors(original, spans, changed).judgement.detail.find("between places 1 and 2") !=
        std::string::npos);
  CHECK(fault("void f() {\n<<<IMPROVE BEGINS>>>\n<<<IMPROVE ENDS>>>\n  compute();\n  store();\n}\n") ==
        ReplyFault::outside_anchors);
  CHECK(fault("void f() {\n<<<IMPROVE BEGINS>>>\n  load();\n") == ReplyFault::bad_anchors);
}

TEST_CASE("anchors: without anchors the lines outside must keep their order, too") {
  const std::string text = "begin\n1\nfirst\n2\nsecond\n3\nend\n";
  std::vector<AnchorSpan> spans;
  for (const char* place : {"1\n", "2\n", "3\n"}) {
    const std::size_t at = text.find(place);
    spans.push_back({at, at + 2});
  }
  const auto fault = [&](const std::string& reply) {
    return fill_anchors(text, spans, reply).judgement.fault;
  };
  CHECK(fault("begin\na\nfirst\nb\nsecond\nc\nend\n") == ReplyFault::none);
  CHECK(fault("begin\na\nsecond\nb\nfirst\nc\nend\n") == ReplyFault::outside_anchors);
}

TEST_CASE("anchors: any spans survive the way to the coder and back, whatever is put between them") {
  Rng rng(23);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i)
      text += std::string(rng.below(3), ' ') + std::string(1, static_cast<char>('a' + rng.below(26))) +
              std::to_string(i) + ";\n";
    std::vector<AnchorSpan> spans;
    std::size_t at = 0;
    while (spans.size() < 4 && at < text.size()) {
      std::size_t begin = at + rng.below(8), end = begin + rng.below(12);
      if (rng.chance(0.5))
        begin = text.rfind('\n', begin) + 1, end = text.find('\n', std::min(end, text.size() - 1)) + 1;
      if (begin < at || end > text.size() || end < begin) break;
      spans.push_back({begin, end});
      at = end + 1;
    }
    if (spans.empty()) continue;
    const std::string skeleton = with_anchors(text, spans);
    const FilledText back = fill_anchors(text, spans, skeleton);
    REQUIRE(back.judgement.ok());
    CHECK(back.text == text);
    CHECK(read_anchors(text, skeleton).judgement.ok());
  }
}

TEST_CASE("anchors: any text is read") {
  Rng rng(29);
  const std::string parts[] = {"<<<IMPROVE BEGINS>>>",
                               "<<<IMPROVE ENDS>>>",
                               "<<<",
                               ">>>",
                               "\n",
                               "//",
                               "a",
                               " ",
                               "void f() {\n",
                               "  load();\n",
                               "  compute();\n",
                               "  store();\n",
                               "}\n",
                               "<<<IMPROVE"};
  const auto spans = read_anchors(original, annotated).spans;
  int good = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(16); i > 0; --i) text += parts[rng.below(std::size(parts))];
    const AnchoredText plan = read_anchors(original, text);
    if (plan.judgement.ok()) ++good;
    for (const AnchorSpan& span : plan.spans) CHECK_LE(span.end, original.size());
    const FilledText filled = fill_anchors(original, spans, text);
    if (filled.judgement.ok()) CHECK(filled.text.find("compute();") != std::string::npos);
  }
}
