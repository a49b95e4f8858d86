// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu_compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "device/abi.hpp"
#include "source_text.hpp"
#include "symbols.hpp"

extern char** environ;

namespace kernelsearch_standin {
namespace {

namespace fs = std::filesystem;

bool begins_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// A folder that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string pattern = setting("TMPDIR", "/tmp") + "/kernelsearch-standin-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a program with both outputs in the file `log` and its own files in `folder`, as one that is killed
/// leaves them; whether it ended well.
bool run(const std::vector<std::string>& command, const std::string& log, const std::string& folder) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  (void)posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  (void)posix_spawn_file_actions_adddup2(&files, 1, 2);
  // Messages in English and in plain characters.
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!begins_with(*entry, "LC_ALL=") && !begins_with(*entry, "TMPDIR=")) environment.push_back(*entry);
  std::string locale = "LC_ALL=C", files_of_its_own = "TMPDIR=" + folder;
  environment.push_back(locale.data());
  environment.push_back(files_of_its_own.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environment.data());
  (void)posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    std::ofstream(log) << arguments[0] << ": " << std::strerror(error) << '\n';
    return false;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// `-DNAME=value` as a line of the source, so that it does not change the header in front of it.
std::string definition(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return "#define " + text + " 1\n";
  return "#define " + text.substr(0, equals) + " " + text.substr(equals + 1) + "\n";
}

/// Options for the compiler at hand, macros as lines of `definitions`; false with `log` set where one is
/// unknown.
bool translate(const std::vector<std::string>& options, std::vector<std::string>& out,
               std::string& definitions, std::string& log) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    const auto is = [&](const char* text) { return option == text; };
    const auto starts = [&](const char* text) { return begins_with(option, text); };
    if (is("-mllvm") || is("-Xclang") || is("-arch")) {
      ++i;
    } else if (starts("--offload-arch=") || starts("--gpu-architecture=") || starts("-mcumode") ||
               starts("-mno-cumode") || starts("-mwavefrontsize") || starts("-munsafe-fp-atomics") ||
               starts("-mno-unsafe-fp-atomics") || starts("-fgpu-") || starts("-fno-gpu-") ||
               starts("-fhip-") || starts("-fcuda-") || starts("-mcode-object-version=") ||
               is("--hip-version") || is("-fno-slp-vectorize") || is("-ffp-contract=fast-honor-pragmas") ||
               is("-fdenormal-fp-math=preserve-sign")) {
      // AMD's alone, and without meaning here
    } else if (starts("-D") && !is("-DNDEBUG")) {
      if (!is("-D"))
        definitions += definition(option.substr(2));
      else if (i + 1 < options.size())
        definitions += definition(options[++i]);
    } else if (is("-I") || is("-U") || is("-include") || is("-isystem")) {
      out.push_back(option);
      if (i + 1 < options.size()) out.push_back(options[++i]);
    } else if (is("--use_fast_math") || is("-use_fast_math")) {
      out.emplace_back("-ffast-math");
    } else if (starts("-I") || is("-DNDEBUG") || starts("-U") || starts("-std=") || starts("--std=") ||
               starts("-W") || is("-w") || starts("-ffast-math") || starts("-fno-fast-math") ||
               starts("-ffp-contract=") || starts("-ffinite-math-only") || starts("-fno-math-errno") ||
               starts("-fassociative-math") || starts("-freciprocal-math") || starts("-fno-signed-zeros") ||
               starts("-funroll-loops") || starts("-fno-unroll-loops") || starts("-fstrict-aliasing") ||
               starts("-fno-strict-aliasing") || starts("-g") || is("-pedantic")) {
      out.push_back(option);
    } else if (starts("-O")) {
      // -O1 below: what is compiled here is run for its results
    } else {
      log = "error: unknown argument: '" + option + "'\n";
      return false;
    }
  }
  return true;
}

