// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/sandboxed_compiler.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "process/sandboxed.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

/// Readable by nobody whatever the umask is.
void write_text(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream(file, std::ios::binary) << text;
  for (fs::path above = file.parent_path(); above.filename() != "texts"; above = above.parent_path())
    chmod(above.c_str(), 0755);
  if (chmod(file.c_str(), 0644) != 0 || fs::file_size(file, error) != text.size())
    raise<DeviceError>("a source cannot be written for the compiler", file.string(),
                       "make room, or set TMPDIR to a folder with room");
}

/// Copies the folder, runs the command in the copy, and prints the file that it made, if it made one. Limits
/// on processes count those of a user in the whole system where there are no namespaces, and would meet
/// others; dash and bash call them differently. Described, the file comes after its size, and is followed by
/// the one next to it.
std::string command_script(Sandbox sandbox, bool is_described) {
  const std::string limit = "{ ulimit -u 512 2>/dev/null || ulimit -p 512 2>/dev/null; }; ";
  return (sandbox == Sandbox::bubblewrap ? limit : "") +
         "mkdir \"$2\" && cp -R \"$1/.\" \"$2\" && chmod -R a+rwx \"$2\" && cd \"$2\" || exit; "
         "shift 2; \"$@\" 1>&2 || exit; [ -f \"$0\" ] || exit 0; " +
         (is_described ? "wc -c < \"$0\" && cat \"$0\" || exit; [ -f \"$0.json\" ] || exit 0; echo; "
                         "exec cat \"$0.json\""
                       : "exec cat \"$0\"");
}

}  // namespace

std::optional<DescribedOutput> split_made(std::string output) {
  DescribedOutput made;
  const std::size_t line = output.find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::size_t size = 0;
  const char* const begin = output.data() + std::min(output.find_first_not_of(' '), line);  // some wc align
  const auto [end, fault] = std::from_chars(begin, output.data() + line, size);
  if (fault != std::errc() || end != output.data() + line || size > output.size() - line - 1)
    return std::nullopt;
  made.file = output.substr(line + 1, size);
  const std::size_t rest = line + 1 + size;
  made.is_described = rest < output.size();
  if (made.is_described) made.description = output.substr(rest + 1);
  return made;
}

Finished run_compiler_in(Sandbox sandbox, const CompilerRun& run) {
  sandbox = resolved(sandbox);
  const ScratchFolder scratch(sandbox_status(sandbox).as_nobody);
  const fs::path texts = scratch.path() / "texts";
  std::error_code error;
  fs::create_directories(texts, error);
  chmod(texts.c_str(), 0755);
  for (const SourceFile& text : run.texts) write_text(texts / text.path, text.text);
  Boxed boxed;
  std::string root = texts.string();
  if (sandbox == Sandbox::bubblewrap) {
    root = "/source";
    boxed.folders = {{texts, root}};
  } else {
    boxed.scratch = scratch.path();
  }
  const std::string output = temporary_folder(sandbox, boxed) + (run.is_command ? "/output.o" : "/output.so");
  boxed.argv = {"/bin/sh", "-c", "\"$@\" 1>&2 && exec cat \"$0\"", output};
  const std::string work = temporary_folder(sandbox, boxed) + "/work";
  if (run.is_command) {
    boxed.own_processes = true;
    boxed.argv = {"/bin/sh",         "-c", command_script(sandbox, run.is_described), output,
                  root + "/problem", work};
  }
  for (std::string part : run.argv) {
    replace_all(part, compiler_work, work);
    replace_all(part, compiler_root, root);
    replace_all(part, compiler_output, output);
    boxed.argv.push_back(std::move(part));
  }
  boxed.readable = run.readable;
  boxed.environment = run.environment;
  boxed.cores = run.cores;
  boxed.limits = run.limits;
  boxed.temporary_bytes = std::uint64_t{1} << 30;
  Launch launch = launch_in(sandbox, boxed);
  launch.leaves_nothing = run.is_command;  // compilers clean up after themselves, which takes a moment
  Finished finished = run_command(std::move(launch), run.seconds, run.max_output, run.stop);
  if (run.is_command) replace_all(finished.errors, work + "/", "");
  replace_all(finished.errors, root + "/problem/", "");
  replace_all(finished.errors, root + "/", "");
  return finished;
}

}  // namespace kernelsearch::detail
