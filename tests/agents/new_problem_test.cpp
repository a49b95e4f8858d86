// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/new_problem.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

/// The problem that is written for the kernel; `file`: its name.
Problem drafted(const std::string& code, const std::string& file = "mine.cu",
                const std::string& function = {}) {
  const TemporaryFolder folder;
  folder.write(file, code);
  (void)write_draft(folder / "problem", "mine", folder.path() / file, function);
  return read_problem(folder / "problem");
}

}  // namespace

TEST_CASE("write_draft: a CUDA kernel gives a problem that reads, with its parameters, and no lint") {
  const std::string code =
      "// __global__ void old(int n) {}\n"
      "template <int N> __device__ float f(float v) { return v * N; }\n"
      "__global__ void __launch_bounds__(1024) mix(const unsigned rows, long long cols, float a,\n"
      "    const float *__restrict__ x, const std::int32_t index[], float4* const __restrict__ y, double* "
      "sum,\n"
      "    __half* z) {\n"
      "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
      "  if (i < rows * cols) { y[i] = make_float4(x[i], 0, 0, 0); z[i] = x[index[i]]; }\n"
      "  if (x[0] == a) atomicAdd(&sum[0], 1.0);\n"
      "}\n";
  const Problem problem = drafted(code);
  CHECK(problem.backend == Backend::cuda);
  CHECK(problem.function == "mix");
  CHECK(problem.kernel.regions.device == code);
  CHECK(problem.reference.source.empty());  // the kernel says what is right
  REQUIRE(problem.arguments.size() == 8);
  const auto is = [&](std::size_t i, const char* name, ElementType type, Role role) {
    CAPTURE(name);
    CHECK(problem.arguments[i].name == name);
    CHECK(problem.arguments[i].type == type);
    CHECK(problem.arguments[i].role == role);
  };
  is(0, "rows", ElementType::u32, Role::in);
  is(1, "cols", ElementType::i64, Role::in);
  is(2, "a", ElementType::f32, Role::in);
  is(3, "x", ElementType::f32, Role::in);
  is(4, "index", ElementType::i32, Role::in);
  is(5, "y", ElementType::f32, Role::out);
  is(6, "sum_", ElementType::f64, Role::inout);
  is(7, "z", ElementType::f16, Role::out);
  CHECK(problem.arguments[3].size->text() == "rows*cols");
  CHECK(problem.arguments[5].size->text() == "4*(rows*cols)");
  CHECK(problem.shapes.size() == 2);
  CHECK(lint_static(problem).empty());
}

TEST_CASE("write_draft: blocks of two dimensions where the kernel counts threads in two") {
  const Problem flat =
      drafted("__global__ void f(int n, float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = n; }");
  CHECK(flat.kernel.space.size() == 1);
  const Problem square =
      drafted("__global__ void f(int n, int m, float* y) { y[threadIdx.y * m + threadIdx.x] = n; }", "f.hip");
  CHECK(square.backend == Backend::hip);
  CHECK(square.kernel.space.size() == 2);
  const Problem none = drafted("__global__ void f(float* y) { y[threadIdx.x]++; }");
  REQUIRE(none.arguments.size() == 1);
  CHECK(none.arguments[0].role == Role::inout);
  CHECK(none.arguments[0].size->text() == "n");
}

TEST_CASE("write_draft: of several kernels one is named; one of each case of an #if is the same") {
  const std::string two =
      "__global__ void f(float* y) { *y = 1; }\n__global__ void g(float* y) { *y = 1; }\n";
  CHECK_THROWS_WITH_AS((void)drafted(two),
                       doctest::Contains("several kernels are defined there: mine.cu: f, g"), ConfigError);
  CHECK(drafted(two, "mine.cu", "g").function == "g");
  CHECK_THROWS_WITH_AS((void)drafted(two, "mine.cu", "h"),
                       doctest::Contains("name one of these with --function: f, g"), ConfigError);
  CHECK(drafted("#if A\n__global__ void f(float* y) { *y = 1; }\n#else\n"
                "__global__ void f(float* y) { *y = 2; }\n#endif\n")
            .function == "f");
}

