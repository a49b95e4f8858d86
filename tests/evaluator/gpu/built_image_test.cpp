// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a build command may hand over as device code, and what it may say of launching it.
#include "evaluator/gpu/built_image.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;
using detail::gpu::is_ptx;
using detail::gpu::read_launch_description;
using detail::gpu::unfit_image;

namespace {

template <class T>
void put_number(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// An ELF file with one section of 16 bytes, as far as it is looked at.
std::string elf_image(std::uint16_t machine) {
  std::string bytes(64 + 16 + 64, '\0');
  bytes.replace(0, 5,
                "\x7f"
                "ELF\x02");
  put_number<std::uint16_t>(bytes, 18, machine);
  put_number<std::uint64_t>(bytes, 40, 80);  // sections
  put_number<std::uint16_t>(bytes, 58, 64);
  put_number<std::uint16_t>(bytes, 60, 1);
  put_number<std::uint32_t>(bytes, 80 + 4, 1);
  put_number<std::uint64_t>(bytes, 80 + 24, 64);
  put_number<std::uint64_t>(bytes, 80 + 32, 16);
  return bytes;
}

std::string fatbin_image() {
  std::string bytes(16 + 32, '\0');
  put_number<std::uint32_t>(bytes, 0, 0xba55ed50);
  put_number<std::uint16_t>(bytes, 6, 16);
  put_number<std::uint64_t>(bytes, 8, 32);
  return bytes;
}

}  // namespace

TEST_CASE("unfit_image: what a driver is told no size of is whole, and for its devices") {
  const auto cuda = [](const std::string& bytes) {
    return unfit_image(GpuBackend::cuda, bytes).value_or("");
  };
  const auto hip = [](const std::string& bytes) { return unfit_image(GpuBackend::hip, bytes).value_or(""); };
  CHECK(cuda(elf_image(190)).empty());
  CHECK(hip(elf_image(224)).empty());
  CHECK(cuda(fatbin_image()).empty());
  CHECK(cuda("// a comment\n/* and\n another */\n.version 8.7\n.target sm_90a\n").empty());
  CHECK(hip("__CLANG_OFFLOAD_BUNDLE__ and more").empty());
  CHECK(hip("CCOB and more").empty());

  CHECK(cuda(elf_image(62)) == "code for another processor (ELF machine 62, and the device's is 190)");
  CHECK(hip(elf_image(190)).find("(ELF machine 190, and the device's is 224)") != std::string::npos);
  for (const std::string& whole : {elf_image(190), fatbin_image()})
    for (std::size_t size = 8; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK(cuda(whole.substr(0, size)) == "a file that is damaged or cut off");
    }
  std::string beyond = elf_image(190);
  put_number<std::uint64_t>(beyond, 80 + 32, ~std::uint64_t{0});
  CHECK(cuda(beyond) == "a file that is damaged or cut off");
  put_number<std::uint64_t>(beyond, 40, ~std::uint64_t{0} - 8);
  CHECK(cuda(beyond) == "a file that is damaged or cut off");
  // Sections without bytes, as that of shared memory, may claim any size.
  std::string shared = elf_image(190);
  put_number<std::uint64_t>(shared, 80 + 32, 99999);
  put_number<std::uint32_t>(shared, 80 + 4, 8);
  CHECK(cuda(shared).empty());
  for (const char* other : {"", "x", "text", "#!/bin/sh\n", "// only a comment", "/* .version", "/", " \n"}) {
    CAPTURE(other);
    CHECK(cuda(other) == "a file that is neither a cubin nor a fatbin nor PTX");
    CHECK(hip(other) == "a file that is neither a code object nor a bundle of code objects");
  }
  CHECK_FALSE(hip(".version 8.7\n").empty());
  CHECK_FALSE(is_ptx(std::string("\0.version", 9)));
}

TEST_CASE("read_launch_description: any part of it, for one kernel or several") {
  const auto none = read_launch_description("{}", {"scale"});
  CHECK(none.functions == std::vector<std::string>{"scale"});
  CHECK(none.launches == std::vector<BuiltLaunch>{{}});
  const auto all =
      read_launch_description(R"({"function": "_Z5scale", "shared": 65536, "block": [32, 4]})", {"scale"});
  CHECK(all.functions == std::vector<std::string>{"_Z5scale"});
  CHECK(all.launches == std::vector<BuiltLaunch>{{65536, {32, 4, 1}}});
  CHECK(read_launch_description(R"({"shared": 0})", {"scale"}).launches.front().shared_bytes == 0);
  const auto two = read_launch_description(R"({"kernels": {"b": {"block": [64]}, "a": {"function": "x"}}})",
                                           {"a", "b", "c"});
  CHECK(two.functions == std::vector<std::string>{"x", "b", "c"});
  CHECK(two.launches == std::vector<BuiltLaunch>{{}, {-1, {64, 1, 1}}, {}});
  CHECK(
      read_launch_description(R"({"kernels": {"a": {"shared": 8}}})", {"a"}).launches.front().shared_bytes ==
      8);
}

TEST_CASE("read_launch_description: what is wrong is said with its place and what was given") {
  const struct {
    const char* text;
    const char* words;
  } wrong[] = {
      {"", "${LIBRARY}.json"},
      {"shared: 4", "${LIBRARY}.json:1"},
      {"[]", "a list, not an object"},
      {R"({"share": 4})", "\"shared\""},
      {R"({"shared": -1})", "/shared is not a size of shared memory: -1"},
      {R"({"shared": 2147483648})", "/shared is not a size"},
      {R"({"shared": 1e300})", "/shared"},
      {R"({"shared": 99999999999999999999999})", "${LIBRARY}.json:1"},
      {R"({"shared": "4"})", "/shared is a string, not an integer"},
      {R"({"shared": 1, "shared": 2})", "shared"},
      {R"({"block": 128})", "/block"},
      {R"({"block": []})", "/block is not a block: []"},
      {R"({"block": [1, 1, 1, 1]})", "/block is not a block"},
      {R"({"block": [0]})", "/block/0 is not an extent of a block: 0"},
      {R"({"block": [32, -4]})", "/block/1 is not an extent of a block: -4"},
      {R"({"block": [4294967297]})", "/block/0 is not an extent"},
      {R"({"block": [1.5]})", "/block/0"},
      {R"({"function": ""})", "/function is not a name of a function"},
      {R"({"function": "a\u0000b"})", "/function is not a name of a function"},
      {R"({"function": 4})", "/function"},
      {R"({"kernels": {"other": {}}})", "is of a kernel that is not launched: other; those are: scale"},
      {R"({"kernels": {"scale": {"blok": [1]}}})", "\"block\""},
      {R"({"kernels": {"scale": {}}, "shared": 4})", "shared"},
  };
  for (const auto& one : wrong) {
    CAPTURE(one.text);
    CHECK_THROWS_WITH_AS((void)read_launch_description(one.text, {"scale"}), doctest::Contains(one.words),
                         ConfigError);
  }
  CHECK_THROWS_WITH_AS((void)read_launch_description(R"({"shared": 4})", {"a", "b"}),
                       doctest::Contains("\"kernels\""), ConfigError);
  CHECK_THROWS_WITH_AS((void)read_launch_description("{}", {"a", "b"}),
                       doctest::Contains("several kernels are launched"), ConfigError);
  CHECK_THROWS_AS((void)read_launch_description(std::string(5000, '['), {"a"}), ConfigError);
}
