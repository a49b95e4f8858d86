// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace detail {

[[noreturn]] inline void print_and_abort(std::string_view message) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  std::abort();
}

inline std::atomic<FailureHandler>& failure_handler() noexcept {
  static std::atomic<FailureHandler> handler{[](std::string_view message) { print_and_abort(message); }};
  return handler;
}

KERNELSEARCH_INLINE std::string error_text(std::string_view what, std::string_view given,
                                           std::string_view todo) {
  std::string text = "kernelsearch: ";
  text += what;
  if (!given.empty()) (text += ": ") += given;
  if (!todo.empty()) (text += "; ") += todo;
  return text;
}

KERNELSEARCH_INLINE void fail(std::string_view message) {
  failure_handler().load()(message);
  print_and_abort(message);  // a handler that returns would leave the caller in a state that cannot be
}

}  // namespace detail

KERNELSEARCH_INLINE FailureHandler set_failure_handler(FailureHandler handler) noexcept {
  return detail::failure_handler().exchange(handler);
}

}  // namespace kernelsearch
