// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_evaluator.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "evaluator/host/support.hpp"
#include "judge/load_meter.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/policy/attribution.hpp"
#include "process/process.hpp"
#include "support/approx.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using support::judge;
using support::quick;

namespace {

const std::string plain_source =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";

/// A kernel that also counts to so many thousands.
std::string counting(int thousands) {
  return "extern \"C\" void scale(int n, const float* x, float* y) {\n"
         "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n  for (volatile int i = 0; i < 1000 * " +
         std::to_string(thousands) + "; i = i + 1) {}\n}\n";
}

Candidate with_code(const Problem& problem, const std::string& code) {
  Kernel kernel = problem.kernel;
  kernel.regions.device = code;
  return {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()};
}

// The judgement of a problem's own kernel.
Evaluation judge_problem(const std::string& text, HostOptions options = quick()) {
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, std::move(options));
  return evaluator.evaluate(support::default_candidate(problem), {});
}

// A sum of 5000 numbers; judged on ill-conditioned inputs too, where most of them cancel.
std::string sum_problem(const std::string& kernel) {
  return R"({"schema": 1, "name": "sum", "backend": "host", "function": "total",
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "s", "type": "f32", "size": 1, "role": "out"}],
    "kernel": {"device": {"text": )" +
         support::quoted(kernel) + R"(}}, "shapes": [{"name": "only", "n": 5000}],
    "reference": {"source": {"text": "void sum_reference(int n, const real* x, real* s) { real t = 0; for (int i = 0; i < n; ++i) t += x[i]; *s = t; }"},
                  "function": "sum_reference"}})";
}

// "// expect: VERDICT: words of the reason"; VERDICT may be two joined by `|` where which of them it is
// depends on the call at which the kernel is found out.
struct Expectation {
  std::string verdict, words;
  [[nodiscard]] bool allows(std::string_view got) const {
    const auto bar = verdict.find('|');
    return bar == std::string::npos ? got == verdict
                                    : got == verdict.substr(0, bar) || got == verdict.substr(bar + 1);
  }
};

Expectation expectation(const std::string& source) {
  const std::string mark = "// expect: ";
  const auto begin = source.find(mark) + mark.size();
  const std::string line = source.substr(begin, source.find('\n', begin) - begin);
  const auto colon = line.find(": ");
  return {line.substr(0, colon), line.substr(colon + 2)};
}

