// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device code that a command of the problem's builds: what it gets, what is made of that, what it cannot do.
#include <sys/stat.h>

#include <filesystem>

#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_preprocess.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/write_problem.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

/// The kernel of these problems, whose tunable comes by the command.
const std::string command_kernel =
    "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
    "  extern __shared__ float staged[];\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) staged[threadIdx.x] = FACTOR * x[i];\n"
    "  if (i < n) y[i] = staged[threadIdx.x] + 1;\n"
    "}\n";
/// What makes it: words after `kernels` go to the description.
const std::string command_script =
    "{ echo \"#define FACTOR $3\"; cat \"$1\"; } > kernel.hip\n" KERNELSEARCH_STANDIN_COMPILER
    " kernel.hip \"$2\" scale\n";

/// A problem in a folder of its own whose kernel a script builds.
struct CommandProblem {
  CommandProblem() {
    static int count = 0;
    folder = scratch() / ("command" + std::to_string(count++));
    fs::create_directories(folder);
    fs::permissions(scratch(), fs::perms(0755));
    fs::permissions(folder, fs::perms(0755));
    put("kernel.hip.txt", command_kernel);
    put("build.sh", command_script);
    text.launch = R"({"grid": ["(n + 127) // 128"], "block": [128], "shared_bytes": 512})";
  }
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
  /// Adds lines to the script that come after the image is made.
  void put_after(const std::string& lines) const { put("build.sh", "set -e\n" + command_script + lines); }
  [[nodiscard]] Problem parsed() const {
    DeviceProblem problem = text;
    problem.more = text.more + R"(, "tunables": {"FACTOR": )" + factors + R"(}, "build": {"command": )" +
                   command + R"(, "files": ["build.sh")" + files + "]" + build + "}";
    std::string json = problem.text();
    const std::string inline_kernel = R"({"device": {"text": )" + support::quoted(problem.kernel) + "}";
    json.replace(json.find(inline_kernel), inline_kernel.size(), R"({"device": "kernel.hip.txt")");
    return parse_problem(json, folder);
  }
  [[nodiscard]] Evaluation judged(const GpuOptions& options = quick()) const {
    const Problem problem = parsed();
    GpuEvaluator evaluator(problem, options);
    return evaluator.evaluate(default_candidate(problem), {});
  }

  fs::path folder;
  DeviceProblem text;
  std::string command = R"(["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${FACTOR}"])";
  std::string factors = "[3, 4]", files, build;
};

bool built_earlier(const Evaluation& e) {
  return contains(e.provenance, "compiled earlier");
}

}  // namespace

TEST_CASE(
    "build.command of device code: the kernel is judged as any other, tunables reach it by the command") {
  const CommandProblem given;
  const Problem problem = given.parsed();
  GpuEvaluator evaluator(problem, quick());
  CHECK(contains(evaluator.toolchain_id(), "hipRTC"));
  CHECK(contains(evaluator.toolchain_id(), "/sh ("));
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const Evaluation three = evaluator.evaluate({kernel, Config{{0}}}, {});
  REQUIRE_MESSAGE(three.verdict == Verdict::ok, three.reason);
  CHECK(three.features.find("block_threads") == 128.0);
  CHECK(three.features.find("shared_bytes") >= 512.0);
  CHECK_FALSE(built_earlier(three));
  const Evaluation four = evaluator.evaluate({kernel, Config{{1}}}, {});
  CHECK(four.verdict == Verdict::wrong_result);
  CHECK(built_earlier(evaluator.evaluate({kernel, Config{{0}}}, {})));
  // Another kernel of the same problem, as a generator makes them, with our marks of lines in no place.
  CHECK(evaluator.evaluate(with_code(problem, "nothing that compiles\n"), {}).verdict ==
        Verdict::build_failed);
  // Without a reference the default is it, launched as its command says.
  CommandProblem alone;
  alone.text.reference.clear();
  alone.factors = "[4, 3]";
  alone.text.launch = R"({"grid": ["(n + 31) // 32"], "block": [1]})";
  alone.put_after("echo '{\"block\": [32], \"shared\": 128}' > \"$2.json\"\n");
  const Evaluation self = alone.judged();
  CHECK_MESSAGE(self.verdict == Verdict::ok, self.reason);
}

