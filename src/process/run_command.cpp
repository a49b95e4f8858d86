// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/run_command.hpp"

#include <algorithm>
#include <utility>

#include "process/child.hpp"

namespace kernelsearch::detail {

Finished run_command(Launch launch, double seconds, std::size_t max_output, const std::stop_token& stop) {
  Child child(std::move(launch), {max_output, std::size_t{1} << 20, Inflow::Keeps::first, false});
  Finished finished;
  const double deadline = monotonic_seconds() + seconds;
  while ((child.output().open() || child.errors().open()) && !finished.timed_out &&
         !finished.too_much_output) {
    const double left = deadline - monotonic_seconds();
    finished.timed_out = left <= 0 || stop.stop_requested();
    // In slices where it may be stopped: nothing else would end the waiting.
    if (!finished.timed_out && child.listen(stop.stop_possible() ? std::min(left, 0.05) : left))
      finished.too_much_output = child.output().text().size() >= max_output;
  }
  finished.output = child.output().take();
  finished.errors = child.errors().take();
  if (!finished.timed_out && !finished.too_much_output)
    finished.timed_out =
        !child.process().wait(std::max(0.1, deadline - monotonic_seconds()), finished.status);
  return finished;
}

}  // namespace kernelsearch::detail