std::vector<std::filesystem::path> kernels(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(support::sources / folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_CASE("HostEvaluator: a right kernel is ok and measured") {
  const auto e = judge(R"(extern "C" void scale(int n, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  })");
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  REQUIRE(e.measurement.shapes.size() == 1);
  CHECK(e.measurement.shapes[0].samples.size() >= 6);
  CHECK(e.measurement.seconds > 0);
}

TEST_CASE("HostEvaluator: hostile kernels get the verdict that each deserves") {
  const auto paths = kernels("hostile");
  CHECK(paths.size() >= 35);
  for (const auto& path : paths) {
    const std::string source = support::read(path);
    const Expectation expected = expectation(source);
    CAPTURE(path.filename().string());
    HostOptions options = quick();
    if (path.filename() == "allocates_without_end.cpp")
      options.limits.call_seconds = 5;  // on a loaded machine
    const Evaluation e = judge(source, options);
    CAPTURE(e.reason);
    CHECK_MESSAGE(expected.allows(to_string(e.verdict)), to_string(e.verdict)
                                                             << " instead of " << expected.verdict);
    CHECK(e.reason.find(expected.words) != std::string::npos);
    CHECK(e.progress < 1.0);
    CHECK(e.measurement.shapes.empty());
  }
}

TEST_CASE("HostEvaluator: a write outside of an array is told with the array, the index and the side") {
  const auto judged = [](const std::string& write) {
    return judge(
        "extern \"C\" void scale(int n, const float* x, float* y) {\n"
        "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n  " +
        write + " = 0;\n}");
  };
  const Evaluation past = judged("y[n + 2]"), ahead = judged("y[-3]"), input = judged("((float*)x)[-1]");
  const std::string &behind = past.reason, &before = ahead.reason;
  const auto count = behind.substr(behind.find('(') + 1, behind.find(" elements)") - behind.find('(') - 1);
  REQUIRE_MESSAGE(count.find_first_not_of("0123456789") == std::string::npos, behind);
  const std::string index = std::to_string(std::stoull(count) + 2);
  check_has(behind, "it wrote outside of its arrays: y[" + index + "], past the end of y (" + count +
                        " elements) (shape ");
  check_has(before, "it wrote outside of its arrays: y[-3], before the beginning of y (");
  check_has(input.reason, "it wrote outside of its arrays: x[-1], before the beginning of x (");
  // And as a field, by which it is told apart from what cheats.
  const std::uint64_t elements = std::stoull(count);
  CHECK(past.overrun == Overrun{"y", static_cast<std::int64_t>(elements) + 2, elements});
  REQUIRE((ahead.overrun && input.overrun));
  CHECK((ahead.overrun->array == "y" && ahead.overrun->index == -3));
  CHECK((input.overrun->array == "x" && input.overrun->index == -1));
  CHECK(!judged("((float*)x)[0]").overrun);
}

TEST_CASE("HostEvaluator: honest kernels are ok, whatever else they do") {
  const auto paths = kernels("honest");
  CHECK(paths.size() >= 10);
  for (const auto& path : paths) {
    CAPTURE(path.filename().string());
    const Evaluation e = judge(support::read(path));
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  }
}

TEST_CASE(
    "HostEvaluator: Landlock alone gives the same verdicts, and each trial says what it was judged in") {
  if (!sandbox_status(Sandbox::landlock).works) {
    MESSAGE("skipped: ", sandbox_status(Sandbox::landlock).problem);
    return;
  }
  HostOptions options = quick();
  options.sandbox = Sandbox::landlock;
  options.limits.call_seconds = 5;
  for (const auto& path : kernels("hostile")) {
    const std::string source = support::read(path);
    const Expectation expected = expectation(source);
    CAPTURE(path.filename().string());
    const Evaluation e = judge(source, options);
    CAPTURE(e.reason);
    CHECK_MESSAGE(expected.allows(to_string(e.verdict)), to_string(e.verdict)
                                                             << " instead of " << expected.verdict);
    CHECK(e.provenance.find("; sandbox landlock, ABI ") != std::string::npos);
  }
  CHECK(!std::filesystem::exists("/tmp/kernelsearch-was-here"));
  for (const auto& path : kernels("honest")) {
    // Landlock closes files; that they are there can be seen.
    if (path.filename() == "finds_no_files.cpp") continue;
    CAPTURE(path.filename().string());
    const Evaluation e = judge(support::read(path), options);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  }
}

TEST_CASE("HostEvaluator: no way to make the compiler show a readable file of the user's") {
  const TemporaryFolder folder;
  const std::string contents = "SECRET_7f3a91c2";
  const auto secret = folder.path() / "secret.txt";
  std::ofstream(secret) << contents << "\n";
  std::ofstream(folder.path() / "secret.rsp") << "-D" << contents << "=(\n";
  for (const auto& place : {folder.path(), secret, folder.path() / "secret.rsp"})
    std::filesystem::permissions(place, std::filesystem::perms(0755));
  const std::string at = secret.string();
  const std::string honest =
      "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 3 * "
      "x[i] "
      "+ 1; }\n";
  struct Attack {
    const char* name;
    std::string source;
    std::vector<std::string> flags = {};
  };
  const std::vector<Attack> attacks = {
      {"include", "#include \"" + at + "\"\n" + honest},
      {"include through /proc/self/cwd", "#include \"/proc/self/cwd/../.." + at + "\"\n" + honest},
      {"assembler", "asm(\".include \\\"" + at + "\\\"\");\n" + honest},
      {"assembler, as data",
       "asm(\".section .text\\nleak: .incbin \\\"" + at + "\\\"\\n.error \\\"made\\\"\");\n" + honest},
      {"embed", "constexpr char leak[] = {\n#embed \"" + at + "\"\n};\n" + honest},
      {"has_include", "#if __has_include(\"" + at + "\")\n#error " + contents + "\n#endif\n" + honest},
      {"-include", honest, {"-include", at}},
      {"-I", "#include <secret.txt>\n" + honest, {"-I", folder.path().string()}},
      {"response file",
       "#ifdef " + contents + "\n#error " + contents + "\n#endif\n" + honest,
       {"@" + (folder.path() / "secret.rsp").string()}},
      {"plugin", honest, {"-fplugin=" + at}},
      {"linker script", honest, {"-Wl,-T," + at}},
      {"linked file", honest, {at}},
      {"specs", honest, {"-specs=" + at}},
  };
  const auto judged = [&](const Attack& attack, Sandbox sandbox) {
    Problem problem = parse_problem(support::scale_problem(attack.source), support::sources);
    problem.build.flags.insert(problem.build.flags.end(), attack.flags.begin(), attack.flags.end());
    HostOptions options = quick();
    options.sandbox = sandbox;
    HostEvaluator evaluator(problem, options);
    return evaluator.evaluate(support::default_candidate(problem), {});
  };
  std::size_t shown = 0;
  for (const Attack& attack : attacks)
    shown += judged(attack, Sandbox::none).reason.find(contents) != std::string::npos;
  CHECK(shown >= 5);  // without a sandbox they do succeed: this test can fail
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock}) {
    if (!sandbox_status(sandbox).works) continue;
    for (const Attack& attack : attacks) {
      CAPTURE(to_string(sandbox));
      CAPTURE(attack.name);
      const Evaluation e = judged(attack, sandbox);
      CHECK_MESSAGE(e.reason.find(contents) == std::string::npos, e.reason);
    }
  }
}

