// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/built_image.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "problem/json_cursor.hpp"
#include "problem/json_document.hpp"

namespace kernelsearch::detail::gpu {
namespace {

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && sizeof value <= bytes.size() - at)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Whether a table of `count` entries of `size` bytes from `at` lies within the file.
bool lies_within(std::string_view bytes, std::uint64_t at, std::uint64_t count, std::uint64_t size) {
  return at <= bytes.size() && count * size <= bytes.size() - at;  // both are of 16 bits
}

constexpr const char* cut_off = "a file that is damaged or cut off";

/// For an ELF file: places are those of the 64-bit form, which alone these devices have.
std::optional<std::string> unfit_elf(std::string_view bytes, unsigned machine) {
  constexpr std::size_t header = 64;
  if (bytes.size() < header || bytes[4] != 2) return cut_off;
  if (const auto of = number_at<std::uint16_t>(bytes, 18); of != machine)
    return "code for another processor (ELF machine " + std::to_string(of) + ", and the device's is " +
           std::to_string(machine) + ")";
  const auto segments = number_at<std::uint64_t>(bytes, 32), sections = number_at<std::uint64_t>(bytes, 40);
  const auto segment_size = number_at<std::uint16_t>(bytes, 54),
             segment_count = number_at<std::uint16_t>(bytes, 56),
             section_size = number_at<std::uint16_t>(bytes, 58),
             section_count = number_at<std::uint16_t>(bytes, 60);
  if (!lies_within(bytes, segments, segment_count, segment_size) ||
      !lies_within(bytes, sections, section_count, section_size))
    return cut_off;
  constexpr std::size_t whole_section = 64;
  constexpr std::uint32_t without_bytes = 8;  // SHT_NOBITS
  for (std::uint64_t s = 0; s < section_count; ++s) {
    if (section_size < whole_section) return cut_off;
    const std::string_view section = bytes.substr(sections + s * section_size, whole_section);
    const auto at = number_at<std::uint64_t>(section, 24), size = number_at<std::uint64_t>(section, 32);
    if (number_at<std::uint32_t>(section, 4) == without_bytes) continue;
    if (at > bytes.size() || size > bytes.size() - at) return cut_off;
  }
  return std::nullopt;
}

constexpr std::string_view elf_magic =
                               "\x7f"
                               "ELF",
                           bundle_magic = "__CLANG_OFFLOAD_BUNDLE__", packed_magic = "CCOB";
constexpr std::uint32_t fatbin_magic = 0xba55ed50;

constexpr const char* description_name = "${LIBRARY}.json";

/// The members of a description of one kernel.
void read_one(const JsonCursor& place, std::string& function, BuiltLaunch& launch) {
  if (const auto name = place.find("function")) {
    constexpr const char* todo = "give the kernel's name in the image";
    function = name->string(todo);
    constexpr std::size_t longest = 4096;
    if (function.empty() || function.size() > longest ||
        std::any_of(function.begin(), function.end(), [](unsigned char c) { return c < ' ' || c == 127; }))
      name->refuse("is not a name of a function", todo);
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (const auto shared = place.find("shared")) {
    constexpr const char* todo =
        "give the bytes of dynamic shared memory, a whole number from 0 to 2147483647";
    launch.shared_bytes = shared->integer(todo);
    if (launch.shared_bytes < 0 || launch.shared_bytes > most)
      shared->refuse("is not a size of shared memory", todo);
  }
  if (const auto block = place.find("block")) {
    constexpr const char* todo = "list one to three extents of the block, x first, each from 1 to 2147483647";
    const std::vector<JsonCursor> extents = block->items(todo);
    if (extents.empty() || extents.size() > launch.block.size()) block->refuse("is not a block", todo);
    launch.block.fill(1);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::int64_t extent = extents[i].integer(todo);
      if (extent < 1 || extent > most) extents[i].refuse("is not an extent of a block", todo);
      launch.block[i] = static_cast<std::uint32_t>(extent);
    }
  }
}

}  // namespace

bool is_ptx(std::string_view bytes) {
  // Its first directive is .version, after blanks and comments.
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      const bool line = rest[1] == '/';
      const std::size_t end = rest.find(line ? "\n" : "*/", 2);
      if (end == std::string_view::npos) return false;
      at += end + (line ? 1 : 2);
    } else if (std::strchr(" \t\r\n", rest.front()) != nullptr && rest.front() != '\0') {
      ++at;
    } else {
      return rest.starts_with(".version");
    }
  }
  return false;
}

std::optional<std::string> unfit_image(GpuBackend backend, std::string_view bytes) {
  const bool cuda = backend == GpuBackend::cuda;
  constexpr unsigned cuda_machine = 190, amd_machine = 224;
  if (bytes.starts_with(elf_magic)) return unfit_elf(bytes, cuda ? cuda_machine : amd_machine);
  if (!cuda)
    return bytes.starts_with(bundle_magic) || bytes.starts_with(packed_magic)
               ? std::nullopt
               : std::optional<std::string>(
                     "a file that is neither a code object nor a bundle of code objects");
  if (number_at<std::uint32_t>(bytes, 0) == fatbin_magic) {
    // Magic, version and size of the header, size of the rest.
    const auto header = number_at<std::uint16_t>(bytes, 6);
    const auto rest = number_at<std::uint64_t>(bytes, 8);
    const bool whole = header >= 16 && header <= bytes.size() && rest <= bytes.size() - header;
    return whole ? std::nullopt : std::optional<std::string>(cut_off);
  }
  if (is_ptx(bytes)) return std::nullopt;
  return "a file that is neither a cubin nor a fatbin nor PTX";
}

LaunchDescription read_launch_description(const std::string& text, const std::vector<std::string>& kernels) {
  constexpr const char* todo =
      R"(write {"function": NAME, "shared": BYTES, "block": [X, Y, Z]} or a part of it)";
  const std::string name = description_name;
  const JsonNode document = parse_json(text, name);
  const JsonCursor whole(document, name);
  LaunchDescription description{kernels, std::vector<BuiltLaunch>(kernels.size())};
  (void)whole.members(todo);
  if (kernels.size() == 1 && !whole.find("kernels")) {
    whole.only({"function", "shared", "block", "kernels"});
    read_one(whole, description.functions.front(), description.launches.front());
    return description;
  }
  const JsonCursor several =
      whole.at("kernels", "several kernels are launched: give each an object under its name");
  whole.only({"kernels"});
  for (const auto& [kernel, place] : several.members(todo)) {
    const auto found = std::find(kernels.begin(), kernels.end(), kernel);
    if (found == kernels.end()) {
      std::string known;
      for (const std::string& one : kernels) known += (known.empty() ? "" : ", ") + one;
      place.refuse("is of a kernel that is not launched", kernel, "those are: " + known);
    }
    place.only({"function", "shared", "block"});
    const auto i = static_cast<std::size_t>(found - kernels.begin());
    read_one(place, description.functions[i], description.launches[i]);
  }
  return description;
}

}  // namespace kernelsearch::detail::gpu
