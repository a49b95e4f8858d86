// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/unified_diff.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

const std::string source = "a\nb\nc\nd\ne\nf\ng\n";

std::string patched(const std::string& diff, const std::string& text = source) {
  const PatchResult result = apply_unified_diff(text, diff);
  return result.judgement.ok() ? result.text : "fault: " + result.judgement.detail;
}

}  // namespace

TEST_CASE("unified diff: hunks go where their lines stand") {
  CHECK(patched("--- a/device\n+++ b/device\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n") == "a\nb\nC\nd\ne\nf\ng\n");
  CHECK(patched("@@ -40,3 +99,2 @@\n b\n-c\n d\n@@ -6 +6 @@\n-f\n+F\n+G\n") == "a\nb\nd\ne\nF\nG\ng\n");
  CHECK(patched("@@\n-c\n+C\n") == "a\nb\nC\nd\ne\nf\ng\n");
  CHECK(patched("-c\n+C\n") == "a\nb\nC\nd\ne\nf\ng\n");
  CHECK(patched("@@ -0,0 +1,1 @@\n+first\n") == "first\n" + source);
  CHECK(patched("@@ -7,0 +8,1 @@\n+last\n") == source + "last\n");
  CHECK(patched("@@ -1,0 +2,1 @@\n+second\n") == "a\nsecond\nb\nc\nd\ne\nf\ng\n");
  CHECK(patched("diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n\\ No newline at end "
                "of file\n") == "A\nb\nc\nd\ne\nf\ng\n");
}

TEST_CASE("unified diff: the stated line decides between equal places; without one they are refused") {
  const std::string twice = "x\ny\nx\ny\nx\ny\n";
  CHECK(patched("@@ -3,2 +3,2 @@\n x\n-y\n+Y\n", twice) == "x\ny\nx\nY\nx\ny\n");
  CHECK(patched("@@ -6 +6 @@\n-y\n+Y\n", twice) == "x\ny\nx\ny\nx\nY\n");
  CHECK(patched("@@\n-y\n+Y\n", twice).find("fits 3 places") != std::string::npos);
}

TEST_CASE("unified diff: blanks at ends of lines and indentation may be wrong, other letters not") {
  CHECK(patched("@@ -1,2 +1,2 @@\n int a;\n-  int b;\n+  int c;\n", "int a;  \n    int b;\n") ==
        "int a;\n  int c;\n");
  CHECK(patched("@@ -1 +1 @@\n-z\n+Z\n").find("does not fit") != std::string::npos);
  CHECK(patched("@@ -5,1 +5,1 @@\n-e\n+E\n@@ -1,1 +1,1 @@\n-a\n+A\n").find("after the hunk before it") !=
        std::string::npos);
  CHECK(patched("").find("no hunks") != std::string::npos);
  CHECK(patched("@@\n+only added\n").find("give it context") != std::string::npos);
}

TEST_CASE("unified diff: an empty line of context whose blank was lost") {
  CHECK(patched("@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nb\n") == "a\n\nB\n");
}

TEST_CASE("unified diff: the file that it names") {
  CHECK(patched_file("--- a/device.cu\n+++ b/device.cu\n@@\n") == "device.cu");
  CHECK(patched_file("--- device\n+++ device\t2024\n") == "device");
  CHECK(patched_file("--- host\n+++ /dev/null\n") == "host");
  CHECK(patched_file("@@\n-a\n").empty());
}

TEST_CASE("unified diff: a diff made of two texts turns one into the other") {
  Rng rng(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> before, after;
    std::string diff = "@@ -1 +1 @@\n", a, b;
    for (int i = 0; i < 12; ++i) {
      const std::string line = std::string(1, static_cast<char>('a' + rng.below(26))) + std::to_string(i);
      switch (rng.below(4)) {
        case 0:
          diff += "-" + line + "\n";
          a += line + "\n";
          break;
        case 1:
          diff += "+" + line + "\n";
          b += line + "\n";
          break;
        default:
          diff += " " + line + "\n";
          a += line + "\n";
          b += line + "\n";
      }
    }
    if (a.empty()) continue;
    CHECK(patched(diff, a) == b);
  }
}

TEST_CASE("unified diff: any text is applied or refused") {
  Rng rng(5);
  const std::string parts[] = {
      "@@", "@@ -1,2 +1,2 @@", "\n", "-a", "+b", " c", "--- ", "+++ ", "-", "+", "\\", "\n\n"};
  for (int round = 0; round < 20000; ++round) {
    std::string diff;
    for (std::uint64_t i = rng.below(20); i > 0; --i) diff += parts[rng.below(std::size(parts))];
    const PatchResult result = apply_unified_diff(source, diff);
    CHECK((result.judgement.ok() || result.judgement.fault == ReplyFault::bad_patch));
    (void)patched_file(diff);
  }
}

TEST_CASE("unified diff: a diff that is made leads from the one text to the other, with context and counts") {
  CHECK(unified_diff(source, source, "device").empty());
  CHECK(unified_diff(source, "a\nb\nC\nd\ne\nf\ng\n", "device", 1) ==
        "--- device\n+++ device\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n");
  // Changes that are near are one hunk; those further apart are two.
  CHECK(unified_diff(source, "A\nb\nc\nD\ne\nf\ng\n", "x", 1) ==
        "--- x\n+++ x\n@@ -1,5 +1,5 @@\n-a\n+A\n b\n c\n-d\n+D\n e\n");
  CHECK(unified_diff(source, "A\nb\nc\nd\nE\nf\ng\n", "x", 1) ==
        "--- x\n+++ x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,3 +4,3 @@\n d\n-e\n+E\n f\n");
  CHECK(unified_diff("", "a\nb\n", "x") == "--- x\n+++ x\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  CHECK(unified_diff("a\nb\n", "", "x") == "--- x\n+++ x\n@@ -1,2 +0,0 @@\n-a\n-b\n");
  CHECK(patched_file(unified_diff("a\n", "b\n", "host")) == "host");
}

TEST_CASE("unified diff: what is made applies, for any two texts and any context") {
  Rng rng(7);
  const auto text = [&rng](std::size_t lines) {
    std::string all;
    for (std::size_t i = 0; i < lines; ++i) (all += "line ") += std::to_string(rng.below(4)) + "\n";
    return all;
  };
  for (int round = 0; round < 300; ++round) {
    const std::string before = text(rng.below(12)), after = text(rng.below(12));
    if (before == after) continue;
    for (const std::size_t context : {0, 1, 3}) {
      const std::string diff = unified_diff(before, after, "device", context);
      CAPTURE(before);
      CAPTURE(diff);
      CHECK(patched(diff, before) == after);
    }
  }
}
