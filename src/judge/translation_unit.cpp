// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/translation_unit.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/compile_command.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/mlir_schedule.hpp"
#include "kernelsearch/problem/tunable_text.hpp"

namespace kernelsearch {
namespace {

// The entry point. `real` is empty for kernels, whose floating arguments keep their own types.
std::string argument_type(const Argument& argument, std::string_view real, std::string_view of_structs) {
  return std::string(argument.structure
                         ? (of_structs.empty() ? std::string_view(argument.structure->name) : of_structs)
                     : !real.empty() && is_floating(argument.type) ? real
                                                                   : cpp_name(argument.type));
}

/// What an array of c64 is passed as to a function that takes pairs, e.g. of std::complex, or their parts.
std::string pairs_text(const Problem& problem, std::string_view real) {
  if (std::none_of(problem.arguments.begin(), problem.arguments.end(),
                   [](const Argument& a) { return a.complex; }))
    return {};
  const std::string part = "sizeof(" + std::string(real.empty() ? std::string_view("float") : real) + ")";
  return "namespace {\nstruct kernelsearch_pairs {\n  void* data;\n  template <class T>\n  operator T*() "
         "const {\n"
         "    static_assert(sizeof(T) == " +
         part + " || sizeof(T) == 2 * " + part +
         ", \"an array of c64: of pairs, or of their parts\");\n    return static_cast<T*>(data);\n  "
         "}\n};\n}\n";
}

std::string entry(const Problem& problem, const std::string& function, std::string_view real,
                  std::string_view of_structs = {}) {
  std::string text =
      "#line 1 \"kernelsearch_entry\"\n" + pairs_text(problem, real) +
      "extern \"C\" __attribute__((visibility(\"default\"))) void kernelsearch_entry(void* const* "
      "arguments) {\n  ";
  text += function + "(";
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    const std::string type = argument_type(argument, real, of_structs);
    const std::string position = "(arguments[" + std::to_string(i) + "])";
    if (i != 0) text += ", ";
    if (!argument.is_array)
      text += "*static_cast<const " + type + "*>" + position;
    else if (argument.complex)
      text += "kernelsearch_pairs{const_cast<void*>" + position + "}";
    else
      text +=
          "static_cast<" + std::string(argument.role == Role::in ? "const " : "") + type + "*>" + position;
  }
  return text + ");\n}\n";
}

/// The name that messages call a region by: of its file, while it is what the file held.
std::string_view name_of(const std::string& file, const std::string& original, const std::string& text,
                         std::string_view otherwise) {
  return !file.empty() && text == original ? std::string_view(file) : otherwise;
}

std::vector<SourceFile> units_of(const Problem& problem, const std::vector<std::string>& sources,
                                 const std::string& definitions) {
  std::vector<SourceFile> units;
  for (const std::string& path : sources) {
    const auto file = std::find_if(problem.files.begin(), problem.files.end(),
                                   [&](const SourceFile& one) { return one.path == path; });
    if (file == problem.files.end())
      detail::raise<ConfigError>("a source of the problem is not among its files", path,
                                 "read the problem again");
    units.push_back({path, definitions + region(path, file->text)});
  }
  return units;
}

constexpr std::string_view prologue = "#include <cstddef>\n#include <cstdint>\n";

}  // namespace

std::string region(std::string_view name, const std::string& text) {
  if (text.empty()) return {};
  return "#line 1 \"" + std::string(name) + "\"\n" + text + (text.back() == '\n' ? "" : "\n");
}

std::string_view cpp_name(Real real) noexcept {
  return real == Real::kernel ? "float" : real == Real::f64 ? "double" : "long double";
}

bool uses_f64(const Problem& problem) noexcept {
  return std::any_of(problem.arguments.begin(), problem.arguments.end(),
                     [](const Argument& argument) { return argument.type == ElementType::f64; });
}

std::string tunable_definitions(const Kernel& kernel, const Config& config) {
  return tunable_definitions(named_values(kernel.space, config));
}

