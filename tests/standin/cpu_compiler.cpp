// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu_compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "device/abi.hpp"
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

/// Runs a program with both outputs in the file `log`; whether it ended well.
bool run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  (void)posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  (void)posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
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

/// Options for the compiler at hand; false with `log` set where one is unknown.
bool translate(const std::vector<std::string>& options, std::vector<std::string>& out, std::string& log) {
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
    } else if (is("-I") || is("-D") || is("-U") || is("-include") || is("-isystem")) {
      out.push_back(option);
      if (i + 1 < options.size()) out.push_back(options[++i]);
    } else if (is("--use_fast_math") || is("-use_fast_math")) {
      out.emplace_back("-ffast-math");
    } else if (starts("-I") || starts("-D") || starts("-U") || starts("-std=") || starts("--std=") ||
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

bool exceeds_shared(const std::string& object, const std::vector<std::string>& expressions,
                    std::string& log) {
  const std::vector<ObjectSymbol> symbols =
      symbols_of(reinterpret_cast<const unsigned char*>(object.data()), object.size());
  // Which function an expression names is known only once it is loaded: here the functions that have memory
  // count.
  std::vector<std::string> functions;
  for (const ObjectSymbol& symbol : symbols)
    if (symbol.code) functions.push_back(symbol.name);
  bool exceeds = false;
  for (const std::string& function : functions) {
    std::size_t bytes = 0;
    for (const ObjectSymbol& symbol : symbols)
      if (is_shared(symbol) && is_within(symbol, function)) bytes += symbol.bytes;
    if (bytes <= shared_limit) continue;
    log += "error: local memory (" + std::to_string(bytes) + ") exceeds limit (" +
           std::to_string(shared_limit) + ") in '" + function + "'\n";
    exceeds = true;
  }
  (void)expressions;
  return exceeds;
}

}  // namespace

std::string bind_dynamic_shared(const std::string& source) {
  static const std::regex declaration("extern\\s+__shared__([^;]*);");
  return std::regex_replace(source, declaration,
                            "extern $1 __asm__(\"kernelsearch_standin_dynamic_shared\");");
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
  const unsigned warp = setting("KERNELSEARCH_STANDIN_WARP", "64") == "32" ? 32 : 64;
  std::vector<std::string> command{setting("KERNELSEARCH_STANDIN_CXX", "g++"), "-x", "c++", "-std=c++20",
                                   "-O1"};
  if (!translate(options, command, code.log)) return code;
  const std::string input = folder.path() + "/kernel.cpp", output = folder.path() + "/kernel.so",
                    log = folder.path() + "/log";
  // Without start files: those of -ffast-math would change how this process rounds.
  for (const char* word : {"-fPIC", "-shared", "-nostartfiles", "-fno-gnu-unique", "-fno-exceptions",
                           "-fno-rtti", "-fno-math-errno", "-fno-stack-protector", "-fno-threadsafe-statics",
                           "-Wno-attributes", "-Wno-unknown-pragmas", "-Wl,-Bsymbolic", "-Wl,--no-undefined"})
    command.emplace_back(word);
  command.push_back("-DKERNELSEARCH_STANDIN=1");
  command.push_back("-DKERNELSEARCH_STANDIN_WARP=" + std::to_string(warp));
  command.push_back("-I" KERNELSEARCH_STANDIN_DEVICE);
  for (const char* word : {"-include", "hip_on_cpu.hpp", "-o"}) command.emplace_back(word);
  command.push_back(output);
  command.push_back(input);
  for (const char* word : {"-x", "none", "-lm"}) command.emplace_back(word);
  {
    std::ofstream out(input);
    out << "#line 1 \"" << name << "\"\n"
        << bind_dynamic_shared(source) << "\n#line 1 \"name expressions\"\n";
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const std::size_t first = expressions[i].find_first_not_of(" &");
      out << "KERNELSEARCH_STANDIN_ENTRY(" << i << ", "
          << (first == std::string::npos ? expressions[i] : expressions[i].substr(first)) << ")\n";
    }
  }
  const bool compiled = run(command, log);
  code.log += read_file(log);
  if (!compiled) return code;
  const std::string object = read_file(output);
  if (exceeds_shared(object, expressions, code.log)) return code;
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
