// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

namespace kernelsearch::detail::gpu {

/// A shared library that is loaded when the program runs, so that programs start where it is missing.
class Library {
 public:
  Library() = default;
  /// The first of `names` (null ones are passed over) that loads; else `problem` says what was tried.
  [[nodiscard]] static Library open(std::initializer_list<const char*> names, std::string& problem);
  Library(Library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~Library();

  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Sets `function`; false where the library has no such symbol.
  template <class F>
  [[nodiscard]] bool find(const char* name, F*& function) const {
    void* const symbol = address(name);
    if (symbol != nullptr) std::memcpy(&function, &symbol, sizeof symbol);
    return symbol != nullptr;
  }
  /// Leaves it loaded for good: drivers do not like to be unloaded.
  void keep() noexcept { handle_ = nullptr; }

 private:
  [[nodiscard]] void* address(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace kernelsearch::detail::gpu
