// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/close_process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "evaluator/host/support.hpp"
#include "judge/sandboxed_compiler.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"
#include "process/scratch_folder.hpp"

using namespace kernelsearch;

namespace {

constexpr const char* key_text = "secret_b81d40e6";

/// Root reads everything: whoever looks, and whoever is looked at, is then nobody.
void become_nobody() {
  if (geteuid() == 0 && (setresgid(detail::nobody, detail::nobody, detail::nobody) != 0 ||
                         setresuid(detail::nobody, detail::nobody, detail::nobody) != 0))
    _exit(1);
}

/// A process that waits until it is ended.
class Waiting {
 public:
  /// Of the user that candidates run as, with the secret in its environment where it is a program.
  explicit Waiting(bool closed, bool program = false) {
    int ready[2];
    REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      become_nobody();
      (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // changing the user has cleared it
      if (closed) close_process();
      if (program) {
        const std::string entry = key_text + std::string(" of a model=1");  // the assembler repeats it
        const char* const argv[] = {"sleep", "100", nullptr};
        const char* const environment[] = {entry.c_str(), nullptr};
        execve("/bin/sleep", const_cast<char**>(argv), const_cast<char**>(environment));
        _exit(1);
      }
      (void)!write(ready[1], "x", 1);
      while (true) pause();
    }
    close(ready[1]);
    char one;
    (void)!read(ready[0], &one, 1);  // what it wrote, or its descriptor closed when the program began
    close(ready[0]);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] std::string file(const char* name) const {
    return "/proc/" + std::to_string(pid_) + "/" + name;
  }

 private:
  pid_t pid_ = 0;
};

/// Whether another process of that user can open it.
bool readable_by_others(const std::string& path) {
  const pid_t reader = fork();
  if (reader == 0) {
    become_nobody();
    _exit(open(path.c_str(), O_RDONLY) >= 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(reader, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

constexpr const char* process_files[] = {"environ", "mem", "maps", "fd", "cwd/", "root/tmp", "exe"};

detail::Finished shell_in(Sandbox sandbox, const std::string& script, bool processes) {
  const detail::ScratchFolder scratch(sandbox_status(sandbox).as_nobody);
  detail::Boxed boxed;
  boxed.argv = {"/bin/sh", "-c", script};
  boxed.scratch = scratch.path();
  boxed.processes = processes;
  return detail::run_command(detail::launch_in(sandbox, boxed), 5.0, 1 << 20);
}

}  // namespace

TEST_CASE("close_process: others of the same user can open nothing of it") {
  const Waiting open_one(false), closed(true);
  for (const char* name : process_files) {
    CAPTURE(name);
    CHECK(readable_by_others(open_one.file(name)));
    CHECK_FALSE(readable_by_others(closed.file(name)));
  }
}

TEST_CASE("sandbox: what /proc has of other processes of the same user is closed") {
  const Waiting other(false, true);
  const std::string show = "cat " + other.file("environ") + " " + other.file("maps") + " 2>/dev/null; ls " +
                           other.file("root/") + " 2>/dev/null; readlink " + other.file("fd/1") +
                           "; echo done";
  CHECK(shell_in(Sandbox::none, show, false).output.find(key_text) != std::string::npos);
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock}) {
    if (!sandbox_status(sandbox).works) continue;
    CAPTURE(to_string(sandbox));
    CHECK(shell_in(sandbox, show, false).output == "done\n");
    // With a /proc to see: Landlock closes other processes in it. Where bubblewrap can only show the one
    // outside, nothing does but the other process itself.
    if (sandbox == Sandbox::landlock || sandbox_status(sandbox).mounts_proc)
      CHECK(shell_in(sandbox, show, true).output == "done\n");
  }
}

TEST_CASE("HostEvaluator: no way to make the compiler show the environment of another process") {
  const Waiting other(false, true);
  const std::string honest =
      "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 3 * "
      "x[i] + 1; }\n";
  const std::string of_the_other = other.file("environ");
  const auto reason_of = [&](const std::string& source, Sandbox sandbox, std::vector<std::string> flags) {
    Problem problem = parse_problem(support::scale_problem(source), support::sources);
    problem.build.flags.insert(problem.build.flags.end(), flags.begin(), flags.end());
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    HostEvaluator evaluator(problem, options);
    return evaluator.evaluate(support::default_candidate(problem), {}).reason;
  };
  const std::string by_assembler = "asm(\".include \\\"" + of_the_other + "\\\"\");\n" + honest;
  CHECK(reason_of(by_assembler, Sandbox::none, {}).find(key_text) != std::string::npos);
  const Waiting closed(true);  // with the environment of this test, which has a PATH
  const std::string of_closed = "asm(\".include \\\"" + closed.file("environ") + "\\\"\");\n" + honest;
  if (geteuid() != 0)  // without a sandbox root stays root, from whom nothing is closed
    CHECK(reason_of(of_closed, Sandbox::none, {}).find("PATH=") == std::string::npos);
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock}) {
    if (!sandbox_status(sandbox).works) continue;
    CAPTURE(to_string(sandbox));
    CHECK(reason_of(by_assembler, sandbox, {}).find(key_text) == std::string::npos);
    CHECK(reason_of("asm(\"leak: .incbin \\\"" + of_the_other + "\\\"\\n.error \\\"made\\\"\");\n" + honest,
                    sandbox, {})
              .find(key_text) == std::string::npos);
    CHECK(reason_of("#include \"" + of_the_other + "\"\n" + honest, sandbox, {}).find(key_text) ==
          std::string::npos);
    CHECK(reason_of(honest, sandbox, {"@" + of_the_other}).find(key_text) == std::string::npos);
  }
}

TEST_CASE("HostEvaluator: compilers and candidates see no variable of ours") {
  setenv("KERNELSEARCH_TEST_KEY", key_text, 1);
  const std::string looks =
      "#include <cstring>\nextern char** environ;\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  bool others = false;\n"
      "  for (char** e = environ; *e; ++e)\n"
      "    others = others || (std::strncmp(*e, \"PATH=\", 5) != 0 && std::strncmp(*e, \"LC_ALL=\", 7) != 0 "
      "&&\n"
      "                        std::strncmp(*e, \"PWD=\", 4) != 0 && std::strncmp(*e, \"TMPDIR=\", 7) != "
      "0);\n"
      "  for (int i = 0; i < n; ++i) y[i] = others ? 0 : 3 * x[i] + 1;\n}\n";
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock, Sandbox::none}) {
    if (!sandbox_status(sandbox).works) continue;
    CAPTURE(to_string(sandbox));
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    detail::CompilerRun run;
    run.argv = {"/usr/bin/env"};
    const std::string environment = detail::run_compiler_in(sandbox, run).errors;
    CHECK(environment.find("LC_ALL=C") != std::string::npos);
    CHECK_MESSAGE(environment.find(key_text) == std::string::npos, environment);
    const Evaluation ran = support::judge(looks, options);
    CHECK_MESSAGE(ran.verdict == Verdict::ok, ran.reason);
  }
  unsetenv("KERNELSEARCH_TEST_KEY");
}
