// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/read_problem.hpp"

#include <algorithm>
#include <system_error>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/python_tasks.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "metric.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace detail {
namespace {

void read_kernel(const JsonCursor& place, const std::filesystem::path& folder, Regions& regions,
                 SourceNames& names) {
  constexpr const char* todo = "write {\"device\": \"kernel.cpp\"}";
  place.only({"device", "host", "macros", "include", "sources"});
  regions.device = read_source(place.at("device", todo), folder, &names.device);
  if (const auto host = place.find("host")) regions.host = read_source(*host, folder, &names.host);
  if (const auto macros = place.find("macros")) regions.macros = read_source(*macros, folder, &names.macros);
  if (regions.device.find_first_not_of(" \t\r\n") == std::string::npos)
    place.at("device", todo).refuse("is an empty source", "write the kernel into it");
}

std::vector<std::string> read_flags(const JsonCursor& place, std::span<const std::string> tunables) {
  std::vector<std::string> flags;
  for (const JsonCursor& item : place.items("list the compiler's flags, e.g. [\"-O3\"]")) {
    flags.push_back(item.string("a flag is a string"));
    check_substitutions(item, flags.back(), tunables);
  }
  return flags;
}

/// Left out: g++ on the host, a device's run-time compiler or, of a launch function, its whole one, OpenCL's
/// driver.
HostBuild default_build(Backend backend, bool launches_itself) {
  if (!is_device(backend)) return {};
  const BackendTraits& traits = traits_of(backend);
  return {std::string(launches_itself ? traits.launch_compiler : traits.compiler), {}};
}

/// Device kernels are compiled through a fixed set of doors, because the kernel comes back as code to load.
std::string read_device_compiler(const JsonCursor& place, Backend backend) {
  const BackendTraits& traits = traits_of(backend);
  if (traits.compiler.empty())
    place.refuse("is a compiler for an opencl kernel", "the driver compiles those: remove it");
  const std::string what = "compiler of " + std::string(traits.name) + " kernels";
  const bool whole = place.choice(what, {traits.compiler, traits.launch_compiler}) == 1;
  return std::string(whole ? traits.launch_compiler : traits.compiler);
}

/// A list of words, none of them with a NUL in it.
std::vector<std::string> read_words(const JsonCursor& place, const char* todo) {
  std::vector<std::string> words;
  for (const JsonCursor& item : place.items(todo)) {
    words.push_back(item.string(todo));
    if (words.back().find('\0') != std::string::npos) item.refuse("has a NUL in it", todo);
  }
  return words;
}

void read_readable(const JsonCursor& place, std::vector<std::string>& readable) {
  constexpr const char* todo = "list folders of the toolchain by absolute paths, e.g. [\"/opt/toolchain\"]";
  readable = read_words(place, todo);
  const std::vector<JsonCursor> items = place.items(todo);
  for (std::size_t i = 0; i < readable.size(); ++i) {
    const std::filesystem::path path(readable[i]);
    if (!path.is_absolute() || path.lexically_normal() != path || readable[i].back() == '/')
      items[i].refuse("is not an absolute path in its plain spelling", readable[i], todo);
    // Whole folders of users and the system hold more than a toolchain. What the sandbox has of its own would
    // be hidden, or shown after all, and a socket in /run lets through what a read-only folder does not.
    const auto below = [&](std::initializer_list<std::string_view> folders) {
      return std::any_of(folders.begin(), folders.end(), [&](std::string_view folder) {
        return readable[i].starts_with(std::string(folder) + "/") || readable[i] == folder;
      });
    };
    const auto is = [&](std::initializer_list<std::string_view> folders) {
      return std::find(folders.begin(), folders.end(), readable[i]) != folders.end();
    };
    if (below({"/proc", "/sys", "/dev", "/source", "/run", "/var/run"}) ||
        is({"/etc", "/root", "/home", "/tmp", "/var"}))
      items[i].refuse("is a folder of the system's that stays closed", readable[i], todo);
  }
}

/// The key "identity" of a build command or of an external program.
void read_identity(const JsonCursor& place, std::vector<std::vector<std::string>>& identity) {
  constexpr const char* list = "list commands, e.g. [[\"gfortran\", \"--version\"]]";
  for (const JsonCursor& one : place.items(list)) {
    identity.push_back(read_words(one, list));
    if (identity.back().empty() || identity.back().front().empty()) one.refuse("names no program", list);
  }
}

/// The key "external": the program that builds and runs the kernels.
ExternalProgram read_external(const JsonCursor& place) {
  constexpr const char* todo =
      "list the program and its arguments, e.g. [\"python3\", \"${FILES}/evaluator.py\"]";
  place.only({"command", "files", "identity", "readable", "devices", "time", "answer_seconds"});
  ExternalProgram program;
  const JsonCursor command = place.at("command", todo);
  program.command = read_words(command, todo);
  if (program.command.empty() || program.command.front().empty()) command.refuse("names no program", todo);
  const std::vector<JsonCursor> words = command.items(todo);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t at = 0; (at = program.command[i].find("${", at)) != std::string::npos; at += 2)
      if (program.command[i].compare(at, 8, "${FILES}") != 0)
        words[i].refuse("has a name in it that is not known here", program.command[i],
                        "${FILES} is the one: the values of tunables come with each request to build");
  if (const auto identity = place.find("identity")) read_identity(*identity, program.identity);
  if (const auto readable = place.find("readable")) read_readable(*readable, program.readable);
  if (const auto devices = place.find("devices")) program.devices = devices->boolean();
  if (const auto time = place.find("time")) program.clock = time->choice<ExternalClock>("time");
  if (const auto seconds = place.find("answer_seconds")) {
    constexpr const char* limit = "give the seconds within which the program answers, e.g. 60";
    program.answer_seconds = seconds->number(limit);
    if (!(program.answer_seconds > 0) || program.answer_seconds > 86400)
      seconds->refuse("is not a number of seconds from 0 to 86400", limit);
  }
  return program;
}

