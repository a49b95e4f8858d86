// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/change_file.hpp"
#include "kernelsearch/run/change_recall.hpp"

/// Files of remembered changes from elsewhere: any text is read or refused with a ConfigError; what is read
/// is written and read again as it was, without secrets too, and a prompt shows it within its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    std::vector<RememberedChange> changes = read_changes(in, "memory");
    for (RememberedChange& change : changes) {
      change = without_secrets(std::move(change), {});
      if (!(change_from_text(change_text(change)) == change)) std::abort();
      if (!(without_secrets(change, {}) == change)) std::abort();
    }
    (void)count_changes(changes);
    const RecallOptions options;
    const ChangeRecall recall(std::move(changes), {"p", "host", {"t"}, "d"}, options);
    if (estimated_tokens(recall.text("bandwidth", {"s"})) > options.tokens + 100) std::abort();
  } catch (const ConfigError&) {
  }
  return 0;
}
