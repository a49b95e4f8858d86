// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace kernelsearch_standin {

/// A symbol of a shared object that has room of its own.
struct ObjectSymbol {
  std::string name;
  std::size_t address, bytes;
  bool code, zeroed;
};

/// The symbols of the shared object in memory, local ones too; none where it is no such thing.
inline std::vector<ObjectSymbol> symbols_of(const unsigned char* image, std::size_t bytes) {
  std::vector<ObjectSymbol> symbols;
  Elf64_Ehdr file;
  if (bytes < sizeof file) return symbols;
  std::memcpy(&file, image, sizeof file);
  if (std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0) return symbols;
  if (file.e_shoff + std::size_t{file.e_shnum} * sizeof(Elf64_Shdr) > bytes) return symbols;
  std::vector<Elf64_Shdr> sections(file.e_shnum);
  std::memcpy(sections.data(), image + file.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections.size()) continue;
    const char* names = reinterpret_cast<const char*>(image) + sections[table.sh_link].sh_offset;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, image + table.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections.size()) continue;
      symbols.push_back({names + symbol.st_name, symbol.st_value, symbol.st_size,
                         ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                         sections[symbol.st_shndx].sh_type == SHT_NOBITS});
    }
  }
  return symbols;
}

/// Whether `symbol` is a static of a function, which is what __shared__ memory is here.
inline bool is_shared(const ObjectSymbol& symbol) {
  return symbol.zeroed && !symbol.code && symbol.name.rfind("_ZZ", 0) == 0;
}

/// Whether it belongs to the function of this mangled (or extern "C") name.
inline bool is_within(const ObjectSymbol& symbol, const std::string& function) {
  const std::string inner =
      function.rfind("_Z", 0) == 0 ? function.substr(2) : std::to_string(function.size()) + function;
  return symbol.name.rfind("_ZZ" + inner + "E", 0) == 0;
}

/// The shared memory that a kernel declares: its own, and that of functions that are no kernels.
inline std::vector<ObjectSymbol> shared_of(const std::vector<ObjectSymbol>& symbols,
                                           const std::string& kernel,
                                           const std::vector<std::string>& kernels) {
  std::vector<ObjectSymbol> result;
  for (const ObjectSymbol& symbol : symbols) {
    if (!is_shared(symbol)) continue;
    bool others = false;
    for (const std::string& other : kernels) others = others || (other != kernel && is_within(symbol, other));
    if (!others) result.push_back(symbol);
  }
  return result;
}

inline std::size_t total_bytes(const std::vector<ObjectSymbol>& symbols) {
  std::size_t sum = 0;
  for (const ObjectSymbol& symbol : symbols) sum += symbol.bytes;
  return sum;
}

/// The function at this address; empty where there is none.
inline std::string function_at(const std::vector<ObjectSymbol>& symbols, std::size_t address) {
  for (const ObjectSymbol& symbol : symbols)
    if (symbol.code && symbol.address == address) return symbol.name;
  return "";
}

}  // namespace kernelsearch_standin
