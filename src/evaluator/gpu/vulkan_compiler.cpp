// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/runtime_compiler.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "evaluator/gpu/glslang.hpp"
#include "evaluator/gpu/vulkan_source.hpp"
#include "shader/ready_module.hpp"

namespace kernelsearch::detail::gpu {
namespace {

/// Modules that one process keeps; they have some kilobytes each.
constexpr std::size_t most_modules = 64;

class GlslangCompiler final : public RuntimeCompiler {
 public:
  GlslangCompiler(std::filesystem::path program, std::string version) : program_(std::move(program)) {
    identity_ = std::move(version);
    library_ = program_.string();
  }

  DeviceCode compile(const std::string& text, const std::vector<std::string>& options,
                     const std::vector<std::string>& name_expressions) const override {
    DeviceCode result;
    const auto source = shader_source_of(text);
    if (!source) {
      result.log = "error: this is not a source of shaders";
      return result;
    }
    ShaderBuilt ready;
    if (source->ready) {
      auto words = ready_words(source->text);
      if (!words) {
        result.log = "error: " + words.error().text() + "\n";
        return result;
      }
      ready.words = *std::move(words);
    }
    std::vector<Shader> shaders;
    for (const std::string& name : name_expressions) {
      const auto entry = std::find_if(source->entries.begin(), source->entries.end(),
                                      [&](const auto& one) { return one.function == name; });
      if (entry == source->entries.end()) {
        result.log += "error: no launch has the kernel " + name + "\n";
        return result;
      }
      const ShaderBuilt& built = source->ready ? ready : module_of(*source, *entry, options);
      if (result.log.find(built.log) == std::string::npos) result.log += built.log;
      if (built.words.empty()) return result;
      const auto kernel = source->ready
                              ? read_ready(built.words, name, source->entries.size() == 1, source->constants)
                              : read_spirv(built.words, {}, source->constants);
      if (!kernel) {
        result.log += "error: kernel " + name + ": " + kernel.error().text() + "\n";
        return result;
      }
      for (const auto& [tunable, value] : source->constants) {
        const std::string why = source->ready ? no_constant(*kernel, tunable) : std::string();
        if (why.empty()) continue;
        result.log += "error: kernel " + name + ": the module has no place for the tunable " + tunable +
                      ": " + why + "\n";
        return result;
      }
      auto shader = bind_shader(name, built.words, *kernel, entry->parameters, source->begins);
      if (!shader) {
        result.log += "error: " + shader.error().text() + "\n";
        return result;
      }
      shaders.push_back(*std::move(shader));
    }
    result.image = image_of(shaders);
    result.lowered = name_expressions;
    result.ok = true;
    return result;
  }

 private:
  /// The SPIR-V of one entry point; glslang has `main` alone in GLSL, so that the kernel is called so.
  const ShaderBuilt& module_of(const ShaderSource& source, const ShaderSource::Entry& entry,
                               const std::vector<std::string>& options) const {
    std::string key = entry.function + "\n" + entry.define + "\n";
    for (const std::string& option : options) key += option + "\n";
    key += source.text;
    if (const auto known = modules_.find(key); known != modules_.end()) return known->second;
    ShaderBuild build;
    build.text = source.text;
    build.function = entry.function;
    build.language = source.language;
    build.options = options;
    if (!entry.define.empty()) build.options.push_back("-D" + entry.define);
    if (source.language == ShaderLanguage::glsl && entry.function != "main" && !source.begins)
      build.options.push_back("-D" + entry.function + "=main");
    if (modules_.size() >= most_modules) modules_.clear();
    return modules_[key] = run_glslang(program_, build);
  }

  std::filesystem::path program_;
  mutable std::map<std::string, ShaderBuilt> modules_;
};

}  // namespace

std::unique_ptr<RuntimeCompiler> load_vulkan_compiler(std::string& problem) {
  std::filesystem::path program = find_glslang();
  std::string version = glslang_identity(program);
  if (version.empty()) {
    problem = program.empty()
                  ? "glslangValidator is not there: on Debian it is in the package glslang-tools; "
                    "KERNELSEARCH_GLSLANG names another program"
                  : program.string() + " does not say its version";
    return nullptr;
  }
  return std::make_unique<GlslangCompiler>(std::move(program), std::move(version));
}

}  // namespace kernelsearch::detail::gpu
