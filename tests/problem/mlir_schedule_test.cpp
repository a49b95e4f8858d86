// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/mlir_schedule.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/mlir_payload.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;

namespace {

/// `body` as mlir-opt 22 prints the operations of a named sequence.
std::string sequence(const std::string& body) {
  return "\"builtin.module\"() ({\n"
         "  \"transform.named_sequence\"() <{arg_attrs = [{transform.readonly}], function_type = "
         "(!transform.any_op) -> (), sym_name = \"__transform_main\"}> ({\n"
         "  ^bb0(%arg0: !transform.any_op):\n" +
         body +
         "    \"transform.yield\"() : () -> ()\n"
         "  }) : () -> ()\n"
         "}) {transform.with_named_sequence} : () -> ()\n";
}

std::string knob(const std::string& result, const std::string& name, const std::string& options,
                 const std::string& selected = "") {
  return "    %" + result + " = \"transform.tune.knob\"() <{name = \"" + name + "\", options = " + options +
         (selected.empty() ? "" : ", selected = " + selected) + "}> : () -> !transform.param<i64>\n";
}

std::string constrain(const std::string& operands, const std::string& types, const std::string& arguments,
                      const std::string& body) {
  return "    \"transform.smt.constrain_params\"(" + operands + ") ({\n    ^bb0(" + arguments + "):\n" +
         body + "      \"smt.yield\"() : () -> ()\n    }) : (" + types + ") -> ()\n";
}

/// One constraint over two knobs x and y with the options given.
MlirSchedule over_two(const std::string& options, const std::string& body) {
  return MlirSchedule::read(sequence(knob("0", "x", options) + knob("1", "y", options) +
                                     constrain("%0, %1", "!transform.param<i64>, !transform.param<i64>",
                                               "%x: !smt.int, %y: !smt.int", body)));
}

Space space_of(const MlirSchedule& schedule) {
  Result<Space> space = schedule.try_space();
  if (!space) FAIL(space.error().text());
  return *std::move(space);
}

std::string fault_of(const std::string& generic) {
  const auto schedule = MlirSchedule::try_read(generic, "s.mlir");
  if (schedule) return "";
  return schedule.error().text();
}

std::string written(const MlirSchedule& schedule, const Space& space, const Config& config) {
  const auto text = schedule.try_written(space, config);
  if (!text) FAIL(text.error().text());
  return *text;
}

const std::string int2 = "(!smt.int, !smt.int) -> ";

}  // namespace

TEST_CASE("MlirSchedule: knobs are tunables with their options, selections are defaults") {
  const MlirSchedule schedule = MlirSchedule::read(sequence(
      knob("0", "tile_m", "[2, 4, 8]", "4 : i64") + knob("1", "small", "[1 : i8, 2 : i8]", "2 : i8") +
      knob("2", "flag", "[true, false]") + knob("3", "text", "[\"a\\22b\", \"c, d]\"]", "\"c, d]\"") +
      knob("4", "mixed", "[1, [2, 3], {x = 1 : i8}, affine_map<(d0) -> (d0 + 1)>, 5.000000e-01]",
           "5.000000e-01 : f64")));
  const std::vector<Tunable>& tunables = schedule.tunables();
  REQUIRE(tunables.size() == 5);
  CHECK(tunables[0].name == "tile_m");
  CHECK(tunables[0].values == std::vector<Value>{std::int64_t{2}, std::int64_t{4}, std::int64_t{8}});
  CHECK(tunables[0].default_index == 1);
  CHECK(tunables[1].values == std::vector<Value>{std::int64_t{1}, std::int64_t{2}});
  CHECK(tunables[2].values == std::vector<Value>{true, false});
  CHECK(tunables[2].default_index == 0);
  CHECK(tunables[3].values == std::vector<Value>{std::string("\"a\\22b\""), std::string("\"c, d]\"")});
  CHECK(tunables[3].default_index == 1);
  CHECK(tunables[4].values.size() == 5);
  CHECK(std::get<std::string>(tunables[4].values[3]) == "affine_map<(d0) -> (d0 + 1)>");
  CHECK(tunables[4].default_index == 4);
  CHECK(space_of(schedule).count().to_string() == "120");
}

