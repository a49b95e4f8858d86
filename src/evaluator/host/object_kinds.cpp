// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/object_kinds.hpp"

#include <algorithm>
#include <initializer_list>

namespace kernelsearch::detail {
namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool begins_with_one(std::string_view word, Words words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return word.substr(0, w.size()) == w; });
}

/// Names of vector instructions without the v of the newer encodings.
std::string_view without_v(std::string_view name) {
  return !name.empty() && name.front() == 'v' ? name.substr(1) : name;
}

/// Takes one of the endings off; false where it has none.
bool take_ending(std::string_view& name, Words endings) {
  for (const std::string_view ending : endings)
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) {
      name.remove_suffix(ending.size());
      return true;
    }
  return false;
}

/// fmadd231, fnmsub132, fmaddsub, ... without the ending for the type.
bool is_fma_stem(std::string_view stem) {
  if (stem.empty() || stem.front() != 'f') return false;
  stem.remove_prefix(1);
  if (!stem.empty() && stem.front() == 'n') stem.remove_prefix(1);
  (void)take_ending(stem, {"132", "213", "231"});
  return is_one_of(stem, {"madd", "msub", "maddsub", "msubadd"});
}

bool is_packed_only_stem(std::string_view stem) {
  return is_one_of(stem, {"hadd", "hsub", "addsub", "dp", "dpbf16"});
}

bool is_floating_stem(std::string_view stem) {
  return is_one_of(stem, {"add", "sub", "mul", "div", "sqrt", "min", "max", "rcp", "rsqrt", "rcp14",
                          "rsqrt14", "rcp28", "rsqrt28", "round", "rndscale", "scalef"});
}

/// Arithmetic on packed integers, by the name without v.
bool is_packed_integer(std::string_view name) {
  if (is_one_of(name, {"pslldq", "psrldq"})) return false;  // move bytes
  return begins_with_one(
      name, {"padd", "psub", "pmul", "pmadd", "pmin", "pmax", "pavg", "psad", "pabs",   "phadd", "phsub",
             "psll", "psrl", "psra", "psign", "pdpb", "pdpw", "prol", "pror", "popcnt", "pshld", "pshrd"});
}

bool is_integer_logic(std::string_view name) {
  return begins_with_one(name, {"pand", "por", "pxor", "pternlog"});
}

bool is_floating_logic(std::string_view name) {
  return is_one_of(name, {"andps", "andpd", "andnps", "andnpd", "orps", "orpd", "xorps", "xorpd"});
}

/// Whether an instruction such as xor has the same register twice, which makes a constant.
bool makes_constant(std::string_view operands) {
  if (!operands.empty() && operands.front() == '$')
    operands.remove_prefix(std::min(operands.find(',') + 1, operands.size()));
  const std::size_t comma = operands.find(',');
  if (comma == std::string_view::npos || operands.front() != '%') return false;
  const std::string_view first = operands.substr(0, comma);
  const std::string_view rest = operands.substr(comma + 1);
  return rest.substr(0, rest.find(',')) == first;
}

unsigned register_bits(std::string_view operands) {
  if (operands.find("%zmm") != std::string_view::npos) return 512;
  if (operands.find("%ymm") != std::string_view::npos) return 256;
  return operands.find("%xmm") != std::string_view::npos ? 128 : 0;
}

/// Moves of whole registers; half of one (movlps) also stores one number.
bool is_packed_move(std::string_view name) {
  return begins_with_one(name, {"movap", "movup", "movdqa", "movdqu", "lddqu", "movnt", "maskmov", "pmaskmov",
                                "pmovzx", "pmovsx", "gather", "pgather", "scatter", "pscatter", "compress",
                                "pcompress", "expand", "pexpand"});
}

struct Memory {
  bool any = false;
  bool constant = false;  ///< next to the code
  bool stack = false;     ///< at a fixed place of the frame
};

