// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kernelsearch/report/run_pace.hpp"
#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch {

/// What the process that works on a run last said of it.
struct RunNow {
  std::string doing;  ///< in words, as `to_string(RunActivity)`; a text of another process
  bool paused = false;
  RunStanding standing;
};

/// What others ask of the process that works on a run, and what it says to them: files of the run's owner
/// alone (0600) by its lock (`RunLock`). The process looks and speaks four times a second, and both files
/// go with the lock.
class RunControl {
 public:
  RunControl(std::filesystem::path store, RunId run);

  /// Asks the run to take no new trial and to ask no model anything until it is told to go on; what is under
  /// way is finished and kept. False where no process works on it, or no file can be made.
  [[nodiscard]] bool pause() const;
  /// Lets it go on; false where it was not paused.
  [[nodiscard]] bool go_on() const;
  [[nodiscard]] bool paused() const;

  /// Nothing where no process works on it, or it has not spoken yet.
  [[nodiscard]] std::optional<RunNow> now() const;
  /// By the process that works on it. What cannot be written is not said.
  void say(const RunNow& now) const;

 private:
  std::filesystem::path store_;
  RunId run_;
};

}  // namespace kernelsearch
