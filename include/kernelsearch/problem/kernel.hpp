// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// The three texts of a kernel (PEAK, section 3): a transformation edits exactly one of them.
struct Regions {
  std::string device;  ///< the compute code; for host kernels the function that is tuned
  std::string host;    ///< the launch function; may be empty
  std::string macros;  ///< definitions placed before both
  friend bool operator==(const Regions&, const Regions&) = default;
};

/// One of these texts.
enum class KernelRegion : std::uint8_t { device, host, macros };

inline constexpr std::array kernel_regions{KernelRegion::device, KernelRegion::host, KernelRegion::macros};
/// In the order in which the texts follow one another in a translation unit.
inline constexpr std::array regions_in_code{KernelRegion::macros, KernelRegion::device, KernelRegion::host};

namespace detail {
struct RegionRow {
  std::string_view name;
  std::string Regions::*text;
};
/// In the order of KernelRegion.
inline constexpr std::array<RegionRow, 3> region_table{
    {{"device", &Regions::device}, {"host", &Regions::host}, {"macros", &Regions::macros}}};
}  // namespace detail

/// The name that it has in files, prompts and replies.
[[nodiscard]] constexpr std::string_view to_string(KernelRegion region) noexcept {
  return detail::region_table[static_cast<std::size_t>(region)].name;
}

/// The region of that name; nothing for another word.
[[nodiscard]] constexpr std::optional<KernelRegion> kernel_region_from(std::string_view name) noexcept {
  for (const KernelRegion region : kernel_regions)
    if (to_string(region) == name) return region;
  return std::nullopt;
}

[[nodiscard]] inline std::string& text_of(Regions& regions, KernelRegion region) noexcept {
  return regions.*detail::region_table[static_cast<std::size_t>(region)].text;
}
[[nodiscard]] inline const std::string& text_of(const Regions& regions, KernelRegion region) noexcept {
  return regions.*detail::region_table[static_cast<std::size_t>(region)].text;
}

/// Code with the space of its own tunables. Immutable once made, shared by the candidates that use it.
struct Kernel {
  Regions regions;
  Space space = Space::without_tunables();
};

/// What is evaluated: a kernel at one point of its space.
struct Candidate {
  std::shared_ptr<const Kernel> kernel;
  Config config;
};

}  // namespace kernelsearch
