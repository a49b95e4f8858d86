// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/code_signature.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <utility>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

Features counts(std::initializer_list<std::pair<const char*, double>> values) {
  Features features;
  for (const auto& [name, value] : values) features.set(name, value);
  return features;
}

}  // namespace

TEST_CASE("evidence_of: more of one of several is enough, and as many as before is none") {
  const CodeSignature signature{.any = {{"code.loop.vector_256"}, {"code.loop.vector_512"}}, .all = {}};
  const Features parent = counts({{"code.loop.vector_256", 2}, {"code.loop.vector_512", 0}});
  CHECK(evidence_of(signature, counts({{"code.loop.vector_256", 3}, {"code.loop.vector_512", 0}}), parent) ==
        Evidence::verified);
  CHECK(evidence_of(signature, counts({{"code.loop.vector_256", 0}, {"code.loop.vector_512", 1}}), parent) ==
        Evidence::verified);
  CHECK(evidence_of(signature, parent, parent) == Evidence::absent);
  CHECK(evidence_of(signature, counts({{"code.loop.vector_256", 1}, {"code.loop.vector_512", 0}}), parent) ==
        Evidence::absent);
}

TEST_CASE("evidence_of: what is missing is unknown unless something else decides") {
  const CodeSignature any{.any = {{"a"}, {"b"}}, .all = {}};
  const Features both = counts({{"a", 1}, {"b", 1}});
  CHECK(evidence_of(any, counts({{"a", 1}}), both) == Evidence::unknown);
  CHECK(evidence_of(any, both, counts({{"a", 1}})) == Evidence::unknown);
  CHECK(evidence_of(any, counts({{"a", 2}}), both) == Evidence::verified);
  CHECK(evidence_of(any, {}, {}) == Evidence::unknown);
  const CodeSignature all{.any = {}, .all = {{"a"}, {"b"}}};
  CHECK(evidence_of(all, counts({{"a", 2}}), both) == Evidence::unknown);
  CHECK(evidence_of(all, counts({{"a", 1}}), both) == Evidence::absent);
  CHECK(evidence_of(all, counts({{"a", 2}, {"b", 2}}), both) == Evidence::verified);
  CHECK(evidence_of(all, counts({{"a", 2}, {"b", 1}}), both) == Evidence::absent);
  CHECK(evidence_of({}, both, both) == Evidence::unknown);  // nothing to look for is no evidence
  const Features odd = counts({{"a", std::numeric_limits<double>::quiet_NaN()}, {"b", 1}});
  CHECK(evidence_of(any, odd, both) == Evidence::unknown);
}

TEST_CASE("evidence_of: what varies by itself must change by more than that") {
  const CodeSignature signature{.any = {{"l2_hit", false, 5}}, .all = {}};
  const Features parent = counts({{"l2_hit", 60}});
  CHECK(evidence_of(signature, counts({{"l2_hit", 66}}), parent) == Evidence::verified);
  CHECK(evidence_of(signature, counts({{"l2_hit", 65}}), parent) == Evidence::absent);
  CHECK(evidence_of(signature, counts({{"l2_hit", 50}}), parent) == Evidence::absent);
  const CodeSignature less{.any = {{"bank_conflicts", true, 1}}, .all = {}};
  CHECK(evidence_of(less, counts({{"bank_conflicts", 2}}), counts({{"bank_conflicts", 3.5}})) ==
        Evidence::verified);
  CHECK(evidence_of(less, counts({{"bank_conflicts", 3}}), counts({{"bank_conflicts", 3.5}})) ==
        Evidence::absent);
}

