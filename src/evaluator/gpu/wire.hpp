// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kernelsearch::detail::gpu {

/// A struct that is sent member by member: `T::members(t)` is a tuple of references to them, in their order.
template <class T>
concept HasMembers = requires(T& t) {
  T::members(t);
};

/// Has a form of its own, though it may be trivially copyable.
template <class T>
inline constexpr bool is_optional_or_variant = false;
template <class T>
inline constexpr bool is_optional_or_variant<std::optional<T>> = true;
template <class... Ts>
inline constexpr bool is_optional_or_variant<std::variant<Ts...>> = true;

/// What is sent as the bytes that it has in memory.
template <class T>
concept SentAsBytes = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool> && !HasMembers<T> &&
                      !is_optional_or_variant<T>;

/// Bytes of a message that are written one value after another: numbers, enumerations, texts, vectors,
/// optionals, variants, and structs of them.
class Writer {
 public:
  template <SentAsBytes T>
  Writer& put(const T& value) {
    return raw(&value, sizeof value);
  }
  Writer& put(bool value) { return put(static_cast<std::uint8_t>(value ? 1 : 0)); }
  Writer& put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    return raw(text.data(), text.size());
  }
  template <class T>
  Writer& put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    if constexpr (SentAsBytes<T>)
      raw(values.data(), values.size() * sizeof(T));
    else
      for (const T& value : values) put(value);
    return *this;
  }
  template <class T>
  Writer& put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
    return *this;
  }
  template <class... Ts>
  Writer& put(const std::variant<Ts...>& value) {
    put(static_cast<std::uint32_t>(value.index()));
    std::visit([this](const auto& alternative) { this->put(alternative); }, value);
    return *this;
  }
  template <HasMembers T>
  Writer& put(const T& value) {
    std::apply([this](const auto&... members) { (this->put(members), ...); }, T::members(value));
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  Writer& raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    if (size != 0) bytes_.insert(bytes_.end(), begin, begin + size);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

/// Reads what a Writer wrote. What is missing reads as zeros and empty, and `ok()` turns false: the other end
/// may be under the control of a candidate.
class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <class T>
  T take() {
    T value{};
    into(value);
    return value;
  }
  /// False once something was missing, or was nothing that a Writer writes.
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  /// Whether it failed at a variant of an unknown alternative.
  [[nodiscard]] bool unknown() const noexcept { return unknown_; }

 private:
  template <SentAsBytes T>
  void into(T& value) {
    raw(&value, sizeof value);
  }
  void into(bool& value) { value = take<std::uint8_t>() != 0; }
  void into(std::string& text) {
    const std::size_t size = length(1);
    text.resize(size);
    raw(text.data(), size);
  }
  template <class T>
  void into(std::vector<T>& values) {
    if constexpr (SentAsBytes<T>) {
      values.resize(length(sizeof(T)));
      raw(values.data(), values.size() * sizeof(T));
    } else {
      // Nothing has less than a byte, so a length that makes no sense is refused before memory is taken.
      for (std::size_t left = length(1); left > 0 && ok_; --left) values.push_back(take<T>());
    }
  }
  template <class T>
  void into(std::optional<T>& value) {
    if (take<bool>()) value = take<T>();
  }
  template <class... Ts>
  void into(std::variant<Ts...>& value) {
    alternative(value, take<std::uint32_t>(), std::index_sequence_for<Ts...>());
  }
  template <HasMembers T>
  void into(T& value) {
    std::apply([this](auto&... members) { (this->into(members), ...); }, T::members(value));
  }

  template <class Variant, std::size_t... Is>
  void alternative(Variant& value, std::uint32_t which, std::index_sequence<Is...>) {
    const auto read = [&](auto index) {
      if (which != index()) return false;
      this->into(value.template emplace<index()>());
      return true;
    };
    if (!ok_ || (read(std::integral_constant<std::size_t, Is>()) || ...)) return;
    ok_ = false;
    unknown_ = true;
  }
  /// For a vector whose elements have at least `least` bytes each.
  std::size_t length(std::size_t least) {
    const auto size = take<std::uint64_t>();
    if (ok_ && size <= (bytes_.size() - at_) / least) return static_cast<std::size_t>(size);
    ok_ = false;
    return 0;
  }
  void raw(void* out, std::size_t size) {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return;
    }
    if (size != 0) std::memcpy(out, bytes_.data() + at_, size);
    at_ += size;
  }
  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
  bool ok_ = true, unknown_ = false;
};

}  // namespace kernelsearch::detail::gpu
