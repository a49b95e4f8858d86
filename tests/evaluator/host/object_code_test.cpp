// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/object_code.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>

#include "kernelsearch/core/rng.hpp"
#include "support/packed_text.hpp"

using namespace kernelsearch;

namespace {

std::string dump(const std::string& name) {
  return support::packed_text(KERNELSEARCH_SOURCE_DIR "/tests/fixtures/objdump/" + name);
}

using Names = std::set<std::string>;

/// What there is any of, less the loop's own branch and the number of instructions.
Names found(const ObjectCounts& counts) {
  Names names;
  for (std::size_t s = 0; s < object_signature_names.size(); ++s) {
    const auto signature = static_cast<ObjectSignature>(s);
    if (signature == ObjectSignature::instructions || signature == ObjectSignature::branch) continue;
    if (counts.of(signature) > 0) names.emplace(to_string(signature));
  }
  return names;
}

std::string text_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

/// Of a kernel's hot loop. `arithmetic` stands for the packed arithmetic of the dump, or scalar_fp.
struct Expected {
  const char* kernel;
  Names always;
  Names vectorised;  ///< where compilers vectorise, besides the width
  Names scalar;      ///< where they were told not to
};

}  // namespace

TEST_CASE("object_code: both compilers' kernels show what they have and nothing else") {
  const std::vector<Expected> kernels{
      {"saxpy", {}, {"fma"}, {"scalar_fp", "fma"}},
      {"add_integers", {}, {}, {}},
      {"exclusive_or", {}, {}, {}},
      {"divide", {"division"}, {}, {"scalar_fp"}},
      {"multiply_by_reciprocal", {}, {}, {"scalar_fp"}},
      {"divide_by_constant", {}, {}, {}},
      {"calling_exported", {}, {"fma"}, {"scalar_fp", "fma"}},
      {"threads", {}, {"fma"}, {"scalar_fp", "fma"}},
      {"matmul", {}, {"fma"}, {"scalar_fp", "fma"}},
  };
  const std::map<std::string, std::string> widths{
      {"scalar", ""}, {"sse", "vector_128"}, {"avx2", "vector_256"}, {"avx512", "vector_512"}};
  for (const char* compiler : {"g++", "clang++"})
    for (const auto& [way, width] : widths) {
      const std::string text = dump(way + "." + compiler);
      for (const Expected& one : kernels) {
        const ObjectCode code = parse_object_code(text, one.kernel);
        const std::string where = way + "." + compiler + " " + one.kernel;
        REQUIRE_MESSAGE(code.hot_loop() != nullptr, where);
        Names wanted = one.always;
        if (width.empty()) {
          wanted.insert(one.scalar.begin(), one.scalar.end());
        } else {
          wanted.insert(width);
          wanted.insert(one.vectorised.begin(), one.vectorised.end());
        }
        if (way == "sse") wanted.erase("fma");  // the processor has none
        CHECK_MESSAGE(found(code.hot_loop()->counts) == wanted, where, ": ",
                      text_of(found(code.hot_loop()->counts)));
        CHECK_MESSAGE((code.loops_complete && code.functions_complete), where);
        CHECK_MESSAGE(code.hot_loop()->counts.of(ObjectSignature::branch) == 1, where);
      }
    }
}

TEST_CASE(
    "object_code: kernels that cannot be vectorised show no packed arithmetic, however they are compiled") {
  const std::vector<std::pair<const char*, Names>> kernels{
      {"recurrence", {"scalar_fp", "fma"}},
      {"negate_all", {"scalar_fp"}},                 // its sign is changed by a mask of 128 bits
      {"unsigned_to_double", {"scalar_fp", "fma"}},  // clang: converted by packed instructions
      {"running_maximum", {}},                       // g++: by packed instructions where it pays
      {"prefetching", {"scalar_fp", "prefetch"}},
      {"divide_integers", {"division"}},
      {"streaming_load", {}},
      {"calling_library", {"call"}},
      {"extended_precision", {"scalar_fp", "division"}},
  };
  for (const char* compiler : {"g++", "clang++"})
    for (const char* way : {"scalar", "sse", "avx2", "avx512"}) {
      const std::string text = dump(std::string(way) + "." + compiler);
      for (const auto& [kernel, names] : kernels) {
        const ObjectCode code = parse_object_code(text, kernel);
        const std::string where = std::string(way) + "." + compiler + " " + kernel;
        REQUIRE_MESSAGE(code.hot_loop() != nullptr, where);
        Names wanted = names;
        if (std::string(way) == "sse") wanted.erase("fma");
        CHECK_MESSAGE(found(code.hot_loop()->counts) == wanted, where, ": ",
                      text_of(found(code.hot_loop()->counts)));
      }
    }
}

