// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/compile.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "judge/sandboxed_compiler.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "kernelsearch/judge/library_use.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "problem/replace_file.hpp"
#include "process/process.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_library = std::size_t{256} << 20;

void store(const fs::path& target, const std::string& bytes) {
  if (const std::error_code error = replace_file(target, bytes))
    raise<DeviceError>("a compiled kernel could not be stored",
                       target.parent_path().string() + ": " + error.message(),
                       "make room or choose another cache directory");
}

bool ended_well(const Finished& finished) {
  return WIFEXITED(finished.status) && WEXITSTATUS(finished.status) == 0;
}

/// Whether it was killed rather than failed: by the sandbox's status, or in the words of g++ and clang.
bool was_killed(const Finished& finished) {
  if (finished.timed_out) return false;
  if (WIFSIGNALED(finished.status)) return WTERMSIG(finished.status) == SIGKILL;
  if (WEXITSTATUS(finished.status) == 128 + SIGKILL) return true;
  return WEXITSTATUS(finished.status) != 0 &&
         (finished.errors.find("Killed signal terminated program") != std::string::npos ||
          finished.errors.find("unable to execute command: Killed") != std::string::npos);
}

bool is_link_input(const std::string& flag) {
  return flag.rfind("-l", 0) == 0 || flag.rfind("-L", 0) == 0 || flag.rfind("-Wl,", 0) == 0 ||
         (flag.size() > 2 && flag.front() == '/' &&
          (flag.ends_with(".a") || flag.find(".so") != std::string::npos));
}

}  // namespace

fs::path default_cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "kernelsearch";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "kernelsearch";
  return fs::temp_directory_path() / ("kernelsearch-" + std::to_string(geteuid()));
}

namespace {

/// The file of a command's program outside of the sandbox; nothing for one of the command's own files.
std::optional<fs::path> program_of(const std::string& name, const BuildCommand& by) {
  const auto own = [&](const SourceFile& file) {
    return fs::path(file.path) == fs::path(name).lexically_normal();
  };
  if (name.find('/') == std::string::npos) {
    for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"})
      if (access((fs::path(folder) / name).c_str(), X_OK) == 0) return fs::path(folder) / name;
  } else if (name.front() == '/') {
    if (access(name.c_str(), X_OK) == 0) return fs::path(name);
  } else if (std::any_of(by.files.begin(), by.files.end(), own)) {
    return std::nullopt;
  }
  raise<ConfigError>("there is no such program to build with", name,
                     "install it, name it by its path, or list it in build.files and write ./NAME");
}

/// What a file is by its first bytes, as a build command makes it.
enum class Made : std::uint8_t { object, shared, other };

Made kind_of(const std::string& bytes) {
  if (bytes.starts_with("!<arch>\n")) return Made::object;
  if (!bytes.starts_with("\x7f"
                         "ELF") ||
      bytes.size() < 64)
    return Made::other;
  const int type = static_cast<unsigned char>(bytes[16]) + 256 * static_cast<unsigned char>(bytes[17]);
  return type == 1 ? Made::object : type == 3 ? Made::shared : Made::other;
}

}  // namespace

fs::path shared_place(const fs::path& stem) {
  return stem.string() + ".shared.so";
}

fs::path caller_of(const fs::path& library) {
  const std::string name = library.string();
  constexpr std::string_view ending = ".shared.so";
  if (!name.ends_with(ending)) return {};
  return name.substr(0, name.size() - ending.size()) + ".caller.so";
}

CompileCache::CompileCache(const HostOptions& options, std::string machine, std::vector<int> cores)
    : sandbox_(resolved(options.sandbox)),
      limits_(options.limits),
      readable_(options.readable),
      directory_(options.cache_directory.empty() ? default_cache_directory() : options.cache_directory),
      machine_(std::move(machine)),
      cores_(std::move(cores)) {
  std::error_code error;
  // What is kept there is loaded later: nobody else may have made the folder, as one in /tmp could have been.
  struct ::stat owner {};
  (void)create_private_folders(directory_);  // a failure shows below
  if (::stat(directory_.c_str(), &owner) == 0 && owner.st_uid != ::geteuid() && owner.st_uid != 0)
    raise<ConfigError>("the cache directory is another user's", directory_.string(), "choose another one");
  fs::create_directories(directory_ / "objects", error);
  if (error || access((directory_ / "objects").c_str(), W_OK) != 0)
    raise<ConfigError>("the cache directory cannot be written", directory_.string(), "choose another one");
}

