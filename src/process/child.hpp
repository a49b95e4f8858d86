// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/process/inflow.hpp"
#include "process/process.hpp"
#include "process/stream.hpp"

namespace kernelsearch::detail {

/// How much is kept of what a child says until it is taken, and what of it where it says more.
struct Kept {
  std::size_t output = std::string::npos;
  std::size_t errors = 2000;  ///< enough for the last lines of what went wrong
  Inflow::Keeps keeps = Inflow::Keeps::last;
  bool input = true;  ///< it has a standard input to write to; otherwise an empty one
};

/// A program of which we have the standard input and output, and the last of what it writes to standard
/// error. It is killed when this goes out of scope, with all that it has started. Not thread-safe.
class Child {
 public:
  /// Starts it with pipes added to the launch, as descriptors 0, 1 and 2. ConfigError where it cannot.
  explicit Child(Launch launch, Kept kept = {});
  /// One that is there already, at the other ends of these descriptors: there is no process of ours, and
  /// standard error is elsewhere.
  Child(Descriptor output, Descriptor input);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Writes to its standard input, within that many seconds, and takes what it says meanwhile: it may have to
  /// say something before it reads on.
  Sent write(std::string_view bytes, double seconds);

  /// Waits at most this many seconds until it says something, or ends it, and takes that; where `writing`,
  /// also until it reads. False: time is up.
  bool listen(double seconds, bool writing = false);

  /// Takes the next line that it says, within that many seconds; nothing where it is late, has closed its
  /// output, or has said more than `longest` bytes without the end of a line.
  [[nodiscard]] std::optional<std::string> line(double seconds, std::size_t longest = std::string::npos);

  [[nodiscard]] Inflow& output() noexcept { return output_; }
  [[nodiscard]] Inflow& errors() noexcept { return errors_; }

  /// The last of what it wrote to standard error, without line feeds at its end. `seconds`: waits so long
  /// for the rest, as what is written last says why.
  [[nodiscard]] std::string last_errors(double seconds = 0.0);

  /// Its standard input for somebody else to write to.
  [[nodiscard]] Descriptor take_input() noexcept { return std::move(input_); }
  /// Closes its standard input, gives it that many seconds to end and kills it. False: it had to be killed.
  bool end(double seconds);

  [[nodiscard]] Process& process() noexcept { return process_; }

 private:
  Descriptor input_, output_end_, errors_end_;
  Inflow output_, errors_;
  Process process_;
};

}  // namespace kernelsearch::detail