TEST_CASE("build.command of device code: what it says of function, block and shared memory comes first") {
  CommandProblem given;
  // By itself the launch is wrong in each of these.
  given.text.launch =
      R"([{"function": "other", "grid": ["(n + 31) // 32"], "block": [1], "shared_bytes": 0}])";
  given.put_after("echo '{\"function\": \"scale\", \"block\": [32], \"shared\": 128}' > \"$2.json\"\n");
  Evaluation e = given.judged();
  REQUIRE_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(e.features.find("block_threads") == 32.0);
  CHECK(e.features.find("shared_bytes") >= 128.0);
  // What was kept says the same.
  e = given.judged();
  CHECK(built_earlier(e));
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(e.features.find("block_threads") == 32.0);
  // So does what is carried to another evaluator.
  const Problem problem = given.parsed();
  GpuEvaluator here(problem, quick()), there(problem, quick());
  auto staged = here.build(default_candidate(problem), {});
  REQUIRE(staged.artifact);
  const PortableArtifact portable = here.carry(*staged.artifact);
  CHECK(portable.launches == std::vector<BuiltLaunch>{{128, {32, 1, 1}}});
  const Evaluation carried = there.run(
      Staged<GpuArtifact>{staged.evaluation, there.carried(default_candidate(problem), portable)}, {});
  CHECK_MESSAGE(carried.verdict == Verdict::ok, carried.reason);
  // More than the device has is said with the figures.
  given.put_after("echo '{\"function\": \"scale\", \"block\": [32], \"shared\": 1000000}' > \"$2.json\"\n");
  e = given.judged();
  CHECK(e.verdict == Verdict::launch_failed);
  CHECK_MESSAGE(contains(e.reason, "1000000 bytes of dynamic shared memory, and the device gives"), e.reason);
  given.put_after("echo '{\"function\": \"scale\", \"block\": [2147483647, 2]}' > \"$2.json\"\n");
  e = given.judged();
  CHECK(e.verdict == Verdict::launch_failed);
  CHECK_MESSAGE(contains(e.reason, "a block of 4294967294 threads"), e.reason);
  // A function that the image lacks.
  given.put_after("echo '{\"function\": \"no_such\"}' > \"$2.json\"\n");
  e = given.judged();
  CHECK(e.verdict != Verdict::ok);
  CHECK_MESSAGE(contains(e.reason, "no kernel no_such"), e.reason);
}

TEST_CASE("build.command of device code: each way to fail has a reason of its own") {
  CommandProblem given;
  const auto reason = [&](const std::string& script) {
    CAPTURE(script);
    given.put("build.sh", script);
    const Evaluation e = given.judged();
    CHECK(e.verdict == Verdict::build_failed);
    return e.reason;
  };
  CHECK(contains(reason("exit 3"), "the build command ended with exit code 3 and without a message"));
  CHECK(
      contains(reason("echo 'kernel: error: no such layout' >&2; exit 1"), "kernel: error: no such layout"));
  CHECK(contains(reason("exit 0"), "ended well, but made nothing where ${LIBRARY} says"));
  CHECK(contains(reason(": > \"$2\""), "made nothing where ${LIBRARY} says"));
  CHECK(contains(reason("echo '{}' > \"$2.json\""), "made nothing where ${LIBRARY} says"));
  CHECK(contains(reason("echo text > \"$2\"; echo tried >&2"),
                 "made a file that is neither a code object nor a bundle of code objects; it said:\ntried"));
  CHECK(contains(reason("echo 'int x;' > o.c; gcc -c o.c -o \"$2\""),
                 "code for another processor (ELF machine"));
  CHECK_FALSE(contains(reason("printf '\\033[2Jgone\\n' >&2; exit 1"), "\033"));
  const auto says = [&](const std::string& description) {
    return reason("set -e\n" + command_script + "printf '%s' '" + description + "' > \"$2.json\"\n");
  };
  CHECK(contains(says("{"), "says of the launch what cannot be used: ${LIBRARY}.json:1"));
  CHECK(contains(says(""), "says of the launch what cannot be used: ${LIBRARY}.json"));
  CHECK(contains(says(R"({"shared": -4})"), "/shared is not a size of shared memory: -4"));
  CHECK(contains(says(R"({"shared": 99999999999})"), "/shared is not a size of shared memory: 99999999999"));
  CHECK(contains(says(R"({"threads": 4})"), "threads"));
  CHECK(contains(reason("set -e\n" + command_script + "head -c 2000000 /dev/zero > \"$2.json\"\n"),
                 "more than 1 MiB"));
  GpuOptions options = quick();
  options.limits.build = 1;
  given.put("build.sh", "sleep 30");
  const Evaluation late = given.judged(options);
  CHECK(late.verdict == Verdict::timed_out);
  CHECK(contains(late.reason, "the build command needed more than 1 s"));
  given.command = R"(["no-such-compiler", "${LIBRARY}"])";
  CHECK_THROWS_WITH_AS((void)given.judged(), doctest::Contains("no such program"), ConfigError);
}