/// What no external program can be held to is refused rather than overlooked.
void check_external(const JsonCursor& document, const Problem& problem) {
  const auto external = document.find("external");
  if (problem.backend != Backend::external) {
    if (external)
      external->refuse("is for problems whose backend is external", std::string(to_string(problem.backend)),
                       "write \"backend\": \"external\", or remove it");
    return;
  }
  if (!external)
    document.refuse("lacks the key \"external\"", "backend external",
                    "write {\"command\": [\"python3\", \"${FILES}/evaluator.py\"], \"files\": "
                    "[\"evaluator.py\"]}");
  if (problem.reference.source.empty())
    document.refuse("lacks the key \"reference\"", "backend external",
                    "write a C++ function that says what is right: {\"source\": \"reference.cpp\", "
                    "\"function\": \"name\"}, or a module: {\"python\": \"model.py\"}");
  for (const char* key : {"build", "libraries", "over_read_bytes", "memory_gib"})
    if (const auto found = document.find(key))
      found->refuse("is for kernels that we build ourselves", "backend external", "remove it");
  if (const auto sources = document.at("kernel", "").find("sources"))
    sources->refuse("are for kernels that we build ourselves", "backend external",
                    "list them in external.files");
}

/// The keys that go with "command".
void read_build_command(const JsonCursor& place, const JsonCursor& command, const Scope& scope,
                        HostBuild& build) {
  constexpr const char* todo =
      "list the program and its arguments, e.g. [\"gfortran\", \"-c\", \"${SOURCE}\", \"-o\", "
      "\"${LIBRARY}\"]";
  if (!scope.on_host() && scope.backend != Backend::cuda && scope.backend != Backend::hip)
    command.refuse("builds a kernel for a backend that loads no code of other compilers",
                   std::string(to_string(scope.backend)),
                   "remove it; commands build kernels of the backends host, cuda and hip");
  if (!scope.on_host())
    for (const char* key : {"compiler", "flags"})
      if (const auto found = place.find(key))
        found->refuse("is for a device kernel that we compile, and a command builds this one",
                      "pass options to the command; those of the reference are in reference.flags");
  build.command = read_words(command, todo);
  const std::vector<JsonCursor> parts = command.items(todo);
  if (parts.empty()) command.refuse("names no program", todo);
  std::vector<std::string> known = scope.tunables;
  std::vector<std::string> own_names{"SOURCE", "LIBRARY", "NAME", "READABLE"};
  if (!scope.on_host()) own_names.emplace_back("ARCH");
  for (const std::string& own : own_names) {
    if (std::find(known.begin(), known.end(), own) != known.end())
      command.refuse("has a name of its own that a tunable has", own, "rename the tunable");
    known.emplace_back(own);
  }
  bool makes = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check_substitutions(parts[i], build.command[i], known);
    makes = makes || build.command[i].find("${LIBRARY}") != std::string::npos;
  }
  if (build.command.front().empty() || build.command.front().find("${") != std::string::npos)
    parts.front().refuse("is not a program", todo);
  if (!makes)
    command.refuse("is not told what to make", scope.on_host()
                                                   ? "pass ${LIBRARY}, the object file to make"
                                                   : "pass ${LIBRARY}, the file with device code to make");
  if (const auto identity = place.find("identity")) read_identity(*identity, build.identity);
  if (const auto readable = place.find("readable")) read_readable(*readable, build.readable);
}

