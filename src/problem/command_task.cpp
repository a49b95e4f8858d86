// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/command_task.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "modules_program.hpp"
#include "problem_parts.hpp"
#include "yaml_text.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
using TaskJson = nlohmann::ordered_json;

constexpr const char* commands_compiler = "commands";
constexpr std::size_t most_files = 1000;
constexpr std::uintmax_t most_file_bytes = std::uintmax_t{12} << 20;
constexpr const char* write_a_task =
    "write task_type, source_file_path, compile_command, correctness_command and performance_command, as "
    "docs/tasks.md says";

using Entries = std::vector<detail::YamlEntry>;

const detail::YamlEntry* entry_of(const Entries& entries, std::string_view key) {
  for (const detail::YamlEntry& one : entries)
    if (one.key == key) return &one;
  return nullptr;
}

/// A list, or the one text of a scalar; nothing where the key is missing, null or nested.
std::vector<std::string> texts_of(const Entries& entries, std::string_view key) {
  const detail::YamlEntry* entry = entry_of(entries, key);
  return entry == nullptr || entry->kind == detail::YamlEntry::Kind::other ? std::vector<std::string>()
                                                                           : entry->texts;
}

std::string text_of(const Entries& entries, std::string_view key) {
  const std::vector<std::string> texts = texts_of(entries, key);
  return texts.empty() ? std::string() : texts.front();
}

Entries entries_of(const fs::path& file) {
  auto entries = detail::try_yaml(detail::whole_text_of(file, file.parent_path()));
  if (!entries)
    detail::raise<ConfigError>("a config.yaml that cannot be read", file.string() + " " + entries.error(),
                               write_a_task);
  return *std::move(entries);
}

/// The file that an answer replaces, and who says so.
std::string source_of(const Entries& entries, const fs::path& folder) {
  const std::string where = folder.string();
  const auto there = [&](const std::string& name) {
    std::error_code error;
    const auto inside = detail::path_inside(folder, name);
    return inside && fs::is_regular_file(*inside, error);
  };
  if (const std::string target = text_of(entries, "target_file_path"); !target.empty()) {
    if (there(target)) return target;
    detail::raise<ConfigError>("a task whose kernel is yet to be written", where + ": " + target,
                               "put a first kernel there, from which the search begins");
  }
  const std::vector<std::string> sources = texts_of(entries, "source_file_path");
  if (sources.size() > 1)
    detail::raise<ConfigError>("a task of several source files, and an answer is one",
                               where + ": " + std::to_string(sources.size()) + " files",
                               "name the one to rewrite in target_file_path");
  if (sources.size() == 1) {
    if (there(sources.front())) return sources.front();
    if (entry_of(entries, "image_repo_path") != nullptr)
      detail::raise<ConfigError>("a task whose source is in the image of a container",
                                 where + ": " + sources.front(), "copy it into the task's folder");
    detail::raise<ConfigError>("a task whose source is not in its folder", where + ": " + sources.front(),
                               "put the file there");
  }
  if (entry_of(entries, "repo_url") != nullptr)
    detail::raise<ConfigError>(
        "a task in a repository that its tool clones", where + ": " + text_of(entries, "repo_url"),
        "clone it into the task's folder, and name the file to rewrite in target_file_path");
  // The older tasks have one file, which their commands name.
  std::vector<std::string> named;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
    const std::string name = file.path().filename().string();
    for (const std::string& command : texts_of(entries, "compile_command"))
      if (command.find(name) != std::string::npos && there(name)) named.push_back(name);
  }
  if (named.size() != 1)
    detail::raise<ConfigError>("a task that does not say which file is to be rewritten", where,
                               "name it in source_file_path");
  return named.front();
}

std::vector<std::string> commands_of(const Entries& entries, const char* key, const fs::path& folder) {
  std::vector<std::string> commands = texts_of(entries, key);
  std::erase(commands, "");
  if (commands.empty())
    detail::raise<ConfigError>("a task without " + std::string(key), folder.string(), write_a_task);
  for (const std::string& one : commands)
    if (one.find('\0') != std::string::npos)
      detail::raise<ConfigError>("a command with a NUL in it", folder.string() + ": " + key, "remove it");
  return commands;
}

double seconds_of(const Entries& entries, const char* key, double standard, const fs::path& folder) {
  const std::string text = text_of(entries, key);
  if (text.empty()) return standard;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(seconds > 0 && seconds <= 86400))
    detail::raise<ConfigError>("a limit of time that is not one", folder.string() + ": " + key + ": " + text,
                               "give seconds, from 1 to 86400");
  return seconds;
}

