// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Answers to the modules of examples/torch, honest and hostile ones, judged on the processor. What is
// expected of each stands in its text. Ends with 77 where no Python has PyTorch.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/module_evaluator.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"
#include "support/thorough.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

const fs::path tree = KERNELSEARCH_SOURCE_DIR;

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What follows `# KEY: ` in the text; empty where there is no such line.
std::string expected(const std::string& text, const std::string& key) {
  const std::string begin = "# " + key + ": ";
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
}

std::vector<fs::path> files_of(const char* folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(tree / "tests" / "torch" / folder))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// In the strongest sandbox, or in KERNELSEARCH_TEST_SANDBOX: with `none` PyTorch sees a device.
HostOptions quick() {
  HostOptions options;
  if (const char* named = std::getenv("KERNELSEARCH_TEST_SANDBOX")) options.sandbox = sandbox_from(named);
  options.sampling.budget_seconds = 0.02;
  options.sampling.min_samples = 3;
  options.pairs.when = Pairing::never;
  return options;
}

/// One evaluator for all answers to a module.
ModuleEvaluator& evaluator_of(const std::string& module) {
  static std::map<std::string, std::unique_ptr<ModuleEvaluator>> known;
  std::unique_ptr<ModuleEvaluator>& one = known[module];
  if (!one) {
    Problem problem = read_problem(tree / "examples" / "torch" / module);
    problem.external->answer_seconds = 20;
    one = std::make_unique<ModuleEvaluator>(std::move(problem), quick());
  }
  return *one;
}

Candidate answer(std::string text) {
  Kernel kernel;
  kernel.regions.device = std::move(text);
  return {std::make_shared<const Kernel>(std::move(kernel)), {}};
}

/// A definition of x and y with one workload, and what of it is changed.
struct SmallDefinition {
  std::string axes = R"({"n": {"type": "var"}})", shape = R"(["n"])", dtype = "float32";
  std::string run = "return x * 2", input = R"({"type": "random"})", tolerance = "{}", more;
};

fs::path written(const fs::path& folder, const SmallDefinition& of) {
  std::ofstream(folder / "definition.json")
      << R"({"name": "small", "axes": )" << of.axes << R"(, "inputs": {"x": {"shape": )" << of.shape
      << R"(, "dtype": ")" << of.dtype << R"("}}, "outputs": {"y": {"shape": )" << of.shape
      << R"(, "dtype": ")" << of.dtype << R"("}}, )" << of.more
      << R"("reference": "import torch\n\n\ndef make(axes, device):\n    return {'x': torch.rand(axes['n']) + 4}\n\n\n)"
      << R"(def run(x):\n    )" << of.run << R"("})";
  std::ofstream(folder / "workload.jsonl") << R"({"axes": {"n": 6}, "inputs": {"x": )" << of.input
                                           << R"(}, "tolerance": )" << of.tolerance << "}\n";
  return folder;
}

/// What is said where it cannot be judged; empty where it can.
std::string declined(const SmallDefinition& of, const std::string& tensors = {}) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "x.safetensors", std::ios::binary) << tensors;
  try {
    const ModuleEvaluator evaluator(read_problem(written(folder.path(), of)), quick());
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

/// A file of that header and that many bytes.
std::string tensors(const std::string& header, std::size_t bytes) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i) & 255);
  return text + header + std::string(bytes, '\1');
}

/// Judges one in `of` of the folder's files, or all of them where that is asked for.
void judge_files(const char* folder, std::size_t of) {
  auto files = files_of(folder);
  keep_tested(files, of);
  for (const fs::path& file : files) {
    const std::string text = text_of_file(file);
    CAPTURE(file.filename().string());
    const Evaluation evaluation = evaluator_of(expected(text, "of")).evaluate(answer(text), {});
    CAPTURE(evaluation.reason);
    // There, PyTorch may run without a sandbox, and memory cannot be shared for reading only.
    const std::string on_device = expected(text, "or on a device");
    if (!on_device.empty() && !evaluator_of(expected(text, "of")).device_id().starts_with("the processor") &&
        to_string(evaluation.verdict) == on_device)
      continue;
    CHECK(to_string(evaluation.verdict) == expected(text, "verdict"));
    check_has(evaluation.reason, expected(text, "reason"));
    check_has(evaluation.provenance, expected(text, "provenance"));
    if (evaluation.verdict == Verdict::ok) {
      CHECK(evaluation.measurement.seconds > 0);
      CHECK(*evaluation.features.find("checked_calls") == 4);
      CHECK(*evaluation.features.find("verified_calls") > 0);
      CHECK(*evaluation.features.find("torch.error") < 1);
    }
  }
}

}  // namespace

