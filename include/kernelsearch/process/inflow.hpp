// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace kernelsearch::detail {

/// What comes out of a descriptor in pieces, and what of it nobody has taken yet. The descriptor stays its
/// owner's.
class Inflow {
 public:
  /// What is kept where more comes than there is room for.
  enum class Keeps { last, first };

  Inflow() = default;  ///< at its end
  explicit Inflow(int descriptor, std::size_t room = std::string::npos, Keeps keeps = Keeps::last)
      : descriptor_(descriptor), room_(room), keeps_(keeps) {}

  /// Takes what is there, once; where nothing is and the descriptor blocks, it waits. False: nothing came.
  bool read();
  /// The same after waiting for at most that many seconds, negative: for ever, until something is there.
  bool read_within(double seconds);

  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  /// For poll: negative, so that it is left out, once it has ended.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// What nobody has taken yet.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Takes all of it.
  [[nodiscard]] std::string take();
  /// Takes the next line, without its end; nothing while there is no whole one.
  [[nodiscard]] std::optional<std::string> line();

 private:
  int descriptor_ = -1;
  std::size_t room_ = std::string::npos;
  Keeps keeps_ = Keeps::last;
  std::string text_;
  std::size_t searched_ = 0;  ///< that many bytes have no end of a line
};

}  // namespace kernelsearch::detail
