// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "winner_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/compile_command.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/problem/tunable_text.hpp"
#include "problem/replace_file.hpp"
#include "shader/ready_module.hpp"
#include "shader/shader_text.hpp"

namespace kernelsearch::detail {
namespace {

std::string constant(const NamedValue& named) {
  const std::string name = identifier(named.first);
  struct Visitor {
    const std::string& name;
    std::string operator()(bool flag) const { return fmt::format("bool {} = {}", name, flag); }
    std::string operator()(std::int64_t number) const {
      return fmt::format("long long {} = {}", name, number);
    }
    std::string operator()(double number) const {
      return fmt::format("double {} = {}", name, to_string(Value{number}));
    }
    std::string operator()(const std::string& text) const {
      return fmt::format("std::string_view {} = {}", name, nlohmann::json(text).dump());
    }
    std::string operator()(const Permutation& order) const {
      return fmt::format("std::array<long long, {}> {} = {}", order.size(), name, tunable_text(Value{order}));
    }
  };
  return "inline constexpr " + std::visit(Visitor{name}, named.second) + ";\n";
}

}  // namespace

std::string identifier(const std::string& name) {
  std::string text;
  for (const char c : name) text += detail::is_alphanumeric(c) ? c : '_';
  return text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0 ? "_" + text : text;
}

std::string kernel_extension(const Problem& problem) {
  std::string own = std::filesystem::path(problem.names.device).extension().string();
  const bool several = problem.external || problem.backend == Backend::vulkan;
  return several && !own.empty() ? own : std::string(traits_of(problem.backend).extension);
}

std::string one_line(std::string text) {
  text = clean_text(text);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\\'; }, ' ');
  return text;
}

namespace {

/// A word of the build command, with the script's own files where it names the kernel and what it makes.
std::string script_word(const std::string& word, const std::string& source) {
  std::string text, plain;
  const auto flush = [&] {
    if (!plain.empty()) text += shell_word(plain);
    plain.clear();
  };
  for (std::size_t at = 0; at < word.size();) {
    const bool is_source = word.compare(at, 9, "${SOURCE}") == 0;
    const bool is_readable = word.compare(at, 11, "${READABLE}") == 0;
    if (is_readable || word.compare(at, 7, "${ARCH}") == 0) {
      // What is of another machine is left to the one who runs the script.
      flush();
      text += is_readable ? "\"${READABLE:-}\"" : "\"${ARCH:?set it to the architecture, e.g. sm_90a}\"";
      at += is_readable ? 11 : 7;
    } else if (is_source || word.compare(at, 10, "${LIBRARY}") == 0) {
      flush();
      text += is_source ? "\"$work\"/" + shell_word(source) : std::string("\"$output\"");
      at += is_source ? 9 : 10;
    } else {
      plain += word[at++];
    }
  }
  flush();
  return text.empty() ? shell_word("") : text;
}

std::string script_text(const Problem& problem, const std::vector<NamedValue>& values,
                        const std::string& comment, const std::string& source_file, bool beside) {
  const std::string name = identifier(problem.name);
  const std::string source = problem.names.device.empty() ? "kernel.cpp" : problem.names.device;
  std::string text = "#!/bin/sh\n";
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', at), comment.size());
    std::string_view line(comment.data() + at, end - at);
    if (line.starts_with("//")) line.remove_prefix(2);
    text += "#" + std::string(line) + "\n";
    at = end + 1;
  }
  const bool device = is_device(problem.backend);
  if (device)
    text += "# Makes its device code: ARCH=ARCHITECTURE sh " + name +
            "_best.sh [OUTPUT], which if left out is " + name +
            "_best.bin next to this script;\n# what the command says of its launch is in OUTPUT.json.\n";
  else
    text += "# Makes its object file (or shared library, where the command makes one): sh " + name +
            "_best.sh [OUTPUT], which if left out is " + name +
            "_best.o next to this script,\n# of a shared library " + name + "_best.so, of a static one " +
            name + "_best.a.\n";
  text += "set -e\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\noutput=${1:-\"$here/" + name +
          (device ? "_best.bin" : "_best.o") +
          "\"}\ncase $output in /*) ;; *) output=$PWD/$output ;; esac\n" +
          "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\n";
  if (beside) text += "cp -R \"$here/" + name + "_build/.\" \"$work\"\nchmod -R u+rwx \"$work\"\n";
  if (const std::size_t slash = source.rfind('/'); slash != std::string::npos)
    text += "mkdir -p \"$work\"/" + shell_word(source.substr(0, slash)) + "\n";
  text += "cp \"$here/" + source_file + "\" \"$work\"/" + shell_word(source) + "\ncd \"$work\"\n";
  std::string command;
  for (const std::string& word : build_words(problem, values))
    command += (command.empty() ? "" : " ") + script_word(word, source);
  text += command + "\n";
  if (device) return text;
  // Only what was made says what it is: byte 16 of ELF is its type, 3 of a shared library.
  text +=
      "if [ $# -eq 0 ]; then\n  case $(od -An -tx1 -N17 \"$output\" | tr -d ' \\n') in\n"
      "    7f454c46*03) mv -f \"$output\" \"$here/" +
      name +
      "_best.so\" ;;\n"
      "    213c617263683e0a*) mv -f \"$output\" \"$here/" +
      name + "_best.a\" ;;\n  esac\nfi\n";
  return text;
}

}  // namespace