TEST_CASE("HostEvaluator: what ran is gone afterwards, also what never ends") {
  const std::string endless = support::read(support::sources / "hostile" / "never_returns.cpp");
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock, Sandbox::none}) {
    if (!sandbox_status(sandbox).works) continue;
    HostOptions options = quick();
    options.sandbox = sandbox;
    CHECK(judge(endless, options).verdict == Verdict::timed_out);
    CHECK(detail::process_tree(getpid()).size() == 1);
  }
}

TEST_CASE("HostEvaluator: what a kernel may not do gains nothing, and leaves nothing behind") {
  // A gain is there each time; a slow moment of the machine, in which the plain kernel is timed, is not.
  const auto gains = [](const std::string& source) {
    const Evaluation plain = judge(plain_source), e = judge(source);
    CHECK_MESSAGE(plain.verdict == Verdict::ok, plain.reason);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    return !(e.measurement.seconds > 0.5 * plain.measurement.seconds);
  };
  const auto paths = kernels("harmless");
  CHECK(paths.size() >= 6);
  for (const auto& path : paths) {
    CAPTURE(path.filename().string());
    const std::string source = support::read(path);
    bool gained = true;
    for (int attempt = 0; gained && attempt < 3; ++attempt) gained = gains(source);
    CHECK(!gained);
  }
  CHECK(!std::filesystem::exists("/tmp/kernelsearch-was-here"));
}

