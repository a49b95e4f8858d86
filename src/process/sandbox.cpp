// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/sandbox.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "process/landlock.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

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
  // --size came with 0.7; without it the limit on file sizes is what bounds the folder
  if (strverscmp(status.version.c_str(), "0.7") >= 0)
    append(argv, {"--size", std::to_string(temporary_bytes)});
  append(argv, {"--tmpfs", "/tmp", "--chdir", "/tmp"});
  return argv;
}

std::string find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (access(path, X_OK) == 0) return path;
  return {};
}

// Root first tries as nobody: limits on processes do not bind root, and files of root are closed to it.
template <class MakeLaunch>
void try_empty(SandboxStatus& status, const char* name, MakeLaunch make_launch) {
  for (const bool as_nobody : {true, false}) {
    if (as_nobody && geteuid() != 0) continue;
    try {
      detail::Launch launch = make_launch();
      launch.as_nobody = as_nobody;
      const auto tried = detail::run_command(launch, 5.0, 4096);
      if (!tried.timed_out && WIFEXITED(tried.status) && WEXITSTATUS(tried.status) == 0) {
        status.works = true;
        status.as_nobody = as_nobody;
        status.problem.clear();
        return;
      }
      status.problem = tried.timed_out ? std::string(name) + " does not end"
                                       : tried.errors.substr(0, tried.errors.find('\n'));
    } catch (const Error& error) {
      status.problem = error.what();
    }
  }
}

SandboxStatus probe_bubblewrap() {
  SandboxStatus status;
  status.path = find_bubblewrap();
  if (status.path.empty()) {
    status.problem = "bwrap is not installed";
    return status;
  }
  const auto version = detail::run_command({.argv = {status.path, "--version"}}, 5.0, 4096);
  if (const auto blank = version.output.rfind(' '); blank != std::string::npos)
    status.version = version.output.substr(blank + 1, version.output.find('\n') - blank - 1);
  try_empty(status, "bwrap", [&status] {
    detail::Launch launch{.argv = bubblewrap(status, 1 << 20)};
    append(launch.argv, {"--", "/bin/true"});
    return launch;
  });
  if (!status.works) return status;
  detail::Launch launch{.argv = bubblewrap(status, 1 << 20)};
  append(launch.argv, {"--proc", "/proc", "--", "/bin/true"});
  launch.as_nobody = status.as_nobody;
  const auto tried = detail::run_command(launch, 5.0, 4096);
  status.mounts_proc = !tried.timed_out && WIFEXITED(tried.status) && WEXITSTATUS(tried.status) == 0;
  return status;
}

const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> folders{
      "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache"};
  return folders;
}

constexpr const char* harmless_devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                            "/dev/urandom"};

SandboxStatus probe_landlock() {
  SandboxStatus status;
  const int version = detail::landlock_version();
  if (version == 0) {
    status.problem =
        "the kernel has no Landlock, it is not among its security modules, or a container's filter forbids "
        "it";
    return status;
  }
  status.version = "ABI " + std::to_string(version);
  try_empty(status, "a process", [] {
    detail::LandlockRules rules{.readable = system_folders(), .writable = {}, .readable_descriptors = {}};
    rules.writable.assign(std::begin(harmless_devices), std::end(harmless_devices));
    detail::Launch launch{.argv = {"/bin/true"}};
    launch.rule_set = std::make_shared<detail::Descriptor>(detail::landlock_rule_set(rules));
    return launch;
  });
  return status;
}

constexpr Sandbox strongest_first[] = {Sandbox::bubblewrap, Sandbox::landlock};

/// What to do about a sandbox that does not work.
std::string remedy(Sandbox sandbox, const SandboxStatus& status) {
  if (sandbox == Sandbox::landlock)
    return "start Linux 5.13 or later with `landlock` among its security modules (`lsm=`), or use another "
           "--sandbox";
  return status.path.empty() ? "install it with `apt-get install bubblewrap`, or use --sandbox landlock"
                             : "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; in a "
                               "container: --security-opt "
                               "seccomp=unconfined or its like), or use --sandbox landlock";
}

}  // namespace

Sandbox sandbox_from(std::string_view name) {
  for (const Sandbox known : {Sandbox::automatic, Sandbox::bubblewrap, Sandbox::landlock, Sandbox::none})
    if (to_string(known) == name) return known;
  detail::raise<ConfigError>("there is no such sandbox", name, "use auto, bubblewrap, landlock or none");
}

const SandboxStatus& sandbox_status(Sandbox sandbox) {
  static const SandboxStatus none = [] {
    SandboxStatus status;
    status.works = true;
    return status;
  }();
  if (sandbox == Sandbox::none) return none;
  if (sandbox == Sandbox::automatic) return sandbox_status(resolved(sandbox));
  if (sandbox == Sandbox::landlock) {
    static const SandboxStatus landlock = probe_landlock();
    return landlock;
  }
  static const SandboxStatus bubblewrap = probe_bubblewrap();
  return bubblewrap;
}

Sandbox resolved(Sandbox sandbox) {
  if (sandbox != Sandbox::automatic) {
    const SandboxStatus& status = sandbox_status(sandbox);
    if (status.works) return sandbox;
    detail::raise<ConfigError>("candidates cannot be kept in the sandbox " + std::string(to_string(sandbox)),
                               status.problem, remedy(sandbox, status));
  }
  std::string problems;
  for (const Sandbox tried : strongest_first) {
    const SandboxStatus& status = sandbox_status(tried);
    if (status.works) return tried;
    problems += (problems.empty() ? "" : "; ") + std::string(to_string(tried)) + ": " + status.problem;
  }
  detail::raise<ConfigError>(
      "candidates cannot be kept in a sandbox", problems,
      "install bubblewrap and allow user namespaces (in a container: --security-opt seccomp=unconfined or "
      "its like), or use a kernel with Landlock, or run candidates that you trust with --sandbox none");
}

