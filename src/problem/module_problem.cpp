// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/module_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <system_error>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/python_tasks.hpp"
#include "modules_program.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr const char* write_a_module =
    "write a module in KernelBench's form: `class Model(nn.Module)`, `def get_inputs()` with the list of "
    "forward's arguments and `def get_init_inputs()` with those of the constructor; see docs/torch.md and "
    "examples/torch";
/// Building a kernel with nvcc, from Python, takes a minute.
constexpr double module_answer_seconds = 300;
constexpr std::size_t largest_module = std::size_t{4} << 20;

/// What follows `# kernelsearch: NAME` in a line of its own.
std::optional<std::string> marked(const std::string& text, const std::string& name) {
  const std::regex line("^#[ \\t]*kernelsearch:[ \\t]*" + name + "[ \\t]+([A-Za-z0-9]+)[ \\t\\r]*$",
                        std::regex::ECMAScript | std::regex::multiline);
  std::smatch match;
  if (!std::regex_search(text, match, line)) return std::nullopt;
  return match[1].str();
}

[[noreturn]] void refuse_text(const std::string& name, const std::string& text) {
  const auto refuse = [&](const std::string& what, const std::string& todo) {
    detail::raise<ConfigError>(what, name, todo);
  };
  const bool model = detail::defines(text, "class", "Model");
  if (model && detail::defines(text, "def", "get_inputs") == false)
    refuse("a module without its inputs", "add `def get_inputs()`, which gives forward's arguments");
  if (detail::defines(text, "class", "ModelNew"))
    refuse("an answer to a problem, without the problem",
           "name the file with `class Model`; an answer is what a system or `kernelsearch mcp` hands in");
  if (text.find("@triton.jit") != std::string::npos)
    refuse(
        "a Triton kernel, and nothing says what is right for it",
        "`kernelsearch new FOLDER --from " + name +
            "` writes a module to edit, in which what the kernel gives now is right; or say it in PyTorch: " +
            write_a_module);
  if (detail::defines(text, "def", "ref_kernel"))
    refuse("a reference of a GPU MODE task", "name its folder, which has task.yml");
  detail::raise<ConfigError>("a file of Python that is not a problem", name, write_a_module);
}

/// Folders in which the packages of an interpreter are.
std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> folders{prefix / "lib" / "python3" / "dist-packages"};
  std::error_code error;
  for (const char* lib : {"lib", "lib64"})
    for (fs::directory_iterator entry(prefix / lib, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().filename().string().starts_with("python3"))
        for (const char* kind : {"site-packages", "dist-packages"}) folders.push_back(entry->path() / kind);
  return folders;
}

/// The prefix of the Python that an environment was made of; empty where it was not.
fs::path base_of(const fs::path& prefix) {
  std::ifstream file(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("home")) {
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::size_t begin = line.find_first_not_of(" \t", equals + 1);
      if (begin != std::string::npos) return fs::path(line.substr(begin)).parent_path();
    }
  return {};
}

bool has_torch(const fs::path& python) {
  const fs::path prefix = python.parent_path().parent_path();
  std::error_code error;
  const auto there = [&](const fs::path& folder) {
    return fs::is_regular_file(folder / "torch" / "__init__.py", error);
  };
  const std::vector<fs::path> folders = package_folders(prefix);
  return fs::is_regular_file(python, error) && std::any_of(folders.begin(), folders.end(), there);
}

/// What the sandbox must let it read besides the system's folders; never the user's home as a whole.
std::vector<std::string> folders_of(const fs::path& python) {
  std::set<std::string> folders;
  const fs::path prefix = python.parent_path().parent_path();
  std::error_code error;
  const char* const named = std::getenv("HOME");
  const fs::path home = named != nullptr && *named == '/' ? fs::weakly_canonical(named, error) : fs::path();
  for (const fs::path& one : {prefix, base_of(prefix)}) {
    const fs::path real = one.empty() ? one : fs::canonical(one, error);
    if (real.empty() || error || real == "/" || real == "/usr" || real.string().starts_with("/usr/"))
      continue;
    if (real == home)
      detail::raise<ConfigError>("a Python in the home folder itself, all of which tasks could read",
                                 python.string(),
                                 "make a virtual environment in a folder of its own with a Python from "
                                 "elsewhere, and name its interpreter in KERNELSEARCH_PYTHON");
    folders.insert(real.string());
  }
  return {folders.begin(), folders.end()};
}

}  // namespace

bool has_module_reference(const Problem& problem) noexcept {
  return problem.backend == Backend::external && problem.external && problem.reference.compiler == "python";
}

bool is_function_reference(const Problem& problem) {
  return detail::defines(problem.reference.source, "def", problem.reference.function);
}

