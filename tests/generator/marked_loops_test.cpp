// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/marked_loops.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

TEST_CASE("marked_loops: headers, bodies and nesting are read") {
  const std::string source = R"(void f(int n, float* y) {
  // loop: i  the outer one
  for (std::int64_t i = 0; i < n - (1 < 2); ++i) {
    // loop: j
#pragma GCC ivdep
    for (int j = i; j < n; j += 2 * n) y[j] += "}; for (" [0]; // }
  }
  // loop: k
  for (unsigned k = 0; k < 3u; k++)
    for (int q = 0; q < 2; ++q) { y[k] = 1; }
  y[0] = 2;
})";
  const std::vector<MarkedLoop> loops = marked_loops(source);
  REQUIRE(loops.size() == 3);
  CHECK(loops[0].name == "i");
  CHECK(loops[0].type == "std::int64_t");
  CHECK(loops[0].variable == "i");
  CHECK(loops[0].first == "0");
  CHECK(loops[0].last == "n - (1 < 2)");
  CHECK(loops[0].step == "1");
  CHECK(loops[1].step == "2 * n");
  CHECK(loops[1].first == "i");
  CHECK(loops[0].contains(loops[1]));
  CHECK_FALSE(loops[1].contains(loops[0]));
  CHECK_FALSE(loops[0].contains(loops[2]));
  CHECK(source.substr(loops[1].begin, 3) == "for");
  CHECK(source.substr(loops[1].directives, 7) == "#pragma");
  CHECK(source.substr(loops[1].end - 5, 5) == " [0];");
  CHECK(detail::trimmed(std::string_view(source).substr(loops[2].body, loops[2].end - loops[2].body)) ==
        "for (int q = 0; q < 2; ++q) { y[k] = 1; }");
}

TEST_CASE("marked_loops: other forms are left alone") {
  for (const char* loop : {"for (int i = 0; i <= n; ++i) f();", "for (int i = 0, j = 1; i < n; ++i) f();",
                           "for (i = 0; i < n; ++i) f();", "for (int i = n; i > 0; --i) f();",
                           "while (true) f();", "for (int x : y) f();", "for (int i = 0; i < n; i *= 2) f();",
                           "for (int i = 0; i < n; ++i) {", "for (int i = 0", ""}) {
    CAPTURE(loop);
    CHECK(marked_loops("// loop: i\n" + std::string(loop)).empty());
    CHECK(marked_loops("// loop:\nfor (int i = 0; i < n; ++i) f();").empty());
  }
}

TEST_CASE("marked_functions: parameters and body are found") {
  const std::string source =
      "// function: f\nextern \"C\" void f(int n, float* y) {\n  y[0] = n;\n}\n// function: g\nvoid g();\n";
  const std::vector<MarkedFunction> functions = marked_functions(source);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].name == "f");
  CHECK(source.substr(functions[0].parameters, functions[0].parameters_end - functions[0].parameters) ==
        "int n, float* y");
  CHECK(source.substr(functions[0].body, 2) == "\n ");
}

TEST_CASE("replaced: identifiers only, not members, comments or literals") {
  CHECK(detail::replaced("i + ii * a.i + p->i + i_1 /* i */ + \"i\" + 'i' // i\n+ i", "i", "(i + 1)") ==
        "(i + 1) + ii * a.i + p->i + i_1 /* i */ + \"i\" + 'i' // i\n+ (i + 1)");
  CHECK(detail::replaced("1'000 + i + 2'0", "i", "j") == "1'000 + j + 2'0");
  CHECK(detail::mentions("x[i]", "i"));
  CHECK_FALSE(detail::mentions("x.i", "i"));
}

TEST_CASE("marked_loops: any text is survived, and what is found lies inside it") {
  const char* pieces[] = {"// loop: i\n",
                          "for (int i = 0; i < n; ++i)",
                          "{",
                          "}",
                          "(",
                          ")",
                          ";",
                          "\"",
                          "'",
                          "/*",
                          "*/",
                          "//",
                          "\n",
                          "#pragma GCC ivdep\n",
                          "// function: f\n",
                          "void f(float* x)",
                          "x[i] += y;",
                          "\\",
                          "for"};
  Rng rng(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::uint64_t n = rng.below(25); n > 0; --n) text += pieces[rng.below(std::size(pieces))];
    CAPTURE(text);
    for (const MarkedLoop& loop : marked_loops(text)) {
      CHECK(loop.marker < loop.begin);
      CHECK(loop.begin < loop.body);
      CHECK(loop.body <= loop.end);
      CHECK(loop.end <= text.size());
    }
    for (const MarkedFunction& function : marked_functions(text)) CHECK(function.body <= text.size());
  }
}
