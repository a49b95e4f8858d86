// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/agents/grounded_plan.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/agents/unified_diff.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"
#include "kernelsearch/problem/read_problem.hpp"

namespace {

/// A device problem of three lines, whose launch a reply may change.
const kernelsearch::Problem& launched_problem() {
  static const kernelsearch::Problem problem = kernelsearch::parse_problem(
      R"({"schema": 1, "name": "p", "backend": "cuda", "function": "f",
 "kernel": {"device": {"text": "extern \"C\" __global__ void f(int n, float* y) {\n  y[n] = A;\n}\n"}},
 "arguments": [{"name": "n", "type": "i32"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
 "shapes": [{"name": "s", "n": 64}], "tunables": {"A": [1, 2]},
 "launch": {"grid": ["n"], "block": [32]},
 "reference": {"source": {"text": "extern \"C\" __global__ void g(int n, real* y) {}"}, "function": "g",
               "launch": {"grid": [1], "block": [1]}}})",
      ".");
  return problem;
}

/// What a reply declared stands in the kernel's text, which alone makes the same kernel, and can be launched.
void check_declared(const kernelsearch::ReplyCode& code) {
  using namespace kernelsearch;
  if (code.judgement.ok() != code.kernel.has_value()) std::abort();
  if (!code.kernel) return;
  const Problem& problem = launched_problem();
  const Kernel again = kernel_with_declared(problem.kernel.space, code.kernel->regions, kernel_limits);
  if (kernel_digest(again) != kernel_digest(*code.kernel)) std::abort();
  const auto steps = try_launch_of(problem, again);
  if (!steps) std::abort();
  const Candidate first{std::make_shared<const Kernel>(again), again.space.default_config()};
  if (!check_launch(problem, first, *steps)) std::abort();
}

}  // namespace

/// Any reply is a kernel or a named fault; a kernel keeps the function's signature.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  if (size == 0) return 0;
  static const Kernel parent{
      {"extern \"C\" void f(int n) {\n  load();\n  store();\n}\n", "", "#define A 1\n"}};
  const ReplyExpectation expectation{.parent = &parent, .functions = {"f"}};
  const bool cut = (data[0] & 1) != 0;
  const std::string_view reply(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto check = [&](const ReplyCode& code) {
    if (code.judgement.ok() != code.kernel.has_value()) std::abort();
    if (code.kernel && function_signature(code.kernel->regions.device, "f") !=
                           function_signature(parent.regions.device, "f"))
      std::abort();
  };
  check(read_reply_code(reply, cut, expectation));
  const Problem& launched = launched_problem();
  check_declared(read_reply_code(
      reply, cut,
      {.parent = &launched.kernel, .problem = &launched, .functions = entry_functions(launched)}));
  const GroundedPlan plan = read_plan(reply, cut, expectation);
  if (plan.judgement.ok()) check(read_filled_plan(reply, cut, plan, expectation));
  (void)apply_unified_diff(parent.regions.device, reply);
  (void)quoted(reply, "text", 1000);
  return 0;
}