TEST_CASE("HostEvaluator: what a compiler quotes of a kernel commands no terminal") {
  const Evaluation e = judge(
      "#line 1 \"\x1b]0;title\x07.cpp\"\n#error \x1b[2J \xc2\x9b"
      "31m all is well\n");
  CHECK(e.verdict == Verdict::build_failed);
  CHECK_MESSAGE(e.reason.find("all is well") != std::string::npos, e.reason);
  for (const char c : e.reason) CHECK((static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t'));
  CHECK(e.reason.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("HostEvaluator: a compiler that takes too long is stopped") {
  HostOptions options = quick();
  options.limits.build_seconds = 1;
  const auto e = judge(
      "template <int D, long I> struct Tree { static constexpr long value = Tree<D - 1, 2 * I>::value + "
      "Tree<D - 1, 2 * I + 1>::value; };\n"
      "template <long I> struct Tree<0, I> { static constexpr long value = I; };\n"
      "extern \"C\" void scale(int, const float*, float* y) { y[0] = Tree<40, 1>::value; }\n",
      options);
  CHECK(e.verdict == Verdict::timed_out);
  CHECK(e.reason.find("compiler") != std::string::npos);
  CHECK(e.progress == 0.0);
}

TEST_CASE("HostEvaluator: a clock of the candidate's own is never read, and cached results gain nothing") {
  const std::string own_clock =
      "#include <time.h>\nextern \"C\" int clock_gettime(clockid_t, timespec* t) noexcept { t->tv_sec = "
      "t->tv_nsec = 0; return 0; }\n";
  const auto plain = judge(plain_source), clocked = judge(own_clock + counting(500));
  CHECK_MESSAGE(clocked.verdict == Verdict::ok, clocked.reason);
  CHECK(clocked.measurement.seconds > 20 * plain.measurement.seconds);
  const auto cached = judge(
      "#include <map>\n#include <vector>\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  static std::map<std::vector<float>, std::vector<float>> known;\n"
      "  auto& result = known[std::vector<float>(x, x + n)];\n"
      "  if (result.empty()) {\n    for (volatile int i = 0; i < 500000; i = i + 1) {}\n    for (int i = 0; "
      "i < n; ++i) result.push_back(3 * x[i] "
      "+ 1);\n  }\n"
      "  for (int i = 0; i < n; ++i) y[i] = result[i];\n}\n");
  CHECK_MESSAGE(cached.verdict == Verdict::ok, cached.reason);
  CHECK(cached.measurement.seconds > 20 * plain.measurement.seconds);
}

TEST_CASE("HostEvaluator: the reason names argument, index, values, tolerance, share, shape and seed") {
  const auto e = judge(
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + (i % 4 == 2 ? 2 : 1);\n}\n");
  CHECK(e.verdict == Verdict::wrong_result);
  for (const char* part : {"y[2] is ", "expected ", "within ", "24.3", "% of y wrong", "shape small",
                           "declared inputs", "seed 0x"})
    CHECK_MESSAGE(e.reason.find(part) != std::string::npos, part << " in " << e.reason);
  CHECK(e.progress == approx(0.5 + 0.25 * 28 / 37));
}

TEST_CASE("HostEvaluator: tunables reach the source and the flags") {
  const std::string kernel =
      "static constexpr int order[] = ORDER;\n"
      "static_assert(order[0] == ORDER_0 && ORDER_0 + ORDER_1 == 1, \"\");\n"
      "#ifndef EXTRA\n#error the flag is missing\n#endif\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = (NEGATE ? -3 : FACTOR) * x[i] + OFFSET;\n}\n";
  const std::string tunables =
      R"(, "tunables": {"FACTOR": [2, 3], "NEGATE": [false, true], "OFFSET": [1.0, 2.0],
      "ORDER": {"permutation": 2}, "FLAG": ["-DEXTRA", ""]}, "default": {"FACTOR": 3})";
  std::string text = support::scale_problem(kernel, tunables);
  text.replace(text.find("\"-O1\""), 5, "\"-O1\", \"${FLAG}\"");
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, quick());
  const auto judged = [&](std::vector<std::uint32_t> indices) {
    return evaluator
        .evaluate(Candidate{std::make_shared<const Kernel>(problem.kernel), Config{std::move(indices)}}, {})
        .verdict;
  };
  CHECK(judged({1, 0, 0, 0, 0}) == Verdict::ok);
  CHECK(judged({0, 0, 0, 0, 0}) == Verdict::wrong_result);
  CHECK(judged({1, 1, 0, 0, 0}) == Verdict::wrong_result);
  CHECK(judged({1, 0, 1, 0, 0}) == Verdict::wrong_result);
  CHECK(judged({1, 0, 0, 0, 1}) == Verdict::build_failed);
}

TEST_CASE("HostEvaluator: every element type, scalars, arrays updated in place, empty arrays") {
  const std::string text = R"({"schema": 1, "name": "mix", "backend": "host", "function": "mix",
    "arguments": [
      {"name": "n", "type": "i64"}, {"name": "factor", "type": "f32", "value": "0.5 * n"}, {"name": "flag", "type": "bool", "value": "n > 10"},
      {"name": "a", "type": "f64", "size": "n"}, {"name": "h", "type": "f16", "size": "n"}, {"name": "b", "type": "i8", "size": "n", "low": 0, "high": 100},
      {"name": "m", "type": "bool", "size": "n", "low": 0, "high": 2},
      {"name": "f", "type": "f64", "size": "n", "role": "inout"}, {"name": "o", "type": "f16", "size": "n", "role": "out"},
      {"name": "c", "type": "u32", "size": "n", "role": "inout", "low": 0, "high": 9}, {"name": "p", "type": "i64", "size": "n", "init": "permutation"},
      {"name": "q", "type": "bool", "size": "n", "role": "out"}],
    "kernel": {"device": {"text": "extern \"C\" void mix(std::int64_t n, float factor, bool flag, const double* a, const std::uint16_t* h, const std::int8_t* b, const bool* m, double* f, std::uint16_t* o, std::uint32_t* c, const std::int64_t* p, bool* q) {\n  for (std::int64_t i = 0; i < n; ++i) {\n    f[i] += factor * a[p[i]] * (flag ? 2 : 1);\n    o[i] = h[i];\n    c[i] += b[i];\n    q[i] = !m[i];\n  }\n}\n"}},
    "shapes": [{"name": "none", "n": 0, "weight": 0}, {"name": "few", "n": 7, "weight": 0}, {"name": "many", "n": 1000}],
    "reference": {"source": {"text": "void mix_reference(std::int64_t n, real factor, bool flag, const real* a, const real* h, const std::int8_t* b, const bool* m, real* f, real* o, std::uint32_t* c, const std::int64_t* p, bool* q) {\n  for (std::int64_t i = 0; i < n; ++i) {\n    f[i] += factor * a[p[i]] * (flag ? 2 : 1);\n    o[i] = h[i];\n    c[i] += b[i];\n    q[i] = !m[i];\n  }\n}\n"},
                  "function": "mix_reference"}})";
  const auto e = judge_problem(text);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  std::string wrong = text;
  wrong.replace(wrong.find("c[i] += b[i]"), 12, "c[i] += b[0]");
  const auto bad = judge_problem(wrong);
  CHECK(bad.verdict == Verdict::wrong_result);
  CHECK(bad.reason.find("c[") == 0);
}