TEST_CASE("object_code: streaming stores, gathers, spills, branches") {
  for (const char* compiler : {"g++", "clang++"})
    for (const char* way : {"scalar", "sse", "avx2", "avx512"}) {
      const std::string name = std::string(way) + "." + compiler;
      const std::string text = dump(name);
      const auto hot = [&](const char* kernel, ObjectSignature signature) {
        const ObjectCode code = parse_object_code(text, kernel);
        REQUIRE_MESSAGE(code.hot_loop() != nullptr, name, " ", kernel);
        return code.hot_loop()->counts.of(signature);
      };
      CHECK_MESSAGE(hot("streaming", ObjectSignature::streaming_store) == 1, name);
      CHECK_MESSAGE(hot("streaming", ObjectSignature::vector_128) == 1, name);
      CHECK_MESSAGE(hot("gathering", ObjectSignature::gather) == (std::string(way) == "sse" ? 0 : 1), name);
      CHECK_MESSAGE(hot("branching", ObjectSignature::branch) >= 3, name);
      // with 32 registers of 512 bits nothing need be spilled
      CHECK_MESSAGE((hot("spilling", ObjectSignature::spill) > 0) == (name != "avx512.clang++"), name);
      CHECK_MESSAGE(hot("saxpy", ObjectSignature::spill) == 0, name);
      // multiplied by the reciprocal: the division stands before the loop
      CHECK_MESSAGE(
          parse_object_code(text, "multiply_by_reciprocal").counts.of(ObjectSignature::division) == 1, name);
      CHECK_MESSAGE(parse_object_code(text, "copy").loops.empty(), name);  // memcpy or memmove
      CHECK_MESSAGE(parse_object_code(text, "copy").counts.of(ObjectSignature::call) == 1, name);
    }
}

TEST_CASE("object_code: what a loop calls is in the loop, and a called function's loop lies deeper") {
  for (const char* compiler : {"g++", "clang++"}) {
    const std::string text = dump(std::string("avx2.") + compiler);
    const ObjectCode calling = parse_object_code(text, "calling");
    CHECK(calling.functions.size() == 2);
    REQUIRE(calling.hot_loop() != nullptr);
    CHECK(calling.hot_loop()->counts.of(ObjectSignature::fma) == 1);
    CHECK(calling.hot_loop()->counts.of(ObjectSignature::call) == 1);
    const ObjectCode rows = parse_object_code(text, "calling_exported");
    CHECK(rows.functions.size() == 2);
    REQUIRE(rows.hot_loop() != nullptr);
    CHECK(rows.hot_loop()->depth == 2);
    CHECK(rows.hot_loop()->counts.of(ObjectSignature::call) == 0);
    CHECK(parse_object_code(text, "add_row").hot_loop()->depth == 1);
    CHECK(parse_object_code(text, "matmul").hot_loop()->depth == 3);
  }
}

TEST_CASE("object_code: only what the entry function reaches counts, by whatever linkage") {
  for (const char* compiler : {"g++", "clang++"})
    for (const char* linkage : {"plt", "got", "bound", "stripped"}) {
      const std::string name = "linkage_" + std::string(linkage) + "." + compiler;
      const std::string text = dump(name);
      const ObjectCode code = parse_object_code(text, "kernelsearch_entry");
      CHECK_MESSAGE(code.functions.size() == 2, name);
      CHECK_MESSAGE((code.loops_complete && code.functions_complete), name);
      REQUIRE_MESSAGE(code.hot_loop() != nullptr, name);
      CHECK_MESSAGE(code.hot_loop()->depth == 2, name);
      CHECK_MESSAGE(code.hot_loop()->counts.of(ObjectSignature::vector_256) == 1, name);
      CHECK_MESSAGE(code.counts.of(ObjectSignature::division) == 0, name);  // of `unused`
      const ObjectCode address = parse_object_code(text, "by_address");
      REQUIRE_MESSAGE(address.hot_loop() != nullptr, name);
      CHECK_MESSAGE(address.hot_loop()->counts.of(ObjectSignature::fma) == 1, name);
      const ObjectCode library = parse_object_code(text, "library_only");
      CHECK_MESSAGE(library.functions.size() == 1, name);
      CHECK_MESSAGE(library.counts.of(ObjectSignature::call) == 1, name);
      CHECK_MESSAGE(library.loops.empty(), name);
    }
}

