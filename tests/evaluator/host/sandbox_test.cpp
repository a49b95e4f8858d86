// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/sandbox.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include "evaluator/host/process.hpp"
#include "evaluator/host/sandboxed.hpp"

using namespace kernelsearch;

namespace {

detail::Finished shell(const std::string& script, double seconds = 5) {
  detail::Boxed boxed;
  boxed.argv = {"/bin/sh", "-c", script};
  return detail::run_command(detail::launch_in(Sandbox::bubblewrap, boxed), seconds, 1 << 20);
}

}  // namespace

TEST_CASE("sandbox_status: bubblewrap works where the tests run") {
  const SandboxStatus& status = sandbox_status();
  CHECK_MESSAGE(status.works, status.problem);
  CHECK(!status.version.empty());
  CHECK(&status == &sandbox_status());
}

TEST_CASE("sandbox: the system is read-only, the rest is not there, the environment is empty") {
  CHECK(shell("touch /usr/x || echo refused").output == "refused\n");
  CHECK(shell("ls /home /root /var /etc/passwd /proc/1 2>/dev/null; echo done").output == "done\n");
  CHECK(shell("echo $HOME$USER$KERNELSEARCH_WORKER").output == "\n");
  CHECK(shell("echo inside > /tmp/x && cat /tmp/x").output == "inside\n");
  CHECK(shell("cat /tmp/x || echo gone").output == "gone\n");
}

TEST_CASE("sandbox: no identity of ours, no network") {
  if (sandbox_status().as_nobody) CHECK(shell("id -u").output == "65534\n");
  CHECK(shell("cat /sys/class/net/*/address 2>/dev/null || echo none").output == "none\n");
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

TEST_CASE("launch_in: without a sandbox a file keeps its own path") {
  const detail::Inserted file{3, "/inside", "/outside", false};
  CHECK(detail::path_in(Sandbox::none, file) == "/outside");
  CHECK(detail::path_in(Sandbox::bubblewrap, file) == "/inside");
}

TEST_CASE("to_string: sandboxes have names") {
  CHECK(to_string(Sandbox::bubblewrap) == "bubblewrap");
  CHECK(to_string(Sandbox::none) == "none");
}
