// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that a command of the problem's builds: what it gets, what is made of that, what it cannot do.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "evaluator/host/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/host/host_bounds.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/host/host_preprocess.hpp"
#include "kernelsearch/evaluator/host/host_sanitizer.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "process/process.hpp"

using namespace kernelsearch;

namespace {

namespace fs = std::filesystem;

const std::string c_kernel =
    "void NAME(int n, const float* restrict x, float* restrict y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = FACTOR * x[i] + 1;\n}\n";
const std::string c_script = "gcc -O1 -fPIC -DNAME=\"$3\" -DFACTOR=\"$4\" -c \"$1\" -o \"$2\"\n";
const std::string through_script =
    R"("command": ["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${NAME}", "${FACTOR}"], "files": ["build.sh"])";

/// A folder that others may enter, made anew.
fs::path fresh(const std::string& name) {
  const fs::path folder = support::scratch() / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void put_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// The problem `scale` whose kernel `kernel.c` is built as `build` says.
std::string problem_text(const std::string& build, const std::string& factors = "[3]") {
  return R"({"schema": 1, "name": "scale", "function": "scale", )" + std::string(support::arguments) +
         R"(, "kernel": {"device": "kernel.c"}, "shapes": [{"name": "large", "n": 4096}],
    "tunables": {"FACTOR": )" +
         factors + R"(},
    "reference": {"source": {"text": "void scale_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }"},
                  "function": "scale_reference"},
    "build": {)" +
         build + "}}";
}

struct Built {
  Evaluation evaluation;
  std::string toolchain;
  std::string digest;

  [[nodiscard]] bool earlier() const {
    return evaluation.provenance.find("compiled earlier") != std::string::npos;
  }
};

Built build_in(const fs::path& folder, const std::string& build, HostOptions options = support::quick()) {
  const Problem problem = parse_problem(problem_text(build), folder);
  HostEvaluator evaluator(problem, std::move(options));
  Built built;
  built.evaluation = evaluator.evaluate(support::default_candidate(problem), {});
  built.toolchain = evaluator.toolchain_id();
  built.digest = problem_digest(problem);
  return built;
}

/// What becomes of a script as build command.
Evaluation after_script(const std::string& script, HostOptions options = support::quick()) {
  static int count = 0;
  const fs::path folder = fresh("script" + std::to_string(count++));
  put_file(folder / "kernel.c", c_kernel);
  put_file(folder / "build.sh", script);
  return build_in(folder, through_script, std::move(options)).evaluation;
}

std::vector<Sandbox> sandboxes() {
  std::vector<Sandbox> found;
  for (const Sandbox one : {Sandbox::bubblewrap, Sandbox::landlock})
    if (sandbox_status(one).works) found.push_back(one);
  return found;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void run_shell(const std::string& command) {
  REQUIRE(std::system(command.c_str()) == 0);
}

}  // namespace

TEST_CASE(
    "build.command: makes the kernel, in every sandbox, with tunables; the reference has its own compiler") {
  std::vector<Sandbox> all = sandboxes();
  all.push_back(Sandbox::none);
  for (const Sandbox sandbox : all) {
    CAPTURE(to_string(sandbox));
    const fs::path folder = fresh("makes");
    put_file(folder / "kernel.c", c_kernel);
    put_file(folder / "build.sh", c_script);
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    options.cache_directory = fresh("makes-cache");
    const Problem problem = parse_problem(problem_text(through_script, "[3, 4]"), folder);
    HostEvaluator evaluator(problem, options);
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    const Evaluation three = evaluator.evaluate({kernel, Config{{0}}}, {});
    CHECK_MESSAGE(three.verdict == Verdict::ok, three.reason);
    CHECK(has(three.provenance, "/sh ("));
    const Evaluation four = evaluator.evaluate({kernel, Config{{1}}}, {});
    CHECK(four.verdict == Verdict::wrong_result);
  }
}

TEST_CASE(
    "build.command: a program among its files, static libraries, words with blanks and without letters") {
  const fs::path folder = fresh("archive");
  put_file(folder / "kernel.c", "#include \"parts/factor.h\"\n" + c_kernel);
  put_file(folder / "parts/factor.h", "#define FACTOR 3\n");  // comes along as it is included
  put_file(folder / "a b.sh",
           "#!/bin/sh\n[ \"$4\" = 'two words' ] && [ -z \"$3\" ] || exit 9\n"
           "gcc -O1 -fPIC -DNAME=scale -c \"$1\" -o k.o && ar rc \"$2\" k.o\n");
  const Evaluation e =
      build_in(folder, R"("command": ["./a b.sh", "${SOURCE}", "${LIBRARY}", "", "two words"],
                          "files": ["a b.sh"], "flags": ["-O1"], "libraries": ["m"])")
          .evaluation;
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("build.command: each way to fail has a reason of its own") {
  const auto reason = [](const std::string& script, Verdict verdict = Verdict::build_failed) {
    const Evaluation e = after_script(script);
    CHECK(e.verdict == verdict);
    return e.reason;
  };
  CHECK(has(reason("exit 3"), "the build command ended with exit code 3 and without a message"));
  CHECK(has(reason("exit 0"), "ended well, but made nothing where ${LIBRARY} says"));
  CHECK(has(reason("echo tried >&2; mkdir \"$2\""), "it said:\ntried"));
  CHECK(has(reason("echo text > \"$2\""), "neither an object file"));
  CHECK(has(reason("echo 'void other() {}' > o.c; gcc -fPIC -c o.c -o \"$2\""),
            "undefined reference to `scale'"));
  CHECK(has(reason("gcc -c -DNAME='(' \"$1\" -o \"$2\""), "kernel.c:1:"));
  CHECK_FALSE(has(reason("gcc -c -DNAME='(' \"$1\" -o \"$2\""), "work/"));
  CHECK(has(reason("nothing_is_called_so"), "not found"));
  // What it says can neither move the cursor nor be read for another's.
  CHECK_FALSE(has(reason("printf '\\033[2Jgone\\n' >&2; exit 1"), "\033"));
  const fs::path folder = fresh("no-program");
  put_file(folder / "kernel.c", c_kernel);
  CHECK_THROWS_WITH_AS((void)build_in(folder, R"("command": ["no-such-compiler", "${LIBRARY}"])"),
                       doctest::Contains("no such program"), ConfigError);
  CHECK_THROWS_WITH_AS((void)build_in(folder, R"("command": ["./build.sh", "${LIBRARY}"])"),
                       doctest::Contains("list it in build.files"), ConfigError);
  CHECK_THROWS_WITH_AS(
      (void)build_in(
          folder, R"("command": ["gcc", "${LIBRARY}"], "identity": [["sh", "-c", "echo no >&2; exit 4"]])"),
      doctest::Contains("exit code 4"), ConfigError);
  CHECK_THROWS_WITH_AS(
      (void)build_in(folder, R"("command": ["gcc", "${LIBRARY}"], "readable": ["/opt/not-there"])"),
      doctest::Contains("build.readable"), ConfigError);
}

TEST_CASE("build.command: a changed script, data file, plugin, tool or source never gives a stale result") {
  const fs::path folder = fresh("stale"), tools = fresh("stale-tools");
  put_file(folder / "kernel.c", c_kernel);
  put_file(folder / "build.sh", c_script);
  put_file(folder / "data.bin", std::string("\0\xff one", 6));
  put_file(tools / "bin/tool", "#!/bin/sh\necho version 1\n");
  put_file(tools / "plugin.so", "plugin 1");
  fs::permissions(tools / "bin/tool", fs::perms(0755));
  const std::string build =
      R"("command": ["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${NAME}", "${FACTOR}"],
         "files": ["build.sh", "data.bin"], "readable": [")" +
      tools.string() + R"("],
         "identity": [[")" +
      (tools / "bin/tool").string() + R"("], ["cat", ")" + (tools / "plugin.so").string() + R"("]])";
  const Built first = build_in(folder, build);
  REQUIRE_MESSAGE(first.evaluation.verdict == Verdict::ok, first.evaluation.reason);
  const Built again = build_in(folder, build);
  CHECK(again.earlier());
  CHECK(again.toolchain == first.toolchain);
  CHECK(again.digest == first.digest);
  const auto changed = [&](const char* what, const fs::path& file, const std::string& text, bool digest) {
    CAPTURE(what);
    const std::string before = support::read(file);
    put_file(file, text);
    const Built other = build_in(folder, build);
    CHECK_MESSAGE(other.evaluation.verdict == Verdict::ok, other.evaluation.reason);
    CHECK_FALSE(other.earlier());
    if (digest)
      CHECK(other.digest != first.digest);  // so no result of a store is taken for it
    else
      CHECK(other.toolchain != first.toolchain);
    put_file(file, before);
    CHECK(build_in(folder, build).earlier());
  };
  changed("script", folder / "build.sh", "# the same\n" + c_script, true);
  changed("data", folder / "data.bin", std::string("\0\xff two", 6), true);
  changed("tool's version", tools / "bin/tool", "#!/bin/sh\necho version 2\n", false);
  changed("tool that says the same", tools / "bin/tool", "#!/bin/sh\n\necho version 1\n", false);
  changed("plugin", tools / "plugin.so", "plugin 2", false);
  // The source is the kernel's, in the key but no part of the problem.
  put_file(folder / "kernel.c", "// other\n" + c_kernel);
  CHECK_FALSE(build_in(folder, build).earlier());
}

TEST_CASE("build.command: a tool finds its libraries by $ORIGIN, and sees no process but its own") {
  const fs::path tools = fresh("origin"), folder = fresh("origin-problem");
  put_file(tools / "lib.c", "int answer(void) { return 3; }\n");
  put_file(tools / "main.c",
           "#include <stdio.h>\n#include <stdlib.h>\nint answer(void);\n"
           "int main(int n, char** v) { char c[4096]; snprintf(c, sizeof c, \"gcc -O1 -fPIC -DNAME=scale "
           "-DFACTOR=%d -c '%s' -o '%s'\", answer(), v[1], v[2]); return system(c) != 0; }\n");
  fs::create_directories(tools / "lib");
  fs::create_directories(tools / "bin");
  run_shell("cd '" + tools.string() +
            "' && gcc -shared -fPIC lib.c -o lib/libanswer.so && gcc main.c -Llib -lanswer "
            "'-Wl,-rpath,$ORIGIN/../lib' -o bin/tool");
  put_file(folder / "kernel.c", c_kernel);
  for (const Sandbox sandbox : sandboxes()) {
    CAPTURE(to_string(sandbox));
    if (sandbox == Sandbox::bubblewrap && !sandbox_status(sandbox).mounts_proc) continue;
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    options.cache_directory = fresh("origin-cache");
    const std::string command =
        R"("command": [")" + (tools / "bin/tool").string() + R"(", "${SOURCE}", "${LIBRARY}"])";
    const Evaluation e =
        build_in(folder, command + R"(, "readable": [")" + tools.string() + R"("])", options).evaluation;
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    // The same folder by the option instead of the problem.
    options.readable = {tools};
    const Evaluation by_option = build_in(folder, command, options).evaluation;
    CHECK_MESSAGE(by_option.verdict == Verdict::ok, by_option.reason);
    options.readable.clear();
    options.cache_directory = fresh("origin-other-cache");
    CHECK(build_in(folder, command, options).evaluation.verdict == Verdict::build_failed);
    const Evaluation processes = after_script(
        "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done 2>/dev/null | grep -c test_evaluato[r] "
        ">&2; "
        "exit 1",
        options);
    CHECK_MESSAGE(processes.reason.substr(0, 1) == "0", processes.reason);
  }
}

TEST_CASE("build.command: reads no secret, opens no connection, writes nothing outside") {
  const fs::path secret = fresh("secret"), tools = fresh("tools-to-replace");
  put_file(secret / "key", "the secret of this test");
  put_file(tools / "tool", "original");
  fs::permissions(tools / "tool", fs::perms(0777));
  fs::permissions(tools, fs::perms(0777));
  setenv("KERNELSEARCH_TEST_SECRET", "the secret of this test", 1);
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(listening, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(listening, 4) == 0);
  REQUIRE(getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const std::string connects =
      "cat > c.c <<'END'\n#include <arpa/inet.h>\n#include <sys/socket.h>\n#include <stdio.h>\n"
      "int main() { struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(" +
      port +
      "), .sin_addr = {htonl(INADDR_LOOPBACK)}};\n"
      "  puts(connect(socket(AF_INET, SOCK_STREAM, 0), (void*)&a, sizeof a) == 0 ? \"CONNECTED\" : "
      "\"refused\"); }\n"
      "END\ngcc c.c -o c && ./c; exit 1\n";
  for (const Sandbox sandbox : sandboxes()) {
    CAPTURE(to_string(sandbox));
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    options.cache_directory = fresh("hostile-cache");
    options.readable = {tools};
    const std::string file = (secret / "key").string();
    for (const std::string& reads : std::vector<std::string>{
             "cat '" + file + "'; exit 1", std::string("env; exit 1"), "cat /etc/shadow /etc/passwd; exit 1",
             "cat /proc/" + std::to_string(getpid()) + "/environ | tr '\\0' '\\n'; exit 1",
             "ln -s '" + file + "' \"$2\"; exit 0",
             "ls '" + secret.string() + "' '" + options.cache_directory.string() +
                 "' | grep -E 'key|objects'; exit 1"}) {
      CAPTURE(reads);
      const Evaluation e = after_script(reads, options);
      CHECK(e.verdict == Verdict::build_failed);
      CHECK_FALSE(has(e.reason, "the secret"));
      CHECK_FALSE(has(e.reason, "root:"));
      if (reads.substr(0, 2) == "ls") CHECK_FALSE(has(e.reason, "objects"));
    }
    const Evaluation connected = after_script(connects, options);
    CHECK_MESSAGE(has(connected.reason, "refused"), connected.reason);
    const fs::path outside = fresh("outside");
    fs::permissions(outside, fs::perms(0777));
    const Evaluation writes =
        after_script("for f in '" + outside.string() + "/x' /usr/kernelsearch_x '" + tools.string() +
                         "/tool' /source/x; do echo mine > $f; mv build.sh $f; done 2>/dev/null\nrm -rf '" +
                         tools.string() + "/tool' 2>/dev/null\n" + c_script,
                     options);
    CHECK(fs::is_empty(outside));
    CHECK_FALSE(fs::exists("/usr/kernelsearch_x"));
    CHECK(support::read(tools / "tool") == "original");
  }
  close(listening);
  unsetenv("KERNELSEARCH_TEST_SECRET");
}

TEST_CASE("build.command: a build that is killed and tried again has the time of one build in all") {
  HostOptions options = support::quick();
  options.limits.build_seconds = 4;
  // Before, the second try had all of the time again: a bomb that the system kills took twice as long.
  const Evaluation killed = after_script("sleep 2.5; kill -KILL $$", options);
  CHECK_MESSAGE(killed.verdict == Verdict::timed_out, killed.reason);
  CHECK(has(killed.reason, "more than 4 s"));
}

TEST_CASE("build.command: endless output, endless processes, and those that run on end with it") {
  HostOptions options = support::quick();
  options.limits.build_seconds = 3;
  const Evaluation talks = after_script("yes 'error: again' >&2", options);
  CHECK(talks.verdict == Verdict::timed_out);
  CHECK(talks.reason.size() < 5000);
  const Evaluation fills = after_script("yes > \"$2\"", options);
  CHECK((fills.verdict == Verdict::build_failed || fills.verdict == Verdict::timed_out));
  const std::string mark = "kernelsearch-runs-on-" + std::to_string(getpid());
  for (const Sandbox sandbox : sandboxes()) {
    CAPTURE(to_string(sandbox));
    options.sandbox = sandbox;
    options.cache_directory = fresh("runs-on-cache");
    // Landlock has no namespace that would end those that left for a session of their own.
    const std::string leaves =
        sandbox == Sandbox::bubblewrap ? "setsid ./" + mark + " 1000 & " : std::string();
    const Evaluation stays = after_script(
        "cp /bin/sleep " + mark + "; " + leaves + "./" + mark + " 1000 >&- 2>&- <&- &\n" + c_script, options);
    CHECK_MESSAGE(stays.verdict == Verdict::ok, stays.reason);
    bool left = true;
    for (int i = 0; i < 100 && left; ++i) {
      left = std::system(("ps ax -o args= | grep -v grep | grep -q " + mark +
                          " || cat /proc/[0-9]*/cmdline "
                          "2>/dev/null | tr '\\0' ' ' | grep -v grep | grep -q '" +
                          mark + " 1000'")
                             .c_str()) == 0;
      if (left) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    CHECK_FALSE(left);
  }
  if (!sandbox_status(Sandbox::bubblewrap).works) return;
  options.sandbox = Sandbox::bubblewrap;
  // A bomb: processes that have two children each; there are at most 512 and then none.
  const Evaluation bomb =
      after_script("cat > b.sh <<'END'\nsh b.sh & sh b.sh & wait\nEND\nsh b.sh 2>/dev/null; exit 1", options);
  CHECK(bomb.verdict != Verdict::ok);
  const Evaluation many = after_script(
      "i=0; while [ $i -lt 600 ]; do sleep 9 & i=$((i+1)); done; echo all 600 >&2; exit 1", options);
  CHECK_MESSAGE(!has(many.reason, "all 600"), many.reason);
  CHECK_MESSAGE((has(many.reason, "fork") || many.verdict == Verdict::timed_out), many.reason);
  const Evaluation after = after_script(c_script, options);
  CHECK_MESSAGE(after.verdict == Verdict::ok, after.reason);
}

TEST_CASE("build.command: what it makes is judged, guarded and listed as other kernels are") {
  const auto judged = [](const std::string& kernel) {
    const fs::path folder = fresh("judged");
    put_file(folder / "kernel.c", kernel);
    put_file(folder / "build.sh", c_script);
    return parse_problem(problem_text(through_script), folder);
  };
  // A second entry point cannot take the place of ours, and constructors are the worker's to bear.
  const Problem twice = judged(c_kernel + "void kernelsearch_entry(void* const* a) {}\n");
  HostEvaluator evaluator(twice, support::quick());
  const Evaluation e = evaluator.evaluate(support::default_candidate(twice), {});
  CHECK(e.verdict == Verdict::build_failed);
  CHECK_MESSAGE(has(e.reason, "multiple definition"), e.reason);
  const Problem over = judged(
      "void NAME(int n, const float* x, float* y) { volatile float z = x[n + 1]; for (int i = 0; i < n; ++i) "
      "y[i] = "
      "FACTOR * x[i] + 1 + 0 * z; }\n");
  const auto objection = HostBounds(over, support::quick()).validate(support::default_candidate(over));
  REQUIRE(objection);
  CHECK_MESSAGE(has(objection->reason, "x"), objection->reason);
  const HostSanitized sanitized = sanitize_on_host(over, support::quick());
  REQUIRE(sanitized.left_out.size() == 1);
  CHECK(has(sanitized.left_out.front(), "build command"));
  CHECK_FALSE(host_preprocess(over, support::quick())(over.kernel.space.default_config()).has_value());
}

TEST_CASE("build.command: a shared library is called as it is, in every sandbox, kept, carried and guarded") {
  std::vector<Sandbox> all = sandboxes();
  all.push_back(Sandbox::none);
  for (const Sandbox sandbox : all) {
    CAPTURE(to_string(sandbox));
    const fs::path folder = fresh("shared");
    put_file(folder / "kernel.c", c_kernel);
    put_file(folder / "build.sh", c_script.substr(0, c_script.find("-c ")) + "-shared \"$1\" -o \"$2\"\n");
    HostOptions options = support::quick();
    options.sandbox = sandbox;
    options.cache_directory = fresh("shared-cache");
    const Problem problem = parse_problem(problem_text(through_script, "[3, 4]"), folder);
    HostEvaluator evaluator(problem, options);
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    const Evaluation three = evaluator.evaluate({kernel, Config{{0}}}, {});
    CHECK_MESSAGE(three.verdict == Verdict::ok, three.reason);
    CHECK(has(three.provenance, "; compiled;"));
    CHECK(evaluator.evaluate({kernel, Config{{1}}}, {}).verdict == Verdict::wrong_result);
    CHECK(has(evaluator.evaluate({kernel, Config{{0}}}, {}).provenance, "compiled earlier"));
    // What one evaluator built another one runs.
    Staged<HostArtifact> staged = evaluator.build({kernel, Config{{0}}}, {});
    REQUIRE(staged.artifact);
    CHECK(staged.artifact->entry == "scale");
    PortableArtifact portable = evaluator.carry(*staged.artifact);
    HostEvaluator other(problem, options);
    staged.artifact = other.carried({kernel, Config{{0}}}, portable);
    CHECK(staged.artifact->entry == "scale");
    const Evaluation carried = other.run(std::move(staged), {});
    CHECK_MESSAGE(carried.verdict == Verdict::ok, carried.reason);
    portable.code.resize(60);
    CHECK_THROWS_AS((void)other.carried({kernel, Config{{0}}}, portable), DeviceError);
    const auto objection = HostBounds(problem, options).validate({kernel, Config{{0}}});
    CHECK_MESSAGE(!objection, objection->reason);
  }
  const fs::path folder = fresh("shared-over");
  put_file(folder / "kernel.c",
           "void NAME(int n, const float* x, float* y) { volatile float z = x[n + 1]; for (int i = 0; i < n; "
           "++i) y[i] = FACTOR * x[i] + 1 + 0 * z; }\n");
  put_file(folder / "build.sh", c_script.substr(0, c_script.find("-c ")) + "-shared \"$1\" -o \"$2\"\n");
  const Problem over = parse_problem(problem_text(through_script), folder);
  const auto objection = HostBounds(over, support::quick()).validate(support::default_candidate(over));
  REQUIRE(objection);
  CHECK_MESSAGE(has(objection->reason, "reads"), objection->reason);
}

TEST_CASE("build.command: a shared library is held to what linking would have held it to") {
  const auto made = [](const std::string& script) { return after_script(script); };
  const std::string flags = "gcc -O1 -shared -DNAME=scale -DFACTOR=3 ";
  const auto refused = [&](const std::string& script, const std::string& says,
                           Verdict verdict = Verdict::build_failed) {
    CAPTURE(script);
    const Evaluation e = made(script);
    CHECK(e.verdict == verdict);
    CHECK_MESSAGE(has(e.reason, says), e.reason);
  };
  refused("gcc -fPIC -shared -DNAME=other -DFACTOR=3 \"$1\" -o \"$2\"",
          "exports no function scale, but other");
  refused(flags + "-fPIC -fvisibility=hidden \"$1\" -o \"$2\"", "exports no function scale:");
  refused("echo 'int scale = 3;' > d.c; gcc -shared -fPIC d.c -o \"$2\"", "exports no function scale");
  refused("echo 'void kernelsearch_entry(void* const* a) {}' > e.c; " + flags + "-fPIC \"$1\" e.c -o \"$2\"",
          "defines kernelsearch_entry");
  refused(flags + "-fPIC \"$1\" -o whole; head -c 600 whole > \"$2\"", "damaged or cut off");
  refused(
      flags + "-fPIC \"$1\" -o whole; { head -c 18 whole; printf '\\363\\000'; tail -c +21 whole; } > \"$2\"",
#if defined(__riscv)
      "damaged"
#else
      "another processor (ELF machine 243"
#endif
  );
  refused(flags + "-fPIC '-Wl,-rpath,$ORIGIN' \"$1\" -o \"$2\"", "looks for libraries in $ORIGIN");
  refused(flags + "-fPIC -Wl,-z,interpose \"$1\" -o \"$2\"", "to go before other libraries");
  refused(flags + "-fPIC -Wl,--audit=x.so,--depaudit=x.so \"$1\" -o \"$2\"", "auditing library");
  refused("echo 'int main() {}' > m.c; gcc -pie -fPIE -rdynamic -DNAME=scale -DFACTOR=3 \"$1\" m.c -o \"$2\"",
          "a PIE");
#if defined(__x86_64__)
  refused("cat > t.s <<'END'\n.text\n.globl place\nplace: .quad place_of\n.data\nplace_of: .quad 1\nEND\n" +
              flags + "-fPIC -Wl,-z,notext \"$1\" t.s -o \"$2\"",
          "text relocations");
#endif
  // A library that nobody declared, by name and by path, and symbols that nothing has.
  const std::string beside =
      "echo 'float other(float x) { return x; }' > o.c; gcc -shared -fPIC -Wl,-soname,SONAME o.c -o "
      "libother.so; " +
      flags + "-fPIC -Wl,--no-as-needed \"$1\" -L. -lother -o \"$2\"";
  const auto named = [&](const std::string& soname) {
    std::string text = beside;
    return text.replace(text.find("SONAME"), 6, soname);
  };
  refused(named("libother.so.3"), "needs the library libother.so.3", Verdict::cheated);
  refused(named("libc.so.6/../libother.so"), "by its path");
  refused("echo 'float nobody(float); float calls(float x) { return nobody(x); }' > u.c; " + flags +
              "-fPIC \"$1\" u.c -o \"$2\"",
          "nobody", Verdict::launch_failed);
  refused(
      "echo 'void* dlopen(const char*, int); void* opens(void) { return dlopen(\"libm.so.6\", 2); }' > "
      "l.c; " +
          flags + "-fPIC \"$1\" l.c -o \"$2\"",
      "it calls dlopen", Verdict::cheated);
}

TEST_CASE("build.command: a shared library takes the place of no function of the judge's") {
  // Each would forge a reply or a time, were it called by the worker: the first call ends the process.
  const std::string interposes =
      "echo '#include <stdlib.h>\nlong send(int a, const void* b, unsigned long c, int d) { abort(); }\n"
      "long recv(int a, void* b, unsigned long c, int d) { abort(); }\n"
      "long write(int a, const void* b, unsigned long c) { abort(); }\n"
      "int clock_gettime(int a, void* b) { abort(); }\n"
      "void* dlsym(void* a, const char* b) { abort(); }\n"
      "int sigaction(int a, const void* b, void* c) { abort(); }\n"
      "int prctl(int a, ...) { abort(); }\nlong syscall(long a, ...) { abort(); }' > i.c; "
      "gcc -O1 -w -fPIC -shared -DNAME=scale -DFACTOR=";
  const Evaluation right = after_script(interposes + "3 \"$1\" i.c -o \"$2\"");
  CHECK_MESSAGE(right.verdict == Verdict::ok, right.reason);
  const Evaluation wrong = after_script(interposes + "4 \"$1\" i.c -o \"$2\"");
  CHECK_MESSAGE(wrong.verdict == Verdict::wrong_result, wrong.reason);
  // A function of the C library's name is found in the kernel's library all the same.
  const fs::path folder = fresh("named-as-libc");
  put_file(folder / "kernel.c", c_kernel);
  put_file(folder / "build.sh",
           "gcc -O1 -w -fno-builtin -fPIC -shared -DNAME=\"$3\" -DFACTOR=3 \"$1\" -o \"$2\"\n");
  std::string text = problem_text(through_script);
  text.replace(text.find(R"("function": "scale")"), 19, R"("function": "lfind")");
  const Problem problem = parse_problem(text, folder);
  HostEvaluator evaluator(problem, support::quick());
  const Evaluation e = evaluator.evaluate(support::default_candidate(problem), {});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  // Its constructor runs in the sandbox, as those of objects do, and what it ends is itself.
  const Evaluation ends = after_script(
      "echo '#include <unistd.h>\n__attribute__((constructor)) static void first(void) { _exit(0); }' > c.c; "
      "gcc -fPIC -shared -DNAME=scale -DFACTOR=3 \"$1\" c.c -o \"$2\"");
  CHECK(ends.verdict != Verdict::ok);
}

TEST_CASE("build.command: the machine code of what it makes is looked into") {
  if (find_objdump().empty()) {
    MESSAGE("skipped: no objdump");
    return;
  }
#if defined(__x86_64__)
  const auto features = [](const char* flags) {
    const fs::path folder = fresh("inspected");
    put_file(folder / "kernel.c", c_kernel);
    const Problem problem = parse_problem(
        problem_text(R"("command": ["gcc", "-fPIC", "-DNAME=${NAME}", "-DFACTOR=3.0f", "-O3", ")" +
                     std::string(flags) + R"(", "-c", "${SOURCE}", "-o", "${LIBRARY}"])"),
        folder);
    const HostOptions options = support::quick();
    CodeInspected<HostEvaluator, Candidate, HostCodeInspector> evaluator(
        HostEvaluator(problem, options), HostCodeInspector({.sandbox = options.sandbox}));
    const Evaluation e = evaluator.evaluate(support::default_candidate(problem), {});
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    return e.features;
  };
  CHECK(features("-mavx2").find("code.loop.vector_256").value_or(0) >= 1);
  CHECK(features("-fno-tree-vectorize").find("code.loop.vector_256").value_or(0) == 0);
#endif
}

TEST_CASE("reference.compiler: the reference's own, not the kernel's") {
  Problem problem =
      parse_problem(support::scale_problem("extern \"C\" void scale(int n, const float* x, float* y) { for "
                                           "(int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }"),
                    support::sources);
  CHECK(reference_job(problem, Real::f64).command.front() == "g++");
  problem.build.compiler = "clang++";
  CHECK(reference_job(problem, Real::f64).command.front() == "clang++");
  problem.reference.compiler = "g++-12";
  CHECK(reference_job(problem, Real::f64).command.front() == "g++-12");
  CHECK(candidate_job(problem, support::default_candidate(problem)).command.front() == "clang++");
}

TEST_CASE("caller_source: the kernel's C declaration, from the arguments") {
  Problem problem = parse_problem(
      problem_text(R"("command": ["gcc", "-DN=${NAME}", "${FACTOR}", "-o", "${LIBRARY}"])"), [] {
        const fs::path folder = fresh("caller");
        put_file(folder / "kernel.c", c_kernel);
        return folder;
      }());
  CHECK(has(caller_source(problem), "extern \"C\" void scale(std::int32_t, const float*, float*);\n"));
  const CompileJob job = candidate_job(problem, support::default_candidate(problem));
  REQUIRE(job.by);
  CHECK(job.by->argv == std::vector<std::string>{"gcc", "-DN=scale", "3", "-o", "${LIBRARY}"});
  CHECK(job.by->source.path == "kernel.c");
  CHECK(job.by->source.text == c_kernel);
}