void read_build(const JsonCursor& place, const Scope& scope, HostBuild& build) {
  const std::vector<std::string>& tunables = scope.tunables;
  place.only({"compiler", "flags", "libraries", "command", "files", "identity", "readable"});
  if (const auto command = place.find("command"))
    read_build_command(place, *command, scope, build);
  else
    for (const char* key : {"files", "identity", "readable"})
      if (const auto found = place.find(key))
        found->refuse("belongs to a build command, and there is none", "write \"command\", or remove it");
  const auto compiler = place.find("compiler");
  if (compiler && !scope.on_host()) {
    build.compiler = read_device_compiler(*compiler, scope.backend);
  } else if (compiler) {
    build.compiler = compiler->string("name a compiler, e.g. \"g++\"");
    if (build.compiler.empty()) compiler->refuse("names no compiler", "name one, e.g. \"g++\"");
    check_substitutions(*compiler, build.compiler, tunables);
  }
  if (const auto flags = place.find("flags")) build.flags = read_flags(*flags, tunables);
  if (const auto libraries = place.find("libraries")) {
    if (!scope.on_host()) libraries->refuse("links libraries with a device kernel", "remove it");
    build.libraries = read_libraries(*libraries);
  }
}

/// A kernel in a file `.c` is C: its restrict, implicit conversions of void* and arrays of variable length
/// are not C++. It is compiled by a command, as if the problem had named one.
void compile_as_c(const JsonCursor& device, const Scope& scope, Problem& problem) {
  HostBuild& build = problem.build;
  if (problem.backend != Backend::host || !build.command.empty() ||
      std::filesystem::path(problem.names.device).extension() != ".c")
    return;
  const std::string compiler = build.compiler == "g++"       ? "gcc"
                               : build.compiler == "clang++" ? "clang"
                                                             : build.compiler;
  if (compiler.find("${") != std::string::npos)
    device.refuse("is in C, and its compiler is a tunable", compiler,
                  "name one compiler, or write build.command");
  std::string flags;
  for (const std::string& flag : build.flags) flags += (flags.empty() ? "" : " ") + flag;
  // The flags in one word, which the shell takes apart: one of a tunable may be empty.
  build.command = {"sh",
                   "-c",
                   "set -f; source=$1; made=$2; flags=$3; shift 3; exec " + shell_word(compiler) +
                       " -std=gnu17 -fPIC $flags \"$@\" -c \"$source\" -o \"$made\"",
                   "sh",
                   "${SOURCE}",
                   "${LIBRARY}",
                   flags};
  for (const std::string& name : scope.tunables) {
    for (const char* own : {"SOURCE", "LIBRARY", "NAME", "READABLE"})
      if (name == own)
        device.refuse("is in C, and a tunable has a name of build commands", name, "rename it");
    build.command.push_back("-D" + name + "=${" + name + "}");
  }
  build.identity = {{compiler, "--version"}};
}

/// A module in Python, which the problem's program holds.
Reference read_python_reference(const JsonCursor& place, const std::filesystem::path& folder,
                                const Scope& scope, std::string& name) {
  constexpr const char* todo = "write {\"python\": \"model.py\", \"function\": \"Model\"}";
  place.only({"python", "function", "flags"});
  const JsonCursor source = place.at("python", todo);
  if (scope.backend != Backend::external)
    source.refuse("is a reference of problems whose program judges modules",
                  std::string(to_string(scope.backend)), "write \"backend\": \"external\": docs/torch.md");
  Reference reference;
  reference.compiler = "python";
  reference.source = read_source(source, folder, &name);
  if (reference.source.find_first_not_of(" \t\r\n") == std::string::npos)
    source.refuse("is an empty source", "write the module into it");
  reference.function = "Model";
  if (const auto function = place.find("function")) {
    reference.function = function->string(todo);
    check_name(*function, reference.function, "a class");
  }
  reference.flags.clear();
  if (const auto flags = place.find("flags")) reference.flags = read_flags(*flags, {});
  return reference;
}

