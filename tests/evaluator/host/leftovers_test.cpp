// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a candidate or its compiler writes ends with it.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "evaluator/host/support.hpp"
#include "judge/sandboxed_compiler.hpp"
#include "process/process.hpp"

using namespace kernelsearch;

namespace {

namespace fs = std::filesystem;

const std::string scale_body =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";

/// The most memory that this process ever had, in bytes.
double most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

double room_on_disk() {
  return static_cast<double>(fs::space(fs::temp_directory_path()).available);
}

std::vector<Sandbox> kept_in() {
  std::vector<Sandbox> found;
  for (const Sandbox one : {Sandbox::bubblewrap, Sandbox::landlock})
    if (sandbox_status(one).works) found.push_back(one);
  return found;
}

/// Whether a folder has a file that one of ours named so.
bool has(const fs::path& folder, const std::string& name) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().find(name) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("HostEvaluator: a gigabyte on standard output and error fills neither memory nor disk" *
          doctest::test_suite("thorough")) {
  const std::string floods =
      "#include <unistd.h>\nstatic char text[1 << 20];\n"
      "__attribute__((constructor)) static void flood() {\n"
      "  for (char& c : text) c = 'x';\n"
      "  for (int i = 0; i < 1024; ++i) { (void)!write(1, text, sizeof text); (void)!write(2, text, sizeof "
      "text); }\n"
      "}\n" +
      scale_body;
  std::vector<Sandbox> all = kept_in();
  all.push_back(Sandbox::none);
  for (const Sandbox sandbox : all) {
    CAPTURE(to_string(sandbox));
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    (void)support::judge(scale_body, options);  // what judging takes anyway
    const double memory = most_memory(), room = room_on_disk();
    const Evaluation e = support::judge(floods, options);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    CHECK(most_memory() - memory < 100e6);
    CHECK(room - room_on_disk() < 500e6);  // others use the disk too
    CHECK(e.provenance.size() + e.reason.size() < 10000);
  }
}

TEST_CASE("run_compiler_in: of a compiler's gigabyte a megabyte is kept") {
  for (const Sandbox sandbox : kept_in()) {
    CAPTURE(to_string(sandbox));
    detail::CompilerRun run;
    run.argv = {"/bin/sh", "-c",
                "yes 'x.cpp:1: error: the same again and again' | head -c 1000000000; exit 1"};
    run.seconds = 120;
    const double memory = most_memory();
    const detail::Finished finished = detail::run_compiler_in(sandbox, run);
    CHECK_FALSE(finished.timed_out);
    CHECK(finished.errors.size() > 1000);
    CHECK(finished.errors.size() <= std::size_t{1} << 20);
    CHECK(most_memory() - memory < 100e6);
  }
}

TEST_CASE("HostEvaluator: files that a candidate makes are gone with it") {
  const std::string mark = "kernelsearch-left-" + std::to_string(getpid());
  const std::string leaves =
      "#include <fcntl.h>\n#include <unistd.h>\n#include <cstdlib>\n#include <string>\n"
      "__attribute__((constructor)) static void leave() {\n"
      "  for (const char* folder : {\"/tmp\", \"/dev/shm\", \"/var/tmp\", \".\", \"/\", "
      "std::getenv(\"TMPDIR\")})\n"
      "    if (folder) (void)open((std::string(folder) + \"/" +
      mark + "\").c_str(), O_CREAT | O_WRONLY, 0666);\n}\n" + scale_body;
  for (const Sandbox sandbox : kept_in()) {
    CAPTURE(to_string(sandbox));
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    (void)support::judge(leaves, options);
    for (const fs::path& folder : {fs::path("/tmp"), fs::path("/dev/shm"), fs::path("/var/tmp"),
                                   fs::path("/"), fs::current_path(), fs::temp_directory_path()}) {
      CAPTURE(folder.string());
      CHECK_FALSE(has(folder, mark));
    }
  }
}

TEST_CASE("HostEvaluator: a crash leaves no core file, whatever the limit of ours is") {
  rlimit before{};
  getrlimit(RLIMIT_CORE, &before);
  const rlimit most{before.rlim_max, before.rlim_max};
  setrlimit(RLIMIT_CORE, &most);
  const std::string crashes =
      "#include <sys/resource.h>\n#include <csignal>\n#include <unistd.h>\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  rlimit core{}; getrlimit(RLIMIT_CORE, &core);\n"
      "  if (core.rlim_cur != 0 || core.rlim_max != 0) _exit(77);\n"
      "  raise(SIGSEGV);\n}\n";
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock, Sandbox::none}) {
    if (!sandbox_status(sandbox).works) continue;
    CAPTURE(to_string(sandbox));
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    const Evaluation e = support::judge(crashes, options);
    CHECK(e.verdict == Verdict::crashed);
    CHECK_MESSAGE(e.reason.find("SIGSEGV") != std::string::npos, e.reason);
    for (const auto& entry : fs::directory_iterator(fs::current_path()))
      CHECK(entry.path().filename().string().rfind("core", 0) != 0);
  }
  setrlimit(RLIMIT_CORE, &before);
}
