// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/library_use.hpp"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "evaluator/host/support.hpp"
#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using support::judge;
using support::quick;

namespace {

/// A library with a function `triple` that is no part of any system, in the folder that it returns.
const std::filesystem::path& library_folder() {
  static const std::filesystem::path folder = [] {
    const auto path = support::scratch() / "library";
    std::filesystem::create_directories(path);
    std::ofstream(path / "triple.cpp") << "extern \"C\" float triple(float x) { return 3 * x; }\n";
    const std::string command = "g++ -shared -fPIC -O1 -Wl,-soname,libtriple.so.2 -o " + path.string() +
                                "/libtriple.so.2 " + path.string() + "/triple.cpp -Wl,--no-as-needed -lm";
    REQUIRE(std::system(command.c_str()) == 0);
    std::filesystem::create_symlink("libtriple.so.2", path / "libtriple.so");
    for (const auto& entry : {support::scratch(), path})
      std::filesystem::permissions(entry,
                                   std::filesystem::perms::others_exec | std::filesystem::perms::others_read,
                                   std::filesystem::perm_options::add);
    return path;
  }();
  return folder;
}

const std::string calls_triple =
    "extern \"C\" float triple(float);\n"
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = triple(x[i]) + 1;\n}\n";

const std::string opens_libm =
    "#include <dlfcn.h>\nextern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  static auto f = reinterpret_cast<float (*)(float)>(dlsym(dlopen(\"libm.so.6\", RTLD_NOW), "
    "\"fabsf\"));\n"
    "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1 + 0 * f(x[i]);\n}\n";

std::string build_of(const std::string& flags) {
  return R"(, "build": {"compiler": "g++", "flags": ["-O1", )" + flags + "]}";
}

/// `scale_problem` with another build.
Evaluation judge_built(const std::string& kernel, const std::string& flags, const std::string& more,
                       HostOptions options = quick()) {
  std::string text = support::scale_problem(kernel, more);
  const std::string before = R"(,
    "build": {"compiler": "g++", "flags": ["-O1"]})";
  const auto at = text.find(before);
  REQUIRE(at != std::string::npos);
  text.replace(at, before.size(), build_of(flags));
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, std::move(options));
  return evaluator.evaluate(support::default_candidate(problem), {});
}

std::string linking() {
  return "\"-L" + library_folder().string() + "\", \"-ltriple\"";
}

HostOptions sees_the_library() {
  HostOptions options = quick();
  options.readable = {library_folder()};
  return options;
}

}  // namespace

TEST_CASE("libraries: one that the flags link must be allowed where the problem lists what is") {
  const HostOptions options = sees_the_library();
  const Evaluation none = judge_built(calls_triple, linking(), R"(, "libraries": "none")", options);
  CHECK(none.verdict == Verdict::cheated);
  CHECK_MESSAGE(none.reason.find("needs the library libtriple.so.2") != std::string::npos, none.reason);
  const Evaluation other = judge_built(calls_triple, linking(), R"(, "libraries": ["trip", "m"])", options);
  CHECK(other.verdict == Verdict::cheated);
  // Allowed, it goes on to be loaded; where the loader finds none of that name, it says so itself.
  for (const char* allowed : {R"(, "libraries": ["triple"])", R"(, "libraries": ["libtriple.so.2"])", ""}) {
    const Evaluation fine = judge_built(
        calls_triple, linking() + ", \"-Wl,-rpath," + library_folder().string() + "\"", allowed, options);
    CHECK_MESSAGE(fine.verdict == Verdict::ok, fine.reason);
  }
}