std::string candidate_source(const Problem& problem, const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  const Regions& first = problem.kernel.regions;
  return std::string(prologue) + tunable_definitions(*candidate.kernel, candidate.config) +
         region(name_of(problem.names.macros, first.macros, regions.macros, "macros"), regions.macros) +
         region(name_of(problem.names.device, first.device, regions.device, "device"), regions.device) +
         region(name_of(problem.names.host, first.host, regions.host, "host"), regions.host) +
         layout_checks(problem) + entry(problem, problem.function, {});
}

std::string reference_source(const Problem& problem, Real real) {
  const std::string_view type = real == Real::kernel && uses_f64(problem) ? "double" : cpp_name(real);
  return std::string(prologue) + "using real = " + std::string(type) + ";\n" +
         region(problem.names.reference.empty() ? "reference" : problem.names.reference,
                problem.reference.source) +
         layout_checks(problem) + entry(problem, problem.reference.function, type);
}

SourceFile command_source(const Problem& problem, const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  std::string text;
  for (const std::string* part : {&regions.macros, &regions.device, &regions.host}) {
    if (part->empty()) continue;
    text += *part;
    if (text.back() != '\n') text += '\n';
  }
  // A schedule of MLIR has its values written into it; other sources see them as the command passes them.
  if (is_mlir_source(problem.names.device))
    text = filled_mlir_source(text, [&](std::string_view name) -> const Value* {
      const Space& space = candidate.kernel->space;
      const auto i = space.find(name);
      return i ? &space.value(candidate.config, *i) : nullptr;
    });
  return {problem.names.device.empty() ? "kernel.cpp" : problem.names.device, std::move(text)};
}

namespace {

/// The kernel's declaration in C, of its arguments alone.
std::string c_declaration(const Problem& problem) {
  std::string text = "extern \"C\" void " + problem.function + "(";
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (i != 0) text += ", ";
    if (argument.is_array && argument.role == Role::in) text += "const ";
    text += argument_type(argument, {}, "void");
    if (argument.is_array) text += "*";
  }
  return text + ");\n";
}

}  // namespace

std::string caller_source(const Problem& problem) {
  return std::string(prologue) + "#line 1 \"kernelsearch_entry\"\n" + c_declaration(problem) +
         entry(problem, problem.function, {}, "void");
}

std::string caller_by_pointer_source(const Problem& problem) {
  return std::string(prologue) + "#line 1 \"kernelsearch_entry\"\n" + c_declaration(problem) +
         "extern \"C\" {\n"
         "__attribute__((visibility(\"default\"))) decltype(&" +
         problem.function +
         ") kernelsearch_function = nullptr;\n"
         "extern __attribute__((visibility(\"default\"))) const char kernelsearch_function_name[] = \"" +
         problem.function + "\";\n}\n" + entry(problem, "kernelsearch_function", {}, "void");
}

std::string layout_checks(const Problem& problem) {
  std::string text;
  std::vector<std::string> done;
  for (const Argument& argument : problem.arguments) {
    if (!argument.structure) continue;
    const StructType& type = *argument.structure;
    if (std::find(done.begin(), done.end(), type.name) != done.end()) continue;
    done.push_back(type.name);
    const auto check = [&](const std::string& condition, const std::string& says) {
      text += "static_assert(" + condition + ", \"the problem says that " + says + "\");\n";
    };
    for (std::size_t f = 0; f < type.fields.size(); ++f) {
      const StructField& field = type.fields[f];
      const std::string member = type.name + "::" + field.name, called = type.name + "." + field.name;
      const std::string of = "decltype(" + member + ")",
                        is = called + " is " + std::string(to_string(field.type));
      check("sizeof(" + member + ") == " + std::to_string(size_in_bytes(field.type)), is);
      if (field.name.find('[') != std::string::npos) {
        // An element of an array: as an expression it is a reference, whose type says less than its size.
      } else if (field.type == ElementType::f32 || field.type == ElementType::f64) {
        check("static_cast<" + of + ">(1) / 2 != 0", is);
      } else if (!is_floating(field.type) && field.type != ElementType::boolean) {
        const bool is_signed = is_signed_integer(field.type);
        check("static_cast<" + of + ">(1) / 2 == 0", is);
        check(
            "(static_cast<" + of + ">(-1) < static_cast<" + of + ">(0)) == " + (is_signed ? "true" : "false"),
            is);
      }
      const std::string offset = std::to_string(offset_of(type, f));
      check("__builtin_offsetof(" + type.name + ", " + field.name + ") == " + offset,
            called + " begins at byte " + offset);
    }
    const std::string size = std::to_string(size_in_bytes(type));
    check("sizeof(" + type.name + ") == " + size, type.name + " has " + size + " bytes");
  }
  return text.empty() ? text : "#line 1 \"kernelsearch_layout\"\n" + text;
}

