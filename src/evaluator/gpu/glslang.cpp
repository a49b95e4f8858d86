// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/glslang.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>

#include "evaluator/gpu/spirv_module.hpp"
#include "evaluator/gpu/tool.hpp"
#include "evaluator/host/sandboxed_compiler.hpp"

namespace kernelsearch::detail::gpu {
namespace {

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t after_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_identifier(text[end])) ++end;
  return text.substr(at, end - at);
}

}  // namespace

ShaderLanguage shader_language(std::string_view file, std::string_view text) {
  if (file.ends_with(".hlsl")) return ShaderLanguage::hlsl;
  if (file.ends_with(".comp") || file.ends_with(".glsl")) return ShaderLanguage::glsl;
  return text.find("numthreads") != std::string_view::npos ? ShaderLanguage::hlsl : ShaderLanguage::glsl;
}

std::filesystem::path find_glslang() {
  return find_tool("glslangValidator", "KERNELSEARCH_GLSLANG", {}, {}).value_or(std::filesystem::path());
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

std::vector<std::string> declared_constants(std::string_view text) {
  std::vector<std::string> names;
  constexpr std::string_view word = "constant_id";
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at != 0 && is_identifier(text[at - 1])) continue;
    // `constant_id = N) const TYPE NAME` or `constant_id(N)]] const TYPE NAME`; local_size_x_id has no name.
    std::size_t next = text.find_first_of(")\n", at + word.size());
    if (next == std::string_view::npos || text[next] != ')') continue;
    next = after_spaces(text, next + 1);
    while (next < text.size() && text[next] == ']') next = after_spaces(text, next + 1);
    if (word_at(text, next) == "static") next = after_spaces(text, next + 6);
    if (word_at(text, next) != "const") continue;
    next = after_spaces(text, next + 5);
    next = after_spaces(text, next + word_at(text, next).size());
    const std::string name(word_at(text, next));
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string glslang_errors(const std::string& log) {
  constexpr std::size_t most_lines = 8, longest = 2000;
  std::istringstream in(log);
  std::string text;
  std::size_t lines = 0, errors = 0;
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    const bool closing = line.find("compilation errors.") != std::string::npos ||
                         line.find("compilation terminated") != std::string::npos ||
                         line.find("SPIR-V is not generated") != std::string::npos;
    const bool says_error = line.find("rror") != std::string::npos;
    if (!says_error || closing) continue;
    ++errors;
    if (lines == most_lines || text.size() > longest) continue;
    ++lines;
    text += (text.empty() ? "" : "\n") + line.substr(0, 300);
  }
  if (errors > lines) text += "\n(" + std::to_string(errors) + " errors)";
  if (text.empty()) text = log.substr(0, longest);
  return text;
}

ShaderBuilt run_glslang(const std::filesystem::path& program, const ShaderBuild& build) {
  const bool hlsl = build.language == ShaderLanguage::hlsl;
  const std::string name = hlsl ? "kernel.hlsl" : "kernel.comp";
  CompilerRun run;
  run.texts = {{name, build.text}};
  run.readable = build.readable;
  run.seconds = build.seconds;
  run.limits = {{RLIMIT_CORE, 0}};
  run.stop = build.stop;
  run.argv = {program.string(), "-V", "--target-env", "vulkan1.1", "-S", "comp", "--quiet"};
  // What has no binding gets one: HLSL needs none, and names decide what is what.
  if (hlsl) run.argv.insert(run.argv.end(), {"-D", "--auto-map-bindings", "-e", build.function});
  run.argv.insert(run.argv.end(), build.options.begin(), build.options.end());
  run.argv.insert(run.argv.end(),
                  {"-o", std::string(compiler_output), std::string(compiler_root) + "/" + name});
  const Finished finished = run_compiler_in(build.sandbox, run);
  ShaderBuilt built;
  built.log = finished.errors;
  built.timed_out = finished.timed_out;
  const bool well = !finished.timed_out && !finished.too_much_output && WIFEXITED(finished.status) &&
                    WEXITSTATUS(finished.status) == 0;
  if (!well) return built;
  const auto* bytes = reinterpret_cast<const std::byte*>(finished.output.data());
  auto words = spirv_words({bytes, finished.output.size()});
  if (!words) {
    built.log += words.error().text();
    return built;
  }
  built.words = *std::move(words);
  make_bindings_distinct(built.words);
  return built;
}

}  // namespace kernelsearch::detail::gpu