TEST_CASE("libraries: run-time libraries of the compiler are always allowed") {
  const std::string uses_many =
      "#include <cmath>\n#include <string>\n#include <stdexcept>\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  if (n < 0) throw std::runtime_error(std::string(100, 'x') + std::to_string(std::sin(n)));\n"
      "#pragma omp parallel for num_threads(1)\n"
      "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";
  const Evaluation e = judge_built(uses_many, "\"-fopenmp\", \"-lm\"", R"(, "libraries": "none")");
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("libraries: loading others while it runs is refused unless the problem allows it") {
  for (const char* more : {"", R"(, "libraries": "none")", R"(, "libraries": ["m"])"}) {
    const Evaluation e = judge(opens_libm, quick(), more);
    CHECK(e.verdict == Verdict::cheated);
    CHECK_MESSAGE(e.reason.find("it calls dl") != std::string::npos, e.reason);
    CHECK(e.reason.find("name \"dl\"") != std::string::npos);
  }
  const Evaluation allowed = judge(opens_libm, quick(), R"(, "libraries": ["dl"])");
  CHECK_MESSAGE(allowed.verdict == Verdict::ok, allowed.reason);
}

TEST_CASE("libraries: a dlopen that is found in memory meets the rules on files") {
  // No symbol of it is imported: it looks through the loaded libraries' tables for one, and tries to load.
  const std::string walks =
      "#include <elf.h>\n#include <link.h>\n#include <cstring>\n#include <cstdint>\n"
      "namespace {\n"
      "void* found = nullptr;\n"
      "int look(dl_phdr_info* info, std::size_t, void*) {\n"
      "  const ElfW(Dyn)* d = nullptr;\n"
      "  for (int i = 0; i < info->dlpi_phnum; ++i)\n"
      "    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)\n"
      "      d = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);\n"
      "  const ElfW(Sym)* symbols = nullptr; const char* names = nullptr; const std::uint32_t* hash = "
      "nullptr;\n"
      "  for (; d && d->d_tag != DT_NULL; ++d) {\n"
      "    if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr);\n"
      "    if (d->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(d->d_un.d_ptr);\n"
      "    if (d->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t*>(d->d_un.d_ptr);\n"
      "  }\n"
      "  if (!symbols || !names || !hash || reinterpret_cast<std::uintptr_t>(hash) < 4096) return 0;\n"
      "  const std::uint32_t* buckets = hash + 4 + 2 * hash[2];\n"
      "  const std::uint32_t* chains = buckets + hash[0];\n"
      "  for (std::uint32_t b = 0; b < hash[0]; ++b)\n"
      "    for (std::uint32_t s = buckets[b]; s >= hash[1] && s != 0; ++s) {\n"
      "      if (std::strcmp(names + symbols[s].st_name, \"dlopen\") == 0 && symbols[s].st_value != 0)\n"
      "        found = reinterpret_cast<void*>(info->dlpi_addr + symbols[s].st_value);\n"
      "      if (chains[s - hash[1]] & 1) break;\n"
      "    }\n"
      "  return 0;\n}\n}\n"
      "void* load() {\n"
      "  dl_iterate_phdr(look, nullptr);\n"
      "  return found ? reinterpret_cast<void* (*)(const char*, int)>(found)(LIBRARY, 2) : &found;\n}\n"
      "void* const at_load = AT_LOAD ? load() : nullptr;\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  void* loaded = AT_LOAD ? at_load : load();\n"
      "  for (int i = 0; i < n; ++i) y[i] = loaded ? 0 : 3 * x[i] + 1;\n}\n";
  const std::string ours = (library_folder() / "libtriple.so.2").string();
  const auto with = [&](const char* at_load, HostOptions options) {
    return judge("#define LIBRARY \"" + ours + "\"\n#define AT_LOAD " + at_load + "\n" + walks,
                 std::move(options));
  };
  // It does find it: what lies in a folder that it may read is loaded while the kernel itself is.
  const Evaluation seen = with("1", sees_the_library());
  CHECK_MESSAGE(seen.verdict == Verdict::wrong_result, seen.reason);
  const Evaluation blind = with("1", quick());
  CHECK_MESSAGE(blind.verdict == Verdict::ok, blind.reason);
  // Later no file is opened, wherever it lies.
  const Evaluation late = with("0", sees_the_library());
  CHECK_MESSAGE(late.verdict == Verdict::ok, late.reason);
}

TEST_CASE("read_library_use: what objects need, and any bytes") {
  const std::string bytes = support::read(library_folder() / "libtriple.so.2");
  const auto use = read_library_use(bytes);
  REQUIRE(use);
  CHECK(std::find(use->needed.begin(), use->needed.end(), "libm.so.6") != use->needed.end());
  CHECK(std::find(use->undefined.begin(), use->undefined.end(), "triple") == use->undefined.end());
  CHECK(std::find(use->undefined.begin(), use->undefined.end(), "__cxa_finalize") != use->undefined.end());
  CHECK_FALSE(read_library_use(""));
  CHECK_FALSE(
      read_library_use("no ELF file at all, but rather long, with more than sixty-four bytes in it, yes"));
  CHECK_FALSE(read_library_use(support::read(library_folder() / "triple.cpp")));
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {  // neither crash nor hang
    std::string damaged = bytes;
    const std::size_t head = i % 2 == 0 ? std::min<std::size_t>(bytes.size(), 4096) : bytes.size();
    for (int k = 0; k < 1 + i % 8; ++k) damaged[rng.below(head)] = static_cast<char>(rng.below(256));
    if (i % 3 == 0) damaged.resize(rng.below(damaged.size()));
    (void)read_library_use(damaged);
    (void)unfit_library(damaged, "triple");
  }
}

TEST_CASE("unfit_library: fit as it is, not for another function, and no part of it that lacks code") {
  const std::string bytes = support::read(library_folder() / "libtriple.so.2");
  const auto unfit = unfit_library(bytes, "triple");
  CHECK_MESSAGE(!unfit, *unfit);
  CHECK(unfit_library(bytes, "tripl").value().find("but triple") != std::string::npos);
  CHECK(unfit_library("", "triple"));
  bool fits = false;
  for (std::size_t size = 1; size < bytes.size(); size += 97) {
    const bool fit = !unfit_library(std::string_view(bytes).substr(0, size), "triple");
    CHECK_FALSE(fits > fit);  // longer is never worse
    fits = fit;
  }
  CHECK(unfit_library(std::string_view(bytes).substr(0, bytes.size() / 4), "triple"));
}

TEST_CASE("unfit_library: tables that a loader could read otherwise") {
  const std::string bytes = support::read(library_folder() / "libtriple.so.2");
  Elf64_Ehdr head;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto part_at = [&](std::size_t i) {
    Elf64_Phdr part;
    std::memcpy(&part, bytes.data() + head.e_phoff + i * sizeof part, sizeof part);
    return part;
  };
  std::size_t dynamic = 0, symbols = 0;  // whose part is loaded at 0, as the linker lays it out
  for (std::size_t i = 0; i < head.e_phnum; ++i)
    if (part_at(i).p_type == PT_DYNAMIC) dynamic = part_at(i).p_offset;
  REQUIRE(dynamic != 0);
  std::size_t spare = 0, relocations = 0;
  for (std::size_t at = dynamic;; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SONAME) spare = at;
    if (entry.d_tag == DT_RELA) relocations = entry.d_un.d_ptr;
    if (entry.d_tag == DT_SYMTAB) symbols = entry.d_un.d_ptr;
  }
  REQUIRE((spare != 0 && relocations != 0 && symbols != 0));
  std::string twice = bytes;
  const Elf64_Dyn second{DT_SYMTAB, {symbols}};
  std::memcpy(twice.data() + spare, &second, sizeof second);
  CHECK(read_library_use(twice));
  CHECK(unfit_library(twice, "triple").value_or("").find("damaged") != std::string::npos);
  std::string beyond = bytes;
  const Elf64_Xword info = ELF64_R_INFO(Elf64_Xword{100000}, 6);
  std::memcpy(beyond.data() + relocations + offsetof(Elf64_Rela, r_info), &info, sizeof info);
  CHECK(read_library_use(beyond));
  CHECK(unfit_library(beyond, "triple").value_or("").find("damaged") != std::string::npos);
}