Reference read_reference(const JsonCursor& place, const std::filesystem::path& folder, const Scope& scope,
                         std::string& name) {
  constexpr const char* todo = "write {\"source\": \"reference.cpp\", \"function\": \"name\"}";
  if (place.find("python")) return read_python_reference(place, folder, scope, name);
  if (const auto commands = place.find("commands")) {
    place.only({"commands"});
    if (scope.backend != Backend::external)
      commands->refuse("are for problems whose program runs them", std::string(to_string(scope.backend)),
                       "write \"backend\": \"external\": docs/tasks.md");
    Reference reference;
    reference.compiler = "commands";
    reference.source = read_source(*commands, folder, &name);
    reference.flags.clear();
    return reference;
  }
  place.only({"source", "function", "compiler", "flags", "launch", "sources", "libraries"});
  Reference reference;
  if (!scope.on_host()) reference.flags.clear();
  const JsonCursor source = place.at("source", todo);
  reference.source = read_source(source, folder, &name);
  if (reference.source.find_first_not_of(" \t\r\n") == std::string::npos)
    source.refuse("is an empty source", "write the reference into it");
  const JsonCursor function = place.at("function", todo);
  reference.function = function.string(todo);
  check_name(function, reference.function, "a function");
  if (const auto compiler = place.find("compiler")) {
    if (!scope.on_host()) compiler->refuse("compiles a device's reference", "remove it");
    reference.compiler = compiler->string("name a compiler, e.g. \"g++\"");
    if (reference.compiler.empty() || reference.compiler == "python" || reference.compiler == "commands" ||
        reference.compiler.find_first_of(" \t\r\n") != std::string::npos)
      compiler->refuse("is not a compiler", "name one program, e.g. \"g++\", and put its options into flags");
  }
  if (const auto flags = place.find("flags")) reference.flags = read_flags(*flags, {});
  if (const auto libraries = place.find("libraries")) {
    if (!scope.on_host()) libraries->refuse("links libraries with a device's reference", "remove it");
    reference.libraries = read_libraries(*libraries);
  }
  const auto launch = place.find("launch");
  if (launch && scope.on_host())
    launch->refuse("sizes the launch of a device's reference, which is a plain function on the host",
                   "remove it");
  if (!launch && !scope.on_host())
    place.refuse("lacks the key \"launch\"", "backend " + std::string(to_string(scope.backend)),
                 "the reference is a __global__ function: write {\"grid\": [\"...\"], \"block\": "
                 "[\"...\"]}");
  if (launch) {
    launch->only({"grid", "block", "cluster", "shared_bytes", "local"});
    reference.launch = read_geometry(*launch, scope.variables, "shape variables", scope.backend, {});
  }
  return reference;
}

std::vector<std::string> read_traits(const JsonCursor& place) {
  std::vector<std::string> traits;
  for (const JsonCursor& item : place.items("list what the problem is, e.g. [\"matmul\"]")) {
    const std::string& trait = item.string("a trait is a word such as matmul");
    if (!is_lower_name(trait))
      item.refuse("is not a name of a trait", "use lower-case letters, digits and underscores, at most 64");
    if (std::find(traits.begin(), traits.end(), trait) != traits.end())
      item.refuse("is a trait that stands before already", "list each once");
    traits.push_back(trait);
  }
  return traits;
}

/// The parts of a matrix go to arrays that are there, are inputs and left to the generator.
void check_generated(const JsonCursor& place, const Problem& problem) {
  const GeneratedInputs& generator = *problem.generator;
  for (const auto& [key, name] :
       {std::make_pair("row_pointers", &generator.row_pointers),
        std::make_pair("columns", &generator.columns), std::make_pair("values", &generator.values)}) {
    if (name->empty()) continue;
    const auto found =
        std::find_if(problem.arguments.begin(), problem.arguments.end(),
                     [&wanted = *name](const Argument& argument) { return argument.name == wanted; });
    if (found == problem.arguments.end() || found->initialisation != Initialisation::generator ||
        !found->is_input() || found->structure)
      place.at(key, "").refuse("is not an array that the generator fills",
                               "name an input with \"init\": \"generator\"");
    if (key != std::string_view("values") && is_floating(found->type))
      place.at(key, "").refuse("are indices in an array of floats", std::string(to_string(found->type)),
                               "use i32 or i64");
  }
  for (const Argument& argument : problem.arguments)
    if (argument.is_input() && argument.initialisation == Initialisation::generator &&
        !generator.matrix_market.empty() && argument.name != generator.row_pointers &&
        argument.name != generator.columns && argument.name != generator.values)
      place.refuse("leaves an array unfilled", argument.name,
                   "name it as \"row_pointers\", \"columns\" or \"values\", or give it another \"init\"");
}

