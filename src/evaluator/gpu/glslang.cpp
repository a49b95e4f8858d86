// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/glslang.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <utility>

#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "process/run_command.hpp"
#include "process/scratch_folder.hpp"
#include "shader/spirv_module.hpp"

namespace kernelsearch::detail::gpu {

std::filesystem::path find_glslang() {
  return find_tool("glslangValidator", "KERNELSEARCH_GLSLANG", {}, {"/usr/bin", "/usr/local/bin"})
      .value_or(std::filesystem::path());
}

std::string glslang_identity(const std::filesystem::path& program) {
  if (program.empty()) return {};
  const Finished finished = run_tool({program.string(), "--version"}, 30);
  constexpr std::string_view before = "Glslang Version: ";
  const std::size_t at = finished.output.find(before);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + before.size();
  return "glslang " + finished.output.substr(begin, finished.output.find('\n', begin) - begin);
}

std::string cleaned_glslang(const std::string& log) {
  std::istringstream in(log);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    const bool closing = line.find("compilation errors.") != std::string::npos ||
                         line.find("compilation terminated") != std::string::npos ||
                         line.find("SPIR-V is not generated") != std::string::npos;
    if (closing || line.empty()) continue;
    // `ERROR: FILE:LINE: what` as `FILE:LINE: error: what`
    for (const auto& [given, wanted] :
         {std::pair<std::string_view, const char*>{"ERROR: ", "error: "}, {"WARNING: ", "warning: "}}) {
      if (!line.starts_with(given)) continue;
      std::string rest = line.substr(given.size());
      const std::size_t number = rest.find(':');
      const std::size_t after = number == std::string::npos ? number : rest.find(": ", number + 1);
      const bool has_line = after != std::string::npos && after > number + 1 &&
                            std::all_of(rest.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                                        rest.begin() + static_cast<std::ptrdiff_t>(after),
                                        [](char c) { return c >= '0' && c <= '9'; });
      line = has_line ? rest.substr(0, after + 2) + wanted + rest.substr(after + 2) : wanted + rest;
      break;
    }
    text += line + "\n";
  }
  return text;
}

ShaderBuilt run_glslang(const std::filesystem::path& program, const ShaderBuild& build) {
  ShaderBuilt built;
  const bool hlsl = build.language == ShaderLanguage::hlsl;
  const ScratchFolder scratch;
  const std::filesystem::path source = scratch.path() / (hlsl ? "kernel.hlsl" : "kernel.comp"),
                              output = scratch.path() / "kernel.spv";
  std::ofstream(source, std::ios::binary) << build.text;
  Launch launch;
  launch.argv = {program.string(), "-V", "--target-env", "vulkan1.1", "-S", "comp", "--quiet"};
  // What has no binding gets one: HLSL needs none, and names decide what is what.
  if (hlsl) launch.argv.insert(launch.argv.end(), {"-D", "--auto-map-bindings", "-e", build.function});
  launch.argv.insert(launch.argv.end(), build.options.begin(), build.options.end());
  launch.argv.insert(launch.argv.end(), {"-o", output.string(), source.string()});
  launch.limits = {{RLIMIT_CORE, 0}};
  const Finished finished = run_command(std::move(launch), build.seconds, std::size_t{16} << 20);
  built.timed_out = finished.timed_out;
  std::string said = finished.output + finished.errors;
  replace_all(said, source.string(), source.filename().string());
  built.log = cleaned_glslang(said);
  const bool well = !finished.timed_out && !finished.too_much_output && WIFEXITED(finished.status) &&
                    WEXITSTATUS(finished.status) == 0;
  if (!well) {
    if (built.log.empty())
      built.log = finished.timed_out ? "error: glslangValidator took too long\n"
                  : WIFSIGNALED(finished.status)
                      ? "error: glslangValidator died: " + signal_text(WTERMSIG(finished.status)) + "\n"
                      : "error: glslangValidator gave no message\n";
    return built;
  }
  const std::string code = try_whole_file(output).value_or("");
  auto words = spirv_words({reinterpret_cast<const std::byte*>(code.data()), code.size()});
  if (!words) {
    built.log += "error: " + words.error().text() + "\n";
    return built;
  }
  built.words = *std::move(words);
  make_bindings_distinct(built.words);
  return built;
}

}  // namespace kernelsearch::detail::gpu