CompileCache::Compiler CompileCache::find(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = compilers_.find(name); known != compilers_.end()) return known->second;
  Compiler compiler;
  if (name.find('/') != std::string::npos) {
    compiler.path = name;
  } else {
    for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"})
      if (access((fs::path(folder) / name).c_str(), X_OK) == 0) {
        compiler.path = (fs::path(folder) / name).string();
        break;
      }
  }
  if (compiler.path.empty() || access(compiler.path.c_str(), X_OK) != 0)
    raise<ConfigError>("there is no such compiler", name,
                       "install it (`apt-get install g++` or `clang`) or name another");
  Boxed boxed;
  boxed.argv = {compiler.path, "--version"};
  boxed.readable = readable_;
  const auto ask = [&] { return run_command(launch_in(sandbox_, boxed), 20.0, 1 << 16); };
  Finished finished = ask();
  if (was_killed(finished)) finished = ask();  // somebody's doing, or a want of memory that may be over
  if (was_killed(finished))
    raise<DeviceError>("the compiler was killed from outside", compiler.path + " --version",
                       "look for what ends processes, such as too little memory, and go on with the run");
  if (finished.timed_out || !WIFEXITED(finished.status) || WEXITSTATUS(finished.status) != 0)
    raise<ConfigError>("the compiler does not run", compiler.path + ": " + finished.errors,
                       "see `kernelsearch doctor`");
  compiler.identity = compiler.path + " " + finished.output.substr(0, finished.output.find('\n'));
  return compilers_.emplace(name, compiler).first->second;
}

std::string CompileCache::identity(const std::string& compiler) {
  return find(compiler).identity;
}

Compiled CompileCache::compile(const std::string& source, const std::vector<std::string>& command) {
  return compile(CompileJob{source, {}, {}, {}, command, {}});
}

Compiled CompileCache::compile(const CompileJob& job, Product product, const std::stop_token& stop) {
  const double begin = monotonic_seconds();
  const Compiler compiler = find(job.command.front());
  std::vector<std::string> before{compiler.path, "-std=c++20"}, after;
  // Lines alone (-g1): the code is the same, and what the hot loop calls is told with the line of the call.
  if (product == Product::library) before.insert(before.end(), {"-fPIC", "-shared", "-g1"});
  for (std::size_t i = 1; i < job.command.size(); ++i)
    (is_link_input(job.command[i]) ? after : before).push_back(job.command[i]);
  std::string content = "2\n" + machine_ + "\n" + compiler.identity + "\n";
  for (const auto& part : before) content += part + "\n";
  for (const auto& part : after) content += part + "\n";
  for (const auto* files : {&job.units, &job.files})
    for (const SourceFile& file : *files) content += file.path + "\n" + sha256(file.text) + "\n";
  for (const std::string& folder : job.include) content += "include " + folder + "\n";
  std::string toolchain = compiler.identity;
  if (job.by) {
    // Lengths before the parts: no part can pass for two.
    const auto add = [&content](const std::string& part) {
      content += std::to_string(part.size()) + ":" + part + "\n";
    };
    const std::string command = identity(*job.by);
    toolchain += "; " + command;
    add(command);
    for (const std::string& word : job.by->argv) add(word);
    add(job.by->source.path);
    add(sha256(job.by->source.text));
    add(job.by->caller);
  }
  const std::string key = sha256(content + "\n" + job.source);
  const fs::path target = directory_ / "objects" / key.substr(0, 2) / (key + ".so");
  const fs::path shared = shared_place(target.parent_path() / key);
  Compiled result;
  std::error_code error;
  if (fs::file_size(target, error) > 0 && !error) {
    result.library = target;
    result.from_cache = true;
  } else if (job.by && fs::file_size(shared, error) > 0 && !error &&
             fs::file_size(caller_of(shared), error) > 0 && !error) {
    result.library = shared;
    result.from_cache = true;
  } else {
    fs::create_directories(target.parent_path(), error);
    result = build(job, before, after, target, stop);
  }
  result.compiler = toolchain;
  result.seconds = monotonic_seconds() - begin;
  return result;
}

std::string CompileCache::identity(const CompileJob& job) {
  const std::string compiler = find(job.command.front()).identity;
  return job.by ? compiler + "; " + identity(*job.by) : compiler;
}