TEST_CASE("HostEvaluator: honest sums pass on ill-conditioned inputs, sloppy ones do not") {
  const auto forward =
      judge_problem(sum_problem("extern \"C\" void total(int n, const float* x, float* s) { float t = 0; for "
                                "(int i = 0; i < n; ++i) t += x[i]; *s = t; }"));
  CHECK_MESSAGE(forward.verdict == Verdict::ok, forward.reason);
  const auto strided = judge_problem(sum_problem(
      "extern \"C\" void total(int n, const float* x, float* s) { float t[8] = {}; for (int i = 0; i < n; "
      "++i) t[i % 8] += x[i]; *s = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7])); }"));
  CHECK_MESSAGE(strided.verdict == Verdict::ok, strided.reason);
  // sums up in 8 bits of precision
  const auto sloppy = judge_problem(
      sum_problem("#include <cstring>\nextern \"C\" void total(int n, const float* x, float* s) { float t = "
                  "0; for (int i = 0; i < n; ++i) { t += x[i]; std::uint32_t b; std::memcpy(&b, &t, 4); b &= "
                  "0xffff0000u; std::memcpy(&t, &b, 4); } *s = t; }"));
  CHECK(sloppy.verdict == Verdict::wrong_result);
  const auto skipping =
      judge_problem(sum_problem("extern \"C\" void total(int n, const float* x, float* s) { float t = 0; for "
                                "(int i = 1; i < n; ++i) t += x[i]; *s = t; }"));
  CHECK(skipping.verdict == Verdict::wrong_result);
}

TEST_CASE("HostEvaluator: elements that the reference leaves alone are not judged") {
  std::string text = support::scale_problem(
      "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; i += 2) y[i] = 3 * "
      "x[i] + 1; }");
  text.replace(text.find("i < n; ++i) y"), 13, "i < n; i += 2) y");
  const auto e = judge_problem(text);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("HostEvaluator: without a reference the default configuration is one") {
  std::string text = support::scale_problem(
      "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = FACTOR "
      "* x[i]; }",
      R"(, "tunables": {"FACTOR": [3, 4]})");
  const auto begin = text.find("\"reference\""), end = text.find("\"build\"");
  text.erase(begin, end - begin);
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, quick());
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  CHECK(evaluator.evaluate({kernel, Config{{0}}}, {}).verdict == Verdict::ok);
  CHECK(evaluator.evaluate({kernel, Config{{1}}}, {}).verdict == Verdict::wrong_result);
}

TEST_CASE("HostEvaluator: `valid` rejects before anything is built") {
  const auto e = judge("#error never compiled\n", quick(), R"(, "valid": "n < 4096")");
  CHECK(e.verdict == Verdict::rejected);
  CHECK(e.reason.find("large") != std::string::npos);
}

TEST_CASE("HostEvaluator: threads are allowed as the problem says, if they are gone when the call returns") {
  const std::string kernel =
      "#include <thread>\nextern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  std::thread other([=] { for (int i = 0; i < n / 2; ++i) y[i] = 3 * x[i] + 1; });\n"
      "  for (int i = n / 2; i < n; ++i) y[i] = 3 * x[i] + 1;\n  other.join();\n}\n";
  if (std::thread::hardware_concurrency() < 2) {
    MESSAGE("skipped: one core only");
    return;
  }
  HostOptions patient = quick();
  patient.limits.call_seconds = 10;  // two threads on a busy machine
  const auto e = judge(kernel, patient, R"(, "threads": 2)");
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("HostEvaluator: an incumbent that is far better ends the sampling early") {
  const Problem problem = parse_problem(support::scale_problem(plain_source), support::sources);
  HostOptions options = quick();
  options.sampling = {.precision = 0.0, .min_samples = 1000, .max_samples = 100000, .budget_seconds = 20};
  HostEvaluator evaluator(problem, options);
  EvaluationContext context;
  context.incumbent = 1e-9;
  const auto e = evaluator.evaluate(support::default_candidate(problem), context);
  REQUIRE(e.verdict == Verdict::ok);
  CHECK(e.measurement.shapes[0].ended == SamplingEnd::slower);
  CHECK(!e.measurement.speedup);
  options.sampling.budget_seconds = 0;
  HostEvaluator hurried(problem, options);
  CHECK(hurried.evaluate(support::default_candidate(problem), {}).measurement.shapes[0].ended ==
        SamplingEnd::budget);
}

TEST_CASE("HostEvaluator: a kernel far faster than those before it gets room for batches of its own size") {
  std::string text = support::scale_problem(plain_source);
  text.replace(text.find("4096"), 4, "16");
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, quick());
  const auto calls_per_sample = [&](const std::string& code) {
    const Evaluation evaluation = evaluator.evaluate(with_code(problem, code), {});
    INFO(evaluation.reason);
    REQUIRE(evaluation.verdict == Verdict::ok);
    return evaluation.features.find("calls_per_sample").value_or(0);
  };
  // A batch of calls of 10 ns is many times as many calls as one of 20 us, however busy the machine is.
  const double slow = calls_per_sample(counting(20));
  CHECK(calls_per_sample(plain_source) > 2 * slow);
  CHECK(calls_per_sample(plain_source + "// once more\n") > 2 * slow);
}

