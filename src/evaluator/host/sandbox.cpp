// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/sandbox.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <vector>

#include "evaluator/host/sandboxed.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

// The number that the first inserted file has in the child; above what runs inside may want.
constexpr int first_inserted = 8;

void append(std::vector<std::string>& to, std::initializer_list<std::string> more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<std::string> bubblewrap(const SandboxStatus& status, std::uint64_t temporary_bytes) {
  std::vector<std::string> argv{status.path,
                                "--unshare-all",
                                "--die-with-parent",
                                "--new-session",
                                "--clearenv",
                                "--setenv",
                                "LC_ALL",
                                "C",
                                "--setenv",
                                "PATH",
                                "/usr/local/bin:/usr/bin:/bin",
                                "--ro-bind",
                                "/usr",
                                "/usr"};
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    std::error_code error;
    if (fs::is_symlink(folder, error))
      append(argv, {"--symlink", fs::read_symlink(folder, error).string(), folder});
    else if (fs::is_directory(folder, error))
      append(argv, {"--ro-bind", folder, folder});
  }
  append(argv, {"--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try",
                "/etc/ld.so.cache", "/etc/ld.so.cache", "--dev", "/dev"});
  // --size came with 0.6; without it the limit on file sizes is what bounds the folder
  if (status.version >= "0.6") append(argv, {"--size", std::to_string(temporary_bytes)});
  append(argv, {"--tmpfs", "/tmp", "--chdir", "/tmp"});
  return argv;
}

std::string find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (access(path, X_OK) == 0) return path;
  return {};
}

SandboxStatus probe() {
  SandboxStatus status;
  status.path = find_bubblewrap();
  if (status.path.empty()) {
    status.problem = "bwrap is not installed";
    return status;
  }
  const auto version = detail::run_command({.argv = {status.path, "--version"}}, 5.0, 4096);
  if (const auto blank = version.output.rfind(' '); blank != std::string::npos)
    status.version = version.output.substr(blank + 1, version.output.find('\n') - blank - 1);
  // Root first tries as nobody: limits on processes do not bind root, and files of root are closed to it.
  for (const bool as_nobody : {true, false}) {
    if (as_nobody && geteuid() != 0) continue;
    detail::Launch launch{.argv = bubblewrap(status, 1 << 20)};
    append(launch.argv, {"--", "/bin/true"});
    launch.as_nobody = as_nobody;
    const auto tried = detail::run_command(launch, 5.0, 4096);
    if (!tried.timed_out && WIFEXITED(tried.status) && WEXITSTATUS(tried.status) == 0) {
      status.works = true;
      status.as_nobody = as_nobody;
      status.problem.clear();
      return status;
    }
    status.problem = tried.timed_out ? "bwrap does not end" : tried.errors.substr(0, tried.errors.find('\n'));
  }
  return status;
}

}  // namespace

const SandboxStatus& sandbox_status() {
  static const SandboxStatus status = probe();
  return status;
}

namespace detail {

Launch launch_in(Sandbox sandbox, const Boxed& boxed) {
  Launch launch;
  launch.descriptors = boxed.descriptors;
  launch.cores = boxed.cores;
  launch.limits = boxed.limits;
  if (sandbox == Sandbox::none) {
    launch.argv = boxed.argv;
    launch.environment = boxed.environment;
    launch.ends_with_thread = !boxed.devices;
    return launch;
  }
  const SandboxStatus& status = sandbox_status();
  if (!status.works)
    raise<ConfigError>(
        "candidates cannot be kept in a sandbox", status.problem,
        status.path.empty()
            ? "install it with `apt-get install bubblewrap`, or run trusted candidates with `--sandbox none`"
            : "allow user namespaces, or run trusted candidates with `--sandbox none`");
  launch.as_nobody = status.as_nobody;
  launch.argv = bubblewrap(status, boxed.temporary_bytes);
  if (boxed.devices) {
    // Ours may be the thread of a pool that ends before it does; it watches its connection instead.
    std::erase(launch.argv, "--die-with-parent");
    append(launch.argv, {"--proc", "/proc", "--dev-bind", "/dev", "/dev", "--tmpfs", "/dev/shm",
                         "--ro-bind-try", "/sys", "/sys", "--ro-bind-try", "/opt", "/opt"});
    launch.ends_with_thread = false;
  } else if (boxed.processes) {
    append(launch.argv, {"--proc", "/proc"});
  }
  for (const std::string& entry : boxed.environment) {
    const std::size_t equals = entry.find('=');
    append(launch.argv, {"--setenv", entry.substr(0, equals), entry.substr(equals + 1)});
  }
  for (const auto& folder : boxed.readable)
    append(launch.argv, {"--ro-bind", folder.string(), folder.string()});
  int number = first_inserted;
  for (const Inserted& file : boxed.files) {
    launch.descriptors.emplace_back(number, file.descriptor);
    append(launch.argv, {"--perms", file.executable ? "0555" : "0444", "--ro-bind-data",
                         std::to_string(number++), file.inside});
  }
  launch.argv.push_back("--");
  launch.argv.insert(launch.argv.end(), boxed.argv.begin(), boxed.argv.end());
  return launch;
}

}  // namespace detail
}  // namespace kernelsearch