TEST_CASE("modules: each example is right as its own answer") {
  for (const fs::directory_entry& entry : fs::directory_iterator(tree / "examples" / "torch")) {
    if (entry.path().extension() != ".py") continue;
    CAPTURE(entry.path().filename().string());
    ModuleEvaluator& evaluator = evaluator_of(entry.path().filename().string());
    const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
    CHECK(evaluation.reason == "");
    CHECK(evaluation.verdict == Verdict::ok);
    check_has(evaluation.provenance, " timed calls against the module in f64, ");
    check_has(evaluation.provenance, "; calls PyTorch only");
  }
}

TEST_CASE("modules: the examples' answers in CUDA and Triton are right on a device") {
  for (const char* language : {"cuda", "triton"})
    for (const fs::directory_entry& entry :
         fs::directory_iterator(tree / "examples" / "torch" / "answers" / language)) {
      CAPTURE(entry.path().string());
      ModuleEvaluator& evaluator = evaluator_of(entry.path().filename().string());
      if (evaluator.device_id().starts_with("the processor")) {
        MESSAGE("skipped: PyTorch sees no device");
        return;
      }
      const Evaluation evaluation = evaluator.evaluate(answer(text_of_file(entry.path())), {});
      CHECK(evaluation.reason == "");
      CHECK(evaluation.verdict == Verdict::ok);
    }
}

TEST_CASE("modules: honest answers are right") {
  judge_files("honest", 3);
}

TEST_CASE("modules: hostile answers get the verdict that they deserve, and the next one is judged as ever") {
  judge_files("hostile", 2);
  ModuleEvaluator& evaluator = evaluator_of("softmax.py");
  CHECK(evaluator.evaluate(evaluator.problem().default_candidate(), {}).verdict == Verdict::ok);
}

TEST_CASE("modules: what nothing can be said of is refused with the reason") {
  for (const fs::path& file : files_of("refused")) {
    CAPTURE(file.filename().string());
    std::string what;
    try {
      const ModuleEvaluator evaluator(read_problem(file), quick());
    } catch (const ConfigError& error) {
      what = error.what();
    }
    check_has(what, expected(text_of_file(file), "reason"));
    CHECK(what != "");
  }
}

TEST_CASE("modules: two answers are compared in pairs, and one that is not right is refused") {
  ModuleEvaluator& evaluator = evaluator_of("softmax.py");
  const Candidate first = evaluator.problem().default_candidate();
  PairOptions pairs;
  pairs.max_pairs = pairs.min_pairs = 2;
  const Speedup speedup = evaluator.compare(first, first, pairs);
  CHECK(speedup.pairs == 2);
  CHECK(speedup.ratio > 0);
  const Candidate wrong = answer(text_of_file(tree / "tests" / "torch" / "hostile" / "zeros.py"));
  CHECK_THROWS_AS((void)evaluator.compare(wrong, first, pairs), ConfigError);
}

TEST_CASE("modules: the module itself is measured beside an answer") {
  HostOptions options = quick();
  options.pairs = {.when = Pairing::always, .min_pairs = 2, .max_pairs = 2};
  ModuleEvaluator evaluator(read_problem(tree / "examples" / "torch" / "chain.py"), options);
  const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
  CHECK(evaluation.reason == "");
  REQUIRE(evaluation.measurement.speedup);
  CHECK(evaluation.measurement.speedup->pairs == 2);
  check_has(evaluation.provenance, "torch.compile");

  setenv("KERNELSEARCH_TORCH_COMPILE", "0", 1);
  ModuleEvaluator eager_only(read_problem(tree / "examples" / "torch" / "chain.py"), options);
  unsetenv("KERNELSEARCH_TORCH_COMPILE");
  const Evaluation beside_eager = eager_only.evaluate(eager_only.problem().default_candidate(), {});
  REQUIRE(beside_eager.measurement.speedup);
  CHECK(beside_eager.measurement.speedup->pairs == 2);
  check_has(beside_eager.provenance, "not compared with torch.compile: KERNELSEARCH_TORCH_COMPILE is 0");
}