std::string expand_tunables(std::string_view text, const Kernel& kernel, const Config& config) {
  return expand_tunables(text, named_values(kernel.space, config), refuse_unknown_tunable);
}

namespace {

const std::string& known_architecture(const std::string& architecture, const Problem& problem) {
  if (architecture.empty())
    detail::raise<ConfigError>("the build command asks for an architecture, and the driver names none",
                               std::string(to_string(problem.backend)),
                               "name it in build.command instead of ${ARCH}");
  return architecture;
}

/// One word of a build command; what only the place of the build can tell is left.
std::string expand_word(std::string_view text, const Problem& problem, std::span<const NamedValue> values,
                        const std::string& architecture) {
  return expand_tunables(text, values, [&](std::string_view whole) {
    if (whole == "${NAME}") return problem.function;
    if (whole == "${SOURCE}" || whole == "${LIBRARY}" || whole == "${READABLE}") return std::string(whole);
    if (whole == "${ARCH}" && is_device(problem.backend)) return known_architecture(architecture, problem);
    return refuse_unknown_tunable(whole);
  });
}

BuildCommand build_command(const Problem& problem, const Candidate& candidate,
                           const std::string& architecture = {}) {
  const bool device = is_device(problem.backend);
  BuildCommand made{{},
                    command_source(problem, candidate),
                    problem.build.files,
                    problem.build.identity,
                    problem.build.readable,
                    problem.function,
                    device ? std::string() : caller_by_pointer_source(problem),
                    device};
  const std::vector<NamedValue> values = named_values(candidate.kernel->space, candidate.config);
  for (const std::string& word : problem.build.command)
    made.argv.push_back(expand_word(word, problem, values, architecture));
  for (const SourceFile& file : problem.files)
    if (std::none_of(made.files.begin(), made.files.end(),
                     [&](const SourceFile& other) { return other.path == file.path; }))
      made.files.push_back(file);
  return made;
}

}  // namespace

std::vector<std::string> candidate_flags(const Problem& problem, const Candidate& candidate) {
  return compile_flags(problem, named_values(candidate.kernel->space, candidate.config));
}

std::vector<std::string> compile_command(const Problem& problem, const Candidate& candidate) {
  return compile_command(problem, named_values(candidate.kernel->space, candidate.config));
}

BuildCommand device_build_command(const Problem& problem, const Candidate& candidate,
                                  const std::string& architecture) {
  return build_command(problem, candidate, architecture);
}

CompileJob candidate_job(const Problem& problem, const Candidate& candidate) {
  if (!problem.build.command.empty())
    return {caller_source(problem),           {}, {}, {}, compile_command(problem, candidate),
            build_command(problem, candidate)};
  const std::string definitions =
      std::string(prologue) + tunable_definitions(*candidate.kernel, candidate.config);
  return {candidate_source(problem, candidate),
          units_of(problem, problem.sources, definitions),
          problem.files,
          problem.include,
          compile_command(problem, candidate),
          {}};
}

CompileJob reference_job(const Problem& problem, Real real) {
  CompileJob job{reference_source(problem, real), {}, problem.files, problem.include, {}, {}};
  const std::string_view type = real == Real::kernel && uses_f64(problem) ? "double" : cpp_name(real);
  job.units = units_of(problem, problem.reference.sources,
                       std::string(prologue) + "using real = " + std::string(type) + ";\n");
  job.command = {problem.reference.compiler.empty()
                     ? compile_command(problem, problem.default_candidate()).front()
                     : problem.reference.compiler};
  for (std::string& flag : expand_flags(problem.reference.flags, {})) job.command.push_back(std::move(flag));
  for (const std::string& library : problem.reference.libraries) job.command.push_back("-l" + library);
  return job;
}

}  // namespace kernelsearch