TEST_CASE("HostEvaluator: speedups come from interleaved pairs, and only for what would be the best") {
  const Problem problem = parse_problem(support::scale_problem(counting(100)), support::sources);
  HostOptions options = quick();
  options.pairs = {.when = Pairing::improved, .min_pairs = 6, .max_pairs = 8};
  HostEvaluator evaluator(problem, options);
  const auto first = evaluator.evaluate(support::default_candidate(problem), {});
  REQUIRE(first.verdict == Verdict::ok);
  REQUIRE(first.measurement.speedup);
  CHECK(first.measurement.speedup->ratio < 0.5);  // the reference does not count
  CHECK(first.measurement.speedup->interval.low <= first.measurement.speedup->ratio);
  CHECK(first.measurement.speedup->pairs >= 3);
  CHECK(first.measurement.shapes[0].speedup);
  EvaluationContext context;
  context.incumbent = 1e-9;
  CHECK(!evaluator.evaluate(support::default_candidate(problem), context).measurement.speedup);
  const Candidate slow = support::default_candidate(problem), fast = with_code(problem, plain_source);
  CHECK(evaluator.compare(fast, slow).ratio > 2);
  CHECK(evaluator.compare(slow, fast).ratio < 0.5);
  CHECK(evaluator.compare_with_reference(slow).ratio < 0.5);
  CHECK_THROWS_AS((void)evaluator.compare(with_code(problem, "#error"), slow), ConfigError);
}