TEST_CASE("definitions: the reference answers itself, and a solution that writes its outputs") {
  const fs::path folder = tree / "examples" / "torch" / "definition";
  ModuleEvaluator evaluator(read_problem(folder), quick());
  const Evaluation itself = evaluator.evaluate(evaluator.problem().default_candidate(), {});
  CHECK(itself.reason == "");
  CHECK(itself.verdict == Verdict::ok);
  CHECK(*itself.features.find("checked_calls") == 8);
  CHECK(itself.measurement.shapes.size() == 2);
  const std::string solution = read_definition_problem(folder / "solution.json").kernel.regions.device;
  const Evaluation passed = evaluator.evaluate(answer(solution), {});
  CHECK(passed.reason == "");
  CHECK(passed.verdict == Verdict::ok);
  struct Wrong {
    const char* text;
    const char* reason;
  };
  for (const Wrong& one :
       {Wrong{"def run(xg, weight, epsilon, y):\n    pass\n", "shape rows=8: the output at [0, 0]"},
        Wrong{"def run(xg, weight, epsilon):\n    return xg\n",
              "output 0 is f32[8, 512], expected f32[8, 256]"},
        Wrong{"import torch\n\n\ndef run(xg, weight, epsilon):\n    x, g = xg.chunk(2, dim=-1)\n    return "
              "torch.nn.functional.silu(g) * (x / x.pow(2).mean(dim=-1, keepdim=True).add(epsilon).sqrt())\n",
              "shape rows=8: the output at "}}) {
    const Evaluation evaluation = evaluator.evaluate(answer(one.text), {});
    CHECK(to_string(evaluation.verdict) == to_string(Verdict::wrong_result));
    check_has(evaluation.reason, one.reason);
  }
}

TEST_CASE(
    "definitions: a share of the elements may be off, none by more than the cap, and none is no number") {
  const auto judged = [](const std::string& tolerance, const std::string& text) {
    const TemporaryFolder folder;
    SmallDefinition of;
    of.tolerance = tolerance;
    ModuleEvaluator evaluator(read_problem(written(folder.path(), of)), quick());
    return evaluator.evaluate(
        answer("import torch\n\n\ndef run(x):\n    y = x * 2\n" + text + "    return y\n"), {});
  };
  const std::string one_off = "    y[2] += 0.5\n";
  CHECK(judged(R"({"required_matched_ratio": 0.8})", one_off).verdict == Verdict::ok);
  CHECK(judged(R"({"required_matched_ratio": 0.8, "max_error_cap": 0.6})", one_off).verdict == Verdict::ok);
  CHECK(judged(R"({"required_matched_ratio": 0.9})", one_off).verdict == Verdict::wrong_result);
  CHECK(judged(R"({"required_matched_ratio": 0.8, "max_error_cap": 0.4})", one_off).verdict ==
        Verdict::wrong_result);
  CHECK(judged(R"({"max_atol": 0.6})", one_off).verdict == Verdict::ok);
  CHECK(judged(R"({"required_matched_ratio": 0.8})", "    y[2] = float('nan')\n").verdict ==
        Verdict::wrong_result);
}

TEST_CASE("definitions: inputs of a file and of a function, and infinities that the tolerance allows") {
  SmallDefinition of;
  of.input = R"({"type": "safetensors", "path": "x.safetensors", "tensor_key": "a"})";
  const std::string header = R"({"a": {"dtype": "F32", "shape": [6], "data_offsets": [0, 24]})";
  CHECK(declined(of, tensors(header + "}", 24)) == "");
  check_has(declined(of, tensors(R"({"a": {"dtype": "F64", "shape": [6], "data_offsets": [0, 48]}})", 48)),
            "`x` is torch.float64 [6], the definition says float32 [6]");
  check_has(declined(of, tensors(R"({"a": {"dtype": "U64", "shape": [6], "data_offsets": [0, 48]}})", 48)),
            "tensors that a file stores as U64 are not supported");
  of.input = R"({"type": "custom"})";
  of.more = R"("custom_inputs_entrypoint": "make", )";
  CHECK(declined(of) == "");
  of.run = "return x.where(x > 9, -torch.inf)";
  check_has(declined(of), "gives infinities or NaN, which the workload's tolerance does not allow");
  of.tolerance = R"({"allow_negative_inf": true})";
  CHECK(declined(of) == "");
}