/// "none", or the names of libraries; what the build links stands among them.
std::vector<std::string> read_allowed_libraries(const JsonCursor& place, const HostBuild& build) {
  std::vector<std::string> allowed;
  if (place.kind() == JsonNode::Kind::string) {
    if (place.string("") != "none")
      place.refuse("is neither \"none\" nor a list",
                   "list the libraries that a candidate may call, e.g. "
                   "[\"m\", \"openblas\"]");
  } else {
    allowed = read_libraries(place);
  }
  for (const std::string& linked : build.libraries)
    if (std::find(allowed.begin(), allowed.end(), linked) == allowed.end())
      place.refuse("does not allow a library that \"build\" links", linked,
                   "add it to \"libraries\", or remove it from the build");
  return allowed;
}

std::uint64_t read_over_read(const JsonCursor& place, const Scope& scope) {
  constexpr const char* todo = "give the bytes beyond an array that a kernel may read, e.g. 63";
  const std::int64_t bytes = place.integer(todo);
  if (bytes < 0 || bytes > 4096) place.refuse("is not a number from 0 to 4096", todo);
  if (!scope.on_host()) place.refuse("is for host kernels", "remove it");
  return static_cast<std::uint64_t>(bytes);
}

Objectives read_objectives(const JsonCursor& place) {
  constexpr const char* todo = "list them, e.g. [\"time\", \"energy = energy_joules\"]";
  std::string text;
  for (const JsonCursor& item : place.items(todo)) {
    const std::string one = item.string(todo);
    if (one.find(';') != one.npos)
      item.refuse("has a semicolon", one, "write each objective as a text of its own");
    text += (text.empty() ? "" : "; ") + one;
  }
  if (text.empty()) place.refuse("is empty", todo);
  Result<Objectives> objectives = Objectives::try_parse(text);
  if (!objectives) place.refuse(objectives.error().what, objectives.error().given, objectives.error().todo);
  return *std::move(objectives);
}

