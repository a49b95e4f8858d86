// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/tunable_text.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

namespace {

const std::vector<NamedValue> values{{"FAST", Value{true}},
                                     {"SLOW", Value{false}},
                                     {"TILE", Value{std::int64_t{8}}},
                                     {"TILE_N", Value{std::int64_t{16}}},
                                     {"SHARE", Value{0.5}},
                                     {"TYPE", Value{std::string("-a  -b")}},
                                     {"NONE", Value{std::string()}},
                                     {"ORDER", Value{Permutation{1, 0, 2}}}};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("tunable_text and tunable_definitions: every kind of value") {
  CHECK(tunable_text(Value{true}) == "1");
  CHECK(tunable_text(Value{false}) == "0");
  CHECK(tunable_text(Value{0.5}) == "0.5");
  CHECK(tunable_text(Value{Permutation{1, 0}}) == "{1, 0}");
  CHECK(tunable_definitions(values) ==
        "#define FAST 1\n#define SLOW 0\n#define TILE 8\n#define TILE_N 16\n#define SHARE 0.5\n"
        "#define TYPE -a  -b\n#define NONE\n#define ORDER {1, 0, 2}\n#define ORDER_0 1\n#define ORDER_1 0\n"
        "#define ORDER_2 2\n");
  CHECK(tunable_definitions({}) == "");
}

TEST_CASE("expand_tunables: names by their values, once; others stay or become what is said") {
  CHECK(expand_tunables("f<${TILE_N}, ${FAST}>", values) == "f<16, 1>");
  CHECK(expand_tunables("${TILE}${TILE} ${ORDER}", values) == "88 {1, 0, 2}");
  CHECK(expand_tunables("${OTHER}, ${TIL, ${ORDER_0} $TILE", values) == "${OTHER}, ${TIL, ${ORDER_0} $TILE");
  const std::vector<NamedValue> own{{"A", Value{std::string("${B}")}}, {"B", Value{true}}};
  CHECK(expand_tunables("${A}${B}", own) == "${B}1");
  CHECK(expand_tunables("${OTHER}-${TILE}-${x", values, [](std::string_view whole) {
          return "<" + std::string(whole) + ">";
        }) == "<${OTHER}>-8-<${x>");
}

TEST_CASE("expand_flags: split at blanks, but not within an order; empty ones are left out") {
  CHECK(expand_flags(Words{"-O3 -g", "${TYPE}", "${NONE}", "-D=${ORDER}", "-x${FAST}"}, values) ==
        Words{"-O3", "-g", "-a", "-b", "-D={1,0,2}", "-x1"});
  CHECK(expand_flags({}, values).empty());
}