template <class Once>
Finished CompileCache::twice_if_killed(const std::stop_token& stop, Once once) {
  const double begin = monotonic_seconds();
  Finished finished = once(limits_.build_seconds);
  // Not the source's doing, as far as can be told; a second time it may be (memory) and is a failure.
  const double left = limits_.build_seconds - (monotonic_seconds() - begin);
  if (was_killed(finished) && !stop.stop_requested() && left > 0) finished = once(left);
  return finished;
}

std::string CompileCache::identity(const BuildCommand& by) {
  std::string what;
  const auto add = [&what](const std::string& part) {
    what += std::to_string(part.size()) + ":" + part + "\n";
  };
  add(by.argv.front());
  for (const SourceFile& file : by.files) {
    add(file.path);
    add(sha256(file.text));
  }
  for (const auto& command : by.identity) {
    add("identity " + std::to_string(command.size()));
    for (const std::string& word : command) add(word);
  }
  for (const std::string& folder : by.readable) add(folder);
  const std::scoped_lock lock(mutex_);
  if (const auto known = commands_.find(what); known != commands_.end()) return known->second;
  for (const std::string& folder : by.readable) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
      raise<ConfigError>("a folder of build.readable is not there", folder,
                         "install the toolchain, or name the folder that it is in");
  }
  std::string found = what;
  const auto program = [&](const std::string& name) {
    const auto file = program_of(name, by);
    if (file) found += sha256_of_file(*file) + "\n";
    return file ? file->string() : name;
  };
  const std::string path = program(by.argv.front());
  std::vector<std::vector<std::string>> commands = by.identity;
  // A sandbox that cannot show a folder says so once rather than for each candidate.
  if (commands.empty() && !by.readable.empty()) commands.push_back({"true"});
  for (const std::vector<std::string>& command : commands) {
    (void)program(command.front());
    std::vector<std::string> words{"/bin/sh", "-c", "\"$@\" > \"$0\"", std::string(compiler_output)};
    words.insert(words.end(), command.begin(), command.end());
    const Finished finished =
        twice_if_killed({}, [&](double seconds) { return run_command_of(by, words, false, {}, seconds); });
    const std::string shown = joined(command, " ");
    if (finished.timed_out || finished.too_much_output)
      raise<ConfigError>("what identifies the build's toolchain does not end", shown,
                         "name commands that print a version");
    if (!ended_well(finished))
      raise<ConfigError>(
          "what identifies the build's toolchain fails",
          shown + " " + end_text(finished.status) + "\n" + clean_text(first_messages(finished.errors)),
          "install the toolchain, list its folder in build.readable, or correct build.identity");
    found += sha256(finished.output) + sha256(finished.errors) + "\n";
  }
  std::string name = path + " (" + sha256(found).substr(0, 32) + ")";
  return commands_.emplace(what, std::move(name)).first->second;
}

Finished CompileCache::run_command_of(const BuildCommand& by, const std::vector<std::string>& words,
                                      bool source, const std::stop_token& stop, double seconds) {
  CompilerRun run;
  run.is_command = true;
  run.is_described = by.device && source;
  for (const SourceFile& file : by.files) run.texts.push_back({"problem/" + file.path, file.text});
  // There even where it has no files, for the command to begin in.
  run.texts.push_back({"problem/" + by.source.path, source ? by.source.text : std::string()});
  const std::string place = std::string(compiler_work) + "/" + by.source.path;
  std::string folders;
  for (const fs::path& folder : readable_) folders += (folders.empty() ? "" : ":") + folder.string();
  for (const std::string& folder : by.readable) folders += (folders.empty() ? "" : ":") + folder;
  for (std::string word : words) {
    replace_all(word, "${READABLE}", folders);
    replace_all(word, "${SOURCE}", place);
    replace_all(word, "${LIBRARY}", compiler_output);
    run.argv.push_back(std::move(word));
  }
  run.readable = {by.readable.begin(), by.readable.end()};
  return run_bounded(std::move(run), stop, seconds);
}

std::string command_failed(const std::string& what, const std::string& said) {
  return "the build command " + what + (said.empty() ? "" : "; it said:\n" + said);
}