TEST_CASE("object_code: computed jumps and calls leave it open") {
  for (const char* name : {"scalar.g++", "avx2.clang++"}) {
    const std::string text = dump(name);
    const ObjectCode switching = parse_object_code(text, "switching");
    CHECK(!switching.loops_complete);
    CHECK(switching.functions_complete);
    const Features features = object_features(switching);
    CHECK(features.find("code.complete") == 0);
    CHECK(features.find("code.division") == 1);
    CHECK(!features.find("code.loop.division"));
    // what the table holds is known from the relocations, what is called in the loop is not
    const ObjectCode pointer = parse_object_code(text, "calling_pointer");
    CHECK(pointer.functions.size() == 3);
    CHECK(pointer.functions_complete);
    CHECK(!pointer.loops_complete);
    CHECK(pointer.counts.of(ObjectSignature::division) + pointer.counts.of(ObjectSignature::fma) >= 1);
    const ObjectCode unknown =
        parse_object_code(text.substr(text.find("Disassembly of section")), "calling_pointer");
    CHECK(!unknown.functions_complete);
    const Features none = object_features(unknown);
    CHECK(none.size() == 1);
    CHECK(none.find("code.complete") == 0);
  }
}

TEST_CASE("object_code: features") {
  const Features features = object_features(parse_object_code(dump("avx2.g++"), "matmul"));
  CHECK(features.find("code.complete") == 1);
  CHECK(features.find("code.loops") == 4);
  CHECK(features.find("code.loop.vector_256") == 1);
  CHECK(features.find("code.loop.vector_128") == 0);
  CHECK(features.find("code.loop.fma") == 1);
  CHECK(features.find("code.loop.instructions") == 6);
  CHECK(features.find("code.vector_128") == 3);  // what is left over at the end of a row
  CHECK(object_features(parse_object_code(dump("avx2.g++"), "matm")).empty());
  const Features straight = object_features(parse_object_code(dump("avx2.g++"), "sort_three"));
  CHECK(straight.find("code.branch") == 2);
  CHECK(!straight.find("code.loop.branch"));
  std::string other = dump("avx2.g++");
  other.replace(other.find("elf64-x86-64"), 12, "elf64-little");  // of another processor
  CHECK(parse_object_code(other, "matmul").functions.empty());
}

TEST_CASE("object_code: nested loops, by the documented format") {
  const std::string text =
      "a.so:     file format elf64-x86-64\n"
      "Disassembly of section .plt:\n"
      "0000000000000000 <f@plt>:\n"
      "   0:\tjmp    *0x2fca(%rip)        # 4000 <f@Base>\n"
      "Disassembly of section .text:\n"
      "0000000000001000 <f>:\n"
      "    1000:\txor    %eax,%eax\n"
      "    1002:\tvaddps %ymm0,%ymm1,%ymm1\n"  // outer
      "    1006:\tvmulss %xmm0,%xmm2,%xmm2\n"  // inner
      "    100a:\tlock addl $0x1,(%rdi)\n"
      "    100e:\tjne    1006 <f+0x6>\n"
      "    1010:\tnopl   0x0(%rax)\n"
      "    1014:\tjg     1002 <f+0x2>\n"
      "    1016:\tret\n";
  const ObjectCode code = parse_object_code(text, "f");
  REQUIRE(code.loops.size() == 2);
  CHECK(code.loops[0].begin == 0x1002);
  CHECK(code.loops[0].end == 0x1014);
  CHECK(code.loops[0].depth == 1);
  CHECK(code.loops[0].counts.total() == 5);
  CHECK(code.loops[0].own.total() == 2);  // padding left out
  CHECK(code.loops[0].own.of(ObjectSignature::vector_256) == 1);
  CHECK(code.loops[1].depth == 2);
  CHECK(code.hot == 1);
  CHECK(code.counts.total() == 7);
  CHECK(code.counts.of(ObjectSignature::branch) == 2);
}