TEST_CASE("write_draft: what no problem can be made of is named") {
  const auto refused = [](const char* code, const char* why) {
    CHECK_THROWS_WITH_AS((void)drafted(code), doctest::Contains(why), ConfigError);
  };
  refused("void f(float* y) { *y = 1; }", "no kernel is defined there: mine.cu");
  refused("__global__ void f(float* y);", "no kernel is defined there");
  refused("template <class T> __global__ void f(T* y) { *y = 1; }",
          "a parameter of a type that no problem has: mine.cu: T* y");
  refused("__global__ void f(int n, const float* x) { }",
          "a kernel that writes to none of its parameters: mine.cu: f");
  const TemporaryFolder folder;
  folder.write("mine.cu", "__global__ void f(float* y) { *y = 1; }");
  (void)write_draft(folder / "a", "a", folder / "mine.cu");
  CHECK_THROWS_WITH_AS((void)write_draft(folder / "a", "a", folder / "mine.cu"),
                       doctest::Contains("there already"), ConfigError);
}

TEST_CASE("write_draft: no name ends the quoted text around it, and what was written is named") {
  const TemporaryFolder folder;
  folder.write("mine.cu", "__global__ void f(float* y) { *y = 1; }");
  folder.write("mine.py", "@triton.jit\ndef k(x): pass\ndef f(x):\n    k[(1,)](x)\n");
  CHECK_THROWS_WITH_AS((void)write_draft(folder / "a", "a\"b", folder / "mine.cu"),
                       doctest::Contains("quotes"), ConfigError);
  CHECK(write_draft(folder / "a", "a", folder / "mine.cu").problem == folder / "a");
  CHECK(write_draft(folder / "a", "a", folder / "mine.py").problem == folder / "a/model.py");
}

TEST_CASE("draft_of_triton: a module around the function that launches the kernel") {
  const std::string code =
      "import triton\n"
      "@triton.autotune(\n    configs=[triton.Config({'BLOCK': 128})],\n    key=['n'],\n)\n"
      "@triton.jit\ndef add_kernel(x, n, BLOCK: tl.constexpr):\n    tl.load(x)\n"
      "def first(x):\n    add_kernel[(1,)](x, 1)\n"
      "def helper(x): return x\n"
      "def add(x: torch.Tensor, y,\n        scale: float, *, count: int, on: bool, more: int = 3) -> "
      "torch.Tensor:\n"
      "    add_kernel[grid](x, y)\n    return x\n";
  const DraftProblem draft = draft_of_triton(code, "add.py");
  REQUIRE(draft.files.size() == 1);
  CHECK(draft.files[0].first == "model.py");
  const std::string& text = draft.files[0].second;
  CHECK(text.starts_with(code));
  const auto has = [&](const char* part) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  };
  has("    def forward(self, x, y, scale, count, on):\n        return add(x, y, scale, count=count, "
      "on=on)\n");
  has("    return [torch.rand(1024, 1024), torch.rand(1024, 1024), 1.0, 1024, True]");
  has("def get_init_inputs():\n    return []\n");
  CHECK(draft.to_edit.size() == 2);
  CHECK(draft_of_triton(code, "add.py", "first").files[0].second.find("return first(x)") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS((void)draft_of_triton(code, "add.py", "helper"),
                       doctest::Contains("name one of these with --function: first, add"), ConfigError);
  CHECK_THROWS_WITH_AS((void)draft_of_triton("@triton.jit\ndef k(x):\n    y[0](x)\n", "add.py"),
                       doctest::Contains("add a function that takes tensors"), ConfigError);
}

TEST_CASE("write_draft: what is a problem already is written as a folder of its own") {
  const TemporaryFolder folder;
  const std::filesystem::path source =
      std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples/host/matmul";
  CHECK(write_draft(folder / "copy", "copy", source).to_edit.empty());
  const Problem copy = read_problem(folder / "copy"), problem = read_problem(source);
  CHECK(copy.name == "copy");
  CHECK(copy.kernel.regions.device == problem.kernel.regions.device);
  CHECK(copy.reference.source == problem.reference.source);
  CHECK_THROWS_WITH_AS((void)write_draft(folder / "b", "b", source, "matmul"),
                       doctest::Contains("leave out --function"), ConfigError);
}
