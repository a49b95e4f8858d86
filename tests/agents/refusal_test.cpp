// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/refusal.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace kernelsearch;
using Named = std::vector<std::string>;

namespace {

std::string reason_in(const std::string& reply, const Named& names = {"tiling"}) {
  const auto refusal = read_refusal(reply, names);
  REQUIRE(refusal.has_value());
  REQUIRE_MESSAGE(refusal->judgement.ok(), refusal->judgement.detail);
  return refusal->reason;
}

std::string refusal_fault(const std::string& reply, const Named& names = {"tiling"}) {
  const auto refusal = read_refusal(reply, names);
  REQUIRE(refusal.has_value());
  REQUIRE(refusal->judgement.fault == ReplyFault::bad_refusal);
  return refusal->judgement.detail;
}

}  // namespace

TEST_CASE("refusal: a line of the form, also after thoughts, in marks or in a block of its own") {
  const std::string wanted = "tiling: there is no loop.";
  CHECK(reason_in("DOES NOT APPLY: there is no loop.") == wanted);
  CHECK(reason_in("The kernel copies.\n\n  **DOES NOT APPLY:** there is no loop.\n") == wanted);
  CHECK(reason_in("`DOES NOT APPLY: there is no loop.`") == wanted);
  CHECK(reason_in("```text\nDOES NOT APPLY: there is no loop.\n```\n") == wanted);
  CHECK(reason_in("DOES NOT APPLY: tiling: there is no loop.") == wanted);  // named already
  CHECK(reason_in("DOES NOT APPLY: b: no loop", {"a", "b"}) == "b: no loop");
  CHECK(reason_in("DOES NOT APPLY: " + std::string(5000, 'x')).size() < 600);
}

TEST_CASE("refusal: what only looks like it is none") {
  for (const char* reply : {"", "It does not apply: there is no loop.", "DOES NOT APPLY here, but see below",
                            "```cpp device\n// DOES NOT APPLY: a comment\nvoid f() {}\n```\n"})
    CHECK_FALSE(read_refusal(reply, Named{"tiling"}).has_value());
  CHECK_FALSE(read_refusal("```cpp\nint a;\nDOES NOT APPLY: x\n```", Named{"tiling"}).has_value());
}

TEST_CASE(
    "refusal: without a reason, beside code, without a name, or where nothing was named, it is a fault") {
  CHECK(refusal_fault("DOES NOT APPLY").find("does not say why") != std::string::npos);
  CHECK(refusal_fault("DOES NOT APPLY: \n").find("does not say why") != std::string::npos);
  CHECK(refusal_fault("DOES NOT APPLY: no loop\n```cpp\nvoid f() {}\n```\n").find("gives code") !=
        std::string::npos);
  CHECK(refusal_fault("```cpp\nvoid f() {}\n```\nDOES NOT APPLY: no loop").find("gives code") !=
        std::string::npos);
  CHECK(refusal_fault("DOES NOT APPLY: no loop", {"a", "b"}).find("DOES NOT APPLY: a: ") !=
        std::string::npos);
  CHECK(refusal_fault("DOES NOT APPLY: no loop", {}).find("Nothing was asked for by name") !=
        std::string::npos);
}
