// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// Named numbers observed about a candidate: registers, spills, occupancy, bytes, counters, ...
/// A name that is absent means unknown, never 0.
class Features {
 public:
  void set(std::string_view name, double value);

  [[nodiscard]] std::optional<double> find(std::string_view name) const;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }  ///< sorted by name
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  friend bool operator==(const Features&, const Features&) = default;

 private:
  using Entry = std::pair<std::string, double>;
  std::vector<Entry> entries_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/features_impl.hpp"
#endif
