// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/agents/grounded_plan.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "kernelsearch/agents/unified_diff.hpp"

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
  const GroundedPlan plan = read_plan(reply, cut, expectation);
  if (plan.judgement.ok()) check(read_filled_plan(reply, cut, plan, expectation));
  (void)apply_unified_diff(parent.regions.device, reply);
  (void)quoted(reply, "text", 1000);
  return 0;
}
