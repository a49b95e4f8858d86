// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/host/hidden_check.hpp"
#include "evaluator/host/support.hpp"

using namespace kernelsearch;
using support::judge;
using support::quick;

namespace {

const std::string plain_scale =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";

/// Right for the sizes that the problem lists, and for no other.
const std::string listed_only =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  const int most = n == 37 || n == 4096 ? n : n - 1;\n"
    "  for (int i = 0; i < n; ++i) y[i] = i < most ? 3 * x[i] + 1 : 0;\n}\n";

const std::string hidden_key = R"(, "hidden_shapes": {"ranges": {"n": [5, 900]}})";

std::string sizes_in(const Evaluation& evaluation) {
  const auto at = evaluation.provenance.find("; hidden shapes: ");
  return at == std::string::npos ? "" : evaluation.provenance.substr(at + 17);
}

}  // namespace

TEST_CASE(
    "hidden shapes: a kernel that is right on the listed sizes alone is wrong, and the sizes are said") {
  CHECK(judge(listed_only, quick(), R"(, "hidden_shapes": {"none": "a test"})").verdict == Verdict::ok);
  const Evaluation wrong = judge(listed_only, quick(), hidden_key);
  CHECK(wrong.verdict == Verdict::wrong_result);
  CAPTURE(wrong.reason);
  CHECK(wrong.reason.find("shape hidden n=") != std::string::npos);
  CHECK(wrong.measurement.shapes.empty());
  HostOptions without = quick();
  without.check.hidden_shapes = false;
  CHECK(judge(listed_only, without, hidden_key).verdict == Verdict::ok);
}

TEST_CASE(
    "hidden shapes: a right kernel passes, is timed on listed shapes only, and other sizes come each time") {
  const Problem problem = parse_problem(support::scale_problem(plain_scale, hidden_key), support::sources);
  HostEvaluator evaluator(problem, quick());
  std::set<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    const Evaluation e = evaluator.evaluate(support::default_candidate(problem), {});
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    REQUIRE(e.measurement.shapes.size() == 1);
    CHECK(e.measurement.shapes[0].shape == "large");
    REQUIRE_FALSE(sizes_in(e).empty());
    CHECK(sizes_in(e).find("n=") != std::string::npos);
    seen.insert(sizes_in(e));
  }
  CHECK(seen.size() == 5);
}

TEST_CASE("hidden shapes: a size that `valid` refuses this candidate is not drawn for it") {
  // Right for even sizes only, and says so.
  const std::string even =
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  for (int i = 0; i + STEP <= n; i += STEP) for (int k = 0; k < STEP; ++k) y[i + k] = 3 * x[i + k] + "
      "1;\n}\n";
  const std::string space = R"(, "tunables": {"STEP": [1, 64]}, "valid": "n in [37, 4096] or n % STEP == 0")";
  const Problem problem = parse_problem(support::scale_problem(even, space + hidden_key), support::sources);
  HostEvaluator evaluator(problem, quick());
  Candidate wide = support::default_candidate(problem);
  wide.config = Config{{1}};
  // the listed 37 is refused by the check of the listed shapes
  const Evaluation e = evaluator.evaluate(wide, {});
  CHECK(e.verdict == Verdict::wrong_result);
  CHECK(e.reason.find("shape small") != std::string::npos);
  const Problem large = parse_problem(
      support::scale_problem(even, R"(, "tunables": {"STEP": [1, 64]}, "valid": "n == 37 or n % STEP == 0")" +
                                       std::string(R"(, "hidden_shapes": {"ranges": {"n": [1, 63]}})")),
      support::sources);
  detail::WorkerSettings settings = detail::worker_settings(quick(), {});
  detail::CompileCache compiler(quick(), "m", {});
  const HostOptions options = quick();
  detail::ClockOverhead clock(settings);
  detail::TimeFloor floor(large, {});
  detail::HiddenCheck check(large, options, settings, compiler, clock, floor);
  std::string note;
  const Candidate none{std::make_shared<const Kernel>(large.kernel), Config{{1}}};
  CHECK_FALSE(check.check(none, "/nowhere.so", note));
  CHECK(note.find("none that `valid` accepts") != std::string::npos);
}

TEST_CASE("hidden shapes: where the reference is slow on them, later ones are smaller") {
  const std::string slow = R"({"schema": 1, "name": "scale", "function": "scale", )" +
                           std::string(support::arguments) + R"(, "kernel": {"device": {"text": )" +
                           support::quoted(plain_scale) + R"(}}, "shapes": [{"name": "one", "n": 10}],
    "hidden_shapes": {"count": 1, "ranges": {"n": [100000, 400000]}},
    "reference": {"source": {"text": "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }"},
                  "function": "r"}})";
  const Problem problem = parse_problem(slow, support::sources);
  HostOptions options = quick();
  options.check.hidden_seconds = 0;  // any reference is slow
  const detail::WorkerSettings settings = detail::worker_settings(options, {});
  detail::CompileCache compiler(options, "m", {});
  detail::ClockOverhead clock(settings);
  detail::TimeFloor floor(problem, {});
  detail::HiddenCheck check(problem, options, settings, compiler, clock, floor);
  const Candidate candidate = support::default_candidate(problem);
  const auto built = compiler.compile(candidate_job(problem, candidate));
  REQUIRE(built.verdict == Verdict::ok);
  const double before = check.limits().bytes;
  std::string note;
  const auto fault = check.check(candidate, built.library, note);
  CHECK_MESSAGE(!fault, fault->reason);
  CHECK(check.limits().bytes == before / 2);
  options.check.hidden_seconds = 1e9;
  detail::HiddenCheck cheap(problem, options, settings, compiler, clock, floor);
  CHECK_FALSE(cheap.check(candidate, built.library, note));
  CHECK(cheap.limits().bytes == before);
}

TEST_CASE("derived hidden shapes: sizes vary where the problem says nothing of them") {
  // Right by default, right for the listed sizes alone otherwise.
  const std::string either = "#if CHEAT\n" + listed_only + "#else\n" + plain_scale + "#endif\n";
  const Problem problem =
      parse_problem(support::scale_problem(either, R"(, "tunables": {"CHEAT": [0, 1]})"), support::sources);
  HostEvaluator evaluator(problem, quick());
  Candidate cheat = support::default_candidate(problem);
  cheat.config = Config{{1}};
  const Evaluation wrong = evaluator.evaluate(cheat, {});
  CHECK(wrong.verdict == Verdict::wrong_result);
  CAPTURE(wrong.reason);
  CHECK(wrong.reason.find("shape hidden n=") != std::string::npos);
  const Evaluation right = evaluator.evaluate(support::default_candidate(problem), {});
  CHECK_MESSAGE(right.verdict == Verdict::ok, right.reason);
  CHECK(!sizes_in(right).empty());
}

TEST_CASE("derived hidden shapes: where the default fails there nobody is accused, and it is said once") {
  std::vector<std::string> said;
  HostOptions options = quick();
  options.notes = [&said](std::string_view text) { said.emplace_back(text); };
  const Problem problem = parse_problem(support::scale_problem(listed_only), support::sources);
  HostEvaluator evaluator(problem, options);
  for (int i = 0; i < 2; ++i) {
    const Evaluation e = evaluator.evaluate(support::default_candidate(problem), {});
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  }
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("the default configuration fails where a size lies between the listed ones") !=
        std::string::npos);
}