Memory memory_of(std::string_view operands, bool framed) {
  Memory memory;
  const std::size_t open = operands.find('(');
  if (open == std::string_view::npos) return memory;
  memory.any = true;
  const std::string_view base = operands.substr(open, std::min(operands.find(')'), operands.size()) - open);
  memory.constant = base == "(%rip";
  if (base == "(%rsp") memory.stack = true;
  if (base == "(%rbp" && framed) {
    std::size_t begin = operands.find_last_of(", \t", open);
    begin = begin == std::string_view::npos ? 0 : begin + 1;
    memory.stack = operands[begin] == '-';  // above are the caller's
  }
  return memory;
}

}  // namespace

ObjectKind object_kind(std::string_view mnemonic, std::string_view operands, bool framed) {
  using Signature = ObjectSignature;
  ObjectKind kind;
  if (begins_with_one(mnemonic, {"nop", "endbr", "int3", "ud2"}) || mnemonic == "data16" ||
      (mnemonic == "xchg" && operands == "%ax,%ax")) {
    kind.padding = true;
    return kind;
  }
  kind.set(Signature::instructions);
  if (mnemonic.substr(0, 3) == "lea") return kind;
  if (mnemonic.substr(0, 8) == "prefetch") {
    kind.set(Signature::prefetch);
    return kind;
  }
  const Memory memory = memory_of(operands, framed);
  if (memory.stack) kind.set(Signature::spill);
  const std::string_view name = without_v(mnemonic);
  const unsigned bits = register_bits(operands);
  const std::size_t lanes = std::max<std::size_t>(bits / 32, 1);
  std::size_t width = 1;  // of what is moved, in numbers

  std::string_view stem = name;
  bool packed = false, scalar = false;
  if (take_ending(stem, {"ps", "pd", "ph"}))
    packed = is_fma_stem(stem) || is_packed_only_stem(stem) || is_floating_stem(stem);
  else if (take_ending(stem, {"ss", "sd", "sh"}))
    scalar = is_fma_stem(stem) || is_floating_stem(stem);
  if ((packed || scalar) && is_fma_stem(stem)) kind.set(Signature::fma);
  if ((packed || scalar) && stem == "div") kind.set(Signature::division);
  if (bits > 0 && is_packed_integer(name))
    packed = name.substr(0, 4) != "psub" || !makes_constant(operands);
  else if (bits > 0 && is_integer_logic(name))
    packed = !makes_constant(operands);
  else if (bits > 0 && is_floating_logic(name))
    packed = !makes_constant(operands);
  if (packed && bits > 0) {
    kind.set(bits == 512   ? Signature::vector_512
             : bits == 256 ? Signature::vector_256
                           : Signature::vector_128);
    kind.doubtful_packed = bits == 128;
    kind.work += lanes;
    width = lanes;
  }
  if (scalar || begins_with_one(mnemonic, {"fadd", "fsub", "fmul", "fdiv", "fsqrt", "fiadd", "fisub", "fimul",
                                           "fidiv"})) {
    kind.set(Signature::scalar_fp);
    ++kind.work;
  }
  if (is_one_of(mnemonic,
                {"div", "divb", "divw", "divl", "divq", "idiv", "idivb", "idivw", "idivl", "idivq"}) ||
      begins_with_one(mnemonic, {"fdiv", "fidiv"})) {
    kind.set(Signature::division);
    ++kind.work;
  }
  if (begins_with_one(mnemonic, {"imul"})) ++kind.work;
  if (begins_with_one(name, {"gather", "pgather"}) && !begins_with_one(name, {"gatherpf"}))
    kind.set(Signature::gather);
  if (begins_with_one(name, {"gatherpf", "scatterpf"})) kind.set(Signature::prefetch);
  if (begins_with_one(name, {"movnt"}) && name != "movntdqa") kind.set(Signature::streaming_store);
  if (bits > 0 && is_packed_move(name)) width = lanes;
  if (memory.any) {
    kind.work += width;
    kind.packed_access = width > 1 && !memory.constant && !memory.stack;
  }
  return kind;
}

}  // namespace kernelsearch::detail
