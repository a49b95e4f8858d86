// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// What this machine's processor is known by in stores, tables and plans: its model as it names itself
/// ("model name" of /proc/cpuinfo, on Arm implementer and part), else the architecture. The same whichever
/// cores the process may use and whatever their clocks do.
[[nodiscard]] std::string processor_identity();

/// The identity in what a store, a table or a plan calls a device: without what says how a run had it,
/// which is a number of cores and a governor (as version 0.1 wrote it: "Model, 2 cores, governor
/// powersave") or a GPU's driver ("Model sm_90, driver 13000").
[[nodiscard]] std::string device_identity(std::string_view spelled);

/// Whether two spellings name the same device.
[[nodiscard]] bool same_device(std::string_view one, std::string_view other);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/device_identity_impl.hpp"
#endif
