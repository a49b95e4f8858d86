// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace kernelsearch::detail::gpu {

/// Bytes of a message that are written one value after another.
class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& put(const T& value) { return raw(&value, sizeof value); }
  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    return raw(values.data(), values.size() * sizeof(T));
  }
  Writer& put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    return raw(text.data(), text.size());
  }
  Writer& put(const std::vector<std::string>& texts) {
    put(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) put(text);
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
  requires std::is_trivially_copyable_v<T> T take() {
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> take_vector() {
    const auto size = take<std::uint64_t>();
    if (size > (bytes_.size() - at_) / sizeof(T)) {
      ok_ = false;
      return {};
    }
    std::vector<T> values(static_cast<std::size_t>(size));
    raw(values.data(), values.size() * sizeof(T));
    return values;
  }
  std::string take_text() {
    const std::vector<char> text = take_vector<char>();
    return {text.begin(), text.end()};
  }
  std::vector<std::string> take_texts() {
    std::vector<std::string> texts;
    for (auto left = take<std::uint64_t>(); left > 0 && ok_; --left) texts.push_back(take_text());
    return texts;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  void raw(void* out, std::size_t size) {
    if (size > bytes_.size() - at_) {
      ok_ = false;
      return;
    }
    if (size != 0) std::memcpy(out, bytes_.data() + at_, size);
    at_ += size;
  }
  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace kernelsearch::detail::gpu
