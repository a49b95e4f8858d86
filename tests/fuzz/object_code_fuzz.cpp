// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer: no output of objdump may crash its reader or hang it. A corpus: tests/fixtures/objdump (packed).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/evaluator/host/object_code.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first line names the function to begin with, where it is none of ours.
  const std::string first(text.substr(0, text.find('\n')));
  for (const std::string& entry : {std::string("kernelsearch_entry"), std::string("saxpy"), first}) {
    const ObjectCode code = parse_object_code(text, entry);
    for (const ObjectLoop& loop : code.loops)
      for (std::size_t s = 0; s < object_signature_names.size(); ++s)
        if (loop.own.values[s] > loop.counts.values[s] || loop.counts.values[s] > code.counts.values[s])
          std::abort();
    if (code.functions.empty() != object_features(code).empty()) std::abort();
  }
  return 0;
}