CommandOutput CompileCache::make(const BuildCommand& by, const std::stop_token& stop) {
  Finished finished =
      twice_if_killed(stop, [&](double seconds) { return run_command_of(by, by.argv, true, stop, seconds); });
  CommandOutput result;
  if (finished.timed_out) {
    result.verdict = Verdict::timed_out;
    result.reason = stop.stop_requested()
                        ? "stopped while it was built"
                        : "the build command needed more than " +
                              std::to_string(static_cast<int>(limits_.build_seconds)) + " s";
    return result;
  }
  result.said = clean_text(first_messages(finished.errors));
  if (!ended_well(finished)) {
    result.reason = result.said.empty()
                        ? command_failed(end_text(finished.status) + " and without a message", {})
                        : result.said;
    return result;
  }
  if (finished.too_much_output) {
    result.reason =
        command_failed("made more than " + std::to_string(max_library >> 20) + " MiB", result.said);
    return result;
  }
  if (!by.device) {
    result.file = std::move(finished.output);
  } else if (auto made = split_made(std::move(finished.output))) {
    result.file = std::move(made->file);
    result.description = std::move(made->description);
    result.is_described = made->is_described;
  }
  if (result.file.empty())
    result.reason = command_failed("ended well, but made nothing where ${LIBRARY} says", result.said);
  else
    result.verdict = Verdict::ok;
  return result;
}

Compiled CompileCache::make_object(const BuildCommand& by, std::string& object, bool& shared,
                                   const std::stop_token& stop) {
  CommandOutput output = make(by, stop);
  Compiled result;
  result.verdict = output.verdict;
  result.reason = std::move(output.reason);
  if (result.verdict != Verdict::ok) return result;
  const auto made = [&](const std::string& what) {
    result.verdict = Verdict::build_failed;
    result.reason = command_failed(what, output.said);
    return result;
  };
  switch (kind_of(output.file)) {
    case Made::shared:
      if (const auto unfit = unfit_library(output.file, by.function, readable_))
        return made("made a shared library that " + clean_text(*unfit));
      shared = true;
      break;
    case Made::other:
      return made("made a file that is neither an object file nor a static or shared library");
    case Made::object:
      break;
  }
  object = std::move(output.file);
  return result;
}

std::optional<std::string> CompileCache::preprocess(const CompileJob& job) {
  if (job.by) return std::nullopt;  // its texts are nothing of the preprocessor's
  std::vector<std::string> before{find(job.command.front()).path, "-std=c++20", "-E", "-P"};
  for (std::size_t i = 1; i < job.command.size(); ++i)
    if (!is_link_input(job.command[i])) before.push_back(job.command[i]);
  CompileJob one{job.source, {}, job.files, job.include, {}, {}};
  std::string text;
  for (std::size_t unit = 0; unit <= job.units.size(); ++unit) {
    if (unit > 0) one.source = job.units[unit - 1].text;
    const Finished finished = run(one, before, {}, {}, {}, limits_.build_seconds);
    if (finished.timed_out || finished.too_much_output || !ended_well(finished)) return std::nullopt;
    text += finished.output;
  }
  return text;
}

Finished CompileCache::run(const CompileJob& job, const std::vector<std::string>& before,
                           const std::vector<std::string>& after, const std::stop_token& stop,
                           const std::string& object, double seconds) {
  CompilerRun run;
  run.argv = before;
  const std::string root = std::string(compiler_root) + "/problem";
  if (!job.files.empty()) run.argv.insert(run.argv.end(), {"-iquote", root});
  for (const std::string& folder : job.include)
    run.argv.insert(run.argv.end(), {"-I", folder == "." ? root : root + "/" + folder});
  for (const SourceFile& file : job.files) run.texts.push_back({"problem/" + file.path, file.text});
  run.argv.insert(run.argv.end(), {"-x", "c++"});
  const auto unit = [&run](const std::string& name, const std::string& text) {
    run.texts.push_back({name, text});
    run.argv.push_back(std::string(compiler_root) + "/" + name);
  };
  unit("kernel.cpp", job.source);
  for (std::size_t i = 0; i < job.units.size(); ++i)
    unit("unit" + std::to_string(i) + ".cpp", job.units[i].text);
  run.argv.insert(run.argv.end(), {"-x", "none"});
  // A kernel may be called as a function of libc or libm is (`step`, `div`): its own is what is called.
  run.argv.emplace_back("-Wl,-Bsymbolic-functions");
  if (!object.empty()) {
    run.texts.push_back({"kernel.o", object});
    // What it lacks is said now rather than where it is loaded.
    run.argv.insert(run.argv.end(), {std::string(compiler_root) + "/kernel.o", "-Wl,-z,defs"});
  }
  run.argv.insert(run.argv.end(), after.begin(), after.end());
  run.argv.insert(run.argv.end(), {"-o", std::string(compiler_output)});
  return run_bounded(std::move(run), stop, seconds);
}