TEST_CASE("MlirSchedule: an option that spans lines is written as one that reads the same") {
  const MlirSchedule schedule =
      MlirSchedule::read(sequence(knob("0", "lines", "[one\n\ntwo, 3]", "3 : i64")));
  REQUIRE(schedule.tunables().size() == 1);
  CHECK(schedule.tunables()[0].values == std::vector<Value>{std::string("one  two"), std::string("3")});
  const Value first = schedule.tunables()[0].values[0];
  const auto text = schedule.try_written([&](std::string_view) { return &first; });
  REQUIRE(text);
  const MlirSchedule again = MlirSchedule::read(*text);
  CHECK(again.tunables()[0].values == schedule.tunables()[0].values);
  CHECK(again.tunables()[0].default_index == 0);
}

TEST_CASE("MlirSchedule: names become names of C++ and of expressions, each another") {
  const MlirSchedule schedule = MlirSchedule::read(
      sequence(knob("0", "tile m", "[1]") + knob("1", "tile.m", "[1]") + knob("2", "for", "[1]") +
               knob("3", "2nd", "[1]") + knob("4", "kernelsearch_x", "[1]") + knob("5", "", "[1]")));
  std::vector<std::string> names;
  for (const Tunable& tunable : schedule.tunables()) names.push_back(tunable.name);
  CHECK(names == std::vector<std::string>{"tile_m", "tile_m_2", "knob_for", "knob_2nd", "knob_kernelsearch_x",
                                          "knob_"});
}

TEST_CASE("MlirSchedule: constants of constraints are signed though printed unsigned") {
  // As mlir-opt 22 prints smt.int.constant -5, 11 and -129.
  const auto count = [](const char* printed) {
    return space_of(over_two("[-129, -5, 5, 11]",
                             std::string("      %c = \"smt.int.constant\"() <{value = ") + printed +
                                 "}> : () -> !smt.int\n      %e = \"smt.eq\"(%x, %c) : " + int2 +
                                 "!smt.bool\n      \"smt.assert\"(%e) : (!smt.bool) -> ()\n"))
        .usable(0)[0];
  };
  CHECK(count("3967 : ui12") == 0);
  CHECK(count("11 : ui4") == 1);
  CHECK(count("11 : ui8") == 3);
  check_has(fault_of(sequence(
                knob("0", "x", "[1]") +
                constrain("%0", "!transform.param<i64>", "%x: !smt.int",
                          "      %c = \"smt.int.constant\"() <{value = 75548640353877468643327 : ui76}> "
                          ": () -> !smt.int\n"))),
            "beyond 64 bits");
}

TEST_CASE("MlirSchedule: division and modulo are Euclidean, and a division by zero satisfies nothing") {
  const MlirSchedule schedule =
      over_two("[-7, -2, 0, 2, 7]", "      %d = \"smt.int.div\"(%x, %y) : " + int2 +
                                        "!smt.int\n      %p = \"smt.int.mul\"(%y, %d) : " + int2 +
                                        "!smt.int\n      %m = \"smt.int.mod\"(%x, %y) : " + int2 +
                                        "!smt.int\n      %s = \"smt.int.add\"(%p, %m) : " + int2 +
                                        "!smt.int\n      %e = \"smt.eq\"(%x, %s) : " + int2 +
                                        "!smt.bool\n      \"smt.assert\"(%e) : (!smt.bool) -> ()\n");
  CHECK(space_of(schedule).count().to_string() == "20");
}