std::string description_of(Sandbox sandbox) {
  if (sandbox == Sandbox::automatic) sandbox = resolved(sandbox);
  const std::string& version = sandbox_status(sandbox).version;
  const char* const between = sandbox == Sandbox::landlock ? ", " : " ";
  return std::string(to_string(sandbox)) + (version.empty() ? "" : between + version);
}

namespace detail {
namespace {

Launch launch_restricted(const Boxed& boxed) {
  Launch launch;
  launch.descriptors = boxed.descriptors;
  launch.cores = boxed.cores;
  launch.limits = boxed.limits;
  launch.argv = boxed.argv;
  launch.environment = boxed.environment;
  launch.ends_with_thread = !boxed.devices && !boxed.outlives_thread;
  launch.as_nobody = sandbox_status(Sandbox::landlock).as_nobody;
  LandlockRules rules{.readable = system_folders(), .writable = {}, .readable_descriptors = {}};
  // The program opens its own files through /proc/self/fd; the rest of /proc has no rule and stays closed,
  // but for drivers.
  for (const auto& folder : boxed.readable) rules.readable.push_back(folder.string());
  for (const auto& [outside, inside] : boxed.folders) rules.readable.push_back(outside.string());
  if (boxed.processes) rules.readable.emplace_back("/proc");  // there is no rule for one's own part of it
  if (boxed.devices) {
    for (const char* folder : {"/sys", "/opt"}) rules.readable.emplace_back(folder);
    rules.writable.emplace_back("/dev");
    // CUDA's driver writes to the entry of each process that uses it, and no rule names those to come. What
    // is secret there, such as another's memory, Landlock denies all the same.
    rules.writable.emplace_back("/proc");
    launch.devices = true;
  } else {
    rules.writable.assign(std::begin(harmless_devices), std::end(harmless_devices));
  }
  if (!boxed.scratch.empty()) {
    rules.writable.push_back(boxed.scratch.string());
    launch.environment.push_back("TMPDIR=" + boxed.scratch.string());
  }
  launch.directory = boxed.scratch.empty() ? "/" : boxed.scratch.string();
  int number = first_inserted;
  for (const Inserted& file : boxed.files) {
    launch.descriptors.emplace_back(number++, file.descriptor);
    rules.readable_descriptors.push_back(file.descriptor);
  }
  launch.rule_set = std::make_shared<Descriptor>(landlock_rule_set(rules));
  return launch;
}

}  // namespace

std::string path_in(Sandbox sandbox, const Boxed& boxed, std::size_t index) {
  if (sandbox == Sandbox::automatic) sandbox = resolved(sandbox);
  if (sandbox == Sandbox::none) return boxed.files[index].outside;
  if (sandbox == Sandbox::bubblewrap) return boxed.files[index].inside;
  return "/proc/self/fd/" + std::to_string(first_inserted + static_cast<int>(index));
}

std::string temporary_folder(Sandbox sandbox, const Boxed& boxed) {
  if (sandbox == Sandbox::automatic) sandbox = resolved(sandbox);
  return sandbox == Sandbox::bubblewrap ? "/tmp" : boxed.scratch.string();
}

Launch launch_in(Sandbox sandbox, const Boxed& boxed) {
  sandbox = resolved(sandbox);
  if (sandbox == Sandbox::landlock) return launch_restricted(boxed);
  Launch launch;
  launch.descriptors = boxed.descriptors;
  launch.cores = boxed.cores;
  launch.limits = boxed.limits;
  launch.ends_with_thread = !boxed.devices && !boxed.outlives_thread;
  if (sandbox == Sandbox::none) {
    launch.argv = boxed.argv;
    launch.environment = boxed.environment;
    if (!boxed.scratch.empty()) {
      launch.environment.push_back("TMPDIR=" + boxed.scratch.string());
      launch.directory = boxed.scratch.string();
    }
    return launch;
  }
  const SandboxStatus& status = sandbox_status(sandbox);
  launch.as_nobody = status.as_nobody;
  launch.argv = bubblewrap(status, boxed.temporary_bytes);
  // Ours may be the thread of a pool that ends before it does; it watches its connection instead.
  if (!launch.ends_with_thread) std::erase(launch.argv, "--die-with-parent");
  // Killed between its clone() and its word to the child that is to go on, bubblewrap leaves a child that
  // waits for that word for ever. It asks to be killed right before it gives the word; asked by us it would
  // be killed before as well.
  launch.sees_to_its_end = true;
  // A container that hides parts of its /proc lets nobody mount another.
  if ((boxed.devices || boxed.processes || boxed.own_processes) && status.mounts_proc)
    append(launch.argv, {"--proc", "/proc"});
  else if (boxed.devices || boxed.processes)
    append(launch.argv, {"--ro-bind", "/proc", "/proc"});
  if (boxed.devices)
    append(launch.argv, {"--dev-bind", "/dev", "/dev", "--tmpfs", "/dev/shm", "--ro-bind-try", "/sys", "/sys",
                         "--ro-bind-try", "/opt", "/opt"});
  for (const std::string& entry : boxed.environment) {
    const std::size_t equals = entry.find('=');
    append(launch.argv, {"--setenv", entry.substr(0, equals), entry.substr(equals + 1)});
  }
  for (const auto& folder : boxed.readable) {
    // What is below /usr is there already, and a link in it is not a place to mount on.
    if (folder.string().starts_with("/usr/")) continue;
    append(launch.argv, {"--ro-bind", folder.string(), folder.string()});
  }
  for (const auto& [outside, inside] : boxed.folders)
    append(launch.argv, {"--ro-bind", outside.string(), inside});
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