TEST_CASE("HostEvaluator: pairs with a slow reference are rationed, but never a winner's") {
  // Slow in the precision of the kernel alone, so that what is right is known in no time.
  std::string text = support::scale_problem(plain_source);
  const std::string head = "\"text\": \"void scale_reference", begin = "real* y) { ";
  text.replace(text.find(head), head.size(), R"("text": "#include <time.h>\nvoid scale_reference)");
  text.replace(
      text.find(begin), begin.size(),
      begin +
          "if (sizeof(real) == 4 && n > 1000) for (timespec a, b = (clock_gettime(CLOCK_MONOTONIC, &a), a); "
          "(b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec < 2e8; ) clock_gettime(CLOCK_MONOTONIC, "
          "&b); ");
  const Problem problem = parse_problem(text, support::sources);
  HostOptions options = quick();
  options.limits.call_seconds = 10;
  options.pairs = {.when = Pairing::improved, .min_pairs = 3, .max_pairs = 3};
  HostEvaluator evaluator(problem, options);
  const Candidate candidate = support::default_candidate(problem);
  const auto judged = [&](std::optional<double> rival, bool finalist) {
    EvaluationContext context;
    context.rival = rival;
    context.finalist = finalist;
    Evaluation evaluation = evaluator.evaluate(candidate, context);
    REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
    return evaluation;
  };
  CHECK(judged({}, false).measurement.speedup);   // nothing is known of the reference yet
  CHECK(!judged({}, false).measurement.speedup);  // would take more than the trials themselves
  const Evaluation beaten = judged(1e-12, true);
  CHECK(!beaten.measurement.speedup);
  CHECK(beaten.features.find("unpaired"));
  const Evaluation winner = judged(1.0, true);
  CHECK(winner.measurement.speedup);
  CHECK(!winner.features.find("unpaired"));
}

TEST_CASE("HostEvaluator: shapes become one number as the problem says") {
  for (const bool geometric : {false, true}) {
    std::string text =
        support::scale_problem(plain_source, geometric ? R"(, "aggregate": "geometric_mean")" : "");
    text.replace(text.find("\"weight\": 0"), 11, "\"weight\": 3");
    const auto e = judge_problem(text);
    REQUIRE(e.verdict == Verdict::ok);
    REQUIRE(e.measurement.shapes.size() == 2);
    const double a = e.measurement.shapes[0].median, b = e.measurement.shapes[1].median;
    CHECK(e.measurement.seconds == approx(geometric ? std::pow(a * a * a * b, 0.25) : 3 * a + b));
  }
}

TEST_CASE("HostEvaluator: libraries are kept by content and built by several threads at once") {
  const Problem problem = parse_problem(support::scale_problem(plain_source + "// once\n"), support::sources);
  HostEvaluator evaluator(problem, quick());
  const Candidate candidate = support::default_candidate(problem);
  std::vector<std::thread> threads;
  std::vector<Staged<HostArtifact>> staged(4);
  for (auto& one : staged) threads.emplace_back([&] { one = evaluator.build(candidate, {}); });
  for (auto& thread : threads) thread.join();
  for (const auto& one : staged) {
    REQUIRE(one.artifact);
    CHECK(one.artifact->library == staged[0].artifact->library);
  }
  const auto again = evaluator.build(candidate, {});
  CHECK(again.evaluation.provenance.find("compiled earlier") != std::string::npos);
  CHECK(evaluator.build(with_code(problem, plain_source + "// twice\n"), {}).artifact->library !=
        staged[0].artifact->library);
  CHECK(evaluator.run(std::move(staged[1]), {}).verdict == Verdict::ok);
}

TEST_CASE("HostEvaluator: a reference that cannot be right is the problem's fault, not the candidate's") {
  const auto with_reference = [](const std::string& body) {
    std::string text = support::scale_problem(plain_source);
    const std::string right = "y[i] = 3 * x[i] + 1; }\"}";
    text.replace(text.find(right), right.size(), body + " }\"}");
    return text;
  };
  CHECK_THROWS_AS((void)judge_problem(with_reference("y[i] = undeclared;")), ConfigError);
  CHECK_THROWS_AS((void)judge_problem(with_reference("y[i] = 0; __builtin_trap();")), ConfigError);
  CHECK_THROWS_AS((void)judge_problem(with_reference("y[i] = 0; y[n] = 0;")), ConfigError);
}

TEST_CASE("HostEvaluator: the reference survives the threads that used it") {
  const Problem problem = parse_problem(support::scale_problem(plain_source), support::sources);
  HostOptions options = quick();
  options.pairs = {.when = Pairing::always, .max_pairs = 3};
  HostEvaluator evaluator(problem, options);
  for (int i = 0; i < 2; ++i) {
    Evaluation e;
    std::thread([&] { e = evaluator.evaluate(support::default_candidate(problem), {}); }).join();
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    CHECK(e.measurement.speedup);
  }
}

TEST_CASE("HostEvaluator: identities name the processor and the compiler") {
  const Problem problem = parse_problem(support::scale_problem(plain_source), support::sources);
  const HostEvaluator evaluator(problem, quick());
  CHECK(evaluator.device_id() == host_machine().id());
  CHECK(evaluator.toolchain_id().find("g++") != std::string::npos);
  CHECK(evaluator.lanes() == 1);
}

TEST_CASE("HostEvaluator: candidates are compared in pairs, with limits of the caller's") {
  const Problem problem = parse_problem(support::scale_problem(plain_source), support::sources);
  HostEvaluator evaluator(problem, quick());
  const Candidate slow = with_code(problem, counting(500)), fast = with_code(problem, counting(50));
  const Speedup speedup =
      evaluator.compare(fast, slow, {.min_pairs = 6, .max_pairs = 6, .budget_seconds = 60, .rounds = 3});
  CHECK(speedup.pairs == 6);  // two in each of three rounds
  CHECK(speedup.ratio > 1);   // counting ten times as far
  CHECK(speedup.interval.low <= speedup.ratio);
  CHECK(speedup.ratio <= speedup.interval.high);
  // Where starting processes takes far longer than the pairs may, three rounds, at least three pairs of each.
  CHECK(evaluator.compare(fast, slow, {.max_pairs = 60, .budget_seconds = 1e-9, .rounds = 6}).pairs == 9);
  const Candidate wrong = with_code(
      problem,
      "extern \"C\" void scale(int n, const float*, float* y) { for (int i = 0; i < n; ++i) y[i] = 1; }\n");
  CHECK_THROWS_AS((void)evaluator.compare(fast, wrong), ConfigError);
  CHECK_THROWS_AS((void)evaluator.compare(with_code(problem, "not C++"), fast), ConfigError);
}

TEST_CASE("HostEvaluator: an ablation is timed against its parent") {
  const Problem problem = parse_problem(support::scale_problem(plain_source), support::sources);
  PairedWithParent judge(HostEvaluator(problem, quick()),
                         {.pairs = {.min_pairs = 6, .max_pairs = 12, .budget_seconds = 60, .rounds = 2}});
  Outcome champion, ablated;
  champion.id = TrialId{3};
  ablated.parents = {TrialId{3}};
  EvaluationContext context;
  context.trial = champion.id;
  champion.evaluation = judge.evaluate(with_code(problem, counting(50)), context);
  context.trial = TrialId{4};
  context.parents = ablated.parents;
  ablated.evaluation = judge.evaluate(with_code(problem, counting(500)), context);
  CHECK_MESSAGE(ablated.ok(), ablated.evaluation.reason);
  CHECK(ablated.evaluation.provenance.find("not paired") == std::string::npos);
  const Attribution attribution = attribution_of(champion, ablated);
  CHECK(attribution.paired);
  CHECK(attribution.effect > 0);
  CHECK(attribution.interval.low <= attribution.effect);
  CHECK(attribution.effect <= attribution.interval.high);
}

namespace {

/// Takes the measured core's time for as long as it lives, from several threads.
struct Spinners {
  Spinners(int core, int count) {
    for (int i = 0; i < count; ++i)
      threads.emplace_back([core](const std::stop_token& stop) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(core), &one);
        sched_setaffinity(0, sizeof one, &one);
        while (!stop.stop_requested()) {
        }
      });
  }
  std::vector<std::jthread> threads;
};

}  // namespace