bool is_module_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  std::error_code error;
  return (extension == ".py" || extension == ".cu" || extension == ".cuh" || extension == ".hip") &&
         !fs::is_directory(path, error);
}

fs::path find_torch_python() {
  std::vector<fs::path> tried;
  if (const char* named = std::getenv("KERNELSEARCH_PYTHON"); named != nullptr && *named != '\0') {
    if (!has_torch(named))
      detail::raise<ConfigError>("the Python of KERNELSEARCH_PYTHON has no PyTorch", named,
                                 "name an interpreter whose packages have it, by its absolute path");
    return named;
  }
  if (const char* environment = std::getenv("VIRTUAL_ENV"))
    tried.emplace_back(fs::path(environment) / "bin" / "python3");
  if (const char* path = std::getenv("PATH")) {
    const std::string folders = path;
    for (std::size_t begin = 0; begin <= folders.size();) {
      const std::size_t end = std::min(folders.find(':', begin), folders.size());
      if (end > begin) tried.emplace_back(fs::path(folders.substr(begin, end - begin)) / "python3");
      begin = end + 1;
    }
  }
  for (const char* folder : {"/usr/bin", "/usr/local/bin"}) tried.emplace_back(fs::path(folder) / "python3");
  for (const fs::path& python : tried)
    if (python.is_absolute() && has_torch(python)) return python;
  detail::raise<ConfigError>("a PyTorch module needs PyTorch, which no Python here has",
                             std::to_string(tried.size()) + " places",
                             "install it (apt-get install python3-torch, or pip install torch in an "
                             "environment), and name its interpreter in KERNELSEARCH_PYTHON");
}

Problem module_problem(std::string_view given, const std::string& name, const fs::path& python) {
  const std::string text(given);
  if (!detail::is_module_text(text)) refuse_text(name, text);
  Problem problem;
  problem.name = file_word(fs::path(name).stem().string());
  problem.description =
      "A PyTorch module: `class Model` says what is right; what is sought is `class ModelNew`, with the same "
      "constructor, parameters and forward, that gives the same and is faster.";
  problem.function = "ModelNew";
  problem.kernel.regions.device = std::regex_replace(text, std::regex("\\bModel\\b"), "ModelNew");
  problem.names.device = "model_new.py";
  problem.names.reference = "model.py";
  problem.reference.source = text;
  problem.reference.function = "Model";
  Shape shape;
  shape.name = "module";
  problem.shapes.push_back(std::move(shape));
  // KernelBench's bounds, where ours differ.
  problem.tolerances.emplace_back(ElementType::bf16, Tolerance{1e-2, 1e-2});
  detail::add_modules_program(problem, python);
  if (const auto strict = marked(text, "tolerances")) {
    if (*strict != "strict" && *strict != "kernelbench")
      detail::raise<ConfigError>("tolerances that are not known", name + ": " + *strict,
                                 "write strict or kernelbench");
    if (*strict == "strict") problem.reference.flags.emplace_back("strict");
  }
  if (const auto threads = marked(text, "threads")) {
    problem.threads = std::atoi(threads->c_str());
    if (problem.threads < 1 || problem.threads > 4096)
      detail::raise<ConfigError>("no number of threads", name + ": " + *threads, "write one from 1 to 4096");
  }
  return problem;
}

std::string detail::python_literal(const nlohmann::ordered_json& json, int indent) {
  const std::string inner(static_cast<std::size_t>(indent) + 4, ' '),
      outer(static_cast<std::size_t>(indent), ' ');
  if (json.is_null()) return "None";
  if (json.is_boolean()) return json.get<bool>() ? "True" : "False";
  if (!json.is_structured()) return json.dump(-1, ' ', true);
  if (json.empty()) return json.is_array() ? "[]" : "{}";
  // A line for what fits into one.
  const bool flat = json.dump().size() <= 100;
  std::string text(json.is_array() ? "[" : "{");
  bool first = true;
  for (auto at = json.begin(); at != json.end(); ++at) {
    text += flat ? (first ? "" : ", ") : "\n" + inner;
    if (json.is_object()) text += nlohmann::ordered_json(at.key()).dump(-1, ' ', true) + ": ";
    text += python_literal(*at, indent + 4) + (flat ? "" : ",");
    first = false;
  }
  return text + (flat ? "" : "\n" + outer) + (json.is_array() ? "]" : "}");
}

std::string detail::hex_digits(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char one : bytes) {
    text += digits[static_cast<unsigned char>(one) >> 4];
    text += digits[static_cast<unsigned char>(one) & 15];
  }
  return text;
}

