// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/sanitizer_text.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch::detail;

namespace {

constexpr const char* heap_overflow =
    R"(device:3:20: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
device:3:28: runtime error: signed integer overflow: 2147483647 + 2 cannot be represented in type 'int'
/tmp/tiles.hpp:9:1: runtime error: shift exponent 40 is too large for 32-bit type 'int'
=================================================================
==2==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60a000000080 at pc 0x55f013d592c7 bp 0x7ffc sp 0x7ffc
WRITE of size 16 at 0x60a000000080 thread T0
    #0 0x7fe5326b7e68 in __interceptor_memcpy ../../../../src/libsanitizer/sanitizer_common/interceptors.inc:827
    #1 0x7fe5326b7e68 in memcpy /usr/include/string.h:12
    #2 0x55f013d592c6 in copy_row(float*, int) /tmp/device:12
    #3 0x55f013d592c6 in scale device:30
    #4 0x7fe532445249 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58

0x60a000000080 is located 0 bytes to the right of 64-byte region [0x60a000000040,0x60a000000080)
allocated by thread T0 here:
    #0 0x7fe5326b7e68 in aligned_alloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:113
    #1 0x55f013d5923b in main device:99
)";

}  // namespace

TEST_CASE("sanitizer text: an access past a heap block") {
  const auto fault = read_memory_fault(heap_overflow);
  REQUIRE(fault);
  CHECK(fault->kind == "heap-buffer-overflow");
  REQUIRE(fault->address);
  CHECK(*fault->address == 0x60a000000080u);
  CHECK(fault->write);
  CHECK(fault->bytes == 16);
  CHECK(fault->place == "device:12");  // the first frame of the problem's own
}

TEST_CASE("sanitizer text: an address that belongs to nothing, and no place") {
  const auto fault = read_memory_fault(
      "==2==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000010 (pc 0x5 bp 0x7 sp 0x7 T0)\n"
      "==2==The signal is caused by a READ memory access.\n"
      "    #0 0x55f013d592c6 in scale (/kernel+0x10f0)\n");
  REQUIRE(fault);
  CHECK(fault->kind == "SEGV");
  CHECK(fault->address == 16u);
  CHECK_FALSE(fault->write);
  CHECK(fault->bytes == 0);
  CHECK(fault->place.empty());
}

TEST_CASE("sanitizer text: undefined behaviour, each line of the source once") {
  const auto all = read_undefined_behaviour(heap_overflow);
  REQUIRE(all.size() == 2);
  CHECK(all[0].place == "device:3");
  CHECK(all[0].what == "signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'");
  CHECK(all[1].place == "tiles.hpp:9");
}

TEST_CASE("sanitizer text: other output is no report, and parts of one are read") {
  CHECK_FALSE(read_memory_fault(""));
  CHECK_FALSE(read_memory_fault("the kernel says error\n"));
  CHECK(read_undefined_behaviour("runtime error\n").empty());
  const std::string whole = heap_overflow;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string part = whole.substr(0, length);
    if (const auto fault = read_memory_fault(part)) CHECK(fault->bytes <= 16);
    CHECK(read_undefined_behaviour(part).size() <= 2);
  }
}
