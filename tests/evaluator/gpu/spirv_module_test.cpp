// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is read of SPIR-V, of modules that are put together here; and what no module is.
#include "shader/spirv_module.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "evaluator/gpu/vulkan_image.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "shader/ready_module.hpp"
#include "shader/shader_text.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

namespace {

using Values = std::vector<std::pair<std::string, Value>>;

/// Puts a module together, an instruction at a time.
class SpirvText {
 public:
  SpirvText& op(std::uint32_t code, std::vector<std::uint32_t> operands, const std::string& text = {},
                std::vector<std::uint32_t> behind = {}) {
    if (!text.empty())
      for (std::size_t at = 0; at <= text.size(); at += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, text.data() + at, std::min<std::size_t>(4, text.size() - at));
        operands.push_back(word);
      }
    operands.insert(operands.end(), behind.begin(), behind.end());
    words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | code);
    words.insert(words.end(), operands.begin(), operands.end());
    return *this;
  }
  std::vector<std::uint32_t> words{0x07230203, 0x00010300, 0, 100, 0};
};

/// A shader with two buffers (bindings 0 and `second`), the push constants n (4 bytes) and scale (8 bytes), a
/// constant SIZE (id 5) that is the first extent of its groups and, doubled, the length of 4-byte shared
/// memory; it asks how long the second buffer is.
SpirvText small_shader(std::uint32_t second = 1) {
  SpirvText s;
  s.op(17, {1}).op(17, {10});                         // capabilities Shader, Float64
  s.op(15, {5, 1}, "main").op(16, {1, 17, 1, 1, 1});  // entry point, LocalSize
  s.op(5, {20}, "A").op(6, {20, 0}, "a").op(5, {31}, "out_buffer").op(5, {21}, "B").op(6, {21, 0}, "b");
  s.op(5, {40}, "SIZE").op(6, {25, 0}, "n").op(6, {25, 1}, "scale");
  s.op(71, {30, 33, 0})
      .op(71, {30, 34, 0})
      .op(71, {31, 33, second})
      .op(71, {31, 34, 0});                                     // Binding, DescriptorSet
  s.op(71, {40, 1, 5}).op(71, {43, 11, 25});                    // SpecId, WorkgroupSize
  s.op(72, {25, 0, 35, 0}).op(72, {25, 1, 35, 8});              // Offset
  s.op(21, {2, 32, 0}).op(22, {3, 32}).op(22, {4, 64});         // uint, float, double
  s.op(29, {6, 3}).op(30, {20, 6}).op(30, {21, 6});             // float[], A, B
  s.op(32, {7, 12, 20}).op(32, {8, 12, 21});                    // StorageBuffer pointers
  s.op(50, {2, 40, 16}).op(43, {2, 41, 2}).op(43, {2, 42, 1});  // SIZE = 16, 2, 1
  s.op(52, {2, 44, 132, 40, 41});                               // SIZE * 2
  s.op(51, {9, 43, 40, 42, 42});                                // (SIZE, 1, 1)
  s.op(28, {10, 3, 44}).op(32, {11, 4, 10});                    // float[SIZE * 2], shared
  s.op(30, {25, 2, 4}).op(32, {26, 9, 25});                     // push constants
  s.op(59, {7, 30, 12}).op(59, {8, 31, 12}).op(59, {11, 33, 4}).op(59, {26, 34, 9});  // variables
  s.op(68, {2, 50, 31, 0});                                                           // ArrayLength of B
  return s;
}

