// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/sandboxed_compiler.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "evaluator/host/sandboxed.hpp"
#include "evaluator/host/scratch_folder.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

Descriptor memory_file(const std::string& text) {
  Descriptor file(memfd_create("kernelsearch-source", MFD_CLOEXEC));
  for (std::size_t done = 0; file && done < text.size();) {
    const ssize_t wrote = write(file.number(), text.data() + done, text.size() - done);
    if (wrote <= 0)
      raise<DeviceError>("a source does not fit into memory", std::to_string(text.size()) + " bytes",
                         "free memory");
    done += static_cast<std::size_t>(wrote);
  }
  lseek(file.number(), 0, SEEK_SET);
  return file;
}

}  // namespace

Finished run_compiler_in(Sandbox sandbox, const CompilerRun& run) {
  sandbox = resolved(sandbox);
  std::vector<Descriptor> texts;
  std::optional<ScratchFolder> scratch;
  Boxed boxed;
  const bool boxed_in = sandbox == Sandbox::bubblewrap;
  if (!boxed_in) boxed.scratch = scratch.emplace(sandbox_status(sandbox).as_nobody).path();
  // The path of a file with this text: in bubblewrap its own, elsewhere in the folder of this run alone.
  const auto place = [&](const std::string& path, const std::string& text) {
    if (boxed_in) {
      texts.push_back(memory_file(text));
      boxed.files.push_back({texts.back().number(), path, {}, false});
      return path;
    }
    std::string outside = boxed.scratch.string() + path;
    for (fs::path made = boxed.scratch; const fs::path& part : fs::path(path).relative_path().parent_path()) {
      made /= part;
      fs::create_directory(made);
      chmod(made.c_str(), 0755);  // whatever the umask is: nobody reads it
    }
    std::ofstream(outside, std::ios::binary) << text;
    chmod(outside.c_str(), 0644);
    return outside;
  };
  const std::string root = (boxed_in ? "" : boxed.scratch.string()) + "/problem";
  for (const SourceFile& file : run.files) (void)place("/problem/" + file.path, file.text);
  const std::string source = place("/" + run.name, run.source);
  std::map<std::string, std::string> paths{{"SOURCE", source}, {"PROBLEM", root}};
  for (std::size_t i = 0; i < run.units.size(); ++i)
    paths["UNIT" + std::to_string(i)] = place("/unit" + std::to_string(i) + ".cpp", run.units[i].text);
  const std::string output = paths["OUTPUT"] = temporary_folder(sandbox, boxed) + "/output.so";
  boxed.argv = {"/bin/sh", "-c", "\"$@\" 1>&2 && exec cat \"$0\"", output};
  for (const std::string& part : run.argv) {
    const auto path = paths.find(part);
    if (path != paths.end())
      boxed.argv.push_back(path->second);
    else
      boxed.argv.push_back(part.rfind("PROBLEM/", 0) == 0 ? root + part.substr(7) : part);
  }
  boxed.readable = run.readable;
  boxed.environment = run.environment;
  boxed.cores = run.cores;
  boxed.limits = run.limits;
  boxed.temporary_bytes = std::uint64_t{1} << 30;
  Finished finished = run_command(launch_in(sandbox, boxed), run.seconds, run.max_output);
  for (std::size_t at = 0; (at = finished.errors.find(root + "/", at)) != std::string::npos;)
    finished.errors.erase(at, root.size() + 1);
  return finished;
}

}  // namespace kernelsearch::detail
