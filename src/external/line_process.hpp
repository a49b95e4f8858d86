// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernelsearch/core/result.hpp"
#include "process/process.hpp"

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

  /// Writes the line and its end within so many seconds.
  [[nodiscard]] Result<void> write(std::string line, double seconds);

  /// The next line without its end, within so many seconds.
  [[nodiscard]] Result<std::string> read(double seconds);

  /// What it has said that nobody has read yet, without waiting.
  [[nodiscard]] const std::string& unread();

  /// Ends it and its descendants now.
  void kill() noexcept { process_.kill(); }
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

  /// The last of what it wrote to standard error, at most a few lines; empty: nothing.
  [[nodiscard]] std::string last_errors() const;

 private:
  /// Waits until something can be read or, where `writing`, written, and reads it.
  [[nodiscard]] Result<bool> wait_for(bool writing, double deadline, double seconds);
  void take(int fd, std::string& into, bool& open, std::size_t keep);
  [[nodiscard]] Fault ended();

  Manner manner_;
  detail::Descriptor in_, out_, err_;
  detail::Process process_;
  std::string output_, errors_;  ///< read and not yet taken; the end of standard error
  bool output_open_ = true, errors_open_ = true;
};

}  // namespace kernelsearch::external