std::string why_not(const std::vector<std::uint32_t>& words, const Values& values = {},
                    const std::string& entry = {}) {
  const auto kernel = read_spirv(words, entry, values);
  return kernel ? std::string() : kernel.error().text();
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("SPIR-V: bindings, names, push constants, sizes and what the device must have") {
  const auto kernel = read_spirv(small_shader().words, {}, {});
  REQUIRE_MESSAGE(kernel, kernel.error().text());
  CHECK(kernel->entry == "main");
  CHECK(kernel->local_size == std::array<std::uint32_t, 3>{16, 1, 1});
  CHECK(kernel->shared_bytes == 128);
  REQUIRE(kernel->buffers.size() == 2);
  CHECK(kernel->buffers[0].names == std::vector<std::string>{"A", "a"});
  CHECK(kernel->buffers[1].names == std::vector<std::string>{"out_buffer", "B", "b"});
  CHECK(!kernel->buffers[0].asks_length);
  CHECK(kernel->buffers[1].asks_length);
  REQUIRE(kernel->push.size() == 2);
  CHECK(kernel->push[1].name == "scale");
  CHECK(kernel->push[1].offset == 8);
  CHECK(kernel->push_bytes == 16);
  CHECK(kernel->needs.float64);
  CHECK(!kernel->needs.storage16);
}

TEST_CASE("SPIR-V: specialisation constants get tunables' values, and sizes follow") {
  const auto kernel = read_spirv(small_shader().words, {}, Values{{"SIZE", Value{std::int64_t{64}}}});
  REQUIRE(kernel);
  CHECK(kernel->local_size[0] == 64);
  CHECK(kernel->shared_bytes == 512);
  REQUIRE(kernel->constants.size() == 1);
  CHECK(kernel->constants[0].id == 5);
  CHECK(kernel->constants[0].bits == 64);
  CHECK(says(why_not(small_shader().words, Values{{"SIZE", Value{0.5}}}), "SIZE cannot be 0.5"));
  CHECK(
      says(why_not(small_shader().words, Values{{"SIZE", Value{std::string("float4")}}}), "it is a number"));
  CHECK(says(why_not(small_shader().words, Values{{"SIZE", Value{std::int64_t{-1}}}}), "not a whole number"));
  CHECK(says(why_not(small_shader().words, Values{{"SIZE", Value{std::int64_t{0}}}}),
             "size of its work groups"));
}

TEST_CASE("SPIR-V: what cannot be launched is refused with a reason") {
  CHECK(says(why_not({}), "does not begin"));
  CHECK(says(why_not({0x07230203, 0x00010300, 0, 100, 0}), "no entry point for compute"));
  CHECK(says(why_not(small_shader().words, {}, "other"), "no entry point other"));
  CHECK(says(why_not(small_shader(0).words), "binding 0"));
  auto cut = small_shader().words;
  cut.pop_back();
  CHECK(says(why_not(cut), "cut short"));
  SpirvText two = small_shader();
  two.op(15, {5, 2}, "second");
  CHECK(says(why_not(two.words), "several entry points"));
  SpirvText uniform = small_shader();
  uniform.op(32, {60, 2, 20}).op(59, {60, 61, 2});
  CHECK(says(why_not(uniform.words), "uniform buffer"));
  SpirvText set = small_shader();
  set.op(71, {31, 34, 3});
  CHECK(says(why_not(set.words), "descriptor set 3"));
}

TEST_CASE("SPIR-V: any words are a module or none, and none is read beyond its end") {
  Rng rng(5);
  const std::vector<std::uint32_t> whole = small_shader().words;
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::uint32_t> words = whole;
    for (int change = 0; change <= round % 4; ++change) {
      const std::size_t at = 3 + static_cast<std::size_t>(rng.below(words.size() - 3));
      words[at] =
          rng.below(2) == 0 ? static_cast<std::uint32_t>(rng()) : static_cast<std::uint32_t>(rng.below(100));
    }
    if (rng.below(4) == 0) words.resize(static_cast<std::size_t>(rng.below(words.size())));
    const auto kernel = read_spirv(words, {}, {});
    if (!kernel) {
      CHECK(!kernel.error().text().empty());
      continue;
    }
    ++read;
    CHECK(kernel->local_size[0] >= 1);
    for (const SpirvPushMember& member : kernel->push)
      CHECK(member.offset + member.bytes <= kernel->push_bytes);
  }
  CHECK(read > 100);
}

