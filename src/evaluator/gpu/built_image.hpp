// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"

namespace kernelsearch::detail::gpu {

/// What keeps a driver from loading a file that a build command made, in words that follow "made"; nothing of
/// a cubin, a fatbin and PTX (CUDA), of a code object and a bundle of such (HIP). A driver is told no size:
/// a file that was cut off is found here.
[[nodiscard]] std::optional<std::string> unfit_image(GpuBackend backend, std::string_view bytes);

/// Whether the file is PTX, which a driver reads as text up to a NUL.
[[nodiscard]] bool is_ptx(std::string_view bytes);

/// What a build command says next to its image.
struct LaunchDescription {
  std::vector<std::string> functions;  ///< names in the image of the kernels that were asked for
  std::vector<BuiltLaunch> launches;   ///< one for each
};

/// Reads it: an object of `function`, `shared` (bytes) and `block` (threads), each of which may be left out,
/// or `kernels` with such an object for each kernel by its name. A ConfigError says what is wrong with it.
[[nodiscard]] LaunchDescription read_launch_description(const std::string& text,
                                                        const std::vector<std::string>& kernels);

}  // namespace kernelsearch::detail::gpu
