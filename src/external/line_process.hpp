// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "kernelsearch/core/result.hpp"
#include "process/child.hpp"

namespace kernelsearch::external {

/// A shell command that takes and gives lines. Nothing here raises but starting it; a Fault's `what` says
/// what the process did, its `given` how it ended and the last of what it wrote to standard error.
class LineProcess {
 public:
  /// What else differs between those who speak so.
  struct Manner {
    std::string protocol;      ///< the page that describes the messages
    std::string more_time;     ///< what allows more of it
    std::size_t longest_line;  ///< bytes of one message to us
  };

  LineProcess(const std::string& command, const std::filesystem::path& folder);
  /// With these pipes added to the launch as descriptors 0, 1 and 2.
  LineProcess(detail::Launch launch, Manner manner);
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;
  /// Closes its input, gives it two seconds to end, and ends it.
  ~LineProcess();

  /// Writes the line and its end within that many seconds.
  [[nodiscard]] Result<void> write(std::string line, double seconds);

  /// The next line without its end, within that many seconds.
  [[nodiscard]] Result<std::string> read(double seconds);

  /// What it has said that nobody has read yet, without waiting.
  [[nodiscard]] const std::string& unread();

  /// Ends it and its descendants now.
  void kill() noexcept { child_.process().kill(); }
  [[nodiscard]] pid_t pid() noexcept { return child_.process().pid(); }

  /// The last of what it wrote to standard error, at most a few lines; empty: nothing. `seconds`: waits so
  /// long for the rest.
  [[nodiscard]] std::string last_errors(double seconds = 0.0);

 private:
  [[nodiscard]] Fault late(std::string what, double seconds);
  [[nodiscard]] Fault ended();

  Manner manner_;
  detail::Child child_;
};

}  // namespace kernelsearch::external
