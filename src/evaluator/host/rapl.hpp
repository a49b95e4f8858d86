// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace kernelsearch::detail {

/// The energy of all processor packages by RAPL, as Linux shows it (powercap). Most systems let only root
/// read the counters.
class Rapl {
 public:
  /// Nothing if packages are missing there, or a counter cannot be read.
  [[nodiscard]] static std::optional<Rapl> open(const std::filesystem::path& folder = "/sys/class/powercap");

  /// Joules since the last call, or since open(); nothing where a counter cannot be read any more. A counter
  /// wraps at most once between two calls, which is minutes at any power.
  [[nodiscard]] std::optional<double> joules();

 private:
  struct Package {
    std::filesystem::path counter;
    std::uint64_t range = 0;  ///< the counter's, in microjoules
    std::uint64_t last = 0;
  };
  std::vector<Package> packages_;
};

}  // namespace kernelsearch::detail
