// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

/// Triton's wheels bring a disassembler to machines without a toolkit.
std::vector<fs::path> triton_folders() {
  std::vector<fs::path> roots;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0') roots.emplace_back(root);
  roots.emplace_back("/usr/local");
  roots.emplace_back("/usr");
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root / "lib", error)) {
      if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
      for (const char* packages : {"site-packages", "dist-packages"})
        folders.push_back(entry.path() / packages / "triton" / "backends" / "nvidia" / "bin");
    }
  }
  return folders;
}

/// Whether it is an object of this machine that has device code inside, not device code itself.
bool is_host_object(const std::vector<std::byte>& image) {
  constexpr std::byte magic[] = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  constexpr std::size_t machine_at = 18;
  if (image.size() < machine_at + 2 || !std::equal(std::begin(magic), std::end(magic), image.begin()))
    return false;
  constexpr int cuda = 190;  // EM_CUDA
  return std::to_integer<int>(image[machine_at]) + 256 * std::to_integer<int>(image[machine_at + 1]) != cuda;
}

}  // namespace

std::optional<fs::path> detail::gpu::find_disassembler(const fs::path& given) {
  if (!given.empty()) return find_tool("", nullptr, given, {});
  // nvdisasm first: cuobjdump needs it next to itself. A wish for the other one comes before both.
  if (const char* wish = std::getenv("KERNELSEARCH_CUOBJDUMP"); wish != nullptr && *wish != '\0')
    return find_tool("", nullptr, wish, {});
  const auto triton = triton_folders();
  if (auto found = find_tool("nvdisasm", "KERNELSEARCH_NVDISASM", {}, triton)) return found;
  return find_tool("cuobjdump", nullptr, {}, triton);
}

std::vector<SassFunction> read_sass(const std::vector<std::byte>& image, const SassOptions& options) {
  const auto found = detail::gpu::find_disassembler(options.program);
  if (!found)
    detail::raise<ConfigError>(
        "there is no disassembler for NVIDIA's machine code",
        options.program.empty() ? "nvdisasm, cuobjdump" : options.program.string(),
        "install the CUDA toolkit or Triton, or set KERNELSEARCH_NVDISASM to the program");
  // nvdisasm takes device code alone; the other one is next to it in the toolkit and finds the code in a
  // library.
  fs::path program = *found;
  const bool library = is_host_object(image);
  if (library && options.program.empty() && program.filename() == "nvdisasm")
    if (const auto other = detail::gpu::find_tool("cuobjdump", nullptr, {}, {program.parent_path()}))
      program = *other;
  const detail::ScratchFolder scratch;
  const fs::path file = scratch.path() / "image.cubin";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
  const bool object = program.filename().string().find("cuobjdump") != std::string::npos;
  std::vector<std::string> argv{program.string(), object ? "-sass" : "-c"};
  // The driver says so of other images, when they are loaded.
  if (object && library) argv.emplace_back("-res-usage");
  argv.push_back(file.string());
  const detail::Finished finished = detail::gpu::run_tool(argv, options.seconds);
  if (finished.timed_out)
    detail::raise<ConfigError>("the disassembler did not finish in time", program.string(),
                               "give it more seconds");
  std::vector<SassFunction> functions = parse_sass(finished.output);
  if (functions.empty() || !WIFEXITED(finished.status) || WEXITSTATUS(finished.status) != 0)
    detail::raise<ConfigError>(
        "the disassembler made nothing of the image",
        program.string() + ": " + finished.errors.substr(0, finished.errors.find('\n')),
        "use one as new as the compiler");
  return functions;
}

}  // namespace kernelsearch
