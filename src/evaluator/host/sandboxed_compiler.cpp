// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/sandboxed_compiler.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "evaluator/host/sandboxed.hpp"
#include "evaluator/host/scratch_folder.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {
namespace {

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
  Descriptor text;
  std::optional<ScratchFolder> scratch;
  Boxed boxed;
  std::string source = "/" + run.name;
  if (sandbox == Sandbox::bubblewrap) {
    text = memory_file(run.source);
    boxed.files = {{text.number(), source, {}, false}};
  } else {
    boxed.scratch = scratch.emplace(sandbox_status(sandbox).as_nobody).path();
    source = boxed.scratch.string() + source;
    std::ofstream(source, std::ios::binary) << run.source;
    chmod(source.c_str(), 0644);  // whatever the umask is: nobody reads it
  }
  const std::string output = temporary_folder(sandbox, boxed) + "/output.so";
  boxed.argv = {"/bin/sh", "-c", "\"$@\" 1>&2 && exec cat \"$0\"", output};
  for (const std::string& part : run.argv)
    boxed.argv.push_back(part == "SOURCE" ? source : part == "OUTPUT" ? output : part);
  boxed.readable = run.readable;
  boxed.environment = run.environment;
  boxed.cores = run.cores;
  boxed.limits = run.limits;
  boxed.temporary_bytes = std::uint64_t{1} << 30;
  return run_command(launch_in(sandbox, boxed), run.seconds, run.max_output, run.stop);
}

}  // namespace kernelsearch::detail
