// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/digest.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <set>

#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

TEST_CASE("sha256: the standard's own examples") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("problem_digest: what decides the meaning changes it, the rest does not") {
  const Problem problem = parsed(full_problem);
  const std::string digest = problem_digest(problem);
  CHECK(digest.size() == 64);
  CHECK(problem_digest(parsed(full_problem)) == digest);

  const std::function<void(Problem&)> meaningless[] = {
      [](Problem& p) { p.name = "other"; },
      [](Problem& p) { p.description = "other"; },
      [](Problem& p) { p.folder = "/elsewhere"; },
      [](Problem& p) { p.operations.reset(); },
      [](Problem& p) { p.kernel.regions.device += "// edited"; },
      [](Problem& p) { p.arguments[5].tolerance = p.tolerance_of(p.arguments[5]); },
  };
  for (const auto& change : meaningless) {
    Problem other = problem;
    change(other);
    CHECK(problem_digest(other) == digest);
  }

  const std::function<void(Problem&)> meaningful[] = {
      [](Problem& p) { p.backend = Backend::cuda; },
      [](Problem& p) { p.function = "other"; },
      [](Problem& p) { p.arguments[0].name = "m"; },
      [](Problem& p) { p.arguments[0].type = ElementType::i64; },
      [](Problem& p) { p.arguments[1].value = Expression::parse("n*2"); },
      [](Problem& p) { p.arguments[2].size = Expression::parse("k*n"); },
      [](Problem& p) { p.arguments[2].initialisation = Initialisation::uniform; },
      [](Problem& p) { p.arguments[2].low = 7; },
      [](Problem& p) { p.arguments[2].role = Role::inout; },
      [](Problem& p) { p.arguments[5].tolerance->absolute = 1; },
      [](Problem& p) { p.arguments.pop_back(); },
      [](Problem& p) { p.shapes[0].name = "other"; },
      [](Problem& p) { p.shapes[0].weight = 2; },
      [](Problem& p) { p.shapes[0].variables[0].second = 512.0; },
      [](Problem& p) { p.shapes.pop_back(); },
      [](Problem& p) { p.valid.reset(); },
      [](Problem& p) { p.tolerances.clear(); },
      [](Problem& p) { p.reference.source += " "; },
      [](Problem& p) { p.reference.source.clear(); },
      [](Problem& p) { p.reference.function = "other"; },
      [](Problem& p) { p.reference.flags.push_back("-g"); },
      [](Problem& p) { p.build.compiler = "clang++"; },
      [](Problem& p) { p.build.flags.clear(); },
      [](Problem& p) { p.aggregate = Aggregate::reference_weighted; },
      [](Problem& p) { p.threads = 1; },
  };
  std::set<std::string> seen{digest};
  std::size_t changes = 1;
  for (const auto& change : meaningful) {
    Problem other = problem;
    change(other);
    seen.insert(problem_digest(other));
    CAPTURE(changes);
    CHECK(seen.size() == ++changes);
  }
}

TEST_CASE("problem_digest: every part of a build command counts") {
  Problem problem = parsed(full_problem);
  std::set<std::string> seen{problem_digest(problem)};
  const std::function<void(Problem&)> changes[] = {
      [](Problem& p) { p.reference.compiler = "clang++"; },
      [](Problem& p) { p.build.command = {"sh", "a b"}; },
      [](Problem& p) { p.build.command = {"sh", "a", "b"}; },
      [](Problem& p) { p.names.device = "kernel.f90"; },
      [](Problem& p) { p.build.files = {{"a", "b"}}; },
      [](Problem& p) { p.build.files[0].text = "c"; },
      [](Problem& p) { p.build.files[0].path = "c"; },
      [](Problem& p) { p.build.identity = {{"a", "b"}}; },
      [](Problem& p) { p.build.identity = {{"a"}, {"b"}}; },
      [](Problem& p) { p.build.readable = {"/opt/a"}; },
  };
  std::size_t count = 1;
  for (const auto& change : changes) {
    change(problem);
    seen.insert(problem_digest(problem));
    CAPTURE(count);
    CHECK(seen.size() == ++count);
  }
}

TEST_CASE("problem_digest: every part of a device problem counts") {
  const Problem problem = parsed(device_problem);
  const auto one = [] { return Expression::parse("1"); };
  const std::function<void(Problem&)> meaningful[] = {
      [](Problem& p) { p.arguments[2].role = Role::workspace; },
      [](Problem& p) { p.arguments[3].tensor_map.reset(); },
      [](Problem& p) { p.arguments[3].tensor_map->array = "c"; },
      [&](Problem& p) { p.arguments[3].tensor_map->sizes[0] = one(); },
      [&](Problem& p) { p.arguments[3].tensor_map->strides[0] = one(); },
      [&](Problem& p) { p.arguments[3].tensor_map->box[1] = one(); },
      [](Problem& p) { p.arguments[3].tensor_map->swizzle.reset(); },
      [](Problem& p) { p.arguments[3].tensor_map->promotion.reset(); },
      [](Problem& p) { p.arguments[4].symbol = "c_other"; },
      [](Problem& p) { p.arguments[4].symbol.clear(); },
      [](Problem& p) { p.launch.pop_back(); },
      [](Problem& p) { std::swap(p.launch[0], p.launch[1]); },
      [](Problem& p) { p.launch[0].zero = "c"; },
      [](Problem& p) { p.launch[0].condition.reset(); },
      [](Problem& p) { p.launch[1].function = "other"; },
      [](Problem& p) { p.launch[1].arguments.clear(); },
      [](Problem& p) { std::swap(p.launch[1].arguments[2], p.launch[1].arguments[3]); },
      [&](Problem& p) { p.launch[1].geometry.grid[0] = one(); },
      [&](Problem& p) { p.launch[1].geometry.block.push_back(one()); },
      [](Problem& p) { p.launch[1].geometry.cluster.clear(); },
      [](Problem& p) { p.launch[1].geometry.shared_bytes.reset(); },
      [](Problem& p) { p.reference.launch.reset(); },
      [&](Problem& p) { p.reference.launch->grid[1] = one(); },
      [&](Problem& p) { p.reference.launch->block[1] = one(); },
      [&](Problem& p) { p.reference.launch->cluster.push_back(one()); },
      [](Problem& p) { p.reference.launch->shared_bytes.reset(); },
      [](Problem& p) { p.build.compiler = "nvrtc"; },
  };
  std::set<std::string> seen{problem_digest(problem)};
  std::size_t changes = 1;
  for (const auto& change : meaningful) {
    Problem other = problem;
    change(other);
    seen.insert(problem_digest(other));
    CAPTURE(changes);
    CHECK(seen.size() == ++changes);
  }
}

