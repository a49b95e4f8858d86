// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// Base of everything this library throws; the text says what went wrong, what was given and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be: a wrong option, a malformed problem, a misused object.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A device, a sandbox or another part of the machine is gone or was never there.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Called with the message where exceptions are off; it must not return. The default prints and aborts.
using FailureHandler = void (*)(std::string_view message);

/// Replaces the handler used by builds without exceptions and returns the earlier one. Not for use while
/// another thread runs a search.
FailureHandler set_failure_handler(FailureHandler handler) noexcept;

namespace detail {

/// `kernelsearch: <what>: <given>; <what to do>`, the one shape of every error text.
[[nodiscard]] std::string error_text(std::string_view what, std::string_view given, std::string_view todo);

[[noreturn]] void fail(std::string_view message);

/// Throws `E`, or calls the failure handler where exceptions are off.
template <class E>
[[noreturn]] void raise(std::string_view what, std::string_view given, std::string_view todo) {
#if KERNELSEARCH_EXCEPTIONS
  throw E(error_text(what, given, todo));
#else
  fail(error_text(what, given, todo));
#endif
}

}  // namespace detail
}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/error_impl.hpp"
#endif