TEST_CASE("definitions: floats of 8 and 4 bits and complex numbers as inputs and outputs") {
  SmallDefinition of;
  for (const char* type : {"float8_e4m3fn", "float8_e5m2"}) {
    CAPTURE(type);
    of.dtype = type;
    of.run = "return (x.float() * 2).to(x.dtype)";
    CHECK(declined(of) == "");
    of.run = "return x.float() * 2";
    check_has(declined(of), std::string("the definition says ") + type);
  }
  const auto judged = [&](const std::string& text) {
    const TemporaryFolder folder;
    ModuleEvaluator evaluator(read_problem(written(folder.path(), of)), quick());
    return evaluator.evaluate(answer("import torch\n\n\ndef run(x):\n    " + text + "\n"), {});
  };
  of.dtype = "complex64";
  of.run = "return x * 2j";
  CHECK(judged("return (x.imag * -2) + 2j * x.real").reason == "");
  check_has(judged("return x * 2").reason, "the output at [0, 0]: ");
  check_has(judged("return x.real * 2").reason, "output 0 is f32[6], expected c64[6]");
  of.dtype = "float4_e2m1fn_x2";
  of.run = "return x.view(torch.uint8).bitwise_xor(0x88).view(x.dtype)";  // the signs of both
  if (declined(of) == "") {
    const Evaluation packed = judged("return (x.view(torch.uint8) ^ 136).view(x.dtype)");
    CHECK(packed.reason == "");
    CHECK(packed.verdict == Verdict::ok);
    check_has(judged("return (x.view(torch.uint8) ^ 128).view(x.dtype)").reason, "the output at [");
    check_has(judged("return x.view(torch.uint8) ^ 136").reason, "output 0 is u8[6], expected f4e2m1[6]");
  } else {
    check_has(declined(of), "tensors of float4_e2m1fn_x2 are not supported");  // an older PyTorch
  }
}

TEST_CASE(
    "definitions: a library for tvm-ffi is built and called through its C ABI, and files of Python are "
    "imported") {
  const fs::path folder = tree / "examples" / "torch" / "definition";
  Problem problem = read_definition_problem(folder / "native.json");
  problem.external->answer_seconds = 300;  // a compiler is started
  const std::string native = problem.kernel.regions.device;
  ModuleEvaluator evaluator(std::move(problem), quick());
  const Evaluation right = evaluator.evaluate(answer(native), {});
  if (right.reason.find("needs apache-tvm-ffi") != std::string::npos) {
    MESSAGE("skipped: the Python that has PyTorch has no apache-tvm-ffi");
  } else {
    CHECK(right.reason == "");
    CHECK(right.verdict == Verdict::ok);
    CHECK_FALSE(right.features.find("torch.library_only"));
    const auto changed = [&](const std::string& what, const std::string& with) {
      std::string text = native;
      const std::size_t at = text.find(what);
      REQUIRE(at != std::string::npos);
      return evaluator.evaluate(answer(text.replace(at, what.size(), with)), {});
    };
    check_has(changed("y.size(0) != rows", "y.size(0) == rows").reason, "ValueError: another number of rows");
    CHECK(changed("+ epsilon", "+ 9").verdict == Verdict::wrong_result);
    check_has(changed("const int64_t rows", "const rows").reason, "ended with 1: ");
    check_has(changed("::gated", "::other").reason, "the library exports no `other`");
  }
  const std::string files =
      "import kernelsearch_native\n\nSOURCES = {'a.py': 'import torch\\nfrom b import gate\\n\\n\\ndef "
      "go(xg, w, e):\\n"
      "    x, g = xg.chunk(2, dim=-1)\\n    return gate(g) * (x / x.pow(2).mean(dim=-1, "
      "keepdim=True).add(e).sqrt() * w)\\n',"
      " 'b.py': 'import torch\\n\\n\\ndef gate(g):\\n    return torch.nn.functional.silu(g)\\n'}\n"
      "run = kernelsearch_native.function(SOURCES, 'a.py::go', 'python', destination_passing_style=False)\n";
  const Evaluation imported = evaluator.evaluate(answer(files), {});
  CHECK(imported.reason == "");
  CHECK(imported.verdict == Verdict::ok);
}

TEST_CASE("definitions: axes that are expressions, constraints, and what a reference gives") {
  SmallDefinition of;
  const auto axis = [&](const std::string& expression) {
    SmallDefinition one;
    one.axes = R"({"n": {"type": "var"}, "e": {"type": "expr", "expression": ")" + expression + R"("}})";
    one.shape = R"(["e"])";
    return declined(one);
  };
  CHECK(axis("(n + 1) * 4 // 2 - n % 4 + 2 ** 3") == "");
  check_has(axis("n / 4"), "is 1.5: it must be a whole number");
  check_has(axis("e + 1"), "are expressions of each other");
  check_has(axis("__import__('os')"), "is not an expression of axes");
  check_has(axis("n // 0"), "has no value");
  check_has(axis("n +"), "cannot be read");
  of.more = R"("constraints": ["n == 7"], )";
  check_has(declined(of), "the constraint `n == 7` does not hold");
  of.more = R"("constraints": ["n == 6 and x.numel() == n"], )";
  CHECK(declined(of) == "");
  of.run = "return x.double()";
  check_has(declined(of), "`y` is torch.float64 [6], the definition says float32 [6]");
  of.run = "return x, x";
  check_has(declined(of), "run gives 2 outputs, the definition has 1");
  of.run = "return {'z': x}";
  check_has(declined(of), "it gives z, the outputs are y");
  of.run = "return {'y': x}";
  CHECK(declined(of) == "");
  of.run = "return torch.rand_like(x)";
  check_has(declined(of), "the same inputs give other outputs from call to call");
}