/// Whether a problem.json could hold the text.
bool is_json_text(const std::string& text) {
  try {
    (void)TaskJson(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// The folder's files except the source, which go along; those that are not text as digits, under another
/// name.
std::vector<SourceFile> files_of_task(const fs::path& folder, const std::string& source) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_directory(error) && (name.starts_with('.') || name == "__pycache__")) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink(error) || !at->is_regular_file(error) || name.ends_with(".pyc")) continue;
    paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());
  std::uintmax_t bytes = 0;
  for (const fs::path& path : paths) bytes += fs::file_size(path, error);
  if (paths.size() > most_files || bytes > most_file_bytes)
    detail::raise<ConfigError>("a task's folder that is over 12 MiB or 1000 files",
                               folder.string() + ": " + std::to_string(paths.size()) + " files, " +
                                   std::to_string(bytes >> 20) + " MiB",
                               "remove what its commands do not need");
  std::vector<SourceFile> files;
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(folder).generic_string();
    if (name == source || name == "config.yaml") continue;
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in)
      detail::raise<ConfigError>("a file of the task cannot be read", path.string(), "check its permissions");
    const bool plain = text.find('\0') == std::string::npos && is_json_text(text);
    files.push_back(plain ? SourceFile{"task/" + name, std::move(text)}
                          : SourceFile{"task/" + name + ".kernelsearch-hex", detail::hex_digits(text)});
  }
  return files;
}

}  // namespace

std::string detail::command_task_json(const CommandTask& task) {
  const TaskJson json{{"type", task.type},
                      {"source", task.source},
                      {"functions", task.functions},
                      {"build", task.build},
                      {"check", task.check},
                      {"time", task.time},
                      {"build_seconds", task.build_seconds},
                      {"check_seconds", task.check_seconds},
                      {"time_seconds", task.time_seconds}};
  return json.dump(1) + "\n";
}

bool is_command_task_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path file = folder / "config.yaml";
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > std::uintmax_t{4} << 20) return false;
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.starts_with("correctness_command:") || text.find("\ncorrectness_command:") != std::string::npos;
}

Problem read_command_task(const fs::path& folder, const fs::path& python) {
  const Entries entries = entries_of(folder / "config.yaml");
  CommandTask task;
  task.type = text_of(entries, "task_type");
  task.functions = texts_of(entries, "target_kernel_functions");
  task.build = commands_of(entries, "compile_command", folder);
  task.check = commands_of(entries, "correctness_command", folder);
  task.time = commands_of(entries, "performance_command", folder);
  task.build_seconds = seconds_of(entries, "compile_timeout", task.build_seconds, folder);
  task.check_seconds = seconds_of(entries, "correctness_timeout", task.check_seconds, folder);
  task.time_seconds = seconds_of(entries, "performance_timeout", task.time_seconds, folder);
  task.source = source_of(entries, folder);
  Problem problem;
  std::error_code error;
  problem.name = file_word(fs::weakly_canonical(folder, error).filename().string());
  problem.description = "A file and three commands, which build, check and time what uses it" +
                        (task.type.empty() ? std::string() : " (" + task.type + ")") +
                        ": what is sought is another text of the file that is faster.";
  problem.function = "task";
  for (const std::string& function : task.functions)
    if (problem.function == "task" && detail::is_identifier(function)) problem.function = function;
  problem.kernel.regions.device = detail::whole_text_of(folder / task.source, folder);
  problem.names.device = fs::path(task.source).filename().string();
  problem.aggregate = Aggregate::geometric_mean;
  Shape shape;
  shape.name = "task";
  problem.shapes.push_back(std::move(shape));
  detail::add_commands_program(problem, python.empty() ? find_torch_python() : python);
  problem.reference.source = detail::command_task_json(task);
  problem.names.reference = "kernelsearch_task.json";
  for (SourceFile& file : files_of_task(folder, task.source))
    problem.external->files.push_back(std::move(file));
  problem.external->answer_seconds = task.build_seconds + task.check_seconds + task.time_seconds;
  problem.folder = folder;
  return problem;
}

bool has_command_reference(const Problem& problem) noexcept {
  return problem.backend == Backend::external && problem.external &&
         problem.reference.compiler == commands_compiler;
}

CommandTask command_task_of(const Problem& problem) {
  CommandTask task;
  try {
    const TaskJson json = TaskJson::parse(problem.reference.source);
    task.type = json.at("type");
    task.source = json.at("source");
    for (const auto& [key, into] : {std::pair("functions", &task.functions), std::pair("build", &task.build),
                                    std::pair("check", &task.check), std::pair("time", &task.time)})
      *into = json.at(key).get<std::vector<std::string>>();
    task.build_seconds = json.at("build_seconds");
    task.check_seconds = json.at("check_seconds");
    task.time_seconds = json.at("time_seconds");
  } catch (const nlohmann::json::exception& wrong) {
    detail::raise<ConfigError>("the commands of a task cannot be read", wrong.what(),
                               "name the folder with config.yaml again");
  }
  if (fs::path(task.source).is_absolute() || task.source.empty() ||
      task.source.find("..") != std::string::npos)
    detail::raise<ConfigError>("the file of a task is not in its folder", task.source,
                               "name a file below it");
  return task;
}

void detail::add_commands_program(Problem& problem, const fs::path& python) {
  add_modules_program(problem, python);
  problem.reference.compiler = commands_compiler;
  ExternalProgram& program = *problem.external;
  program.command = {python.string(), "${FILES}/kernelsearch_commands.py"};
  program.files = {{"kernelsearch_commands.py", std::string(commands_program())}};
  program.clock = ExternalClock::claimed;
  std::error_code error;
  program.devices = program.devices || fs::exists("/dev/kfd", error);
}

}  // namespace kernelsearch
