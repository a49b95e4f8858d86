// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch {

/// Named numbers observed about a candidate: registers, spills, occupancy, bytes, counters, ...
/// A name that is absent means unknown, never 0.
class Features {
 public:
  void set(std::string_view name, double value) {
    const auto at = lower(name);
    if (at != entries_.end() && at->first == name)
      at->second = value;
    else
      entries_.insert(at, {std::string(name), value});
  }

  [[nodiscard]] std::optional<double> find(std::string_view name) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, before);
    if (at == entries_.end() || at->first != name) return std::nullopt;
    return at->second;
  }

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }  ///< sorted by name
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  friend bool operator==(const Features&, const Features&) = default;

 private:
  using Entry = std::pair<std::string, double>;
  static bool before(const Entry& entry, std::string_view name) { return entry.first < name; }
  std::vector<Entry>::iterator lower(std::string_view name) {
    return std::lower_bound(entries_.begin(), entries_.end(), name, before);
  }

  std::vector<Entry> entries_;
};

}  // namespace kernelsearch
