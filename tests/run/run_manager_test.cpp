// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_manager.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "run/support.hpp"
#include "support/check_has.hpp"

using namespace run_test;

namespace {

RunRequest request(const std::string& policy = "random", const std::string& budget = "10") {
  RunRequest request;
  request.problem = "twice";
  request.options.policy = policy;
  request.options.suggest = "none";
  request.options.budget = budget;
  return request;
}

Submission code(const std::string& words) {
  Submission submission;
  submission.device = code_with(words);
  return submission;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("RunManager: runs begin, work, and go on in another process") {
  Place place;
  RunId run{};
  {
    RunManager book(*place.store, place.options());
    run = *book.start(request(), {});
    const RunRow row = place.store->run(run);
    CHECK(row.info.name == "twice");
    CHECK(row.info.policy == "random");
    CHECK(row.info.device == "a scripted device");
    CHECK(row.trials == 0);
    CHECK(book.doing(run) == "");
    CHECK(book.step(run, {.trials = 4}, {}).trials == 4);
    CHECK(book.problem_of(run).name == "twice");
  }
  RunManager book(*place.store, place.options());
  CHECK(book.step(run, {}, {}).trials == 6);
  CHECK(place.store->run(run).reason == "the trial budget is spent");
}

TEST_CASE("RunManager: a problem given as text is kept with its run") {
  Place place;
  RunRequest inlined = request("submit");
  inlined.problem = "";
  inlined.problem_text = support::problem_text;
  RunId run{};
  {
    RunManager book(*place.store, place.options());
    run = *book.start(inlined, {});
    CHECK(place.store->run(run).trials == 1);  // its own kernel was measured
  }
  RunManager book(*place.store, place.options());
  CHECK(number(*book.submit(run, code("fast"), {})) == 1);
  CHECK(book.problem_of(run).name == "twice");
}

TEST_CASE("RunManager: requests that cannot be met say why, and begin nothing") {
  Place place;
  RunManager book(*place.store, place.options());
  const auto refused = [&](const std::function<void(RunRequest&)>& change, const char* words) {
    RunRequest wrong = request();
    change(wrong);
    check_has(message_of([&] { (void)book.start(wrong, {}); }), words);
  };
  refused([](RunRequest& r) { r.problem = "thrice"; }, "no such file or folder below the root");
  refused([](RunRequest& r) { r.problem = "../runs.db"; }, "no such file or folder below the root");
  refused([](RunRequest& r) { r.problem = "/etc/passwd"; }, "no such file or folder below the root");
  refused([](RunRequest& r) { r.problem = ""; }, "needs one problem");
  refused([](RunRequest& r) { r.problem_text = "{}"; }, "needs one problem");
  refused([](RunRequest& r) { r.options.policy = "randon"; }, "did you mean random?");
  refused([](RunRequest& r) { r.options.policy = "submt"; }, "did you mean submit?");
  refused([](RunRequest& r) { r.options.budget = "much"; }, "budget");
  refused(
      [](RunRequest& r) {
        r.options.policy = "submit";
        r.options.suggest = "bean";
      },
      "did you mean beam?");
  refused(
      [](RunRequest& r) {
        r.problem = "";
        r.problem_text = "{\"schema\": 1}";
      },
      "name");
  refused(
      [](RunRequest& r) {
        r.problem = "";
        json text = json::parse(support::problem_text);
        text["kernel"] = {{"device", "../../runs.db"}};
        r.problem_text = text.dump();
      },
      "runs.db");
  CHECK(place.store->runs().empty());
  check_has(message_of([&] { (void)book.step(RunId{7}, {}, {}); }), "no such run");
}

TEST_CASE("RunManager: runs that it did not begin must fit the root, the device and the way they began") {
  Place place;
  RunId run{};
  {
    RunManager book(*place.store, place.options());
    run = *book.start(request(), {});
  }
  {
    RunManagerOptions elsewhere = place.options();
    std::filesystem::create_directories(place.folder / "other");
    elsewhere.root = place.folder / "other";
    RunManager book(*place.store, elsewhere);
    check_has(message_of([&] { (void)book.step(run, {}, {}); }), "not below the root");
  }
  {
    place.device = "another device";
    RunManager book(*place.store, place.options());
    check_has(message_of([&] { (void)book.step(run, {}, {}); }), "the device has changed");
  }
  place.device = "a scripted device";
  RunManager book(*place.store, place.options());
  RunInfo info = place.store->run(run).info;
  json options = json::parse(info.options);
  options["learned_from"] = {"runs.db:1"};
  info.options = options.dump();
  const RunId learned = place.store->begin_run(info);
  check_has(message_of([&] { (void)book.step(learned, {}, {}); }), "tune --resume");
  info.generator = "rewriter";
  const RunId other = place.store->begin_run(info);
  check_has(message_of([&] { (void)book.step(other, {}, {}); }), "another generator");
  CHECK_THROWS_AS(RunManager(*place.store, RunManagerOptions{.root = place.folder / "absent"}), ConfigError);
}

TEST_CASE("RunManager: a client makes nothing run, and opens no folder, through a store or a problem") {
  Place place;
  RunManager book(*place.store, place.options());
  const RunId run = *book.start(request(), {});
  // A store that came from elsewhere: `step` ran the first two as the server's user.
  const std::string owned = (place.folder / "owned").string();
  for (const auto& [key, value] : {std::pair<std::string, json>{"policy_command", "touch " + owned},
                                   {"policy_plugin", owned + ".so"},
                                   {"readable", json::array({place.folder.path().string()})}}) {
    const std::string& name = key;  // no structured binding: clang 14 captures none
    CAPTURE(name);
    RunInfo info = place.store->run(run).info;
    json options = json::parse(info.options);
    options[name] = value;
    info.options = options.dump();
    const RunId crafted = place.store->begin_run(info);
    check_has(message_of([&] { (void)book.step(crafted, {}, {}); }), "was begun with " + name);
    check_has(message_of([&] { (void)book.submit(crafted, code("fast"), {}); }), "was begun with " + name);
  }
  CHECK_FALSE(std::filesystem::exists(owned));

  // A problem in a request, and one in a store: its command would have read, and a verdict told, a key.
  const std::filesystem::path secrets = place.folder / "secrets";
  std::filesystem::create_directories(secrets);
  json text = json::parse(support::problem_text);
  text["build"] = {{"command", {"sh", "-c", "cat /k/key >&2; exit 1", "${LIBRARY}"}},
                   {"readable", {secrets.string()}}};
  RunRequest reads = request("submit");
  reads.problem = "";
  reads.problem_text = text.dump();
  check_has(message_of([&] { (void)book.start(reads, {}); }), "opens no folders");
  RunInfo info = place.store->run(run).info;
  json options = json::parse(info.options);
  options["problem_text"] = text.dump();
  info.options = options.dump();
  const RunId crafted = place.store->begin_run(info);
  check_has(message_of([&] { (void)book.problem_of(crafted); }), "opens no folders");
  check_has(message_of([&] { (void)book.step(crafted, {}, {}); }), "opens no folders");

  // One below the root may name folders there, and others that the server was begun with.
  const auto put = [&](const std::filesystem::path& readable) {
    std::filesystem::create_directories(place.folder / "root/tools");
    text["build"]["readable"] = {readable.string()};
    std::ofstream(place.folder / "root/twice/problem.json") << text.dump();
  };
  put(secrets);
  check_has(message_of([&] { (void)book.start(request("submit"), {}); }), "outside of the root");
  check_has(message_of([&] { (void)book.start(request("submit"), {}); }), "--readable " + secrets.string());
  put(place.folder / "root/tools");
  CHECK(message_of([&] { (void)book.start(request("submit"), {}); }).empty());
  put(secrets);
  RunManagerOptions open = place.options();
  open.measuring.readable = {secrets.string()};
  RunManager other(*place.store, open);
  CHECK(message_of([&] { (void)other.start(request("submit"), {}); }).empty());
}

TEST_CASE("RunManager: of all runs one measures at a time, and a run works for one call at a time") {
  Place place;
  RunManager book(*place.store, place.options());
  const RunId a = *book.start(request("submit"), {}), b = *book.start(request("submit"), {});
  std::optional<TrialId> first, second;
  std::atomic<bool> waits{false};
  std::thread one([&] { first = book.submit(a, code("wait"), {}); });
  CHECK(soon([&] { return place.gate->waiting == 1; }));
  CHECK(book.doing(a) == "submit_kernel");
  check_has(message_of([&] { (void)book.submit(a, code("x"), {}); }), "is at work");
  check_has(message_of([&] { (void)book.step(a, {}, {}); }), "is at work");
  struct Waits final : RunObserver {
    std::atomic<bool>& waits;
    explicit Waits(std::atomic<bool>& w) : waits(w) {}
    void on_message(std::string_view text) override {
      if (text.find("waiting for another run") == 0) waits = true;
    }
  } listener(waits);
  std::thread two([&] { second = book.submit(b, code("fast"), {.observer = &listener}); });
  CHECK(soon([&] { return waits.load(); }));
  CHECK(book.doing(b) == "submit_kernel");
  CHECK(place.store->run(b).trials == 1);
  place.gate->let_go();
  one.join();
  two.join();
  CHECK(first);
  CHECK(second);
  CHECK(place.gate->most_at_once == 1);
}

TEST_CASE("RunManager: cancel stops what works, also what waits for its turn; the run goes on later") {
  Place place;
  RunManager book(*place.store, place.options());
  const RunId a = *book.start(request("submit"), {}), b = *book.start(request("random", "5"), {});
  CHECK(!book.cancel(a));
  std::optional<TrialId> trial{TrialId{5}};
  StepReport waiting;
  std::thread one([&] { trial = book.submit(a, code("wait"), {}); });
  CHECK(soon([&] { return place.gate->waiting == 1; }));
  std::thread two([&] { waiting = book.step(b, {}, {}); });
  CHECK(soon([&] { return book.doing(b) == "step"; }));
  CHECK(book.cancel(b));
  two.join();
  CHECK(waiting.stopped);
  CHECK(waiting.trials == 0);
  CHECK(book.doing(b) == "");
  CHECK(book.cancel(a));
  one.join();
  CHECK(!trial);
  CHECK(place.store->run(a).trials == 1);
  place.gate->let_go();
  CHECK(number(*book.submit(a, code("wait"), {})) == 1);
  CHECK(book.step(b, {}, {}).trials == 5);
}

TEST_CASE("RunManager: more runs than are kept open") {
  Place place;
  RunManagerOptions options = place.options();
  options.live = 2;
  int opened = 0;
  options.evaluator = [&opened, inner = options.evaluator](Problem problem, const MeasurementOptions& how,
                                                           bool pairing) {
    ++opened;
    CHECK(how.cache == "warm");
    CHECK(pairing);
    return inner(std::move(problem), how, pairing);
  };
  RunManager book(*place.store, options);
  std::vector<RunId> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(*book.start(request("submit"), {}));
  CHECK(opened == 3);
  CHECK(book.submit(runs[2], code("fast"), {}));  // still open
  CHECK(opened == 3);
  CHECK(book.submit(runs[0], code("fast"), {}));  // was closed for the third
  CHECK(opened == 4);
  for (const RunId run : runs) CHECK(book.step(run, {}, {}).reason == "waiting for kernels");
}

TEST_CASE("RunManager: a device that is lost closes the session, and the run goes on with the next") {
  Place place;
  struct Flaky : Words {
    std::shared_ptr<int> failures;
    Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) const {
      if (candidate.kernel->regions.device.find("fast") != std::string::npos && (*failures)-- > 0)
        throw DeviceError("the device is gone");
      return Words::build(candidate, context);
    }
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
      return evaluate_in_stages(*this, candidate, context);
    }
  };
  const auto failures = std::make_shared<int>(1);
  int opened = 0;
  RunManagerOptions options = place.options();
  options.evaluator = [&](Problem problem, const MeasurementOptions&, bool) {
    ++opened;
    Flaky flaky;
    flaky.about = std::move(problem);
    flaky.failures = failures;
    return AnyEvaluator(std::move(flaky));
  };
  RunManager book(*place.store, options);
  const RunId run = *book.start(request("submit"), {});
  CHECK_THROWS_AS((void)book.submit(run, code("fast"), {}), DeviceError);
  CHECK(book.doing(run) == "");
  CHECK(number(*book.submit(run, code("fast"), {})) == 1);
  CHECK(opened == 2);
}