nlohmann::ordered_json detail::task_literal(std::string_view reference) {
  constexpr std::string_view begin = "\nTASK = ";
  const std::size_t found = reference.rfind("\nTASK = {");
  if (found == std::string_view::npos) return nullptr;
  const std::string_view text = reference.substr(found + begin.size());
  std::string json;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (quoted && text[at] == '\\' && rest.size() > 1) {
      json += text.substr(at++, 2);
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    std::size_t skipped = 0;
    if (!quoted)
      for (const auto& [theirs, ours] : {std::pair("None", "null"), std::pair("True", "true"),
                                         std::pair("False", "false"), std::pair(",\n", "")})
        if (rest.starts_with(theirs)) {
          // A comma at the end of a line is one too many in JSON where a bracket follows.
          const std::size_t next = rest.find_first_not_of(" \n", 1);
          const bool last = next != std::string_view::npos && (rest[next] == '}' || rest[next] == ']');
          json += *theirs == ',' ? (last ? "" : ",") : ours;
          skipped = *theirs == ',' ? 1 : std::string_view(theirs).size();
          break;
        }
    if (skipped > 0)
      at += skipped - 1;
    else
      json += text[at];
  }
  nlohmann::ordered_json task = nlohmann::ordered_json::parse(json, nullptr, false);
  return task.is_discarded() ? nlohmann::ordered_json(nullptr) : task;
}

std::string detail::defined_name(std::string_view line, std::string_view keyword) {
  if (!line.starts_with(keyword)) return {};
  const std::size_t begin = line.find_first_not_of(" \t", keyword.size());
  if (begin == keyword.size() || begin == std::string_view::npos) return {};
  const auto end =
      std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), detail::in_word);
  return {line.begin() + static_cast<std::ptrdiff_t>(begin), end};
}

bool detail::defines(std::string_view text, std::string_view keyword, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (defined_name(text.substr(begin, end - begin), keyword) == name) return true;
    begin = end + 1;
  }
  return false;
}

bool detail::is_module_text(std::string_view text) {
  return defines(text, "class", "Model") && defines(text, "def", "get_inputs");
}

std::string detail::new_key(const nlohmann::ordered_json& object, const std::string& plain) {
  std::string key = plain;
  for (int again = 2; object.contains(key); ++again) key = plain + "#" + std::to_string(again);
  return key;
}

std::string detail::whole_text_of(const fs::path& file, const fs::path& within) {
  std::error_code error;
  if (!within.empty() && !path_inside(within, fs::absolute(file, error)))
    raise<ConfigError>("a link out of the task's folder", file.string(), "put the file there");
  if (!fs::is_regular_file(file, error))
    raise<ConfigError>("no such file", file.string(), "see docs/tasks.md for what a task needs");
  if (fs::file_size(file, error) > largest_module || error)
    raise<ConfigError>("a file over 4 MiB", file.string(), "name a smaller one");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) raise<ConfigError>("the file cannot be read", file.string(), "check its permissions");
  if (text.find('\0') != std::string::npos)
    raise<ConfigError>("a file with a NUL in it", file.string(), "name a text");
  return text;
}

void detail::add_modules_program(Problem& problem, const fs::path& python) {
  problem.backend = Backend::external;
  problem.reference.compiler = "python";
  problem.reference.flags.clear();
  ExternalProgram program;
  program.command = {python.string(), "${FILES}/kernelsearch_modules.py"};
  program.files = {{"kernelsearch_modules.py", std::string(modules_program())}};
  program.identity = {{python.string(), "-c", "import torch; print('torch', torch.__version__)"}};
  program.readable = folders_of(python);
  std::error_code error;
  program.devices = fs::exists("/dev/nvidiactl", error);
  program.answer_seconds = module_answer_seconds;
  problem.external = std::move(program);
}

Problem read_module_problem(const fs::path& file) {
  std::error_code error;
  const std::string extension = file.extension().string();
  if (!fs::is_regular_file(file, error))
    detail::raise<ConfigError>("no such file", file.string(), write_a_module);
  if (extension == ".cu" && is_cub_benchmark(detail::whole_text_of(file))) return read_cub_benchmark(file);
  if (extension != ".py")
    detail::raise<ConfigError>("a file of device code, and nothing says what is right for it", file.string(),
                               "make a problem of it: `kernelsearch new FOLDER --from " + file.string() +
                                   "` writes a problem.json to edit (docs/gpu.md); or write a PyTorch module "
                                   "that it replaces (docs/torch.md)");
  const std::string text = detail::whole_text_of(file);
  if (is_triton_bench(text)) {
    Problem problem = triton_bench_problem(text, file.filename().string(), find_torch_python());
    problem.folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
    return problem;
  }
  if (!detail::is_module_text(text)) refuse_text(file.string(), text);
  Problem problem = module_problem(text, file.filename().string(), find_torch_python());
  problem.folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  return problem;
}

}  // namespace kernelsearch
