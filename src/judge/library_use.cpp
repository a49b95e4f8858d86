// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/library_use.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_entries = 1 << 20;

/// A structure at an offset of the file; nothing where it does not fit.
template <class T>
std::optional<T> read_at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::optional<std::string> text_at(std::string_view file, std::uint64_t offset) {
  if (offset >= file.size()) return std::nullopt;
  const std::size_t end = file.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(file.substr(offset, end - offset));
}

bool is_elf(const Elf64_Ehdr& head) {
  constexpr unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  return std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_ident[EI_DATA] == order;
}

// As the dynamic linker finds it: by program headers and addresses. Section headers are for others, and a
// file may lie in them.
class DynamicSection {
 public:
  static std::optional<DynamicSection> of(std::string_view file) {
    const auto head = read_at<Elf64_Ehdr>(file, 0);
    if (!head || !is_elf(*head)) return std::nullopt;
    DynamicSection section(file);
    std::optional<Elf64_Phdr> dynamic;
    for (std::uint64_t i = 0; i < head->e_phnum; ++i) {
      const auto part = read_at<Elf64_Phdr>(file, head->e_phoff + i * sizeof(Elf64_Phdr));
      if (!part) return std::nullopt;
      if (part->p_type == PT_LOAD) section.loaded_.push_back(*part);
      if (part->p_type == PT_DYNAMIC) dynamic = part;
    }
    if (!dynamic) return std::nullopt;
    const auto begin = section.offset_of(dynamic->p_vaddr);
    if (!begin) return std::nullopt;
    for (std::uint64_t i = 0; i < most_entries; ++i) {
      const auto entry = read_at<Elf64_Dyn>(file, *begin + i * sizeof(Elf64_Dyn));
      if (!entry) return std::nullopt;
      if (entry->d_tag == DT_NULL) return section;
      section.entries_.push_back(*entry);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> value(std::int64_t tag) const {
    for (const Elf64_Dyn& entry : entries_)
      if (entry.d_tag == tag) return entry.d_un.d_val;
    return std::nullopt;
  }

  /// Where the file has what is loaded at an address.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& part : loaded_)
      if (address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
        return part.p_offset + (address - part.p_vaddr);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> offset_of_tag(std::int64_t tag) const {
    const auto address = value(tag);
    return address ? offset_of(*address) : std::nullopt;
  }

  /// Symbols have no count of their own: as many as the tables for looking them up know.
  [[nodiscard]] std::optional<std::uint64_t> symbols() const {
    if (const auto hash = offset_of_tag(DT_HASH)) {
      const auto chains = read_at<Elf64_Word>(file_, *hash + sizeof(Elf64_Word));
      return chains ? std::optional<std::uint64_t>(*chains) : std::nullopt;
    }
    const auto hash = offset_of_tag(DT_GNU_HASH);
    if (!hash) return std::nullopt;
    struct Head {
      Elf64_Word buckets, first, words, shift;
    };
    const auto head = read_at<Head>(file_, *hash);
    if (!head || head->buckets > most_entries || head->words > most_entries) return std::nullopt;
    const std::uint64_t buckets = *hash + sizeof(Head) + std::uint64_t{8} * head->words;
    const std::uint64_t chains = buckets + std::uint64_t{4} * head->buckets;
    std::uint64_t last = 0;
    for (std::uint64_t b = 0; b < head->buckets; ++b) {
      const auto bucket = read_at<Elf64_Word>(file_, buckets + 4 * b);
      if (!bucket) return std::nullopt;
      last = std::max<std::uint64_t>(last, *bucket);
    }
    if (last < head->first) return head->first;  // it exports nothing; those before `first` are not hashed
    for (std::uint64_t i = 0; i < most_entries; ++i) {
      const auto link = read_at<Elf64_Word>(file_, chains + 4 * (last - head->first));
      if (!link) return std::nullopt;
      ++last;
      if ((*link & 1) != 0) return last;
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::vector<Elf64_Dyn>& entries() const noexcept { return entries_; }

 private:
  explicit DynamicSection(std::string_view file) : file_(file) {}

  std::string_view file_;
  std::vector<Elf64_Phdr> loaded_;
  std::vector<Elf64_Dyn> entries_;
};

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [name](std::string_view begin) { return name.substr(0, begin.size()) == begin; });
}

constexpr Elf64_Half machine_of_this =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#elif defined(__riscv)
    EM_RISCV;
#elif defined(__powerpc64__)
    EM_PPC64;
#else
    EM_NONE;
#endif

/// What a shared library asks of the loader besides libraries by name, in words; nothing where that is all.
std::string_view asks_of_loader(const Elf64_Dyn& entry) {
  switch (entry.d_tag) {
    case DT_TEXTREL:
      return "to change its code at load (text relocations)";
    case DT_FLAGS:
      return (entry.d_un.d_val & DF_TEXTREL) != 0 ? "to change its code at load (text relocations)" : "";
    case DT_AUDIT:
    case DT_DEPAUDIT:
      return "for an auditing library (DT_AUDIT)";
    case DT_FILTER:
    case DT_AUXILIARY:
      return "for a library in its own place (DT_FILTER, DT_AUXILIARY)";
    case DT_FLAGS_1:
      if ((entry.d_un.d_val & DF_1_PIE) != 0) return "to be started as a program (a PIE)";
      return (entry.d_un.d_val & (DF_1_INTERPOSE | DF_1_GLOBAL | DF_1_INITFIRST)) != 0
                 ? "to go before other libraries (DF_1_INTERPOSE, DF_1_GLOBAL, DF_1_INITFIRST)"
                 : "";
    default:
      return "";
  }
}

/// A folder of a search path that is not one of these nor below one.
std::optional<std::string> foreign_folder(const std::string& search,
                                          std::span<const std::filesystem::path> readable) {
  for (std::size_t at = 0; at <= search.size();) {
    const std::size_t end = std::min(search.find(':', at), search.size());
    const std::string folder = search.substr(at, end - at);
    at = end + 1;
    const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
    const bool fine = path.is_absolute() && folder.find('$') == std::string::npos &&
                      std::any_of(readable.begin(), readable.end(), [&](const std::filesystem::path& one) {
                        const std::filesystem::path below = path.lexically_relative(one.lexically_normal());
                        return !below.empty() && *below.begin() != "..";
                      });
    if (!fine) return folder;
  }
  return std::nullopt;
}

struct Defined {
  std::vector<std::string> functions;  ///< that others can call
  std::vector<std::string> others;
};

/// What the file defines for others; nothing where its tables are damaged.
std::optional<Defined> defined_in(std::string_view elf, const DynamicSection& section) {
  const auto table = section.offset_of_tag(DT_SYMTAB), texts = section.offset_of_tag(DT_STRTAB);
  const auto count = section.symbols();
  if (!table || !texts || !count) return std::nullopt;
  Defined defined;
  for (std::uint64_t i = 1; i < *count; ++i) {
    const auto symbol = read_at<Elf64_Sym>(elf, *table + i * sizeof(Elf64_Sym));
    if (!symbol) return std::nullopt;
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) continue;
    auto name = text_at(elf, *texts + symbol->st_name);
    if (!name) return std::nullopt;
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    (type == STT_FUNC || type == STT_GNU_IFUNC ? defined.functions : defined.others)
        .push_back(*std::move(name));
  }
  return defined;
}

/// Whether each table is named once and every relocation is of a symbol that was looked at: a loader may
/// read other tables than we do where there are two, and does not count symbols.
bool is_unambiguous(std::string_view elf, const DynamicSection& section) {
  std::vector<std::int64_t> tags;
  for (const Elf64_Dyn& entry : section.entries())
    if (entry.d_tag != DT_NEEDED) tags.push_back(entry.d_tag);
  std::sort(tags.begin(), tags.end());
  if (std::adjacent_find(tags.begin(), tags.end()) != tags.end()) return false;
  if (section.value(DT_REL).value_or(0) != 0) return false;  // of other processors
  const auto count = section.symbols();
  if (!count) return false;
  for (const auto& [table, size] : {std::pair{DT_RELA, DT_RELASZ}, std::pair{DT_JMPREL, DT_PLTRELSZ}}) {
    const auto address = section.value(table), bytes = section.value(size);
    if (!address || !bytes || *bytes == 0) continue;
    const auto begin = section.offset_of(*address);
    if (!begin) return false;
    for (std::uint64_t at = 0; at < *bytes; at += sizeof(Elf64_Rela)) {
      const auto one = read_at<Elf64_Rela>(elf, *begin + at);
      const std::uint64_t of = one ? ELF64_R_SYM(one->r_info) : 0;
      if (!one || (of != 0 && of >= *count)) return false;
    }
  }
  return true;
}

/// What compilers bring along for code that uses no library.
bool is_runtime(std::string_view library) {
  return begins_with_any(
      library, {"libc.so", "libm.so", "libmvec.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux",
                "ld-musl", "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so", "libatomic.so",
                "libgomp.so", "libomp.so", "libubsan.so", "libasan.so", "libtsan.so", "liblsan.so"});
}

bool loads_others(std::string_view symbol) {
  constexpr std::string_view names[] = {
      "dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode", "__libc_dlsym", "__libc_dlvsym"};
  return std::find(std::begin(names), std::end(names), symbol) != std::end(names);
}

/// Whether a library's file name is that of `name` for the linker, whatever its version.
bool is_called(std::string_view library, std::string_view name) {
  return library == name || begins_with_any(library, {"lib" + std::string(name) + ".so"});
}

}  // namespace

std::optional<LibraryUse> read_library_use(std::string_view elf) {
  const auto section = DynamicSection::of(elf);
  if (!section) return std::nullopt;
  LibraryUse use;
  const auto texts = section->offset_of_tag(DT_STRTAB);
  for (const Elf64_Dyn& entry : section->entries()) {
    if (entry.d_tag != DT_NEEDED) continue;
    auto name = texts ? text_at(elf, *texts + entry.d_un.d_val) : std::nullopt;
    if (!name) return std::nullopt;
    use.needed.push_back(*std::move(name));
  }
  const auto table = section->offset_of_tag(DT_SYMTAB);
  const auto count = section->symbols();
  if (!table || !count || !texts) return std::nullopt;
  for (std::uint64_t i = 1; i < *count; ++i) {
    const auto symbol = read_at<Elf64_Sym>(elf, *table + i * sizeof(Elf64_Sym));
    if (!symbol) return std::nullopt;
    if (symbol->st_shndx != SHN_UNDEF) continue;
    auto name = text_at(elf, *texts + symbol->st_name);
    if (!name) return std::nullopt;
    use.undefined.push_back(*std::move(name));
  }
  return use;
}

std::optional<std::string> unfit_library(std::string_view elf, std::string_view function,
                                         std::span<const std::filesystem::path> readable) {
  const auto head = read_at<Elf64_Ehdr>(elf, 0);
  if (!head || !is_elf(*head) || head->e_type != ET_DYN)
    return "is not a shared library for 64-bit programs of this machine's byte order";
  if (head->e_machine != machine_of_this)
    return "is for another processor (ELF machine " + std::to_string(head->e_machine) + ", here " +
           std::to_string(machine_of_this) + "): build for this machine";
  const char* const damaged = "is damaged or cut off: its tables point outside of the file";
  if (head->e_phentsize != sizeof(Elf64_Phdr)) return damaged;
  for (std::uint64_t i = 0; i < head->e_phnum; ++i) {
    const auto part = read_at<Elf64_Phdr>(elf, head->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) return damaged;
    if (part->p_type != PT_LOAD && part->p_type != PT_DYNAMIC) continue;
    if (part->p_offset > elf.size() || part->p_filesz > elf.size() - part->p_offset) return damaged;
  }
  const auto section = DynamicSection::of(elf);
  const auto use = read_library_use(elf);
  const auto defined = section ? defined_in(elf, *section) : std::nullopt;
  if (!use || !defined) return damaged;
  for (const Elf64_Dyn& entry : section->entries()) {
    if (const std::string_view asks = asks_of_loader(entry); !asks.empty())
      return "asks the loader " + std::string(asks) + ": link it with -shared, of objects made with -fPIC";
    if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    const auto texts = section->offset_of_tag(DT_STRTAB);
    const auto search = texts ? text_at(elf, *texts + entry.d_un.d_val) : std::nullopt;
    if (!search) return damaged;
    if (const auto folder = foreign_folder(*search, readable))
      return "looks for libraries in " + (folder->empty() ? "the working folder" : *folder) +
             ": link it without -rpath, or name the folder to --readable";
  }
  for (const std::string& library : use->needed)
    if (library.find('/') != std::string::npos)
      return "needs the library " + library + " by its path: give that library a name (-soname)";
  const auto is_ours = [](const std::string& name) { return name.starts_with("kernelsearch_"); };
  for (const auto* names : {&defined->functions, &defined->others})
    if (const auto ours = std::find_if(names->begin(), names->end(), is_ours); ours != names->end())
      return "defines " + *ours + ", a name of kernelsearch's: give it another one";
  if (std::find(defined->functions.begin(), defined->functions.end(), function) != defined->functions.end())
    return is_unambiguous(elf, *section) ? std::nullopt : std::optional<std::string>(damaged);
  std::string shown;
  for (std::size_t i = 0; i < defined->functions.size() && i < 8; ++i)
    shown += (i == 0 ? "" : ", ") + defined->functions[i].substr(0, 80);
  return "exports no function " + std::string(function) +
         (shown.empty() ? "" : ", but " + shown + (defined->functions.size() > 8 ? ", ..." : "")) +
         ": give it C linkage and default visibility";
}

std::vector<std::string> allowed_libraries(const Problem& problem, const Candidate& candidate) {
  if (problem.libraries) return *problem.libraries;
  std::vector<std::string> allowed = problem.build.libraries;
  for (const std::string& text : candidate_flags(problem, candidate)) {
    if (text.rfind("-l:", 0) == 0)
      allowed.push_back(text.substr(3));
    else if (text.rfind("-l", 0) == 0)
      allowed.push_back(text.substr(2));
    else if (text.find(".so") != std::string::npos && text.front() != '-')
      allowed.push_back(text.substr(text.rfind('/') + 1));
  }
  return allowed;
}

std::optional<std::string> forbidden_use(const LibraryUse& use, std::span<const std::string> allowed) {
  for (const std::string& library : use.needed) {
    const bool fine =
        is_runtime(library) || std::any_of(allowed.begin(), allowed.end(),
                                           [&](const auto& name) { return is_called(library, name); });
    if (!fine)
      return "it needs the library " + library +
             ", which the problem does not allow; if it is meant to be called, name it in \"libraries\"";
  }
  const auto loads = std::find_if(use.undefined.begin(), use.undefined.end(), loads_others);
  if (loads != use.undefined.end() && std::find(allowed.begin(), allowed.end(), "dl") == allowed.end())
    return "it calls " + *loads +
           ", which loads libraries while it runs; if it is meant to, name \"dl\" in \"libraries\"";
  return std::nullopt;
}

}  // namespace kernelsearch
