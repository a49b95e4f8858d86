// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

namespace kernelsearch::detail {

/// Allows the calling thread the same cores again when it goes out of scope, whatever was set meanwhile.
class KeptAffinity {
 public:
  /// Does nothing where it is not `wanted`.
  explicit KeptAffinity(bool wanted) noexcept
      : known_(wanted && sched_getaffinity(0, sizeof cores_, &cores_) == 0) {}
  KeptAffinity(const KeptAffinity&) = delete;
  KeptAffinity& operator=(const KeptAffinity&) = delete;
  ~KeptAffinity() {
    if (known_) sched_setaffinity(0, sizeof cores_, &cores_);
  }

  /// Whether there is something to go back to.
  [[nodiscard]] bool known() const noexcept { return known_; }

 private:
  cpu_set_t cores_{};
  bool known_;
};

}  // namespace kernelsearch::detail