TEST_CASE("object_code: what the hot loop calls, by plain names and the lines of the kernel's text") {
  const std::string text = R"(k.so:     file format elf64-x86-64

Disassembly of section .text:

0000000000001130 <_ZL4gatef>:
_ZL4gatef():
/work/device:2
    1130:\tsub    $0x8,%rsp
/work/device:3
    1134:\tvxorps 0xec4(%rip),%xmm0,%xmm0        # 2000 <_fini+0xe0c>
_ZSt3expf():
/usr/include/c++/12/cmath:223
    113c:\tcall   1050 <expf@plt>
_ZL4gatef():
/work/device:3
    1141:\tvdivss %xmm0,%xmm1,%xmm0
/work/device:4
    1155:\tret

0000000000001160 <k>:
k():
/work/device:6
    1160:\ttest   %edi,%edi
    1162:\tjle    11d0 <k+0x70>
/work/device:7 (discriminator 3)
    1180:\tvmovss (%rbx),%xmm1
    1196:\tcall   1130 <_ZL4gatef>
_ZSt4tanhf():
/usr/include/c++/12/cmath:502 (discriminator 3)
    11aa:\tcall   1040 <tanhf@plt>
k():
/work/device:7 (discriminator 3)
    11b8:\tvmovss %xmm0,-0x4(%rbp)
/work/device:6 (discriminator 3)
    11c0:\tjne    1180 <k+0x20>
/work/device:9
    11c6:\tcall   1060 <free@plt>
    11d0:\tret

00000000000011e0 <kernelsearch_entry>:
kernelsearch_entry():
/work/kernelsearch_entry:1
    11e0:\tjmp    1160 <k>
)";
  std::string tabs = text;
  for (std::size_t at = tabs.find("\\t"); at != std::string::npos; at = tabs.find("\\t"))
    tabs.replace(at, 2, "\t");
  const ObjectCode code = parse_object_code(tabs, "kernelsearch_entry");
  REQUIRE(code.calls.size() == 4);
  const std::vector<ObjectCall>& calls = code.calls;
  CHECK(calls[0].function == "expf");
  CHECK(calls[0].source_line == 3);  // the header that it was inlined from is not the kernel's text
  CHECK(calls[0].returns_to == 0x1141);
  CHECK(calls[0].target == 0);
  CHECK(calls[1].function == "gate");
  CHECK(calls[1].source_line == 7);
  CHECK(calls[1].target == 0x1130);
  CHECK(calls[2].function == "tanhf");
  CHECK(calls[2].source_line == 7);
  REQUIRE(code.hot);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::count(calls[i].loops.begin(), calls[i].loops.end(), *code.hot) == 1);
  CHECK(calls[3].function == "free");
  CHECK(calls[3].loops.empty());
  const auto line_at = [&](std::uint64_t address) {
    for (const ObjectPlace& place : code.places)
      if (place.address == address) return place.source_line;
    return std::size_t{999};
  };
  CHECK(line_at(0x11b8) == 7);
  CHECK(line_at(0x11e0) == 0);
  const Features features = object_features(code);
  CHECK(features.find("code.call.expf") == 1);
  CHECK(features.find("code.call.expf.line") == 3);
  CHECK(features.find("code.call.tanhf.line") == 7);
  CHECK_FALSE(features.find("code.call.free"));
  // the same without lines
  std::string bare;
  std::istringstream lines(tabs);
  for (std::string line; std::getline(lines, line);)
    if (line.empty() || line.front() == ' ' || line.find('<') != std::string::npos ||
        line.find("of section") != std::string::npos)
      bare += line + '\n';
  const Features plain = object_features(parse_object_code(bare, "kernelsearch_entry"));
  CHECK(plain.find("code.call.expf") == 1);
  CHECK_FALSE(plain.find("code.call.expf.line"));
}

TEST_CASE("object_code: any text can be parsed") {
  Rng rng(3);
  const std::string whole = dump("linkage_plt.clang++");
  for (int i = 0; i < 400; ++i) {
    std::string text = whole;
    for (int change = 0; change < 12 && !text.empty(); ++change) {
      const std::size_t at = static_cast<std::size_t>(rng.below(text.size()));
      const std::size_t length = static_cast<std::size_t>(rng.below(60));
      switch (rng.below(4)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(static_cast<std::size_t>(rng.below(text.size())), length));
          break;
        case 2:
          text[at] = static_cast<char>(rng.below(256));
          break;
        default:
          text[at] = "0123456789abcdef(%*<>:,#"[rng.below(24)];
      }
    }
    const ObjectCode code = parse_object_code(text, "kernelsearch_entry");
    for (const ObjectLoop& loop : code.loops) {
      CHECK(loop.depth >= 1);
      for (std::size_t s = 0; s < object_signature_names.size(); ++s) {
        CHECK(loop.own.values[s] <= loop.counts.values[s]);
        CHECK(loop.counts.values[s] <= code.counts.values[s]);
      }
    }
    (void)object_features(code);
  }
  CHECK(parse_object_code("", "f").functions.empty());
  CHECK(parse_object_code("0000000000000000 <f>:\n", "f").functions.empty());
  CHECK(parse_object_code("0000000000000000 <f>:\n   0:\tret\n", "f").functions.size() == 1);
  CHECK(parse_object_code("0 <f>:\n 0:\tjmp 0 <f>\n 2:\tcall 0 <f>\n ffffffffffffffff:\tjmp 0 <f>\n", "f")
            .functions.size() == 1);
}
