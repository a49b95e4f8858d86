// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/compare/trace_file.hpp"
#include "kernelsearch/core/error.hpp"

/// Any line is a trace of one of the landscapes or refused with a ConfigError; what is read is written and
/// read the same, with no configuration twice.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  static const Landscape landscapes[] = {Landscape("s", {{"1", 1.0}, {"2", 2.0}, {"3,x", 0.5}}),
                                         Landscape("t", {{"1", 1.0}})};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Trace trace;
  try {
    trace = trace_from_line(text, landscapes);
  } catch (const ConfigError&) {
    return 0;
  }
  const Landscape& landscape = trace.space == "s" ? landscapes[0] : landscapes[1];
  if (trace.evaluations.size() > landscape.size()) std::abort();
  const std::string once = trace_to_line(trace, landscape);
  if (trace_to_line(trace_from_line(once, landscapes), landscape) != once) std::abort();
  return 0;
}
