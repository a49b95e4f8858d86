// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/source_edits.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/generator/marked_loops.hpp"

using namespace kernelsearch;

namespace {

const std::string matmul = R"(// function: matmul
extern "C" void matmul(int n, const float* a, const float *b, float* c) {
  // loop: i
  for (int i = 0; i < n; ++i) {
    // loop: j
    for (int j = 0; j < n; ++j) {
      // loop: p
      for (int p = 0; p < n; ++p) c[i * n + j] += a[i * n + p] * b[p * n + j];
    }
  }
}
)";
const std::string sum = R"(// loop: i
for (int i = 0; i < n; ++i) total += x[i];
)";

std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\n') result += c;
  return result;
}
bool has(const SourceEdit& edit, const std::string& part) {
  return squeezed(edit.source).find(squeezed(part)) != std::string::npos;
}
std::vector<std::string> what(const std::vector<SourceEdit>& edits) {
  std::vector<std::string> result;
  for (const SourceEdit& edit : edits) result.push_back(edit.what);
  return result;
}

}  // namespace

TEST_CASE("source_edits: unroll repeats the body of innermost loops and keeps the rest") {
  const auto edits = source_edits(matmul, "unroll");
  CHECK(what(edits) ==
        std::vector<std::string>{"unroll loop p by 2", "unroll loop p by 4", "unroll loop p by 8"});
  CHECK(has(edits[0],
            "int p = 0; for (; p + 1 < n; p += 2) {"
            "{ c[i * n + j] += a[i * n + p] * b[p * n + j]; }"
            "{ c[i * n + j] += a[i * n + (p + 1)] * b[(p + 1) * n + j]; } }"
            "for (; p < n; p += 1) c[i * n + j] += a[i * n + p] * b[p * n + j];"));
  CHECK(marked_loops(edits[0].source).size() == 2);
  CHECK(source_edits("// loop: i\nfor (int i = 0; i < n; ++i) { if (x[i] > 0) break; }", "unroll").empty());
}

TEST_CASE("source_edits: accumulators split a sum and add it up") {
  const auto edits = source_edits(sum, "accumulators");
  REQUIRE(edits.size() == 3);
  CHECK(has(edits[0],
            "{ __typeof__(+total) total_1 = 0; int i = 0; for (; i + 1 < n; i += 2) { total += x[i]; total_1 "
            "+= x[(i + 1)]; }"
            "for (; i < n; i += 1) total += x[i]; total += total_1; }"));
  CHECK(source_edits(matmul, "accumulators").empty());
  CHECK(
      source_edits("// loop: i\nfor (int i = 0; i < n; ++i) total += total * x[i];", "accumulators").empty());
  CHECK(source_edits("// loop: i\nfor (int i = 0; i < n; ++i) { total += x[i]; y = 1; }", "accumulators")
            .empty());
}

TEST_CASE("source_edits: tiled loops are marked again, so that they can be moved outwards") {
  const auto edits = source_edits(matmul, "tile");
  CHECK(edits.size() == 12);
  CHECK(has(edits[0],
            "// loop: i_tile for (int i_tile = 0; i_tile < n; i_tile += 8) { // loop: i "
            "for (int i = i_tile; i < (i_tile + 8 < n ? i_tile + 8 : n); i += 1) {"));
  const auto again = source_edits(edits[0].source, "tile");
  CHECK(again.size() == 8);  // not the tiled loop, nor its tiles
  const auto swapped = what(source_edits(edits[4].source, "interchange"));
  CHECK(std::count(swapped.begin(), swapped.end(), "interchange loops i and j_tile") == 1);
  CHECK(std::count(swapped.begin(), swapped.end(), "interchange loops j_tile and j") == 0);
}

TEST_CASE("source_edits: interchange of loops directly inside one another") {
  const auto edits = source_edits(matmul, "interchange");
  CHECK(what(edits) == std::vector<std::string>{"interchange loops i and j", "interchange loops j and p"});
  CHECK(has(edits[1],
            "// loop: p for (int p = 0; p < n; p += 1) { // loop: j for (int j = 0; j < n; j += 1) c[i * n + "
            "j] +="));
  CHECK(source_edits(
            "// loop: i\nfor (int i = 0; i < n; ++i) {\n// loop: j\nfor (int j = i; j < n; ++j) f(i, j);\n}",
            "interchange")
            .empty());
  CHECK(source_edits("// loop: i\nfor (int i = 0; i < n; ++i) {\nx = 0;\n// loop: j\nfor (int j = 0; j < n; "
                     "++j) f(i, j);\n}",
                     "interchange")
            .empty());
}

TEST_CASE("source_edits: vectors for consecutive elements, with scalars spread") {
  CHECK(source_edits(matmul, "vectorize").empty());  // b is read across rows
  const auto edits = source_edits(source_edits(matmul, "interchange")[1].source, "vectorize");
  REQUIRE(edits.size() == 3);
  CHECK(has(edits[1],
            "typedef __typeof__(+c[0]) kernelsearch_vector __attribute__((vector_size(8 * sizeof(c[0])), "
            "aligned(__alignof__(c[0])), may_alias)); int j = 0; for (; j + 7 < n; j += 8) {"
            "*reinterpret_cast<kernelsearch_vector*>(&c[i * n + j]) += a[i * n + p] * "
            "*reinterpret_cast<const kernelsearch_vector*>(&b[p * n + j]); }"));
  CHECK(source_edits("// loop: i\nfor (int i = 0; i < n; ++i) y[i] = i * x[i];", "vectorize").empty());
  CHECK(source_edits("// loop: i\nfor (int i = 0; i < n; ++i) y[i] = x[2 * i];", "vectorize").empty());
  CHECK(source_edits(sum, "vectorize").empty());
}

TEST_CASE("source_edits: restrict, alignment and ivdep, each once") {
  const auto restricted = source_edits(matmul, "restrict");
  REQUIRE(restricted.size() == 1);
  CHECK(has(restricted[0],
            "(int n, const float* __restrict a, const float *__restrict b, float* __restrict c)"));
  CHECK(source_edits(restricted[0].source, "restrict").empty());
  const auto aligned = source_edits(restricted[0].source, "align");
  REQUIRE(aligned.size() == 3);
  CHECK(has(aligned[2], "c = static_cast<decltype(c)>(__builtin_assume_aligned(c, 64));"));
  CHECK(source_edits(aligned[2].source, "align").empty());
  const auto independent = source_edits(matmul, "ivdep");
  REQUIRE(independent.size() == 1);
  CHECK(has(independent[0], "// loop: p #pragma GCC ivdep for (int p"));
  CHECK(source_edits(independent[0].source, "ivdep").empty());
  CHECK(marked_loops(independent[0].source).size() == 3);
}

TEST_CASE("source_edits: a strategy that nobody knows has none; chains of edits keep brackets paired") {
  CHECK(source_edits(matmul, "fuse").empty());
  const std::vector<std::string> names = source_strategies();
  CHECK(names.size() == 8);
  CHECK(std::is_sorted(names.begin(), names.end()));
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::string text = matmul;
    for (int depth = 0; depth < 6; ++depth) {
      const auto edits = source_edits(text, names[rng.below(names.size())]);
      if (edits.empty()) continue;
      text = edits[rng.below(edits.size())].source;
      const std::size_t open = text.find('{', text.find("extern \"C\"") + 10);
      const std::size_t close = detail::closing(text, open);
      REQUIRE(close != std::string::npos);
      CHECK(detail::trimmed(std::string_view(text).substr(close + 1)).empty());
    }
  }
}
