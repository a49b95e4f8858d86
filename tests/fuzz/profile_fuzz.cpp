// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer: no output of a profiler, a sanitizer or a disassembler may crash its reader or hang it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernelsearch/evaluator/gpu/ncu_report.hpp"
#include "kernelsearch/evaluator/gpu/sanitizer_report.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ncu_features(read_ncu_csv(text));
  const SanitizerReport report = read_sanitizer_log(text);
  if (report.complete && report.errors == 0 && !report.first.empty()) std::abort();
  const auto functions = parse_sass(text);
  for (const SassFunction& function : functions)
    for (const SassLoop& loop : function.loops)
      if (loop.own.total() > loop.counts.total() || loop.counts.total() > function.counts.total())
        std::abort();
  (void)sass_features(functions);
  return 0;
}