TEST_CASE("SPIR-V: of several entry points each has what its functions use") {
  // first (1) calls a helper (90) that reads A; second (91) writes B and reads the push constants.
  SpirvText s = small_shader(0);
  s.words.resize(5);
  s.op(17, {1}).op(17, {10});
  s.op(15, {5, 1}, "first").op(16, {1, 17, 32, 1, 1}).op(15, {5, 91}, "second").op(16, {91, 17, 8, 2, 1});
  const std::vector<std::uint32_t> rest = small_shader(0).words;
  std::size_t skip = 5;  // capabilities, the entry point and its size
  for (int i = 0; i < 4; ++i) skip += rest[skip] >> 16;
  s.words.insert(s.words.end(), rest.begin() + static_cast<std::ptrdiff_t>(skip), rest.end());
  // Its size is that of each entry point, not a constant's of all.
  for (std::size_t at = 5; at < s.words.size(); at += s.words[at] >> 16)
    if (s.words[at] == (4u << 16 | 71u) && s.words[at + 2] == 11u) s.words[at + 2] = 0u;
  s.op(54, {60, 1, 0, 61}).op(57, {60, 70, 90}).op(56, {});
  s.op(54, {60, 90, 0, 61}).op(65, {62, 71, 30, 41}).op(61, {3, 72, 71}).op(56, {});
  s.op(54, {60, 91, 0, 61}).op(65, {62, 73, 31, 41}).op(62, {73, 72}).op(65, {62, 74, 34, 41}).op(56, {});
  CHECK(spirv_entries(s.words) == std::vector<std::string>{"first", "second"});
  const auto first = read_spirv(s.words, "first", {}), second = read_spirv(s.words, "second", {});
  REQUIRE_MESSAGE(first, first.error().text());
  REQUIRE_MESSAGE(second, second.error().text());
  REQUIRE(first->buffers.size() == 1);
  CHECK(first->buffers[0].names[0] == "A");
  CHECK(first->push.empty());
  CHECK(first->shared_bytes == 0);
  CHECK(first->local_size[0] == 32);
  REQUIRE(second->buffers.size() == 1);
  CHECK(second->buffers[0].names[0] == "out_buffer");
  CHECK(second->push.size() == 2);
  CHECK(second->local_size[1] == 2);
  CHECK(says(why_not(s.words), "several entry points"));
  CHECK(says(read_ready(s.words, "third", true, {}).error().text(), "its entry points are first, second"));
  CHECK(read_ready(s.words, "second", false, {})->entry == "second");
}

TEST_CASE("ready modules: words as text, and values as what constants are declared with") {
  const std::vector<std::uint32_t> words = small_shader().words;
  const std::string text = ready_text(words);
  CHECK(text.starts_with("0x07230203,0x00010300,0x00000000,"));
  CHECK(is_ready_text(text));
  CHECK(is_ready_text("\n// a comment\n  " + text));
  CHECK(!is_ready_text("#version 450\n"));
  CHECK(*ready_words(text) == words);
  CHECK(*ready_words("// 1\n" + text + "// 2") == words);
  CHECK(*ready_words(ready_bytes(words)) == words);
  CHECK(!ready_words("0x07230203,0x123456789"));
  CHECK(!ready_words("0x07230203,0x"));
  const SpirvKernel given = *read_spirv(words, {}, Values{{"SIZE", Value{std::int64_t{64}}}});
  const SpirvKernel plain = *read_spirv(specialised(words, given.constants), {}, {});
  CHECK(plain.local_size[0] == 64);
  CHECK(plain.shared_bytes == 512);
  // A bool, a number of 64 bits and a negative one of 16: all in the words that hold them.
  SpirvText s = small_shader();
  std::vector<std::uint32_t> more = s.words;
  SpirvText tail;
  tail.words.clear();
  tail.op(71, {80, 1, 20}).op(71, {81, 1, 21}).op(71, {82, 1, 22}).op(20, {83}).op(21, {84, 64, 1});
  tail.op(21, {85, 16, 1}).op(49, {83, 80}).op(50, {84, 81, 5, 0}).op(50, {85, 82, 7});
  more.insert(more.end(), tail.words.begin(), tail.words.end());
  const Values values{{"constant_20", Value{true}},
                      {"constant_21", Value{std::int64_t{-3}}},
                      {"constant_22", Value{std::int64_t{-2}}}};
  const auto kernel = read_spirv(more, {}, values);
  REQUIRE_MESSAGE(kernel, kernel.error().text());
  const std::vector<std::uint32_t> out = specialised(more, kernel->constants);
  REQUIRE(out.size() == more.size());
  const auto again = read_spirv(out, {}, {});
  REQUIRE(again);
  for (std::size_t i = 0; i < kernel->constants.size(); ++i)
    CHECK((again->constants[i].bits & 0xffff) == (kernel->constants[i].bits & 0xffff));
  CHECK(out[out.size() - 1] == 0xfffffffe);
  CHECK(out[out.size() - 6] == 0xfffffffd);
  CHECK(out[out.size() - 5] == 0xffffffff);
  CHECK((out[out.size() - 12] & 0xffff) == 48);
}

TEST_CASE("shaders: declared constants get other values, and nothing else changes") {
  const std::vector<NamedValue> values{{"GROUP", Value{std::int64_t{64}}}, {"FAST", Value{true}}};
  const std::string text =
      "layout(constant_id = 0) const uint GROUP = 16u;\n[[vk::constant_id(1)]] const bool FAST = false;\n"
      "layout(constant_id = 2) const int OTHER = 3;\nconst uint GROUP_2 = GROUP; // GROUP = 1;\n";
  CHECK(with_constants(text, values) ==
        "layout(constant_id = 0) const uint GROUP = 64;\n[[vk::constant_id(1)]] const bool FAST = true;\n"
        "layout(constant_id = 2) const int OTHER = 3;\nconst uint GROUP_2 = GROUP; // GROUP = 1;\n");
}

