// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>

#include "process/process.hpp"

namespace kernelsearch::detail {

/// What a command printed and how it ended.
struct Finished {
  std::string output;  ///< at most `max_output` bytes
  std::string errors;  ///< at most 1 MiB; the rest is read and dropped
  int status = 0;      ///< as waitpid gives it
  bool timed_out = false;
  bool too_much_output = false;
};

/// Runs a command to its end or its time limit, standard input empty; descriptors 1 and 2 are taken.
/// Asked to stop it ends the command, as at its time limit.
[[nodiscard]] Finished run_command(Launch launch, double seconds, std::size_t max_output,
                                   const std::stop_token& stop = {});

}  // namespace kernelsearch::detail
