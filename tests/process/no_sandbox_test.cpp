// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said where no level of the sandbox works, as in a container whose filter forbids namespaces and
// Landlock.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/process/sandbox.hpp"
#include "process/syscall_filter.hpp"

using namespace kernelsearch;

namespace {

constexpr const char* teller = "no sandbox: tells what is wrong";

/// As container run-times have it: no namespaces, no mounts, and calls that they do not know are not there.
bool forbid_sandboxes() {
  sock_filter code[] = {
      KERNELSEARCH_SYSCALL_FILTER,
      KERNELSEARCH_SYSCALL(444, SECCOMP_RET_ERRNO | ENOSYS),  // landlock_create_ruleset
      KERNELSEARCH_SYSCALL(__NR_unshare, SECCOMP_RET_ERRNO | EPERM),
      KERNELSEARCH_SYSCALL(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER | CLONE_NEWNS, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return detail::filter_syscalls(code);
}

/// What this test program prints when it runs one case in such a place.
std::string told_in_a_container() {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    const std::string only = std::string("-tc=") + teller;
    const char* const argv[] = {"test", only.c_str(), "--no-skip", nullptr};
    if (forbid_sandboxes()) execv("/proc/self/exe", const_cast<char**>(argv));
    _exit(1);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

TEST_CASE("no sandbox: tells what is wrong" * doctest::skip()) {  // run by the next one
  for (const Sandbox wanted : {Sandbox::automatic, Sandbox::bubblewrap, Sandbox::landlock}) try {
      std::printf("%s: works\n", std::string(to_string(resolved(wanted))).c_str());
    } catch (const ConfigError& error) {
      std::printf("%s: %s\n", std::string(to_string(wanted)).c_str(), error.what());
    }
}

TEST_CASE("no sandbox: where none works nothing runs, and the message says what to change") {
  const std::string text = told_in_a_container();
  CAPTURE(text);
  CHECK(text.find(": works") == std::string::npos);
  const auto line = [&text](const std::string& begin) {
    const auto at = text.find("\n" + begin);
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at + 1) - at);
  };
  const std::string all = line("auto: "), first = line("bubblewrap: "), second = line("landlock: ");
  for (const char* words : {"cannot be kept in a sandbox", "bubblewrap: ", "landlock: ", "seccomp=unconfined",
                            "install bubblewrap", "--sandbox none"})
    CHECK_MESSAGE(all.find(words) != std::string::npos, words);
  if (!sandbox_status(Sandbox::bubblewrap).path.empty())
    CHECK(first.find("allow user namespaces") != std::string::npos);
  CHECK(first.find("--sandbox landlock") != std::string::npos);
  CHECK(second.find("a container's filter forbids it") != std::string::npos);
  CHECK(second.find("Linux 5.13") != std::string::npos);
}
