// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/remote/remote_options.hpp"

namespace kernelsearch {

/// A pool of a command line: `PREFIX` or `PREFIX xN`. ConfigError for an empty prefix, a count out of range
/// and a placeholder that there is not.
[[nodiscard]] LaunchPool launch_pool(std::string_view text);

/// The pools of a JSON file (docs/scale.md#a-file-of-pools), those of `device_class` where one is named;
/// ConfigError for another file, and where none is of that class.
[[nodiscard]] std::vector<LaunchPool> read_pools(const std::filesystem::path& file,
                                                 const std::string& device_class = {});

/// Each worker of the pools with the command that starts it. `own_program` is what `local` starts. Several
/// devices are dealt out to the workers of a `local` pool, one each.
[[nodiscard]] std::vector<LaneLaunch> lanes_of(const std::vector<LaunchPool>& pools,
                                               const std::string& own_program,
                                               const std::vector<int>& devices = {0});

}  // namespace kernelsearch
