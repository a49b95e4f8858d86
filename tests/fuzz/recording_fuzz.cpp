// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/write_recording.hpp"

/// Any text is read or refused with a ConfigError; what is read writes and reads back with the same verdicts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<Recording> first;
  try {
    first = parse_recording(text, "first");
  } catch (const Error&) {
    return 0;
  }
  std::vector<std::string> texts{t4_text(*first)};
  try {
    texts.push_back(cachefile_text(*first));
  } catch (const ConfigError&) {  // names of tunables that such a file cannot have
  }
  for (const std::string& written : texts) {
    const Recording again = parse_recording(written, "again");
    if (again.trials.size() != first->trials.size()) std::abort();
    for (std::size_t i = 0; i < again.trials.size(); ++i)
      if (again.trials[i].evaluation.verdict != first->trials[i].evaluation.verdict) std::abort();
  }
  return 0;
}
