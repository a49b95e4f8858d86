// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "kernelsearch/core/error.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_output = std::size_t{256} << 20;  // and of a library

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

fs::path find_objdump(const fs::path& program) {
  // A wish is not replaced by something else.
  if (!program.empty()) return is_program(program) ? program : fs::path();
  if (const char* wish = std::getenv("KERNELSEARCH_OBJDUMP"); wish != nullptr && *wish != '\0')
    return is_program(wish) ? fs::path(wish) : fs::path();
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"})
    if (is_program(fs::path(folder) / "objdump")) return fs::path(folder) / "objdump";
  return {};
}

struct HostCodeInspector::Impl {
  explicit Impl(ObjectCodeOptions chosen)
      : options(std::move(chosen)), program(find_objdump(options.program)) {}

  ObjectCodeOptions options;
  fs::path program;
  std::mutex mutex;
  std::map<fs::path, Features> known;  // compiled libraries are named by their contents
};

HostCodeInspector::HostCodeInspector(ObjectCodeOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
HostCodeInspector::HostCodeInspector(HostCodeInspector&&) noexcept = default;
HostCodeInspector& HostCodeInspector::operator=(HostCodeInspector&&) noexcept = default;
HostCodeInspector::~HostCodeInspector() = default;

ObjectCode HostCodeInspector::read(const fs::path& library, const std::string& entry) const {
  const ObjectCodeOptions& options = impl_->options;
  const auto fail = [&](const char* what, const std::string& given) {
    detail::raise<ConfigError>(what, given, "see `kernelsearch doctor`");
  };
  if (impl_->program.empty()) fail("there is no objdump", options.program.string());
  const detail::Descriptor file = detail::open_for_reading(library.string());
  if (!file) fail("a library to look into cannot be opened", library.string());
  const Sandbox sandbox = resolved(options.sandbox);
  detail::Boxed boxed;
  boxed.files = {{file.number(), "/library.so", library.string(), false}};
  // Tables of linkage first. A library without them is not one of ours, but has code all the same.
  boxed.argv = {"/bin/sh", "-c", "\"$0\" -R \"$1\" 2>/dev/null; exec \"$0\" -d -l --no-show-raw-insn \"$1\"",
                impl_->program.string(), detail::path_in(sandbox, boxed)};
  const std::string folder = impl_->program.parent_path().string();
  if (!folder.starts_with("/usr") && !folder.starts_with("/bin")) boxed.readable.emplace_back(folder);
  boxed.cores = options.cores;
  boxed.limits = {{RLIMIT_AS, std::uint64_t{2} << 30}, {RLIMIT_CORE, 0}, {RLIMIT_FSIZE, max_output}};
  const detail::Finished finished =
      detail::run_command(detail::launch_in(sandbox, boxed), options.seconds, max_output);
  if (finished.timed_out || finished.too_much_output || !WIFEXITED(finished.status) ||
      WEXITSTATUS(finished.status) != 0)
    fail("objdump made nothing of a library",
         library.string() + ": " + finished.errors.substr(0, finished.errors.find('\n')));
  return parse_object_code(finished.output, entry);
}

Features HostCodeInspector::inspect(const HostArtifact& artifact) {
  if (impl_->program.empty()) return {};
  {
    const std::scoped_lock lock(impl_->mutex);
    if (const auto found = impl_->known.find(artifact.library); found != impl_->known.end())
      return found->second;
  }
  Features features;
  try {
    features = object_features(read(artifact.library, artifact.entry));
  } catch (const ConfigError&) {  // nothing is known, and it is not a fault of the candidate's
  }
  const std::scoped_lock lock(impl_->mutex);
  impl_->known.emplace(artifact.library, features);
  return features;
}

}  // namespace kernelsearch