TEST_CASE("build.command of device code: nothing that was changed gets what was kept") {
  CommandProblem given;
  given.files = R"(, "data")";
  given.put("data", "1");
  const fs::path tool = given.folder / "tool";
  given.put("tool", "#!/bin/sh\necho version 1\n");
  fs::permissions(tool, fs::perms(0755));
  given.build = R"(, "identity": [[")" + tool.string() + R"("]])";
  const Evaluation first = given.judged();
  REQUIRE_MESSAGE(first.verdict == Verdict::ok, first.reason);
  REQUIRE(built_earlier(given.judged()));
  const std::string digest = problem_digest(given.parsed());
  const auto toolchain = [&] { return GpuEvaluator(given.parsed(), quick()).toolchain_id(); };
  const std::string identified = toolchain();
  given.put("build.sh", "# other\n" + command_script);
  CHECK(problem_digest(given.parsed()) != digest);
  CHECK_FALSE(built_earlier(given.judged()));
  given.put("build.sh", command_script);
  CHECK(built_earlier(given.judged()));
  given.put("data", "2");
  CHECK_FALSE(built_earlier(given.judged()));
  given.put("data", "1");
  given.put("tool", "#!/bin/sh\necho version 2\n");
  CHECK(toolchain() != identified);
  CHECK_FALSE(built_earlier(given.judged()));
  given.put("tool", "#!/bin/sh\necho version 1\n");
  CHECK(built_earlier(given.judged()));
  given.put("kernel.hip.txt", "// other\n" + command_kernel);
  CHECK_FALSE(built_earlier(given.judged()));
  given.put("kernel.hip.txt", command_kernel);
  given.command = R"(["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${FACTOR}", "more"])";
  CHECK_FALSE(built_earlier(given.judged()));
}