TEST_CASE("SPIR-V: files in the other byte order are read, others are none") {
  const std::vector<std::uint32_t> words = small_shader().words;
  std::vector<std::byte> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  CHECK(*spirv_words(bytes) == words);
  std::vector<std::byte> swapped = bytes;
  for (std::size_t i = 0; i < swapped.size(); i += 4)
    std::reverse(swapped.begin() + i, swapped.begin() + i + 4);
  CHECK(*spirv_words(swapped) == words);
  bytes.pop_back();
  CHECK(!spirv_words(bytes));
  bytes.assign(40, std::byte{1});
  CHECK(!spirv_words(bytes));
}

TEST_CASE("SPIR-V: bindings that HLSL counts apart are told apart") {
  std::vector<std::uint32_t> words = small_shader(0).words, untouched = small_shader(7).words;
  make_bindings_distinct(words);
  const auto kernel = read_spirv(words, {}, {});
  REQUIRE(kernel);
  CHECK(kernel->buffers[0].names[0] == "A");
  CHECK(kernel->buffers[1].names[0] == "out_buffer");
  CHECK(kernel->buffers[1].binding == 1);
  const auto before = untouched;
  make_bindings_distinct(untouched);
  CHECK(untouched == before);
}

TEST_CASE("shaders: buffers are arrays by name, else by place; scalars likewise") {
  const std::vector<std::uint32_t> words = small_shader().words;
  const SpirvKernel kernel = *read_spirv(words, {}, {});
  const std::vector<ShaderParameter> named{
      {"n", false, 4}, {"b", true, 0}, {"scale", false, 8}, {"a", true, 0}};
  const auto by_name = bind_shader("k", words, kernel, named);
  REQUIRE_MESSAGE(by_name, by_name.error().text());
  REQUIRE(by_name->arrays.size() == 2);
  CHECK(by_name->arrays[0].parameter == 3);
  CHECK(by_name->arrays[1].parameter == 1);
  CHECK(by_name->arrays[1].exact != 0);
  CHECK(by_name->push[0].parameter == 0);
  CHECK(by_name->push[1].parameter == 2);
  const auto by_place = bind_shader(
      "k", words, kernel,
      std::vector<ShaderParameter>{{"x", true, 0}, {"s", false, 4}, {"y", true, 0}, {"t", false, 8}});
  REQUIRE_MESSAGE(by_place, by_place.error().text());
  CHECK(by_place->arrays[0].parameter == 0);
  CHECK(by_place->arrays[1].parameter == 2);
  CHECK(by_place->push[1].parameter == 3);
  const auto refused = [&](std::vector<ShaderParameter> parameters) {
    const auto shader = bind_shader("k", words, kernel, parameters);
    return shader ? std::string() : shader.error().text();
  };
  CHECK(says(refused({{"a", true, 0}, {"n", false, 4}, {"scale", false, 8}}), "has the name of no array"));
  CHECK(says(refused({{"x", true, 0}, {"n", false, 4}, {"scale", false, 8}}), "beyond the arrays"));
  CHECK(says(refused({{"a", true, 0}, {"b", true, 0}, {"n", false, 4}}), "no scalar"));
  CHECK(says(refused({{"a", true, 0}, {"b", true, 0}, {"n", false, 4}, {"scale", false, 4}}), "has 8 bytes"));
}

TEST_CASE("shaders: an image is read as it was written, and nothing else is") {
  const std::vector<std::uint32_t> words = small_shader().words;
  const std::vector<ShaderParameter> named{
      {"n", false, 4}, {"b", true, 0}, {"scale", false, 8}, {"a", true, 0}};
  const Shader shader = *bind_shader("k", words, *read_spirv(words, {}, {}), named);
  std::vector<std::byte> image = image_of({shader, shader});
  CHECK(image_bytes(image.data()) == image.size());
  const auto read = shaders_of(image);
  REQUIRE(read.has_value());
  REQUIRE(read->size() == 2);
  CHECK(read->back().function == "k");
  CHECK(read->back().words == words);
  CHECK(read->back().constants[0].bits == 16);
  CHECK(read->back().local_size == shader.local_size);
  image.pop_back();
  CHECK(!shaders_of(image));
  image.assign(64, std::byte{7});
  CHECK(!shaders_of(image));
  CHECK(image_bytes(image.data()) == 0);
}
