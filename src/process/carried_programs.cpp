// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/carried_programs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <optional>

#include "kernelsearch/core/error.hpp"
#include "process/helper_program.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch {
namespace {

/// Files, and not an anonymous memory file of each: children close what they are not given, and a process
/// that shows itself to nobody (close_process) hides /proc/PID/fd, by which they would be found. Nor one
/// executable in three roles: each sandbox gets a copy of the program that runs in it, which is 150 KB and
/// not 26 MB.
struct CarriedPrograms {
  std::mutex mutex;
  std::span<const CarriedProgram> all;
  std::optional<detail::ScratchFolder> folder;
};

CarriedPrograms& carried_programs() {
  static CarriedPrograms programs;
  return programs;
}

}  // namespace

void carry_programs(std::span<const CarriedProgram> programs) {
  CarriedPrograms& carried = carried_programs();
  const std::lock_guard lock(carried.mutex);
  carried.all = programs;
}

namespace detail {

std::filesystem::path carried_program(std::string_view name) {
  CarriedPrograms& carried = carried_programs();
  const std::lock_guard lock(carried.mutex);
  const auto found = std::find_if(carried.all.begin(), carried.all.end(),
                                  [name](const CarriedProgram& one) { return one.name == name; });
  if (found == carried.all.end()) return {};
  if (!carried.folder) {
    carried.folder.emplace();
    chmod(carried.folder->path().c_str(), 0755);  // sandboxed processes of root are nobody
  }
  const std::filesystem::path file = carried.folder->path() / name;
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file;
  std::ofstream out(file, std::ios::binary);
  out.write(found->bytes.data(), static_cast<std::streamsize>(found->bytes.size()));
  out.close();
  if (!out || chmod(file.c_str(), 0555) != 0) {
    std::filesystem::remove(file, error);
    raise<DeviceError>("a program that this one has inside cannot be unpacked", file.string(),
                       "make room there, or set TMPDIR to a folder with room");
  }
  return file;
}

}  // namespace detail
}  // namespace kernelsearch
