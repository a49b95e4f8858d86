// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/object_counts.hpp"

#include <doctest/doctest.h>

#include <string>

#include "evaluator/host/object_kinds.hpp"

using namespace kernelsearch;

namespace {

/// Names of what an instruction is, less `instructions`; `?` behind packed arithmetic that scalar code has
/// too.
std::string kinds(const char* mnemonic, const char* operands, bool framed = false) {
  const detail::ObjectKind kind = detail::object_kind(mnemonic, operands, framed);
  if (kind.padding) return "padding";
  std::string text;
  for (std::size_t s = 0; s + 1 < object_signature_names.size(); ++s)
    if (kind.is(static_cast<ObjectSignature>(s)))
      text += (text.empty() ? "" : " ") + std::string(object_signature_names[s]);
  return text + (kind.doubtful_packed ? "?" : "");
}

}  // namespace

TEST_CASE("object_counts: packed and scalar arithmetic by width, as AT&T syntax has it") {
  CHECK(kinds("vaddps", "%ymm0,%ymm1,%ymm2") == "vector_256");
  CHECK(kinds("vfmadd231ps", "(%rsi,%rax,1),%zmm2,%zmm0{%k1}") == "vector_512 fma");
  CHECK(kinds("vfnmsub132sd", "%xmm0,%xmm1,%xmm2") == "scalar_fp fma");
  CHECK(kinds("addps", "%xmm0,%xmm1") == "vector_128?");
  CHECK(kinds("mulss", "%xmm0,%xmm1") == "scalar_fp");
  CHECK(kinds("vdivpd", "%ymm0,%ymm1,%ymm1") == "vector_256 division");
  CHECK(kinds("divsd", "%xmm0,%xmm1") == "scalar_fp division");
  CHECK(kinds("vpmaxsd", "%ymm0,%ymm1,%ymm1") == "vector_256");  // no scalar maximum of doubles
  CHECK(kinds("pminsd", "%xmm0,%xmm1") == "vector_128?");
  CHECK(kinds("vpdpbusd", "%zmm0,%zmm1,%zmm2") == "vector_512");
  CHECK(kinds("vpmulld", "%ymm0,%ymm0,%ymm0") == "vector_256");  // squares
  CHECK(kinds("fdivrp", "%st,%st(1)") == "scalar_fp division");
  CHECK(kinds("idivl", "(%rdi)") == "division");
  CHECK(kinds("idiv", "%ecx") == "division");
  CHECK(kinds("vmaxsd", "%xmm0,%xmm1,%xmm1") == "scalar_fp");
}

TEST_CASE("object_counts: what is no arithmetic") {
  for (const auto& entry : {std::pair{"movsd", "(%rdi),%xmm0"},
                            {"vmovups", "(%rdi),%ymm0"},
                            {"pxor", "%xmm0,%xmm0"},
                            {"vxorps", "%xmm1,%xmm1,%xmm1"},
                            {"vpternlogd", "$0xff,%zmm0,%zmm0,%zmm0"},
                            {"psubd", "%xmm0,%xmm0"},
                            {"vcvtps2pd", "%xmm0,%ymm0"},
                            {"cvtsi2sd", "%eax,%xmm0"},
                            {"vshufps", "$0x1,%ymm0,%ymm0,%ymm0"},
                            {"pslldq", "$0x4,%xmm0"},
                            {"popcnt", "%eax,%eax"},
                            {"add", "$0x8,%rsp"},
                            {"movslq", "%edx,%rdx"},
                            {"movntdqa", "(%rdi),%xmm0"},
                            {"pushq", "%rbp"},
                            {"lea", "0x8(%rsp),%rax"},
                            {"kandw", "%k0,%k1,%k1"},
                            {"vucomiss", "%xmm0,%xmm1"},
                            {"mov", "%fs:0x28,%rax"},
                            {"fld", "%st(0)"}}) {
    const auto& mnemonic = entry.first;  // no structured binding: clang 14 captures none
    const auto& operands = entry.second;
    CHECK_MESSAGE(kinds(mnemonic, operands).empty(), mnemonic, " ", operands, ": ",
                  kinds(mnemonic, operands));
  }
}

TEST_CASE("object_counts: memory") {
  CHECK(kinds("prefetcht0", "0x100(%rdi)") == "prefetch");
  CHECK(kinds("prefetchw", "(%rdi)") == "prefetch");
  CHECK(kinds("vmovntps", "%ymm0,(%rdi)") == "streaming_store");
  CHECK(kinds("movnti", "%eax,(%rdi)") == "streaming_store");
  CHECK(kinds("vgatherdps", "%ymm0,(%rdi,%ymm1,4),%ymm2") == "gather");
  CHECK(kinds("vpgatherqq", "%ymm0,(%rdi,%ymm1,8),%ymm2") == "gather");
  CHECK(kinds("vmovss", "%xmm1,0xc(%rsp)") == "spill");
  CHECK(kinds("mov", "(%rsp),%rax") == "spill");
  CHECK(kinds("mov", "(%rsp,%rax,4),%eax") == "");  // an array
  CHECK(kinds("mov", "-0x38(%rbp),%rax", true) == "spill");
  CHECK(kinds("mov", "-0x38(%rbp),%rax", false) == "");  // %rbp is any register
  CHECK(kinds("mov", "0x10(%rbp),%rax", true) == "");    // the caller's
  CHECK(kinds("vaddsd", "0x8(%rsp),%xmm0,%xmm0") == "scalar_fp spill");
}

TEST_CASE("object_counts: padding is no instruction") {
  CHECK(kinds("nopw", "0x0(%rax,%rax,1)") == "padding");
  CHECK(kinds("xchg", "%ax,%ax") == "padding");
  CHECK(kinds("endbr64", "") == "padding");
  CHECK(kinds("xchg", "%eax,%ebx").empty());
  CHECK(detail::object_kind("", "", false).is(ObjectSignature::instructions));
}