TEST_CASE("MlirSchedule: alternatives are tunables, and what stands in a region counts there alone") {
  const std::string generic = sequence(
      "    %9 = \"transform.tune.alternatives\"() <{name = \"order\", selected_region_attr = 1 : index}> "
      "({\n" +
      knob("0", "a", "[1, 2, 3]", "2 : i64") +  // held there in the other region, where the constraint is not
      constrain("%0", "!transform.param<i64>", "%x: !smt.int",
                "      %c = \"smt.int.constant\"() <{value = 2 : ui4}> : () -> !smt.int\n"
                "      %e = \"smt.distinct\"(%x, %c) : (!smt.int, !smt.int) -> !smt.bool\n"
                "      \"smt.assert\"(%e) : (!smt.bool) -> ()\n") +
      "      \"transform.yield\"(%arg0) : (!transform.any_op) -> ()\n    }, {\n" +
      knob("0", "b", "[10, 20]") +
      "      \"transform.yield\"(%arg0) : (!transform.any_op) -> ()\n    }) : () -> !transform.any_op\n");
  const MlirSchedule schedule = MlirSchedule::read(generic);
  const Space space = space_of(schedule);
  CHECK(space.count().to_string() == "4");  // a in {1, 3}, or b in {10, 20}
  std::set<std::string> keys;
  space.for_each([&](const Config& config) {
    const std::string text = written(schedule, space, config);
    CHECK(text.find("constrain_params") == std::string::npos);
    keys.insert(text);
  });
  CHECK(keys.size() == 4);
  CHECK(std::get<std::int64_t>(space.value(space.default_config(), 0)) == 1);
}

TEST_CASE("MlirSchedule: a knob may select alternatives") {
  const std::string alternatives = "    %9 = \"transform.tune.alternatives\"(%0) <{name = \"order\"}> ({\n" +
                                   knob("1", "a", "[1, 2, 3]") +
                                   "      \"transform.yield\"(%arg0) : (!transform.any_op) -> ()\n    }, {\n"
                                   "      \"transform.yield\"(%arg0) : (!transform.any_op) -> ()\n    }) : "
                                   "(!transform.param<i64>) -> !transform.any_op\n";
  const MlirSchedule schedule = MlirSchedule::read(sequence(knob("0", "which", "[0, 1, 7]") + alternatives));
  const Space space = space_of(schedule);
  CHECK(space.size() == 2);
  CHECK(space.count().to_string() == "4");  // 7 is no region
  check_has(written(schedule, space, space.default_config()),
            "\"transform.tune.alternatives\"(%0) <{name = \"order\"}>");
  check_has(fault_of(sequence(alternatives)), "s.mlir:4: transform.tune.alternatives");
}

TEST_CASE("MlirSchedule: results of constraints are values, and constants when written") {
  const MlirSchedule schedule = MlirSchedule::read(sequence(
      knob("0", "x", "[3, 5]") +
      "    %1 = \"transform.smt.constrain_params\"(%0) ({\n    ^bb0(%x: !smt.int):\n"
      "      %s = \"smt.int.mul\"(%x, %x) : (!smt.int, !smt.int) -> !smt.int\n"
      "      \"smt.yield\"(%s) : (!smt.int) -> ()\n    }) : (!transform.param<i64>) -> "
      "!transform.param<i64>\n" +
      constrain("%1", "!transform.param<i64>", "%y: !smt.int",
                "      %c = \"smt.int.constant\"() <{value = 10 : ui5}> : () -> !smt.int\n"
                "      %e = \"smt.int.cmp\"(%y, %c) <{pred = 2 : i64}> : (!smt.int, !smt.int) -> !smt.bool\n"
                "      \"smt.assert\"(%e) : (!smt.bool) -> ()\n")));
  const Space space = space_of(schedule);
  CHECK(space.count().to_string() == "1");
  check_has(written(schedule, space, space.default_config()),
            "%1 = \"transform.param.constant\"() <{value = 25 : i64}> : () -> !transform.param<i64>");
}