Problem read_document(const JsonCursor& document, const std::filesystem::path& folder) {
  document.only(
      {"schema",     "name",          "description",     "backend",    "function",        "kernel",
       "arguments",  "shapes",        "valid",           "tunables",   "constraints",     "default",
       "reference",  "build",         "launch",          "tolerances", "aggregate",       "threads",
       "operations", "bytes",         "traits",          "files",      "generator",       "bit_exact",
       "memory_gib", "hidden_shapes", "trivial_answers", "libraries",  "over_read_bytes", "external",
       "objectives"});
  const JsonCursor schema = document.at("schema", "this version of the format is \"schema\": 1");
  if (schema.integer("this version of the format is 1") != 1)
    schema.refuse("is a version of the format that is not known", "this program reads version 1");

  Problem problem;
  problem.folder = folder;
  problem.kernel.space = read_space(document);
  Scope scope;
  for (const Tunable& tunable : problem.kernel.space.tunables()) scope.tunables.push_back(tunable.name);

  const JsonCursor name = document.at("name", "name the problem, e.g. \"matmul\"");
  problem.name = name.string("name the problem, e.g. \"matmul\"");
  if (problem.name.empty()) name.refuse("is empty", "name the problem, e.g. \"matmul\"");
  if (const auto text = document.find("description"))
    problem.description = text->string("describe it in a sentence");
  if (const auto backend = document.find("backend")) problem.backend = backend->choice<Backend>("backend");
  const JsonCursor function = document.at("function", "name the kernel's function");
  problem.function = function.string("name the kernel's function");
  check_name(function, problem.function, "a function");
  read_kernel(document.at("kernel", "write {\"device\": \"kernel.cpp\"}"), folder, problem.kernel.regions,
              problem.names);
  read_ready_module(document.at("kernel", ""), problem.backend, problem.kernel.regions, problem.names);

  const JsonCursor shapes =
      document.at("shapes", "list at least one, e.g. [{\"name\": \"large\", \"n\": 1048576}]");
  problem.shapes = read_shapes(shapes);
  std::vector<std::string>& variables = scope.variables;
  for (const NamedValue& variable : problem.shapes.front().variables) variables.push_back(variable.first);
  if (const auto generator = document.find("generator")) {
    problem.generator = read_generator(*generator, folder, problem.shapes, problem.names.generator);
    variables.insert(variables.end(), problem.generator->sizes.begin(), problem.generator->sizes.end());
  }
  scope.backend = problem.backend;
  scope.both = variables;
  scope.both.insert(scope.both.end(), scope.tunables.begin(), scope.tunables.end());
  for (const std::string& tunable : scope.tunables) {
    const char* clash = tunable == problem.function ? "the function" : nullptr;
    if (std::find(variables.begin(), variables.end(), tunable) != variables.end()) clash = "a shape variable";
    if (clash != nullptr)
      document.at("tunables", "")
          .at(tunable, "")
          .refuse("is called like " + std::string(clash), tunable, "rename one of them");
  }
  const auto told = document.find("reference");
  const JsonCursor arguments = document.at("arguments", "list the parameters of the function in their order");
  if (!told || !(told->find("python") || told->find("commands")))
    problem.arguments =
        read_arguments(arguments, scope, folder, problem.shapes, problem.generator.has_value());
  else if (!arguments.items("write [], as the module's generator has them").empty())
    arguments.refuse("are those of a module, whose generator has them", "write []");
  if (problem.generator) check_generated(document.at("generator", ""), problem);

  if (const auto place = document.find("trivial_answers")) {
    constexpr const char* why =
        "say why answers such as zeros are right enough, e.g. \"most inputs have none\"";
    problem.trivial_answers = place->string(why);
    if (problem.trivial_answers.find_first_not_of(' ') == std::string::npos)
      place->refuse("gives no reason", why);
  }
  if (const auto place = document.find("hidden_shapes"))
    problem.hidden_shapes = read_hidden_shapes(*place, problem);
  if (const auto valid = document.find("valid"))
    problem.valid = read_expression(*valid, scope.both, "shape variables and tunables");
  if (const auto place = document.find("tolerances")) problem.tolerances = read_tolerances(*place);
  if (!scope.on_host()) problem.reference.flags.clear();
  if (const auto place = document.find("reference"))
    problem.reference = read_reference(*place, folder, scope, problem.names.reference);
  problem.build = default_build(problem.backend, !problem.kernel.regions.host.empty());
  if (const auto build = document.find("build")) read_build(*build, scope, problem.build);
  compile_as_c(document.at("kernel", "").at("device", ""), scope, problem);
  if (const auto external = document.find("external")) problem.external = read_external(*external);
  check_external(document, problem);
  const auto launch = document.find("launch");
  if (launch && scope.on_host())
    launch->refuse("sizes the launch of a device kernel, which host kernels have not", "", "remove it");
  if (!launch && !scope.on_host() && problem.kernel.regions.host.empty())
    document.refuse("lacks the key \"launch\"", "backend " + std::string(to_string(problem.backend)),
                    "write {\"grid\": [\"...\"], \"block\": [\"...\"]}, or a launch function as the kernel's "
                    "\"host\" region");
  if (launch) problem.launch = read_launch(*launch, scope, problem, problem.kernel.space);
  if (const auto place = document.find("aggregate"))
    problem.aggregate = place->choice<Aggregate>("aggregate");
  if (const auto threads = document.find("threads")) {
    const std::int64_t count = threads->integer("give the number of threads that the kernel may use");
    if (count < 1 || count > 4096)
      threads->refuse("is not a number from 1 to 4096", "give the number of threads that the kernel may use");
    problem.threads = static_cast<int>(count);
  }
  if (const auto place = document.find("operations"))
    problem.operations = read_expression(*place, variables, "shape variables");
  if (const auto place = document.find("bytes"))
    problem.bytes = read_expression(*place, variables, "shape variables");
  if (const auto place = document.find("objectives")) problem.objectives = read_objectives(*place);
  if (const auto place = document.find("traits")) problem.traits = read_traits(*place);
  if (const auto memory = document.find("memory_gib")) {
    constexpr const char* todo = "give how many GiB a kernel may allocate in addition to its arrays, e.g. 8";
    const double gib = memory->number(todo);
    if (!(gib > 0) || gib > 65536) memory->refuse("is not a size from 0 to 65536 GiB", todo);
    if (!scope.on_host()) memory->refuse("limits the memory of a host kernel", "remove it");
    problem.memory = static_cast<std::uint64_t>(gib * 0x1p30);
  }
  if (const auto exact = document.find("bit_exact")) {
    problem.bit_exact = exact->boolean();
    for (const Argument& argument : problem.arguments)
      if (problem.bit_exact && is_unchecked(argument))
        exact->refuse("asks for the bits of an output that is not checked", argument.name,
                      "remove it, or \"check\": false there");
    for (const Argument& argument : problem.arguments)
      if (problem.bit_exact && is_device(problem.backend) && argument.is_output() &&
          is_small_float(argument.type))
        exact->refuse(
            "asks for the bits of " + argument.type_text() + " on a device, which rounds none of our own",
            argument.name, "remove it: the tolerance of " + argument.type_text() + " is one step");
  }
  if (const auto place = document.find("libraries"))
    problem.libraries = read_allowed_libraries(*place, problem.build);
  if (const auto place = document.find("over_read_bytes"))
    problem.over_read_bytes = read_over_read(*place, scope);
  check_ready_module(document, problem);
  read_files(document, folder, problem);
  check_shapes(document, problem);
  if (problem.hidden_shapes) check_hidden_shapes(document.at("hidden_shapes", ""), problem);
  return problem;
}

}  // namespace
}  // namespace detail

