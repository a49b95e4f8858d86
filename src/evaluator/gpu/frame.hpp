// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace kernelsearch::detail::gpu {

/// Writes a frame; false when the other end is gone.
[[nodiscard]] bool send_frame(int socket, const std::vector<std::byte>& bytes);

/// Reads a frame, waiting at most `seconds` for it (negative: for ever); false at the end of the connection,
/// on a frame that is too long, or when time is up, which `timed_out` tells apart.
[[nodiscard]] bool receive_frame(int socket, std::vector<std::byte>& bytes, double seconds = -1,
                                 bool* timed_out = nullptr);

}  // namespace kernelsearch::detail::gpu