TEST_CASE("MlirSchedule: options that could not be written alone are refused") {
  for (const char* options : {"[>=]", "[8, a >= b]", "[//]"}) {
    CAPTURE(options);
    check_has(fault_of(sequence(knob("0", "x", options))), "has no list of options");
  }
  CHECK(fault_of(sequence(knob("0", "x", "[affine_set<(d0) : (d0 >= 0)>, \">=\"]"))).empty());
}

TEST_CASE("MlirSchedule: without its location a type does not run into the value that follows") {
  const MlirSchedule schedule = MlirSchedule::read(sequence(
      "%0 = \"transform.tune.knob\"() <{name = \"x\", options = [6]}> : () -> !transform.param<i64> "
      "loc(\"mine.mlir\":1:1)%1 = \"test.op\"() : () -> i64 loc(unknown)%2 = \"test.op\"() : () -> i64\n"));
  const Space space = space_of(schedule);
  const std::string text = written(schedule, space, space.default_config());
  CHECK(text.find("loc(") == std::string::npos);
  CHECK(MlirSchedule::read(text).tunables().size() == 1);
}

TEST_CASE("MlirSchedule: locations say where, and are left out of what is written") {
  const std::string generic = sequence(
      "    %0 = \"transform.tune.knob\"() <{name = \"x\", options = [1, 2]}> : () -> !transform.param<i64> "
      "loc(\"mine.mlir\":12:7)\n"
      "    \"transform.smt.constrain_params\"(%0) ({\n    ^bb0(%x: !smt.int loc(\"mine.mlir\":13:7)):\n"
      "      %d = \"smt.declare_fun\"() : () -> !smt.int loc(\"mine.mlir\":14:9)\n"
      "      \"smt.yield\"() : () -> () loc(unknown)\n    }) : (!transform.param<i64>) -> () "
      "loc(fused[\"mine.mlir\":13:7, "
      "callsite(\"f\" at \"g\"(\"x y\":1:2))])\n");
  check_has(fault_of(generic), "mine.mlir:14: smt.declare_fun");
  std::string fine = generic;
  fine.replace(fine.find("%d = \"smt.declare_fun\"() : () -> !smt.int"), 41,
               "%d = \"smt.int.abs\"(%x) : (!smt.int) -> !smt.int");
  const MlirSchedule schedule = MlirSchedule::read(fine);
  CHECK(schedule.text().find("loc(") == std::string::npos);
  CHECK(schedule.text().find("smt.int.abs") != std::string::npos);
  const Space space = space_of(schedule);
  CHECK(written(schedule, space, space.default_config()).find("loc(") == std::string::npos);
}

TEST_CASE("MlirSchedule: what has no meaning here is refused by name and line") {
  const std::string one = knob("0", "x", "[1, 2]");
  const auto inside = [&](const std::string& operation) {
    return fault_of(sequence(
        one + constrain("%0", "!transform.param<i64>", "%x: !smt.int", "      " + operation + "\n")));
  };
  for (const char* name :
       {"smt.int.neg", "smt.bv.add", "smt.forall", "smt.push", "smt.declare_fun", "smt.array.select"})
    check_has(inside("%n = \"" + std::string(name) + "\"(%x) : (!smt.int) -> !smt.int"),
              "s.mlir:7: " + std::string(name));
  check_has(inside("%n = \"smt.not\"(%x) : (!smt.int) -> !smt.bool"), "s.mlir:7: smt.not");
  check_has(inside("%n = \"smt.int.abs\"(%zz) : (!smt.int) -> !smt.int"), "%zz");
  check_has(inside("%n = \"smt.int.cmp\"(%x, %x) <{pred = 4 : i64}> : (!smt.int, !smt.int) -> !smt.bool"),
            "smt.int.cmp");
  check_has(fault_of(sequence("    %0 = \"transform.tune.knob\"() <{name = \"x\", options = {max = 5, min = "
                              "1}}> : () -> !transform.param<i64>\n")),
            "s.mlir:4: transform.tune.knob");
  check_has(fault_of(sequence("    \"transform.tune.other\"() : () -> ()\n")),
            "s.mlir:4: transform.tune.other");
  check_has(fault_of(sequence(knob("0", "x", "[1, 2]", "3 : i64"))),
            "selects what is not one of its options");
  check_has(fault_of(sequence(one + knob("1", "x", "[1, 3]"))), "s.mlir:5: transform.tune.knob");
  check_has(fault_of(sequence("")), "leaves nothing open");
  check_has(fault_of(sequence(constrain("%9", "!transform.param<i64>", "%x: !smt.int", ""))), "%9");
  std::string squares = "      %s0 = \"smt.int.mul\"(%x, %x) : (!smt.int, !smt.int) -> !smt.int\n";
  for (int i = 0; i < 40; ++i)
    squares += "      %s" + std::to_string(i + 1) + " = \"smt.int.mul\"(%s" + std::to_string(i) + ", %s" +
               std::to_string(i) + ") : (!smt.int, !smt.int) -> !smt.int\n";
  check_has(fault_of(sequence(one + constrain("%0", "!transform.param<i64>", "%x: !smt.int", squares))),
            "20000 characters");
}