TEST_CASE("HostEvaluator: while another process has the measured core's lock nothing is measured") {
  HostOptions options = quick();
  options.core = host_machine().cores.back();
  std::stop_source stop;
  std::vector<std::string> told;
  options.waits = [&](std::string_view text) {
    told.emplace_back(text);
    stop.request_stop();
  };
  const Problem problem = parse_problem(support::scale_problem(plain_source), support::sources);
  HostEvaluator evaluator(problem, options);
  EvaluationContext context;
  context.stop = stop.get_token();
  {
    const MeasuringTurn other = MeasuringTurn::take({measured_core(options.core)});
    const Evaluation e = evaluator.evaluate(support::default_candidate(problem), context);
    CHECK(e.verdict == Verdict::rejected);
    CHECK(e.reason == "stopped before it was measured");
    REQUIRE(told.size() == 2);
    CHECK(told[0] ==
          "waits for core " + std::to_string(options.core) + ": another kernelsearch measures on it");
    CHECK(told[1].empty());
    // Pairs wait as well.
    const Candidate candidate = support::default_candidate(problem);
    CHECK(evaluator.compare(candidate, candidate, {.stop = stop.get_token()}).pairs == 0);
    CHECK(told.size() == 2);
  }
  CHECK(evaluator.evaluate(support::default_candidate(problem), {}).verdict == Verdict::ok);
  CHECK(told.size() == 2);
  // It is released while nothing is measured.
  CHECK(MeasuringTurn::try_take({measured_core(options.core)}).has_value());
}

TEST_CASE("HostEvaluator: an honest kernel on a core that others use is ok, and the load stands with it") {
  HostOptions options = quick();
  options.core = host_machine().cores.back();
  const Spinners spinners(options.core, 5);
  for (int i = 0; i < 3; ++i) {
    const Evaluation e = judge(plain_source, options);
    CHECK_MESSAGE(e.verdict == Verdict::ok, to_string(e.verdict) << ": " << e.reason);
    const auto load = e.features.find("load.core");
    if (detail::waited_seconds(getpid()) < 0) continue;  // this system does not say
    REQUIRE(load.has_value());
    CHECK(*load > 0.1);
  }
}

TEST_CASE("HostEvaluator: a compilation under way is given up when a stop is asked for") {
  const Problem problem = parse_problem(
      support::scale_problem(
          "template <int D, long I> struct Tree { static constexpr long value = Tree<D - 1, 2 * I>::value + "
          "Tree<D - 1, 2 * I + 1>::value; };\n"
          "template <long I> struct Tree<0, I> { static constexpr long value = I; };\n"
          "extern \"C\" void scale(int, const float*, float* y) { y[0] = Tree<40, 2>::value; }\n"),
      support::sources);
  HostOptions options = quick();
  options.limits.build_seconds = 300;
  HostEvaluator evaluator(problem, options);
  std::stop_source stop;
  EvaluationContext context;
  context.stop = stop.get_token();
  std::jthread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const auto staged = evaluator.build(support::default_candidate(problem), context);
  CHECK(!staged.artifact);
  CHECK(staged.evaluation.verdict == Verdict::timed_out);
  CHECK(staged.evaluation.reason == "stopped while it was compiled");
}