Finished CompileCache::run_bounded(CompilerRun run, const std::stop_token& stop, double seconds) {
  run.readable.insert(run.readable.begin(), readable_.begin(), readable_.end());
  run.cores = cores_;
  run.seconds = seconds;
  run.stop = stop;
  run.max_output = max_library;
  run.limits = {{RLIMIT_AS, limits_.build_memory},
                {RLIMIT_CORE, 0},
                {RLIMIT_FSIZE, max_library},
                {RLIMIT_CPU, static_cast<std::uint64_t>(limits_.build_seconds) + 1}};
  return run_compiler_in(sandbox_, run);
}

Compiled CompileCache::build(const CompileJob& job, const std::vector<std::string>& before,
                             const std::vector<std::string>& after, const fs::path& target,
                             const std::stop_token& stop) {
  std::string object;
  bool shared = false;
  if (job.by)
    if (Compiled made = make_object(*job.by, object, shared, stop); made.verdict != Verdict::ok) return made;
  // What calls a shared library links nothing: the library names what it needs itself.
  const CompileJob calls{shared ? job.by->caller : std::string(), {}, {}, {}, {}, {}};
  Finished finished = twice_if_killed(stop, [&](double seconds) {
    return shared ? run(calls, before, {}, stop, {}, seconds)
                  : run(job, before, after, stop, object, seconds);
  });
  Compiled result;
  if (finished.timed_out) {
    result.verdict = Verdict::timed_out;
    result.reason = stop.stop_requested()
                        ? "stopped while it was compiled"
                        : "the compiler needed more than " +
                              std::to_string(static_cast<int>(limits_.build_seconds)) + " s";
  } else if (finished.too_much_output || !ended_well(finished) ||
             !finished.output.starts_with("\x7f"
                                          "ELF")) {
    result.verdict = Verdict::build_failed;
    result.reason = first_errors(finished.errors);
    if (result.reason.empty()) result.reason = "the compiler ended without a library and without a message";
  } else {
    result.library = shared ? shared_place(target.parent_path() / target.stem()) : target;
    if (shared) {
      store(caller_of(result.library), finished.output);
      finished.output = std::move(object);
    }
    store(result.library, finished.output);
  }
  return result;
}

std::string first_errors(const std::string& output) {
  constexpr std::size_t context = 12, longest = 2000;
  std::istringstream stream(output);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  const auto says_error = [](const std::string& line) {
    return line.find("error:") != std::string::npos || line.find("error ") != std::string::npos ||
           line.find("undefined reference") != std::string::npos ||
           line.find("multiple definition") != std::string::npos ||
           line.find("cannot ") != std::string::npos || line.find("Killed") != std::string::npos;
  };
  std::size_t first = 0, errors = 0;
  while (first < lines.size() && !says_error(lines[first])) ++first;
  if (first == lines.size()) first = 0;
  for (const auto& line : lines) errors += says_error(line) ? 1u : 0u;
  std::string text;
  // "In function f:" or "required from here" above the error belongs to it
  const std::size_t begin =
      first > 0 && lines[first - 1].find("In ") != std::string::npos ? first - 1 : first;
  for (std::size_t i = begin; i < lines.size() && i < begin + context && text.size() < longest; ++i)
    text += (text.empty() ? "" : "\n") + lines[i].substr(0, 300);
  if (text.size() > longest) text.resize(longest);
  if (errors > 1) text += "\n(" + std::to_string(errors) + " errors)";
  return text;
}

std::string first_messages(const std::string& output) {
  constexpr std::size_t above = 6, most_lines = 16, longest = 2000;
  std::istringstream stream(output);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  const auto error = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("rror:") != std::string::npos || line.find("error[") != std::string::npos ||
           line.find("undefined reference") != std::string::npos;
  });
  const std::size_t at =
      error == lines.end() ? 0 : static_cast<std::size_t>(std::distance(lines.begin(), error));
  std::string text;
  for (std::size_t i = at > above ? at - above : 0, end = i + most_lines;
       i < lines.size() && i < end && text.size() < longest; ++i)
    text += (text.empty() ? "" : "\n") + lines[i].substr(0, 300);
  if (text.size() > longest) text.resize(longest);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace kernelsearch::detail
