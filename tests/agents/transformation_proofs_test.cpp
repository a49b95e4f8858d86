// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is said of the proofs of data/transformations/proofs; that they are right is tested where they can
// run: agents/host/transformation_proofs_test.cpp, gpu_proofs.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "kernelsearch/agents/transformation_library.hpp"
#include "support/approx.hpp"
#include "support/transformation_proofs.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

const std::vector<proofs::Proof>& every_proof() {
  static const std::vector<proofs::Proof> all = proofs::read_proofs(KERNELSEARCH_SOURCE_DIR);
  return all;
}

/// Those without a proof, and why.
const std::map<std::string, std::string> unproved{
    {"your_choice", "it names no change: what it comes to is the model's"},
    {"tensor_core_hip", "no device of AMD was to be had, and the stand-in has no matrix instructions"}};

std::string instructions_of(const Transformation& t) {
  std::string text;
  for (const TransformationPass& pass : t.passes)
    for (const RegionEdit& edit : pass.edits) text += edit.instruction;
  return text;
}

}  // namespace

TEST_CASE("proofs: every transformation has one, or stands in the list with its reason") {
  const TransformationLibrary library;
  std::set<std::string> proved;
  for (const proofs::Proof& proof : every_proof()) {
    CAPTURE(proof.name);
    REQUIRE(library.find(proof.transformation) != nullptr);
    CHECK(proof.name.starts_with(proof.transformation));
    CHECK(library.at(proof.transformation).applies_to(to_string(proof.problem.backend)));
    proved.insert(proof.transformation);
  }
  for (const Transformation& t : library.transformations()) {
    CAPTURE(t.name);
    CHECK(proved.contains(t.name) != unproved.contains(t.name));
  }
}

TEST_CASE("proofs: each changes its kernel, has the transformation's tunables and figures of a device") {
  const TransformationLibrary library;
  std::map<std::string, const proofs::Proof*> by_name;
  for (const proofs::Proof& proof : every_proof()) by_name[proof.name] = &proof;
  for (const proofs::Proof& proof : every_proof()) {
    CAPTURE(proof.name);
    const Regions before = proof.before.empty()
                               ? read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) /
                                              proof.content.at("problem").get<std::string>())
                                     .kernel.regions
                               : by_name.at(proof.before)->problem.kernel.regions;
    const Regions& after = proof.problem.kernel.regions;
    CHECK((without_declarations(before.macros) != without_declarations(after.macros) ||
           before.device != after.device || before.host != after.host));
    const Space& space = proof.problem.kernel.space;
    const Transformation& transformation = library.at(proof.transformation);
    for (const Tunable& tunable : transformation.tunables.tunables) {
      CAPTURE(tunable.name);
      REQUIRE(space.find(tunable.name));
      CHECK((after.macros + after.device + after.host).find(tunable.name) != std::string::npos);
    }
    // Snippets that it inserts stand there as they are today.
    for (const TransformationPass& pass : transformation.passes)
      for (const SnippetUse& snippet : pass.snippets) {
        CAPTURE(snippet.name);
        const std::string& region = snippet.region == KernelRegion::host ? after.host : after.macros;
        CHECK(region.find(snippet.text) != std::string::npos);
      }
    const auto& measured = proof.content.at("measured");
    for (const char* key : {"date", "device", "command", "shape"})
      CHECK_FALSE(measured.at(key).get<std::string>().empty());
    CHECK(measured.at("speedup").get<double>() > 0);
    if (measured.contains("after_ms"))
      CHECK(measured.at("speedup").get<double>() ==
            approx(measured.at("before_ms").get<double>() / measured.at("after_ms").get<double>())
                .epsilon(0.01));
  }
}

TEST_CASE("proofs: the two chains go from one output a thread to nine tenths of cuBLAS at 4096") {
  for (const std::string chain : {"f32", "f16"}) {
    CAPTURE(chain);
    std::map<std::string, const proofs::Proof*> next;  // by what they change
    std::size_t links = 0;
    for (const proofs::Proof& proof : every_proof())
      if (proof.content.value("chain", "") == chain) {
        CHECK(next.emplace(proof.before, &proof).second);
        CHECK(proof.content.at("shape") == "4096");
        ++links;
      }
    double best = 0;
    std::size_t passed = 0;
    std::set<std::string> taken;
    const TransformationLibrary library;
    for (std::string at; next.contains(at); at = next.at(at)->name) {
      const proofs::Proof& proof = *next.at(at);
      CAPTURE(proof.name);
      const auto applies = [&](const std::string& name) { return library.at(name).applies_to("cuda"); };
      for (const std::string& needed : library.at(proof.transformation).after)
        CHECK((taken.contains(needed) || !applies(needed)));
      taken.insert(proof.transformation);
      best = std::max(best, proof.content.at("measured").at("of_cublas").get<double>());
      ++passed;
    }
    CHECK(passed == links);
    CHECK(links >= 10);
    CHECK(best >= 0.9);
  }
}

TEST_CASE("transformations: what a tunable may be is said in the file and explained in the text") {
  const TransformationLibrary library;
  for (const Transformation& t : library.transformations()) {
    CAPTURE(t.name);
    const std::string text = instructions_of(t);
    for (const Tunable& tunable : t.tunables.tunables) {
      CAPTURE(tunable.name);
      CHECK(tunable.values.size() >= 2);
      // A constraint of the file names it, or a sentence says which constraint a reply must declare with the
      // tunables that the kernel has by then, or that any value is right.
      const auto& constraints = t.tunables.constraints;
      bool said = std::any_of(constraints.begin(), constraints.end(), [&](const std::string& constraint) {
        return constraint.find(tunable.name) != std::string::npos;
      });
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(". ", at), text.size());
        const std::string sentence = text.substr(at, end - at);
        at = end + 2;
        if (sentence.find(tunable.name) == std::string::npos) continue;
        for (const char* words : {"constraint", "ny value", "any of their values"})
          said = said || sentence.find(words) != std::string::npos;
      }
      CHECK(said);
    }
    // Of its own constraints at least the default must not be ruled out.
    const Space space = kernel_with_declared(Space::build({}), {"", "", declaration_line(t.tunables)}).space;
    if (!t.tunables.tunables.empty())
      for (std::size_t i = 0; i < t.tunables.tunables.size(); ++i)
        CHECK(space.default_config().indices[i] == t.tunables.tunables[i].default_index);
  }
}