TEST_CASE("traces: two share one where they look for the same change, and keep what is their own") {
  const CodeSignature one{.any = {{"a"}, {"b"}}, .all = {{"c", true}}};
  const CodeSignature other{.any = {{"c", true}}, .all = {{"a"}}};
  const CodeSignature opposite{.any = {{"a", true}}, .all = {{"c"}}};
  CHECK(share_a_trace(one, other));
  CHECK(share_a_trace(other, one));
  CHECK_FALSE(share_a_trace(one, opposite));  // more of it and fewer are not the same
  CHECK_FALSE(share_a_trace(one, {}));
  const CodeSignature own = traces_beside(one, other);
  REQUIRE(own.any.size() == 1);
  CHECK(own.any[0].feature == "b");
  CHECK(own.all.empty());
  CHECK(traces_beside(one, opposite).any.size() == 2);
}

TEST_CASE("evidence_of: both lists must hold") {
  const CodeSignature signature{.any = {{"a"}, {"b"}}, .all = {{"c"}}};
  const Features none = counts({{"a", 0}, {"b", 0}, {"c", 0}});
  CHECK(evidence_of(signature, counts({{"a", 1}, {"b", 0}, {"c", 1}}), none) == Evidence::verified);
  CHECK(evidence_of(signature, counts({{"a", 1}, {"b", 0}, {"c", 0}}), none) == Evidence::absent);
  CHECK(evidence_of(signature, counts({{"a", 0}, {"b", 0}, {"c", 1}}), none) == Evidence::absent);
  CHECK(evidence_of(signature, counts({{"a", 0}, {"b", 0}}), none) == Evidence::absent);
  CHECK(evidence_of(signature, counts({{"a", 1}}), none) == Evidence::unknown);
  CHECK(evidence_of(signature, counts({{"a", 0}, {"c", 1}}), none) == Evidence::unknown);
}

TEST_CASE("evidence_of: fewer, where a method takes away") {
  const CodeSignature signature{.any = {{"sass.spills", true}}, .all = {}};
  CHECK(evidence_of(signature, counts({{"sass.spills", 0}}), counts({{"sass.spills", 40}})) ==
        Evidence::verified);
  CHECK(evidence_of(signature, counts({{"sass.spills", 0}}), counts({{"sass.spills", 0}})) ==
        Evidence::absent);
  CHECK(evidence_of(signature, {}, counts({{"sass.spills", 40}})) == Evidence::unknown);
}

TEST_CASE("evidence_by_ablation: what went with the method was the method's") {
  const CodeSignature signature{.any = {{"sass.shuffle"}}, .all = {}};
  const Features parent = counts({{"sass.shuffle", 5}}), champion = counts({{"sass.shuffle", 5}});
  const Features ablated = counts({{"sass.shuffle", 0}});
  CHECK(evidence_of(signature, champion, parent) == Evidence::absent);  // another one took five away
  CHECK(evidence_by_ablation(signature, champion, ablated) == Evidence::verified);
  CHECK(evidence_by_ablation(signature, champion, champion) == Evidence::absent);
  CHECK(evidence_by_ablation(signature, champion, {}) == Evidence::unknown);
  const CodeSignature fewer{.any = {{"sass.spills", true}}, .all = {}};
  CHECK(evidence_by_ablation(fewer, counts({{"sass.spills", 0}}), counts({{"sass.spills", 8}})) ==
        Evidence::verified);
}

TEST_CASE("evidence_of: knowing more never turns verified into absent or back") {
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    CodeSignature signature;
    for (const char* name : {"a", "b", "c", "d"}) {
      if (rng.below(3) == 0) signature.any.push_back({name, rng.below(2) == 0});
      if (rng.below(3) == 0) signature.all.push_back({name, rng.below(2) == 0});
    }
    Features child, parent, known_child, known_parent;
    for (const char* name : {"a", "b", "c", "d"}) {
      const double now = static_cast<double>(rng.below(3)), before = static_cast<double>(rng.below(3));
      child.set(name, now);
      parent.set(name, before);
      if (rng.below(3) != 0) known_child.set(name, now);
      if (rng.below(3) != 0) known_parent.set(name, before);
    }
    const Evidence all = evidence_of(signature, child, parent);
    const Evidence some = evidence_of(signature, known_child, known_parent);
    CHECK((some == all || some == Evidence::unknown));
    CHECK((all == Evidence::unknown) == signature.empty());
  }
}