TEST_CASE("build.command of device code: the architecture, readable folders, several kernels") {
  CommandProblem given;
  given.command =
      R"(["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${FACTOR}", "${ARCH}", "${READABLE}", "${NAME}"])";
  given.put("build.sh", "echo \"arch=$4 readable=$5 name=$6\" >&2; exit 1");
  GpuOptions options = quick();
  options.architecture = "gfx90a";
  options.readable = {"/usr/lib", "/usr/share"};
  given.build = R"(, "identity": [["sh", "-c", "[ $0 = /usr/lib:/usr/share ]", "${READABLE}"]])";
  Evaluation e = given.judged(options);
  CHECK_MESSAGE(contains(e.reason, "arch=gfx90a readable=/usr/lib:/usr/share name=scale"), e.reason);
  CHECK_THROWS_WITH_AS((void)given.judged(), doctest::Contains("what identifies the build's toolchain fails"),
                       ConfigError);
  given.build.clear();
  CHECK_THROWS_WITH_AS((void)given.judged(), doctest::Contains("asks for an architecture"), ConfigError);
  // Of CUDA it is the device's.
  GpuDevice device;
  device.backend = GpuBackend::cuda;
  device.major = 9;
  CHECK(detail::gpu::architecture_of(device, {}) == "sm_90a");
  device.major = 8;
  device.minor = 6;
  CHECK(detail::gpu::architecture_of(device, {}) == "sm_86");

  CommandProblem two;
  two.put("kernel.hip.txt", command_kernel +
                                "extern \"C\" __global__ void twice(int n, float* y) {\n"
                                "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "  if (i < n) y[i] = 2 * y[i];\n}\n");
  two.text.launch =
      R"([{"function": "scale", "arguments": ["n", "x", "y"], "grid": ["(n + 127) // 128"], "block": [128], "shared_bytes": 512},
          {"function": "doubled", "arguments": ["n", "y"], "grid": ["(n + 63) // 64"], "block": [1]}])";
  two.text.reference.replace(two.text.reference.find("3 * x[i] + 1"), 12, "6 * x[i] + 2");
  two.put("build.sh", command_script.substr(0, command_script.size() - 1) +
                          " twice && echo '{\"kernels\": {\"doubled\": {\"function\": \"twice\", \"block\": "
                          "[64]}}}' > \"$2.json\"\n");
  e = two.judged();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("build.command of device code: reads no secret, writes nothing outside") {
  const fs::path secret = scratch() / "command-secret";
  std::ofstream(secret) << "the secret of this test";
  setenv("KERNELSEARCH_TEST_SECRET", "the secret of this test", 1);
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock}) {
    if (!sandbox_status(sandbox).works) continue;
    CAPTURE(to_string(sandbox));
    GpuOptions options = quick();
    options.sandbox = sandbox;
    for (const std::string& reads :
         {"cat '" + secret.string() + "'; exit 1", std::string("env; exit 1"),
          "ln -s '" + secret.string() + "' \"$2\"",
          "ln -s '" + secret.string() + "' \"$2.json\"; printf __CLANG_OFFLOAD_BUNDLE__ > \"$2\"",
          "echo x > '" + (scratch() / "command-written").string() + "'; exit 1"}) {
      CAPTURE(reads);
      CommandProblem given;
      given.put("build.sh", reads);
      const Problem problem = given.parsed();
      GpuEvaluator evaluator(problem, options);
      const auto staged = evaluator.build(default_candidate(problem), {});
      CHECK_FALSE(contains(staged.evaluation.reason, "the secret"));
      CHECK_FALSE(contains(staged.evaluation.provenance, "the secret"));
      CHECK(staged.evaluation.verdict == (contains(reads, ".json") ? Verdict::ok : Verdict::build_failed));
    }
  }
  CHECK_FALSE(fs::exists(scratch() / "command-written"));
  unsetenv("KERNELSEARCH_TEST_SECRET");
}

TEST_CASE("build.command of device code: what cannot go with it is refused") {
  CommandProblem given;
  const auto refused = [&](const char* words) {
    CHECK_THROWS_WITH_AS((void)given.parsed(), doctest::Contains(words), ConfigError);
  };
  given.build = R"(, "flags": ["-O3"])";
  refused("/build/flags is for a device kernel that we compile");
  given.build = R"(, "compiler": "hiprtc")";
  refused("/build/compiler is for a device kernel that we compile");
  given.build = R"(, "libraries": ["m"])";
  refused("/build/libraries links libraries with a device kernel");
  given.build.clear();
  given.command = R"(["sh", "build.sh", "${SOURCE}"])";
  refused("is not told what to make");
  given.command = R"(["sh", "build.sh", "${LIBRARY}", "${UNKNOWN}"])";
  refused("UNKNOWN");
  given.command = R"(["sh", "build.sh", "${LIBRARY}"])";
  given.text.backend = "opencl";
  refused("/build/command builds a kernel for a backend that loads no code of other compilers: opencl");
  given.text.backend = "hip";
  given.text.host = "void scale(int n, const float* x, float* y) {}";
  given.text.launch.clear();
  refused("the problem has a launch function");
  // So is what a program puts together.
  given = {};
  Problem problem = given.parsed();
  problem.kernel.regions.host = "void scale(int n, const float* x, float* y) {}";
  CHECK_THROWS_WITH_AS(GpuEvaluator(problem, quick()),
                       doctest::Contains("both a build command and a launch function"), ConfigError);
  // A candidate with a launch function is, too.
  const Problem plain = given.parsed();
  GpuEvaluator evaluator(plain, quick());
  Kernel kernel = plain.kernel;
  kernel.regions.host = "void scale() {}";
  CHECK(evaluator
            .evaluate(
                {std::make_shared<const Kernel>(std::move(kernel)), plain.kernel.space.default_config()}, {})
            .verdict == Verdict::rejected);
  // Written down and read again it is the same; no preprocessor looks at its text.
  const fs::path copy = scratch() / "command-copy";
  write_problem(plain, copy);
  CHECK(problem_digest(read_problem(copy)) == problem_digest(plain));
  CHECK_FALSE(gpu_preprocess(plain, quick()));
}
