// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What becomes of exceptions at the C door, those above all that no program in C can bring about.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include "c/handles.hpp"
#include "kernelsearch/store/store_error.hpp"

namespace {

ks_status status_of(const std::function<void()>& thrown) {
  try {
    thrown();
  } catch (...) {
    return kernelsearch::c::status_of_exception();
  }
  return KS_OK;
}

}  // namespace

TEST_CASE("each exception has its status at the C door, and the text of what it says") {
  using namespace kernelsearch;
  const struct {
    std::function<void()> thrown;
    ks_status status;
    const char* text;
  } cases[] = {
      {[] { detail::raise<DeviceError>("the device is gone", "GPU 0", "restart it"); }, KS_DEVICE_ERROR,
       "GPU 0"},
      {[] { detail::raise<ConfigError>("no such name", "rwos", "rows"); }, KS_CONFIG_ERROR, "rwos"},
      {[] { detail::raise<StoreError>("the store is full", "s.db", "make room"); }, KS_STORE_ERROR, "s.db"},
      {[] {
         throw std::filesystem::filesystem_error("it cannot be read", "nowhere",
                                                 std::make_error_code(std::errc::io_error));
       },
       KS_FILE_ERROR, "nowhere"},
      {[] { throw std::bad_alloc(); }, KS_NO_MEMORY, "no more memory"},
      {[] { throw std::length_error("vector"); }, KS_NO_MEMORY, "no more memory"},
      {[] { throw std::logic_error("this cannot be"); }, KS_INTERNAL, "this cannot be"},
      {[] { throw 7; }, KS_INTERNAL, "an exception of an unknown type"},
  };
  for (const auto& one : cases) {
    const auto& text = one.text;  // no structured binding: clang 14 captures none
    CAPTURE(text);
    CHECK(status_of(one.thrown) == one.status);
    CHECK(std::string(ks_last_error()).find(text) != std::string::npos);
  }
}

TEST_CASE("a text that is longer than what is kept ends between characters") {
  std::string longest(4094, 'x');
  longest += "\xC3\xA9";  // two bytes, of which one would fit
  CHECK(status_of([&] { throw std::runtime_error(longest); }) == KS_INTERNAL);
  CHECK(std::string(ks_last_error()) == std::string(4094, 'x'));
}
