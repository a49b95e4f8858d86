// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

/// What went wrong, as a value: the three parts of every message of this library.
struct Fault {
  std::string what;   ///< what is wrong, e.g. `two tunables have the same name`
  std::string given;  ///< where, or what was given
  std::string todo;   ///< what to do about it

  /// The message that an exception would carry.
  [[nodiscard]] std::string text() const;
};

namespace detail {
/// ConfigError for a result that is read without a value; `why`: what the error says.
[[noreturn]] void raise_no_value(const std::string& why);
}  // namespace detail

/// What a function returns that reports an error as a value: the value, or why there is none. Functions whose
/// name begins with `try_` return it; their namesakes without raise ConfigError instead.
///
/// A class of our own, as std::expected is not in C++20's library, and Boost.Outcome or tl::expected cost a
/// dependency and more compile time than these lines (docs/benchmarks/headers.md).
template <class T, class E = Fault>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<T, E>, "value and error need different types");

 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: a value is a result
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: and so is an error

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }

  /// The value. ConfigError with the error's text if it failed.
  [[nodiscard]] T& operator*() & { return *checked(std::get_if<0>(&state_)); }
  [[nodiscard]] const T& operator*() const& { return *checked(std::get_if<0>(&state_)); }
  [[nodiscard]] T&& operator*() && { return std::move(*checked(std::get_if<0>(&state_))); }
  [[nodiscard]] T* operator->() { return checked(std::get_if<0>(&state_)); }
  [[nodiscard]] const T* operator->() const { return checked(std::get_if<0>(&state_)); }

  /// Why there is none; only where not ok().
  [[nodiscard]] const E& error() const& noexcept { return *std::get_if<1>(&state_); }
  [[nodiscard]] E&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

 private:
  template <class Pointer>
  Pointer checked(Pointer value) const {
    if (value != nullptr) return value;
    if constexpr (std::is_same_v<E, Fault>)
      detail::raise_no_value(error().text());
    else
      detail::raise_no_value("");
  }

  std::variant<T, E> state_;
};

/// Success, or why not: `return {}` is success.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)) {}  // NOLINT: as above

  [[nodiscard]] bool ok() const noexcept { return !error_; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const E& error() const& noexcept { return *error_; }
  [[nodiscard]] E&& error() && noexcept { return *std::move(error_); }

 private:
  std::optional<E> error_;
};

namespace detail {

[[noreturn]] void raise_config_error(const Fault& fault);

/// The value, or ConfigError: what makes a function of its namesake that begins with `try_`.
template <class T>
[[nodiscard]] T value_or_raise(Result<T> result) {
  if (!result) raise_config_error(result.error());
  return *std::move(result);
}

}  // namespace detail
}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/result_impl.hpp"
#endif
