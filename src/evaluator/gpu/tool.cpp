// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/tool.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "evaluator/gpu/gpu_worker_client.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail::gpu {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

std::string variable_text(const char* name) {
  const char* text = name != nullptr ? std::getenv(name) : nullptr;
  return text != nullptr ? text : "";
}

}  // namespace

std::optional<fs::path> find_tool(const std::string& name, const char* variable, const fs::path& given,
                                  const std::vector<fs::path>& more) {
  const fs::path wished = !given.empty() ? given : fs::path(variable_text(variable));
  if (!wished.empty()) {
    if (!is_program(wished)) return std::nullopt;
    return fs::absolute(wished);
  }
  std::vector<fs::path> places;
  std::istringstream folders(variable_text("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty()) places.emplace_back(folder);
  for (const char* root : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = variable_text(root); !folder.empty())
      places.push_back(fs::path(folder) / "bin");
  places.emplace_back("/usr/local/cuda/bin");
  places.insert(places.end(), more.begin(), more.end());
  for (const fs::path& place : places)
    if (is_program(place / name)) return fs::absolute(place / name);
  return std::nullopt;
}

Finished run_tool(const std::vector<std::string>& argv, double seconds) {
  Launch launch;
  launch.argv = argv;
  launch.environment = driver_environment();
  return run_command(std::move(launch), seconds, std::size_t{64} << 20);
}

std::string read_text(const fs::path& file, std::size_t limit) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  char block[1 << 14];
  while (text.size() < limit && (in.read(block, sizeof block), in.gcount() > 0))
    text.append(block, static_cast<std::size_t>(in.gcount()));
  if (text.size() > limit) text.resize(limit);
  return text;
}

}  // namespace kernelsearch::detail::gpu