TEST_CASE("unfit_library: a search path within what is readable") {
  const auto folder = support::scratch() / "search";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "f.c") << "void f(void) {}\n";
  const auto unfit = [&](const std::string& search) {
    const std::string at = folder.string();
    REQUIRE(std::system(("gcc -shared -fPIC '-Wl,-rpath," + search + "' " + at + "/f.c -o " + at + "/f.so")
                            .c_str()) == 0);
    return unfit_library(support::read(folder / "f.so"), "f", std::vector<std::filesystem::path>{"/opt/tool"})
        .has_value();
  };
  CHECK_FALSE(unfit("/opt/tool"));
  CHECK_FALSE(unfit("/opt/tool/lib:/opt/tool/lib64"));
  for (const char* other :
       {"/opt", "/opt/toolbox", "/opt/tool/../x", "opt/tool", "/opt/tool:/tmp", "$ORIGIN", "/opt/tool/$LIB"})
    CHECK_MESSAGE(unfit(other), other);
}

TEST_CASE("forbidden_use: names match whole, whatever the version") {
  const auto refused = [](std::vector<std::string> needed, std::vector<std::string> allowed) {
    return forbidden_use(LibraryUse{std::move(needed), {}}, allowed).has_value();
  };
  CHECK_FALSE(refused({"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"}, {}));
  CHECK(refused({"libblas.so.3"}, {}));
  CHECK_FALSE(refused({"libblas.so.3"}, {"blas"}));
  CHECK(refused({"libblasx.so.3"}, {"blas"}));
  CHECK(refused({"/opt/libblas.so.3"}, {"blas"}));
  CHECK(refused({"libcrypto.so"}, {"c"}));
}
