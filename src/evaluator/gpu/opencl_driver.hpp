// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "evaluator/gpu/driver.hpp"

namespace kernelsearch::detail::gpu {

/// The table of functions over OpenCL. A process holds one device by it, the one last taken into use. What
/// the table calls addresses are numbers of ours, of which each range is a buffer: an array is passed to a
/// kernel as a part of that buffer, so that the guard zones around it are next to it. An event stands for the
/// commands between it and the next one, and the time between the two is that from the start of the first of
/// these commands to the end of the last. Null with `problem` set where the loader is missing.
[[nodiscard]] std::unique_ptr<Driver> load_opencl_driver(std::string& problem);

}  // namespace kernelsearch::detail::gpu
