// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/function_signature.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

std::string text_of(const std::string& code, const std::string& name = "f") {
  const auto signature = function_signature(code, name);
  return signature ? signature->text(name) : "none";
}

bool same(const std::string& a, const std::string& b) {
  const auto left = function_signature(a, "f"), right = function_signature(b, "f");
  REQUIRE(left.has_value());
  REQUIRE(right.has_value());
  return *left == *right;
}

}  // namespace

TEST_CASE("function signature: types in order, linkage and result") {
  CHECK(text_of("extern \"C\" void f(int n, const float* a, float* c) { g(); }") ==
        "extern \"C\" void f(int, const float*, float*)");
  CHECK(text_of("template <int BM, typename T>\n__global__ void f(T* a) {}") ==
        "template<int BM, typename T> __global__ void f(T*)");
  CHECK(text_of("void g();\nstatic int f() {}") == "int f()");
  CHECK(text_of("int f(void) {}") == "int f()");
  CHECK(text_of("void g() { f(1); if (f(2)) { } }") == "none");
  CHECK(text_of("void f(int);") == "none");
  CHECK(text_of("// void f(int a) {}\n/* void f() {} */ const char* s = \"void f() {}\";") == "none");
  CHECK(text_of("void f(std::size_t n, std::array<int, 3> a, unsigned long m) {}") ==
        "void f(std::size_t, std::array<int, 3>, unsigned long)");
}

TEST_CASE("function signature: what may change freely does not count") {
  const std::string plain = "extern \"C\" void f(int n, const float* a) {}";
  CHECK(same(plain, "extern \"C\" void f(int count, const float* __restrict a) {}"));
  CHECK(same(
      plain,
      "extern \"C\" __attribute__((hot)) void f(const int n,\n   const float *__restrict__ a) noexcept {}"));
  CHECK(same(plain, "extern \"C\" {\nvoid g() {}\nvoid f(int n, const float* a) {}\n}"));
  CHECK(same(
      plain,
      "#include <x>\n#define Y \\\n  2\n// f\nextern \"C\" void /* here */ f(int n, const float a[]) {}"));
  CHECK(same("__global__ void f(float* a) {}", "__global__ void __launch_bounds__(256, 2) f(float* a) {}"));
  CHECK(same("__global__ void f(float* a) {}",
             "extern int x;\n__global__ __launch_bounds__(A(1)) void f(float* b) {}"));
}

TEST_CASE("function signature: what callers rely on counts") {
  const std::string plain = "extern \"C\" void f(int n, const float* a) {}";
  CHECK(!same(plain, "void f(int n, const float* a) {}"));
  CHECK(!same(plain, "extern \"C\" int f(int n, const float* a) {}"));
  CHECK(!same(plain, "extern \"C\" void f(long n, const float* a) {}"));
  CHECK(!same(plain, "extern \"C\" void f(int n, float* a) {}"));
  CHECK(!same(plain, "extern \"C\" void f(const float* a, int n) {}"));
  CHECK(!same(plain, "extern \"C\" void f(int n, const float* a, int m) {}"));
  CHECK(!same("template <int A> void f(int) {}", "template <int A, int B> void f(int) {}"));
}

TEST_CASE("code key: blanks and comments do not count, tokens and lines of directives do") {
  const auto key = [](const std::string& text) { return code_key({text, "", ""}); };
  CHECK(key("int  a;  // one\n") == key("int a;\n"));
  CHECK(key("int a; /* b */\n\n\nint b;") == key("int a;\nint b;"));
  CHECK(key("  // head\nint a;") == key("int a;"));
  CHECK(key("s = \"a  b\";") != key("s = \"a b\";"));
  CHECK(key("#define A 1\nint a;") != key("#define A 1 int a;"));
  CHECK(key("int a;") != key("int b;"));
  CHECK(code_key({"a", "b", ""}) != code_key({"b", "a", ""}));
}

TEST_CASE("function signature: any text is read") {
  Rng rng(17);
  const std::string parts[] = {
      "f", "(",  ")",  "{",  "}", "int ", "extern ", "\"C\"",         "/*", "*/", "//", "\n", "'", "\"",
      "#", "\\", "[[", "]]", ",", "<",    ">",       "__attribute__", "="};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(30); i > 0; --i) text += parts[rng.below(std::size(parts))];
    (void)function_signature(text, "f");
    (void)code_key({text, text, text});
  }
}