TEST_CASE("MlirSchedule: texts that are not the generic form are refused with their line") {
  check_has(fault_of("module {\n  func.func @f() {\n  }\n}\n"), "s.mlir:1: module {");
  check_has(fault_of("#map = affine_map<(d0) -> (d0)>\n" + sequence("")), "--mlir-print-local-scope");
  check_has(fault_of(sequence("    %0 = \"a.b\"() <{x = [1, 2}> : () -> i32\n")), "s.mlir:4");
  check_has(fault_of(sequence("    %0 = \"a.b\"(%1) : () -> i32\n")), "as many types as operands");
  check_has(fault_of("\"a\"() (" + std::string(100'000, '{')), "was expected");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "\"a.b\"() ({\n";
  check_has(fault_of(deep), "less depth");
}

TEST_CASE("MlirSchedule: values that are no options, or break constraints, are not written") {
  const MlirSchedule schedule =
      over_two("[1, 2, 3]", "      %e = \"smt.int.cmp\"(%x, %y) <{pred = 0 : i64}> : " + int2 +
                                "!smt.bool\n      \"smt.assert\"(%e) : (!smt.bool) -> ()\n");
  const auto at = [&](std::optional<std::int64_t> x, std::optional<std::int64_t> y) {
    const Value vx = x.value_or(0), vy = y.value_or(0);
    const auto text = schedule.try_written([&](std::string_view name) -> const Value* {
      return name == "x" ? (x ? &vx : nullptr) : y ? &vy : nullptr;
    });
    return text ? "" : text.error().text();
  };
  CHECK(at(1, 2).empty());
  check_has(at(2, 2), "does not hold");
  check_has(at(1, 4), "y = 4");
  check_has(at(1, {}), "has no value: y");
}

namespace {

/// A random formula over knobs, evaluated here by SMT-LIB's rules, and its operations as they are printed.
struct Formula {
  struct Node {
    std::string name, attribute;
    std::vector<std::size_t> operands;
    bool boolean = false;
    std::int64_t number = 0;  ///< of constants; of knobs which one
  };
  std::vector<Node> nodes;

  struct NoValue {};

  std::int64_t at(std::size_t i, const std::vector<std::int64_t>& values) const {
    const Node& node = nodes[i];
    const auto x = [&](std::size_t k) { return at(node.operands[k], values); };
    const auto mod = [&] {
      const std::int64_t a = x(0), b = x(1), size = b < 0 ? -b : b;
      if (b == 0) throw NoValue{};
      return ((a % size) + size) % size;
    };
    const std::string& name = node.name;
    const std::size_t n = node.operands.size();
    if (name == "knob") return values[static_cast<std::size_t>(node.number)];
    if (name == "smt.int.constant" || name == "smt.constant") return node.number;
    if (name == "smt.int.add" || name == "smt.int.mul") {
      std::int64_t result = x(0);
      for (std::size_t k = 1; k < n; ++k)
        if (name == "smt.int.add" ? __builtin_add_overflow(result, x(k), &result)
                                  : __builtin_mul_overflow(result, x(k), &result))
          throw NoValue{};
      return result;
    }
    if (name == "smt.int.sub") return x(0) - x(1);
    if (name == "smt.int.div") return (x(0) - mod()) / x(1);
    if (name == "smt.int.mod") return mod();
    if (name == "smt.int.abs") return x(0) < 0 ? -x(0) : x(0);
    if (name == "smt.int.cmp") {
      const std::int64_t a = x(0), b = x(1);
      return node.number == 0 ? a < b : node.number == 1 ? a <= b : node.number == 2 ? a > b : a >= b;
    }
    if (name == "smt.ite") return x(0) != 0 ? x(1) : x(2);
    if (name == "smt.not") return x(0) == 0;
    if (name == "smt.implies") return x(0) == 0 || x(1) != 0;
    if (name == "smt.and" || name == "smt.or") {
      for (std::size_t k = 0; k < n; ++k)
        if ((x(k) != 0) == (name == "smt.or")) return name == "smt.or";
      return name == "smt.and";
    }
    std::vector<std::int64_t> all;
    for (std::size_t k = 0; k < n; ++k) all.push_back(x(k));
    if (name == "smt.xor") {
      std::int64_t ones = 0;
      for (const std::int64_t one : all) ones += one;
      return ones % 2;
    }
    const std::size_t different = std::set<std::int64_t>(all.begin(), all.end()).size();
    return name == "smt.eq" ? different == 1 : different == n;
  }

  bool holds(std::size_t i, const std::vector<std::int64_t>& values) const {
    try {
      return at(i, values) != 0;
    } catch (const NoValue&) {
      return false;
    }
  }
};

/// As mlir-opt prints the constant: in so many bits that the highest is the sign.
std::string printed_constant(std::int64_t value) {
  int bits = 4;
  while (value >= (std::int64_t{1} << (bits - 1)) || value < -(std::int64_t{1} << (bits - 1))) bits += 4;
  const std::uint64_t pattern = static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
  return std::to_string(pattern) + " : ui" + std::to_string(bits);
}

Formula random_formula(Rng& rng, std::size_t knobs) {
  Formula formula;
  std::vector<std::size_t> integers, booleans;
  const auto add = [&](Formula::Node node) {
    (node.boolean ? booleans : integers).push_back(formula.nodes.size());
    formula.nodes.push_back(std::move(node));
  };
  for (std::size_t i = 0; i < knobs; ++i) add({"knob", "", {}, false, static_cast<std::int64_t>(i)});
  for (int i = 0; i < 3; ++i) {
    const auto value = static_cast<std::int64_t>(rng.below(41)) - 20;
    add({"smt.int.constant", "value = " + printed_constant(value), {}, false, value});
  }
  add({"smt.constant", "value = true", {}, true, 1});
  const auto some = [&](const std::vector<std::size_t>& of, std::size_t n) {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(of[rng.below(of.size())]);
    return result;
  };
  const std::vector<std::string> two{"smt.int.sub", "smt.int.div", "smt.int.mod"},
      more{"smt.int.add", "smt.int.mul"}, of_any{"smt.eq", "smt.distinct"},
      of_bools{"smt.and", "smt.or", "smt.xor"};
  for (int i = 0; i < 14; ++i) {
    const std::size_t several = 1 + rng.below(3);
    switch (rng.below(9)) {
      case 0:
        add({two[rng.below(2) + 1], "", some(integers, 2), false, 0});
        break;
      case 1:
        add({more[rng.below(2)], "", some(integers, several), false, 0});
        break;
      case 2:
        add({two[0], "", some(integers, 2), false, 0});
        break;
      case 3:
        add({"smt.int.abs", "", some(integers, 1), false, 0});
        break;
      case 4: {
        const auto predicate = static_cast<std::int64_t>(rng.below(4));
        add({"smt.int.cmp", "pred = " + std::to_string(predicate) + " : i64", some(integers, 2), true,
             predicate});
        break;
      }
      case 5:
        add({of_any[rng.below(2)], "", some(rng.chance(0.7) ? integers : booleans, several + 1), true, 0});
        break;
      case 6:
        add({of_bools[rng.below(3)], "", some(booleans, several), true, 0});
        break;
      case 7: {
        const bool negated = rng.chance(0.5);
        add({negated ? "smt.not" : "smt.implies", "", some(booleans, negated ? 1 : 2), true, 0});
        break;
      }
      default: {
        const bool boolean = rng.chance(0.5);
        std::vector<std::size_t> operands = some(booleans, 1);
        for (const std::size_t one : some(boolean ? booleans : integers, 2)) operands.push_back(one);
        add({"smt.ite", "", std::move(operands), boolean, 0});
        break;
      }
    }
  }
  add({"smt.and", "", some(booleans, 2), true, 0});
  return formula;
}

}  // namespace

TEST_CASE("MlirSchedule: counts equal enumeration, and what is written reads back, for random schedules") {
  std::size_t with_points = 0, constrained = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const std::size_t knobs = 1 + rng.below(3);
    std::string body, operands, types, arguments;
    std::vector<std::vector<std::int64_t>> options(knobs);
    for (std::size_t i = 0; i < knobs; ++i) {
      std::set<std::int64_t> chosen;
      for (std::size_t k = 0; k < 1 + rng.below(5); ++k)
        chosen.insert(static_cast<std::int64_t>(rng.below(19)) - 6);
      std::string list;
      for (const std::int64_t one : chosen) {
        options[i].push_back(one);
        list += (list.empty() ? "" : ", ") + std::to_string(one);
      }
      const std::string number = std::to_string(i);
      body += knob(number, "k" + number, "[" + list + "]");
      operands += (i == 0 ? "%" : ", %") + number;
      types += i == 0 ? "!transform.param<i64>" : ", !transform.param<i64>";
      arguments += (i == 0 ? "%n" : ", %n") + number + ": !smt.int";
    }
    const Formula formula = random_formula(rng, knobs);
    std::string lines;
    for (std::size_t i = knobs; i < formula.nodes.size(); ++i) {
      const Formula::Node& node = formula.nodes[i];
      std::string names, kinds;
      for (const std::size_t one : node.operands) {
        names += (names.empty() ? "%n" : ", %n") + std::to_string(one);
        kinds +=
            std::string(kinds.empty() ? "" : ", ") + (formula.nodes[one].boolean ? "!smt.bool" : "!smt.int");
      }
      lines += "      %n" + std::to_string(i) + " = \"" + node.name + "\"(" + names + ")" +
               (node.attribute.empty() ? "" : " <{" + node.attribute + "}>") + " : (" + kinds + ") -> " +
               (node.boolean ? "!smt.bool" : "!smt.int") + "\n";
    }
    const std::size_t last = formula.nodes.size() - 1;
    lines += "      \"smt.assert\"(%n" + std::to_string(last) + ") : (!smt.bool) -> ()\n";
    const auto schedule =
        MlirSchedule::try_read(sequence(body + constrain(operands, types, arguments, lines)));
    if (!schedule) FAIL(schedule.error().text());

    std::size_t valid = 0, all = 1;
    for (const auto& one : options) all *= one.size();
    std::vector<std::int64_t> values(knobs);
    for (std::size_t point = 0; point < all; ++point) {
      std::size_t rest = point;
      for (std::size_t i = 0; i < knobs; ++i) {
        values[i] = options[i][rest % options[i].size()];
        rest /= options[i].size();
      }
      valid += formula.holds(last, values) ? 1u : 0u;
    }
    const Result<Space> space = schedule->try_space();
    CHECK(space.ok() == (valid > 0));  // a space without points is refused
    constrained += valid < all ? 1u : 0u;
    if (!space) continue;
    with_points += 1;
    CHECK(space->count().to_string() == std::to_string(valid));
    const Config config = space->sample(rng);
    const MlirSchedule again = MlirSchedule::read(written(*schedule, *space, config));
    CHECK(again.constraints().empty());
    for (std::size_t i = 0; i < knobs; ++i)
      CHECK(again.tunables()[i].values[again.tunables()[i].default_index] == space->value(config, i));
  }
  CHECK(with_points > 120);
  CHECK(constrained > 100);
}

TEST_CASE("MlirPayload: parameters are buffers of static shape, and those that are stored to are outputs") {
  const std::string generic =
      "\"builtin.module\"() ({\n"
      "  \"func.func\"() <{function_type = (memref<f32>, memref<2x3xf64>, memref<4xi8>, memref<5xi64>) -> "
      "(), sym_name = \"f\"}> ({\n"
      "  ^bb0(%arg0: memref<f32>, %arg1: memref<2x3xf64>, %arg2: memref<4xi8>, %arg3: memref<5xi64>):\n"
      "    %0 = \"memref.load\"(%arg0) : (memref<f32>) -> f32\n"
      "    %7 = \"memref.cast\"(%arg0) : (memref<f32>) -> memref<f32>\n"
      "    %1 = \"memref.subview\"(%arg1) : (memref<2x3xf64>) -> memref<3xf64>\n"
      "    \"scf.for\"(%2, %3, %4) ({\n    ^bb0(%i: index):\n"
      "      \"memref.store\"(%5, %1, %i) : (f64, memref<3xf64>, index) -> ()\n"
      "      \"scf.yield\"() : () -> ()\n    }) : (index, index, index) -> ()\n"
      "    \"memref.copy\"(%arg2, %6) : (memref<4xi8>, memref<4xi8>) -> ()\n"
      "    \"other.op\"(%arg3) : (memref<5xi64>) -> ()\n"
      "    \"func.return\"() : () -> ()\n  }) : () -> ()\n"
      "  \"func.func\"() <{function_type = () -> (), sym_name = \"declared\"}> ({\n  }) : () -> ()\n"
      "}) : () -> ()\n";
  const auto payload = try_read_mlir_payload(generic);
  if (!payload) FAIL(payload.error().text());
  CHECK(payload->function == "f");
  REQUIRE(payload->arguments.size() == 4);
  CHECK(payload->arguments[0].extents.empty());
  CHECK(payload->arguments[1].extents == std::vector<std::int64_t>{2, 3});
  CHECK(payload->arguments[1].type == ElementType::f64);
  CHECK(payload->arguments[2].type == ElementType::i8);
  std::vector<bool> written_to;
  for (const MlirBuffer& one : payload->arguments) written_to.push_back(one.written);
  CHECK(written_to == std::vector<bool>{false, true, false, true});

  const auto fault = [&](const std::string& from, const std::string& to, const std::string& function = "") {
    std::string text = generic;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    const auto read = try_read_mlir_payload(text, function, "p.mlir");
    return read ? std::string() : read.error().text();
  };
  check_has(fault("memref<4xi8>", "memref<?xi8>"), "p.mlir:2: memref<?xi8>");
  check_has(fault("memref<4xi8>", "memref<4xi8, strided<[2]>>"), "strided");
  check_has(fault("memref<4xi8>", "memref<4xbf16>"), "bf16");
  check_has(fault("memref<4xi8>", "f32"), "p.mlir:2: f32");
  check_has(fault("-> (), sym_name = \"f\"", "-> f32, sym_name = \"f\""), "returns something");
  check_has(fault("sym_name = \"f\"", "sym_name = \"int\""), "rename it");
  check_has(fault("x", "x", "g"), "no such function: p.mlir: f");
}