TEST_CASE("problem_digest: where the kernel is the reference, its text and default count") {
  const Problem problem = parsed(small_problem);
  Problem other = problem;
  other.kernel.regions.device += " ";
  CHECK(problem_digest(other) != problem_digest(problem));
}

TEST_CASE("kernel_digest: regions, values, defaults and constraints") {
  const Kernel kernel = parsed(full_problem).kernel;
  std::set<std::string> seen{kernel_digest(kernel)};
  CHECK(seen.count(kernel_digest(parsed(full_problem).kernel)) == 1);
  for (int i = 0; i < 3; ++i) {
    Kernel other = kernel;
    (i == 0 ? other.regions.device : i == 1 ? other.regions.host : other.regions.macros) += "x";
    seen.insert(kernel_digest(other));
  }
  CHECK(seen.size() == 4);
  std::vector<Tunable> tunables(kernel.space.tunables().begin(), kernel.space.tunables().end());
  const std::vector<Constraint> constraints(kernel.space.constraints().begin(),
                                            kernel.space.constraints().end());
  Kernel other = kernel;
  other.space = Space::build(tunables, {});
  seen.insert(kernel_digest(other));
  tunables[0].default_index = 0;
  other.space = Space::build(tunables, constraints);
  seen.insert(kernel_digest(other));
  tunables[0].values.pop_back();
  other.space = Space::build(tunables, constraints);
  seen.insert(kernel_digest(other));
  tunables[6].active_if.reset();
  other.space = Space::build(tunables, constraints);
  seen.insert(kernel_digest(other));
  tunables[1].role = TunableRole::block_size;
  other.space = Space::build(tunables, constraints);
  seen.insert(kernel_digest(other));
  CHECK(seen.size() == 9);
}

TEST_CASE("candidate_digest: code and values, not the space around them") {
  const auto kernel_with = [](const char* tunables) {
    std::string text = small_problem;
    text.insert(text.rfind('}'), ", \"tunables\": " + std::string(tunables));
    return std::make_shared<const Kernel>(parsed(text).kernel);
  };
  const auto two = kernel_with(R"({"A": [1, 2], "B": [3]})");
  const auto three = kernel_with(R"({"A": [0, 1, 2], "B": [3, 4]})");
  const std::string digest = candidate_digest({two, Config{{1, 0}}});
  CHECK(candidate_digest({three, Config{{2, 0}}}) == digest);
  CHECK(candidate_digest({three, Config{{1, 0}}}) != digest);
  CHECK(candidate_digest({three, Config{{2, 1}}}) != digest);
  auto other = std::make_shared<Kernel>(*two);
  other->regions.macros = "#define X";
  CHECK(candidate_digest({other, Config{{1, 0}}}) != digest);
}

TEST_CASE("problem_digest: tolerances of the fields of structs count where they are not the defaults") {
  Problem problem = parsed(small_problem);
  problem.arguments.push_back(problem.arguments.back());
  Argument& structs = problem.arguments.back();
  structs.name = "s";
  structs.type = ElementType::u8;
  structs.structure = StructType{"S", {{"a", ElementType::f64}, {"b", ElementType::f16}}};
  const std::string digest = problem_digest(problem);
  CHECK(digest == "2ea8abe475722615b21a73568b7d227396b26ce357be9dda477dbff389c2c11a");  // as stores have it
  const auto with = [&problem](ElementType type, Tolerance tolerance) {
    Problem other = problem;
    other.tolerances = {{type, tolerance}};
    return problem_digest(other);
  };
  const Tolerance usual = default_tolerance(ElementType::f64);
  CHECK(with(ElementType::f64, usual) == digest);
  CHECK(with(ElementType::bf16, {1, 1}) == digest);  // no field is one
  std::set<std::string> seen{digest,
                             with(ElementType::f64, {1, usual.relative}),
                             with(ElementType::f64, {usual.absolute, 1}),
                             with(ElementType::f64, {usual.absolute, usual.relative, 0.5}),
                             with(ElementType::f16, {1, usual.relative}),
                             with(ElementType::f16, {usual.absolute, usual.relative})};
  CHECK(seen.size() == 6);
  structs.role = Role::in;  // is not compared
  CHECK(with(ElementType::f64, {1, 1}) == problem_digest(problem));
}