TEST_CASE("RunManager: a device that is lost while a kernel is tuned costs no trial, also twice") {
  Place place;
  struct LostOnce : Words {
    std::shared_ptr<int> left;
    Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) const {
      if (--*left == 0) throw DeviceError("the device is gone");
      return Words::build(candidate, context);
    }
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
      return evaluate_in_stages(*this, candidate, context);
    }
  };
  const auto left = std::make_shared<int>(1000);
  RunManagerOptions options = place.options();
  options.evaluator = [&](Problem problem, const MeasurementOptions&, bool) {
    LostOnce lost;
    lost.about = std::move(problem);
    lost.left = left;
    return AnyEvaluator(std::move(lost));
  };
  RunManager book(*place.store, options);
  const RunId run = *book.start(request("submit"), {});
  const TuneRequest tuning{.trials = 4, .policy = "random"};
  std::uint64_t before = place.store->run(run).trials;
  for (const int at : {3, 1}) {  // in its midst, and before it has anything
    CAPTURE(at);
    *left = at;
    CHECK_THROWS_AS((void)book.tune(run, tuning, {}), DeviceError);
    const std::uint64_t after = place.store->run(run).trials;
    CHECK(after <= before + static_cast<std::uint64_t>(at) - 1);
    for (const StoredTrial& trial : place.store->trials(run))
      CHECK(trial.outcome.evaluation.verdict == Verdict::ok);
    before = after;
  }
  *left = 1000;
  const TuneReport report = book.tune(run, tuning, {});
  CHECK(report.trials.size() == 4);
  CHECK(place.store->run(run).trials == before + 4);
}

TEST_CASE("RunManager: suggestions are those of the last call; its end stops what works") {
  Place place;
  auto book = std::make_unique<RunManager>(*place.store, place.options());
  RunRequest suggesting = request("submit");
  suggesting.options.suggest = "best_of_k";
  suggesting.options.strategies = {"tile", "fuse"};
  const RunId run = *book->start(suggesting, {});
  REQUIRE(book->suggestion(run));
  const Move first = *book->suggestion(run);
  book->decline(run, "no", {});
  CHECK(!book->suggestion(run));
  book->step(run, {}, {});
  REQUIRE(book->suggestion(run));
  CHECK(book->suggestion(run)->strategies != first.strategies);
  std::optional<TrialId> trial{TrialId{7}};
  std::thread one([&] { trial = book->submit(run, code("wait"), {}); });
  CHECK(soon([&] { return place.gate->waiting == 1; }));
  book.reset();
  one.join();
  CHECK(!trial);
}