/// Whether a function declares more shared memory than a block can have; the log says so as AMD's compiler
/// does.
bool exceeds_shared(const std::string& object, std::string& log) {
  const std::vector<ObjectSymbol> symbols =
      symbols_of(reinterpret_cast<const unsigned char*>(object.data()), object.size());
  bool exceeds = false;
  for (const ObjectSymbol& function : symbols) {
    if (!function.code) continue;
    std::size_t bytes = 0;
    for (const ObjectSymbol& symbol : symbols)
      if (is_shared(symbol) && is_within(symbol, function.name)) bytes += symbol.bytes;
    if (bytes <= shared_limit) continue;
    log += "error: local memory (" + std::to_string(bytes) + ") exceeds limit (" +
           std::to_string(shared_limit) + ") in function '" + function.name + "'\n";
    exceeds = true;
  }
  return exceeds;
}

/// The source and, behind it, what the runtime needs to call its kernels.
void write_source(const std::string& path, const std::string& definitions, const std::string& source,
                  const std::string& name, const std::vector<std::string>& expressions) {
  std::ofstream out(path);
  out << definitions << "#line 1 \"" << name << "\"\n"
      << bind_dynamic_shared(source) << "\n#line 1 \"name expressions\"\n";
  const std::map<std::string, std::string> bounds = launch_bounds(source);
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::size_t first = expressions[i].find_first_not_of(" &");
    const std::string kernel = first == std::string::npos ? expressions[i] : expressions[i].substr(first);
    out << "KERNELSEARCH_STANDIN_ENTRY(" << i << ", " << kernel << ")\n";
    // Of a template's instance the bound may name its parameters.
    if (const auto bound = bounds.find(kernel); bound != bounds.end())
      out << "KERNELSEARCH_STANDIN_BOUND(" << i << ", (" << bound->second << "))\n";
  }
}

}  // namespace

unsigned warp_of_target() {
  return setting("KERNELSEARCH_STANDIN_WARP", "64") == "32" ? 32 : 64;
}

CpuCode compile_for_cpu(const std::string& source, const std::string& name,
                        const std::vector<std::string>& expressions,
                        const std::vector<std::string>& options) {
  CpuCode code;
  const Folder folder;
  if (folder.path().empty()) {
    code.log = "error: no folder for the compiler's files\n";
    return code;
  }
  const unsigned warp = warp_of_target();
  std::vector<std::string> command{setting("KERNELSEARCH_STANDIN_CXX", "g++"), "-x", "c++", "-std=c++20",
                                   "-O1"};
  std::string definitions;
  if (!translate(options, command, definitions, code.log)) return code;
  const std::string input = folder.path() + "/kernel.cpp", output = folder.path() + "/kernel.so",
                    log = folder.path() + "/log";
  // Without start files: those of -ffast-math would change how this process rounds.
  for (const char* word : {"-fPIC", "-shared", "-nostartfiles", "-fno-exceptions", "-fno-rtti",
                           "-fno-math-errno", "-fno-stack-protector", "-fno-threadsafe-statics",
                           "-Wno-attributes", "-Wno-unknown-pragmas", "-Wl,-Bsymbolic", "-Wl,--no-undefined"})
    command.emplace_back(word);
  // Else modules with templates would stay loaded, and the next of the same path would be taken for them.
  if (command[0].find("clang") == std::string::npos) command.emplace_back("-fno-gnu-unique");
  command.push_back("-DKERNELSEARCH_STANDIN=1");
  command.push_back("-DKERNELSEARCH_STANDIN_WARP=" + std::to_string(warp));
  command.push_back("-I" KERNELSEARCH_STANDIN_DEVICE);
  for (const char* word : {"-include", "hip_on_cpu.hpp", "-o"}) command.emplace_back(word);
  command.push_back(output);
  command.push_back(input);
  for (const char* word : {"-x", "none", "-lm"}) command.emplace_back(word);
  write_source(input, definitions, source, name, expressions);
  const bool compiled = run(command, log, folder.path());
  code.log += read_file(log);
  if (!compiled) return code;
  const std::string object = read_file(output);
  if (exceeds_shared(object, code.log)) return code;
  ImageHeader header{};
  std::memcpy(header.magic, image_magic, sizeof image_magic);
  header.bytes = object.size();
  header.warp = warp;
  header.kernels = static_cast<unsigned>(expressions.size());
  const char* const head = reinterpret_cast<const char*>(&header);
  code.image.assign(head, head + sizeof header);
  code.image.insert(code.image.end(), object.begin(), object.end());
  code.ok = true;
  return code;
}

}  // namespace kernelsearch_standin
