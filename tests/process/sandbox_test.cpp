// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/sandbox.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "process/landlock.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"
#include "process/scratch_folder.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

/// Those that work here, so that a machine without one still tests the other.
std::vector<Sandbox> working() {
  std::vector<Sandbox> found;
  for (const Sandbox one : {Sandbox::bubblewrap, Sandbox::landlock})
    if (sandbox_status(one).works)
      found.push_back(one);
    else
      MESSAGE("skipped: ", std::string(to_string(one)), ": ", sandbox_status(one).problem);
  return found;
}

detail::Finished shell(Sandbox sandbox, const std::string& script, double seconds = 5) {
  const detail::ScratchFolder scratch(sandbox_status(sandbox).as_nobody);
  detail::Boxed boxed;
  boxed.argv = {"/bin/sh", "-c", script};
  boxed.scratch = scratch.path();
  return detail::run_command(detail::launch_in(sandbox, boxed), seconds, 1 << 20);
}

detail::Finished shell(const std::string& script, double seconds = 5) {
  return shell(resolved(Sandbox::automatic), script, seconds);
}

/// The processes with this word on their command line.
std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid <= 0) continue;
    // getline, as a process that ends while it is read is no exception there
    std::ifstream file(entry.path() / "cmdline");
    std::string argument;
    while (std::getline(file, argument, '\0') && argument != word) {
    }
    if (argument == word) found.push_back(pid);
  }
  return found;
}

}  // namespace

TEST_CASE("sandbox_status: one works where the tests run, and is asked once") {
  const SandboxStatus& status = sandbox_status(resolved(Sandbox::automatic));
  CHECK_MESSAGE(status.works, status.problem);
  CHECK(!status.version.empty());
  CHECK(&status == &sandbox_status(resolved(Sandbox::automatic)));
  CHECK(sandbox_status(Sandbox::none).works);
}

TEST_CASE("sandbox: the system is read-only, the rest is closed, the environment is empty") {
  for (const Sandbox sandbox : working()) {
    CAPTURE(to_string(sandbox));
    setenv("KERNELSEARCH_TEST_KEY", "a key of ours", 1);
    CHECK(shell(sandbox, "(touch /usr/x) 2>/dev/null || echo refused").output == "refused\n");
    CHECK(shell(sandbox,
                "ls /home /root /var 2>/dev/null; cat /etc/passwd /proc/1/environ /proc/meminfo 2>/dev/null; "
                "echo done")
              .output == "done\n");
    CHECK(shell(sandbox, "echo $HOME$USER$KERNELSEARCH_WORKER$KERNELSEARCH_TEST_KEY").output == "\n");
    CHECK(shell(sandbox, "echo inside > ${TMPDIR:-/tmp}/x && cat ${TMPDIR:-/tmp}/x").output == "inside\n");
    CHECK(shell(sandbox, "cat ${TMPDIR:-/tmp}/x 2>/dev/null || echo gone").output == "gone\n");
  }
}

TEST_CASE("sandbox: what others can read in the folder for temporary files is closed") {
  const std::string secret =
      (std::filesystem::temp_directory_path() / "kernelsearch-sandbox-secret").string();
  std::ofstream(secret) << "secret";
  std::filesystem::permissions(secret, std::filesystem::perms(0644));
  const std::string script = "cat '" + secret + "' 2>/dev/null || echo closed";
  CHECK(shell(Sandbox::none, script).output == "secret");
  for (const Sandbox sandbox : working()) {
    CAPTURE(to_string(sandbox));
    CHECK(shell(sandbox, script).output == "closed\n");
    CHECK(shell(sandbox, "echo other > '" + secret + "' || true; rm -f '" + secret + "'").output.empty());
  }
  CHECK(shell(Sandbox::none, script).output == "secret");
  std::filesystem::remove(secret);
}

TEST_CASE("sandbox: no identity of ours, no network, no signals to others") {
  for (const Sandbox sandbox : working()) {
    CAPTURE(to_string(sandbox));
    if (sandbox_status(sandbox).as_nobody) CHECK(shell(sandbox, "id -u").output == "65534\n");
    CHECK(shell(sandbox, "cat /sys/class/net/*/address 2>/dev/null || echo none").output == "none\n");
    CHECK(shell(sandbox, "kill -0 " + std::to_string(getpid()) + " 2>/dev/null && echo reached; echo done")
              .output == "done\n");
    // Both TCP and UDP; with an own network the address cannot be reached, without one no socket is made.
    for (const char* kind : {"tcp", "udp"})
      CHECK(shell(sandbox, std::string("bash -c 'exec 3<>/dev/") + kind +
                               "/127.0.0.1/9 && echo opened' 2>/dev/null; echo done")
                .output == (sandbox == Sandbox::bubblewrap && kind[0] == 'u' ? "opened\ndone\n" : "done\n"));
  }
}

TEST_CASE("sandbox: what needs /proc has one, also where bwrap can mount none") {
  for (const Sandbox sandbox : working()) {
    CAPTURE(to_string(sandbox));
    detail::Boxed boxed;
    boxed.argv = {"/bin/sh", "-c", "head -c 1 /proc/self/maps > /dev/null && echo there"};
    boxed.processes = true;
    CHECK(detail::run_command(detail::launch_in(sandbox, boxed), 5.0, 1 << 20).output == "there\n");
  }
}

