// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// Takes keys out of text that goes to a log, a store or a person: those it was told, and whatever looks like
/// one (`sk-...`, `Bearer ...`, `x-api-key: ...`, `"api_key": "..."` and others).
class Redactor {
 public:
  Redactor() = default;

  /// Values of fewer than 6 characters are not secrets (local servers take any word for a key) and are kept.
  void add(std::string secret);
  /// Adds the values of environment variables whose names end in KEY, TOKEN, SECRET or PASSWORD.
  void add_environment();

  /// Each secret becomes `[redacted]`; text without one comes back as it was.
  [[nodiscard]] std::string operator()(std::string text) const;

 private:
  std::vector<std::string> secrets_;  // longest first, so that none leaves a rest of another
};

}  // namespace kernelsearch