std::vector<std::string> build_words(const Problem& problem, const std::vector<NamedValue>& values) {
  std::vector<std::string> words;
  for (const std::string& word : problem.build.command)
    words.push_back(expand_tunables(word, values, [&](std::string_view whole) {
      return whole == "${NAME}" ? problem.function : std::string(whole);
    }));
  return words;
}

std::string build_line(const Problem& problem, const std::vector<NamedValue>& values) {
  std::string line;
  if (!problem.build.command.empty()) {
    for (const std::string& word : build_words(problem, values)) line += (line.empty() ? "" : " ") + word;
    return line;
  }
  if (is_ready_file(problem.names.device)) return "nothing: the module was ready";
  if (traits_of(problem.backend).compiler.empty()) {
    line = "the driver";
    for (const std::string& flag : compile_flags(problem, values)) line += " " + readable_word(flag);
    return line;
  }
  for (const std::string& word : compile_command(problem, values))
    line += (line.empty() ? "" : " ") + readable_word(word);
  return line;
}

CommandFiles write_command_files(const Problem& problem, const Regions& regions,
                                 const std::vector<NamedValue>& values, const std::string& comment,
                                 const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const std::string name = identifier(problem.name);
  const std::string extension = fs::path(problem.names.device).extension().string();
  CommandFiles files{folder / (name + "_best" + (extension.empty() ? ".cpp" : extension)),
                     folder / (name + "_best.sh")};
  std::string text;
  for (const std::string* region : {&regions.macros, &regions.device, &regions.host}) {
    text += *region;
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  write_file(files.source, text);
  const fs::path beside = name + "_build";
  bool any = false;
  for (const std::vector<SourceFile>* some : {&problem.files, &problem.build.files})
    for (const SourceFile& file : *some) {
      write_file_below(folder, beside / file.path, file.text);
      any = true;
    }
  write_file(files.script, script_text(problem, values, comment, files.source.filename().string(), any));
  std::error_code error;
  fs::permissions(files.script, fs::perms::owner_exec, fs::perm_options::add, error);
  return files;
}

std::string source_text(const std::string& comment, const Regions& regions,
                        const std::vector<NamedValue>& values, Backend backend) {
  // OpenCL C has no headers; its own names of the types of fixed widths are in the language.
  constexpr std::string_view types =
      "typedef char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long int64_t;\n"
      "typedef uchar uint8_t;\ntypedef ushort uint16_t;\ntypedef uint uint32_t;\ntypedef ulong uint64_t;\n";
  std::string text = comment + (backend == Backend::opencl ? std::string(types) : "#include <cstdint>\n") +
                     '\n' + tunable_definitions(values);
  for (const std::string* region : {&regions.macros, &regions.device, &regions.host}) {
    if (region->empty()) continue;
    text += "\n" + *region;
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

namespace {

/// The kernels that the problem launches, by their names at these values.
std::vector<std::string> launched(const Problem& problem, const std::vector<NamedValue>& values) {
  std::vector<std::string> names;
  for (const LaunchStep& step : problem.launch)
    if (std::string name = expand_tunables(step.function, values);
        !name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  return names;
}

}  // namespace

std::string shader_text(const std::string& comment, const Problem& problem, const Regions& regions,
                        const std::vector<NamedValue>& values) {
  const std::vector<std::string> kernels = launched(problem, values);
  if (is_ready_text(regions.device)) {
    const auto words = ready_words(regions.device);
    const auto kernel =
        words && !kernels.empty()
            ? read_ready(*words, kernels.front(), kernels.size() == 1, values)
            : Result<SpirvKernel>(Fault{"the winner is not a module that can be launched", problem.name, ""});
    if (!kernel)
      raise<ConfigError>(kernel.error().what, kernel.error().given, "look at the kernel in the store");
    return comment + ready_text(specialised(*words, kernel->constants));
  }
  const ShaderLanguage language = shader_language(problem.names.device, regions.device);
  const bool hlsl = language == ShaderLanguage::hlsl;
  std::string head = comment;
  for (const std::string& kernel : kernels)
    head += "//   compile    glslangValidator -V --target-env vulkan1.1 -S comp " +
            (hlsl               ? "-D --auto-map-bindings -e " + kernel
             : kernel == "main" ? std::string()
                                : "-D" + kernel + "=main") +
            " -o " + kernel + ".spv THIS_FILE\n";
  std::string text;
  for (const std::string* region : {&regions.macros, &regions.device}) {
    if (region->empty()) continue;
    text += "\n" + *region;
    if (text.back() != '\n') text += '\n';
  }
  const std::vector<std::string> constants = declared_constants(text);
  std::vector<NamedValue> macros;
  for (const NamedValue& value : values)
    if (std::find(constants.begin(), constants.end(), value.first) == constants.end())
      macros.push_back(value);
  return with_version(language, head + "\n" + tunable_definitions(macros), with_constants(text, values));
}

std::string settings_text(const std::string& comment, const std::string& problem,
                          const std::vector<NamedValue>& values) {
  const std::string scope = identifier(problem) + "_settings";
  std::string text = comment;
  text +=
      "//\n// Macros, as the kernel has them: include this before the kernel. To have constants in the "
      "namespace\n// " +
      scope + " instead, define KERNELSEARCH_SETTINGS_AS_CONSTANTS before including it.\n";
  text +=
      "#pragma once\n\n#ifdef KERNELSEARCH_SETTINGS_AS_CONSTANTS\n\n#include <array>\n#include "
      "<string_view>\n\n";
  text += "namespace " + scope + " {\n\n";
  for (const NamedValue& value : values) text += constant(value);
  text += "\n}  // namespace " + scope + "\n\n#else\n\n";
  // A definition that is there already would decide in silence which of the two the kernel gets.
  for (const auto& [name, value] : tunable_macros(values))
    text += "#ifdef " + name + "\n#  error \"" + name +
            " is defined already: include this header before, or have its settings as constants\"\n#endif\n";
  return text + tunable_definitions(values) + "\n#endif\n";
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  // Replaced, not opened: of a link that lies there under this name the target stays as it is.
  if (const std::error_code error = replace_file(file, text))
    detail::raise<ConfigError>("the winner cannot be written", file.string() + ": " + error.message(),
                               "check that the folder can be written");
}

void write_file_below(const std::filesystem::path& folder, const std::filesystem::path& name,
                      const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path at = folder;
  for (const fs::path& part : name.parent_path()) {
    at /= part;
    if (part == ".." || fs::is_symlink(at, error))
      detail::raise<ConfigError>("the winner's files would be written outside of their folder", at.string(),
                                 "remove the link, or name another folder");
  }
  fs::create_directories(at, error);  // a failure shows when the file is written
  write_file(folder / name, text);
}

}  // namespace kernelsearch::detail