TEST_CASE("sandbox: what uses devices may write below its own /proc, and not into other processes") {
  // As CUDA's driver does, in the program and in what it starts.
  const auto output = [](Sandbox sandbox, const std::string& script, bool devices) {
    const detail::ScratchFolder scratch(sandbox_status(sandbox).as_nobody);
    detail::Boxed boxed;
    boxed.argv = {"/bin/bash", "-c", script};
    boxed.scratch = scratch.path();
    boxed.devices = devices;
    boxed.processes = !devices;
    return detail::run_command(detail::launch_in(sandbox, boxed), 5.0, 1 << 20).output;
  };
  // by builtins of the shell, which is one process
  const std::string rename =
      "echo renamed > /proc/$BASHPID/comm && read name < /proc/$BASHPID/comm && echo $name";
  const std::string own = "{ " + rename + "; } 2>/dev/null; echo done";
  const std::string others =
      "(echo 0 > /proc/" + std::to_string(getpid()) + "/mem) 2>/dev/null && echo written; echo done";
  const std::string child = "(" + rename + ") 2>/dev/null; echo done";
  for (const Sandbox sandbox : working()) {
    CAPTURE(to_string(sandbox));
    // A container's /proc is read-only in bubblewrap where it cannot mount another.
    const bool writable = sandbox == Sandbox::landlock || sandbox_status(sandbox).mounts_proc;
    const std::string renamed = writable ? "renamed\ndone\n" : "done\n";
    CHECK(output(sandbox, child, true) == renamed);
    CHECK(output(sandbox, own, true) == renamed);
    CHECK(output(sandbox, others, true) == "done\n");
    if (sandbox == Sandbox::landlock) CHECK(output(sandbox, own, false) == "done\n");
  }
}

TEST_CASE("sandbox: of sockets, what uses devices has those that a driver needs, and connects none") {
  if (!sandbox_status(Sandbox::landlock).works) return;
  const TemporaryFolder folder;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = folder.path() / "socket";
  REQUIRE(path.size() < sizeof address.sun_path);
  std::ranges::copy(path, address.sun_path);
  const detail::Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  REQUIRE(bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(listener.number(), 4) == 0);
  // What it can do, a bit each: local packets, local streams, local datagrams, the network, a connection.
  const auto can = [&](bool restricted, bool devices) {
    const detail::Descriptor rules =
        detail::landlock_rule_set({.readable = {}, .writable = {"/"}, .readable_descriptors = {}});
    const pid_t child = fork();
    if (child == 0) {
      if (restricted && !detail::landlock_restrict(rules.number(), devices)) _exit(255);
      const int packets = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
      int bits = packets >= 0 ? 1 : 0;
      if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) bits |= 2;
      if (socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0) >= 0) bits |= 4;
      if (socket(AF_INET, SOCK_STREAM, 0) >= 0) bits |= 8;
      // Another descriptor, for what a process without such sockets inherits.
      if (connect(packets >= 0 ? packets : listener.number(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == 0)
        bits |= 16;
      _exit(bits);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(can(false, false) == 31);
  CHECK(can(true, false) == 0);
  CHECK(can(true, true) == 1);
}

TEST_CASE("sandbox_from, description_of: names of all, and what is wrong with others") {
  for (const Sandbox one : {Sandbox::none, Sandbox::landlock, Sandbox::bubblewrap, Sandbox::automatic})
    CHECK(sandbox_from(to_string(one)) == one);
  CHECK_THROWS_WITH_AS((void)sandbox_from("chroot"), doctest::Contains("auto, bubblewrap, landlock or none"),
                       ConfigError);
  CHECK(Sandbox::none < Sandbox::landlock);
  CHECK(Sandbox::landlock < Sandbox::bubblewrap);
  CHECK(description_of(Sandbox::none) == "none");
  for (const Sandbox sandbox : working())
    CHECK(description_of(sandbox).starts_with(std::string(to_string(sandbox))));
  CHECK(description_of(Sandbox::automatic) == description_of(resolved(Sandbox::automatic)));
}

TEST_CASE("run_command: limits of time and output") {
  const auto late = shell("sleep 5", 0.2);
  CHECK(late.timed_out);
  const auto loud = shell("head -c 10000000 /dev/zero");
  CHECK(loud.too_much_output);
  CHECK(loud.output.size() == 1 << 20);
  const auto quiet = shell("head -c 5000000 /dev/zero >&2; exit 3");
  CHECK(quiet.errors.size() == 1 << 20);  // the rest is read and dropped
  CHECK(WEXITSTATUS(quiet.status) == 3);
}

TEST_CASE("path_in: where a file is found in each sandbox") {
  detail::Boxed boxed;
  boxed.files = {{3, "/inside", "/outside", false}, {4, "/other", "/elsewhere", false}};
  CHECK(detail::path_in(Sandbox::none, boxed) == "/outside");
  CHECK(detail::path_in(Sandbox::bubblewrap, boxed) == "/inside");
  CHECK(detail::path_in(Sandbox::landlock, boxed, 1) == "/proc/self/fd/9");
}

TEST_CASE("sandbox: whoever is killed while it starts something leaves no process behind") {
  for (const Sandbox sandbox : working()) {
    CAPTURE(to_string(sandbox));
    const std::string word = "1.0" + std::to_string(getpid());  // seconds
    detail::Boxed boxed;
    boxed.argv = {"/bin/sleep", word};
    const detail::Launch launch = detail::launch_in(sandbox, boxed);
    Rng rng(1);
    for (int i = 0; i < 150; ++i) {
      const auto wait = std::chrono::microseconds(rng.below(8000));
      const pid_t starter = fork();
      REQUIRE(starter >= 0);
      if (starter == 0) {
        const detail::Process process(launch);
        pause();
        _exit(0);
      }
      std::this_thread::sleep_for(wait);
      ::kill(starter, SIGKILL);
      REQUIRE(waitpid(starter, nullptr, 0) == starter);
    }
    // What had begun may end by itself.
    std::vector<pid_t> left = processes_with(word);
    for (int i = 0; i < 300 && !left.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      left = processes_with(word);
    }
    CHECK(left.empty());
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
  }
}