Problem parse_problem(std::string_view text, const std::filesystem::path& folder) {
  const std::string file = "problem.json";
  const detail::JsonNode root = detail::parse_json(text, file);
  return detail::read_document({root, file}, folder);
}

Space parse_space(std::string_view text, const std::string& name) {
  const detail::JsonNode root = detail::parse_json(text, name);
  const detail::JsonCursor document{root, name};
  document.only({"tunables", "constraints", "default"});
  return detail::read_space(document);
}

Problem read_problem(const std::filesystem::path& folder_or_file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool is_folder = fs::is_directory(folder_or_file, error);
  if (!is_folder && is_module_file(folder_or_file)) return read_module_problem(folder_or_file);
  const fs::path path = is_folder ? folder_or_file / "problem.json" : folder_or_file;
  if (is_folder && !fs::is_regular_file(path, error) && is_gpu_mode_folder(folder_or_file))
    return read_gpu_mode_problem(folder_or_file);
  if (is_folder && !fs::is_regular_file(path, error) && is_command_task_folder(folder_or_file))
    return read_command_task(folder_or_file);
  if (!is_folder && folder_or_file.filename() == "config.yaml" &&
      is_command_task_folder(folder_or_file.parent_path()))
    return read_command_task(folder_or_file.parent_path());
  if (!is_folder || !fs::is_regular_file(path, error))
    if (const fs::path definition = find_definition(folder_or_file); !definition.empty())
      return read_definition_problem(definition);
  if (!fs::is_regular_file(path, error) && fs::is_regular_file(folder_or_file / "make_problem.json", error))
    detail::raise<ConfigError>("this folder's problem is yet to be made", folder_or_file.string(),
                               "make it with `kernelsearch convert FOLDER OUT`, or in C++ by make_problem(), "
                               "and name OUT; `kernelsearch tune FOLDER` does both");
  if (!fs::is_regular_file(path, error))
    detail::raise<ConfigError>("no problem is there", path.string(),
                               "name a folder with a problem.json; `kernelsearch new NAME` makes one");
  constexpr std::uintmax_t most = 16 << 20;
  if (fs::file_size(path, error) > most || error)
    detail::raise<ConfigError>("the problem file is over 16 MiB", path.string(), "name a problem.json");
  const std::optional<std::string> text = try_whole_file(path, most);
  if (!text)
    detail::raise<ConfigError>("the problem file cannot be read", path.string(), "check its permissions");
  const std::string name = path.string();
  const detail::JsonNode root = detail::parse_json(*text, name);
  const fs::path folder = path.parent_path();
  return detail::read_document({root, name}, folder.empty() ? fs::path(".") : folder);
}

}  // namespace kernelsearch