TEST_CASE("tasks: the calls of a test are what is judged, and what they write") {
  const TemporaryFolder folder;
  const std::string kernels =
      "import torch\n\n\ndef scale(x, by=2.0):\n    return helper(x) * by\n\n\ndef helper(x):\n    return x "
      "+ 1\n\n\n"
      "def fill(x):\n    x.mul_(3)\n";
  std::ofstream(folder.path() / "scale.py")
      << kernels << std::string(146, '#')
      << "\n\n\ndef test_scale():\n    torch.manual_seed(0)\n    x = torch.randn(5)\n    y = scale(x)\n    z "
         "= scale(y, by=0.5)\n"
         "    fill(x)\n    return y, z, helper(z)\n\n\nresult_gold = test_scale()\n";
  const Problem problem = read_problem(folder.path() / "scale.py");
  ModuleEvaluator evaluator(problem, quick());
  const Evaluation itself = evaluator.evaluate(problem.default_candidate(), {});
  CHECK(itself.reason == "");
  CHECK(itself.verdict == Verdict::ok);
  check_has(itself.provenance, "against the module in native");
  const auto judged = [&](std::string text, const std::string& what, const std::string& instead) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return evaluator.evaluate(answer(text.replace(at, what.size(), instead)), {});
  };
  CHECK(judged(kernels, "helper(x) * by", "(x + 1) * by").verdict == Verdict::ok);
  check_has(judged(kernels, "helper(x) * by", "(x + 1) * 2").reason, "output 1 at ");
  check_has(judged(kernels, "x.mul_(3)", "x.mul_(2)").reason, "after the call");
  check_has(judged(kernels, "def fill", "def other").reason, "has no attribute 'fill'");
}

TEST_CASE("tasks: a GPU MODE task's own check says what is right, on every spec") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "task.yml")
      << "files:\n  - {\"name\": \"utils.py\", \"source\": \"utils.py\"}\ntests:\n  - {\"size\": 3, "
         "\"seed\": 1}\nbenchmarks:\n"
         "  - {\"size\": 64, \"seed\": 3}\n";
  std::ofstream(folder.path() / "utils.py") << "def near(a, b):\n    return (a - b).abs().max() < 0.5\n";
  std::ofstream(folder.path() / "reference.py")
      << "import torch\nfrom utils import near\n\n\ndef ref_kernel(data):\n    x, by = data\n    return x * "
         "by\n\n\n"
         "def generate_input(size, seed):\n    made = torch.Generator()\n    made.manual_seed(seed)\n"
         "    return torch.rand(size, generator=made), 2\n\n\n"
         "def check_implementation(data, output):\n    return (True, '') if near(output, ref_kernel(data)) "
         "else (False, 'far off')\n";
  const Problem problem = read_problem(folder.path());
  ModuleEvaluator evaluator(problem, quick());
  const Evaluation itself = evaluator.evaluate(problem.default_candidate(), {});
  CHECK(itself.reason == "");
  CHECK(*itself.features.find("checked_calls") == 8);
  CHECK(itself.measurement.shapes.size() == 1);  // tests are not timed
  CHECK(
      evaluator
          .evaluate(
              answer("from utils import near\n\n\ndef custom_kernel(data):\n    return data[0] * 2 + 0.25\n"),
              {})
          .verdict == Verdict::ok);
  const Evaluation off =
      evaluator.evaluate(answer("def custom_kernel(data):\n    return data[0] * 2 + 0.75\n"), {});
  CHECK(off.verdict == Verdict::wrong_result);
  check_has(off.reason, "far off");
  check_has(
      evaluator
          .evaluate(
              answer("def custom_kernel(data):\n    return data[0].numel() < 9 and data[0] or data[0] * 2\n"),
              {})
          .reason,
      "forward");
}

int main(int count, char** words) {
  try {
    (void)find_torch_python();
  } catch (const ConfigError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  return doctest::Context(count, words).run();
}
