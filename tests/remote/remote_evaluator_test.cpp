// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/remote_evaluator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/process/inflow.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/version.hpp"
#include "remote/lane_content.hpp"
#include "remote/lane_wire.hpp"
#include "remote/workers.hpp"

using namespace kernelsearch;
using namespace kernelsearch::remote;
using nlohmann::json;
using support::candidate_with;
using support::CarriedWords;
using support::small_problem;
using support::Workers;

namespace {

/// A candidate of a search: not its first, which finalists cannot be told from.
EvaluationContext searching() {
  EvaluationContext context;
  context.trial = TrialId{7};
  return context;
}

LaneReport report_of(const RemoteEvaluator& evaluator, std::size_t lane) {
  return evaluator.reports().at(lane);
}

/// Waits until it holds, for half a minute at most.
template <class Holds>
bool comes(Holds holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// What a worker says, by hand.
struct Spoken {
  explicit Spoken(int descriptor) : in(descriptor), writer(detail::Descriptor(dup(descriptor))) {}
  void say(const json& message, std::string_view payload = {}) { writer.write(message.dump(), payload); }
  /// The next message of that type; nothing when the other end is gone.
  std::optional<json> hear(const std::string& type, const std::string& or_type = "") {
    while (true) {
      auto frame = reader.next();
      if (!frame.ok()) return std::nullopt;
      if (*frame) {
        json message = json::parse((*frame)->header);
        if (message.at("type") == type || message.at("type") == or_type) return message;
        continue;
      }
      in.read_within(10);
      if (!in.open()) return std::nullopt;
      reader.feed(in.take());
    }
  }
  void greet(const std::string& device) {
    say({{"type", "hello"},
         {"protocol", 1},
         {"version", KERNELSEARCH_VERSION},
         {"host", "spoken"},
         {"architecture", "any"},
         {"class", ""},
         {"pid", 1}});
    (void)hear("open");
    say({{"type", "ready"},
         {"device_id", device},
         {"device_name", device},
         {"toolchain_id", "a scripted compiler 1.0"},
         {"sandbox", "a scripted sandbox"},
         {"jobs", 1}});
  }
  detail::Inflow in;
  FrameWriter writer;
  FrameReader reader;
};

/// Evaluates at several lanes at once until one is set aside, or for many rounds.
void keep_busy(RemoteEvaluator& remote, std::size_t threads, int rounds = 400) {
  std::vector<std::jthread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&remote, rounds] {
      for (int i = 0; i < rounds; ++i) {
        (void)remote.evaluate(candidate_with("fast"), searching());
        for (const LaneReport& one : remote.reports())
          if (one.state == "set aside") return;
      }
    });
}

constexpr const char* scripted_device = "a scripted device";

}  // namespace

TEST_CASE("lane content: what a lane is told of a trial is what it hears") {
  EvaluationContext context;
  CHECK(!context_from(context_json(context)).finalist);
  CHECK(!context_from(context_json(context)).incumbent);
  context.trial = TrialId{7};
  context.incumbent = 0.25;
  context.finalist = true;
  const EvaluationContext heard = context_from(context_json(context));
  CHECK(heard.trial == context.trial);
  CHECK(heard.incumbent == context.incumbent);
  CHECK(heard.finalist);
}

TEST_CASE("RemoteEvaluator: gives the verdicts of the judge at the other end") {
  Workers workers;
  RemoteEvaluator remote(small_problem(), workers.options(1));
  CHECK(remote.lanes() == 1);
  CHECK(remote.build_places() == 2);
  CHECK(remote.device_id() == scripted_device);
  CHECK(remote.toolchain_id() == "a scripted compiler 1.0");
  CHECK(remote.sandbox() == "a scripted sandbox");
  CarriedWords local;
  for (const char* code : {"fast", "slow", "bug", "broken", "fast again"}) {
    CAPTURE(code);
    const Candidate candidate = candidate_with(code);
    const Evaluation here = local.evaluate(candidate, searching());
    const Evaluation there = remote.evaluate(candidate, searching());
    CHECK(there.verdict == here.verdict);
    CHECK(there.progress == here.progress);
    CHECK(there.measurement.seconds == here.measurement.seconds);
    CHECK(there.measurement.shapes.size() == here.measurement.shapes.size());
  }
  Candidate other = candidate_with("fast");
  other.config.indices = {2, 0, 1};
  CHECK(remote.evaluate(other, searching()).measurement.seconds ==
        local.evaluate(other, searching()).measurement.seconds);
  CHECK(remote.evaluate(candidate_with("fast"), searching()).provenance.find("lane 0") != std::string::npos);
  const auto speedup = remote.compare(other, candidate_with("slow"), {.max_pairs = 33});
  REQUIRE(speedup);
  CHECK(speedup->ratio == 2.0);
  CHECK(speedup->pairs == 33);
}

TEST_CASE("RemoteEvaluator: what was built on one worker runs on another") {
  Workers workers;
  RemoteEvaluator remote(small_problem(), workers.options(2));
  REQUIRE(
      comes([&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
  auto staged = remote.build(candidate_with("fast"), searching());
  REQUIRE(staged.artifact);
  CHECK(staged.artifact->portable->code == "fast");
  CHECK(staged.artifact->digest == sha256("fast"));
  const std::size_t builder = workers.counts(0).builds > 0 ? 0 : 1;
  workers.cut(builder);
  REQUIRE(comes([&] { return report_of(remote, builder).lost == 1; }));
  CHECK(remote.run(std::move(staged), searching()).verdict == Verdict::ok);
}

TEST_CASE("RemoteEvaluator: what a lost worker had in hand is measured elsewhere, and counts once") {
  Workers workers;
  std::vector<std::shared_ptr<support::Words::Gate>> gates(2);
  for (auto& gate : gates) gate = std::make_shared<support::Words::Gate>();
  workers.judge = [&](std::size_t lane) {
    CarriedWords words;
    words.gate = gates[lane];
    return words;
  };
  RemoteEvaluator remote(small_problem(), workers.options(2));
  REQUIRE(
      comes([&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
  Evaluation evaluation;
  std::jthread measuring([&] { evaluation = remote.evaluate(candidate_with("wait fast"), searching()); });
  REQUIRE(comes([&] { return gates[0]->waiting + gates[1]->waiting == 1; }));
  const std::size_t at = gates[0]->waiting == 1 ? 0 : 1;
  gates[1 - at]->let_go();  // the other one need not wait
  workers.cut(at);
  measuring.join();
  CHECK(evaluation.verdict == Verdict::ok);
  CHECK(evaluation.provenance.find("lane " + std::to_string(1 - at)) != std::string::npos);
  CHECK(workers.counts(1 - at).runs <= 2 + 1);  // once, beside what calibrates
  CHECK(report_of(remote, at).lost == 1);
  CHECK(report_of(remote, 1 - at).measured == 1);
  CHECK(report_of(remote, at).measured == 0);
  CHECK(comes([&] { return report_of(remote, at).state == "ready"; }));  // another worker takes its place
  CHECK(lane_remarks(remote.reports()).find("lost 1 worker") != std::string::npos);
}

TEST_CASE("RemoteEvaluator: a worker that answers garbage is set aside, and named") {
  Workers workers;
  workers.instead = [](std::size_t lane, int socket) {
    if (lane != 1) return false;
    const std::string text = "Segmentation fault (core dumped)\n";
    (void)!write(socket, text.data(), text.size());
    char byte = 0;
    while (read(socket, &byte, 1) > 0) {
    }
    return true;
  };
  RemoteEvaluator remote(small_problem(), workers.options(2));
  REQUIRE(comes([&] { return report_of(remote, 1).state == "set aside"; }));
  CHECK(report_of(remote, 1).reason.find("Segmentation fault") != std::string::npos);
  CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(workers.counts(1).started == 1);  // it is not started again
  CHECK(workers.said().find("lane 1 (worker) is set aside") != std::string::npos);
}

namespace {

/// What a first worker says to `build`, or to `run` where `at_run`. It does not answer the question that
/// follows, and its pipe closes, as when a node is ended process by process; or it `lives`.
struct LastWords {
  json answer;
  bool at_run = false, lives = false;
  std::atomic<bool> said = false;
  std::atomic<int> asked_again = 0;

  bool speak(int socket) {
    if (said.exchange(true)) return false;  // another worker takes its place
    Spoken worker(socket);
    worker.greet(scripted_device);
    while (auto asked = worker.hear("build", "run")) {
      json reply{{"type", "result"}, {"id", asked->at("id")}};
      if (at_run && asked->at("type") == "build") {
        reply.update({{"built", true}, {"evaluation", json::parse(to_json_text(Evaluation{}))}});
        reply.update({{"artifact", sha256("fast")}, {"functions", {"twice"}}, {"library", true}});
        reply["launches"] = json::parse(R"([{"shared_bytes": 64, "block": [32, 2, 1]}])");
        worker.say(reply, "fast");
        continue;
      }
      reply.update(answer);
      worker.say(reply);
      while ((asked = worker.hear("ping"))) {
        if (!asked->contains("id")) continue;
        ++asked_again;
        if (!lives) return true;
        worker.say({{"type", "result"}, {"id", asked->at("id")}});
      }
    }
    return true;
  }
};

json failed(Verdict verdict, const char* reason) {
  return {{"evaluation", json::parse(to_json_text(Evaluation::failed(verdict, reason)))}};
}

/// What comes of a candidate whose first worker has these last words.
Evaluation after(LastWords& words) {
  Workers workers;
  workers.instead = [&words](std::size_t, int socket) { return words.speak(socket); };
  RemoteOptions options = workers.options(1);
  options.settle_seconds = 0.02;
  RemoteEvaluator remote(small_problem(), options);
  Evaluation evaluation = remote.evaluate(candidate_with("fast"), searching());
  CHECK(report_of(remote, 0).state == "ready");
  CHECK(report_of(remote, 0).lost == (words.lives ? 0 : 1));
  return evaluation;
}

}  // namespace

TEST_CASE("RemoteEvaluator: a failure that a kill may look like counts only where its worker lives on") {
  const json silent =
      failed(Verdict::build_failed, "the compiler ended without a library and without a message");
  const json terminated =
      failed(Verdict::build_failed, "g++: fatal error: Terminated signal terminated program cc1plus");
  for (const json& answer : {silent, terminated}) {
    CAPTURE(answer.dump());
    LastWords dies{.answer = answer}, lives{.answer = answer, .lives = true};
    CHECK(after(dies).verdict == Verdict::ok);
    CHECK(dies.asked_again == 1);
    CHECK(after(lives).verdict == Verdict::build_failed);
    CHECK(lives.asked_again == 1);
  }
  const json killed = failed(Verdict::crashed, "SIGKILL (killed) while it ran");
  LastWords dies{.answer = killed, .at_run = true}, lives{.answer = killed, .at_run = true, .lives = true};
  CHECK(after(dies).verdict == Verdict::ok);
  CHECK(after(lives).verdict == Verdict::crashed);
}

TEST_CASE("RemoteEvaluator: an error of a worker that dies then is nobody's fault") {
  for (const char* kind : {"config", "device"}) {
    CAPTURE(kind);
    LastWords dies{.answer = {{"type", "error"}, {"kind", kind}, {"what", "the reference cannot be built"}}};
    CHECK(after(dies).verdict == Verdict::ok);
    CHECK(dies.asked_again == 1);
  }
}

TEST_CASE("RemoteEvaluator: what a compiler refuses, or a candidate does itself, counts at once") {
  LastWords refused{.answer = failed(Verdict::build_failed, "kernel.cpp:1: error: broken"), .lives = true};
  CHECK(after(refused).verdict == Verdict::build_failed);
  CHECK(refused.asked_again == 0);
  LastWords crashed{
      .answer = failed(Verdict::crashed, "SIGSEGV (invalid memory access)"), .at_run = true, .lives = true};
  CHECK(after(crashed).verdict == Verdict::crashed);
  CHECK(crashed.asked_again == 0);
}

TEST_CASE("RemoteEvaluator: an answer that cannot be read sets the lane aside, and its work goes elsewhere") {
  for (const char* answer : {R"({"verdict": 99})", R"("nothing")", "unasked"}) {
    CAPTURE(answer);
    Workers workers;
    workers.instead = [answer](std::size_t lane, int socket) {
      if (lane != 0) return false;
      Spoken worker(socket);
      worker.greet(scripted_device);
      if (const auto asked = worker.hear("build")) {
        const std::uint64_t id = asked->at("id");
        if (std::string(answer) == "unasked")
          worker.say({{"type", "result"}, {"id", id + 500}});
        else
          worker.say({{"type", "result"}, {"id", id}, {"evaluation", json::parse(answer)}});
      }
      (void)worker.hear("never");
      return true;
    };
    RemoteOptions options = workers.options(2);
    RemoteEvaluator remote(small_problem(), options);
    REQUIRE(comes(
        [&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
    CHECK(comes([&] { return report_of(remote, 0).state == "set aside"; }));
    CHECK(workers.counts(0).started == 1);
  }
}

TEST_CASE("launches_from: none, or what is one for each function, within what a launch can be") {
  const std::vector<BuiltLaunch> two{{-1, {}}, {65536, {32, 2, 1}}};
  CHECK(launches_from(launches_json(two), 2) == two);
  CHECK(launches_from(json::array(), 2) == std::vector<BuiltLaunch>{});
  CHECK_FALSE(launches_from(launches_json(two), 1));
  for (const char* wrong :
       {"3", "[3]", "[{}]", R"([{"shared_bytes": 1}])", R"([{"shared_bytes": 1.5, "block": [1, 1, 1]}])",
        R"([{"shared_bytes": 2147483648, "block": [1, 1, 1]}])", R"([{"shared_bytes": 1, "block": [1, 1]}])",
        R"([{"shared_bytes": 1, "block": [1, -1, 1]}])", R"([{"shared_bytes": 1, "block": [1, "1", 1]}])",
        R"([{"shared_bytes": 1, "block": [1, 1, 4294967296]}])"}) {
    CAPTURE(wrong);
    CHECK_FALSE(launches_from(json::parse(wrong), 1));
  }
}

TEST_CASE("RemoteEvaluator: built code that is not what its digest says sets the lane aside") {
  Workers workers;
  workers.instead = [](std::size_t lane, int socket) {
    if (lane != 0) return false;
    Spoken worker(socket);
    worker.greet(scripted_device);
    if (const auto asked = worker.hear("build"))
      worker.say({{"type", "result"},
                  {"id", asked->at("id")},
                  {"built", true},
                  {"artifact", sha256("fast")},
                  {"functions", {"twice"}},
                  {"library", true},
                  {"evaluation", json::parse(to_json_text(Evaluation{}))}},
                 "fasT");
    (void)worker.hear("never");
    return true;
  };
  RemoteEvaluator remote(small_problem(), workers.options(2));
  REQUIRE(
      comes([&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
  auto staged = remote.build(candidate_with("fast"), searching());
  REQUIRE(staged.artifact);
  CHECK(staged.artifact->portable->code == "fast");
  CHECK(report_of(remote, 0).state == "set aside");
  CHECK(report_of(remote, 0).reason.find("not what its digest says") != std::string::npos);
}

TEST_CASE("RemoteEvaluator: those that only build start when it is known for which device, and are told") {
  Workers workers;
  std::atomic<int> builders_before{-1};
  workers.judge = [&](std::size_t lane) {
    CarriedWords words;
    if (lane == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      builders_before = workers.counts(1).started + workers.counts(2).started;
    }
    // What is not compiled for the device that measures cannot run there.
    if (lane == 2) words.device = "another device";
    return words;
  };
  RemoteOptions options = workers.options(3);
  options.lanes[1].builds_only = options.lanes[2].builds_only = true;
  RemoteEvaluator remote(small_problem(), options);
  CHECK(builders_before == 0);
  REQUIRE(comes([&] { return report_of(remote, 1).state == "ready"; }));
  REQUIRE(comes([&] { return report_of(remote, 2).state == "set aside"; }));
  CHECK(report_of(remote, 2).reason.find("found `another device`, wanted `a scripted device`") !=
        std::string::npos);
  CHECK(workers.counts(0).target().empty());
  CHECK(workers.counts(1).target() == scripted_device);
  for (int i = 0; i < 4; ++i)
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
  CHECK(workers.counts(1).builds == 4);
  CHECK(workers.counts(1).runs == 0);
  CHECK(workers.counts(0).builds == 0);
  CHECK(workers.counts(0).runs == 4);
}

TEST_CASE("RemoteEvaluator: a worker of another device is refused with what was wanted and found") {
  Workers workers;
  workers.judge = [](std::size_t lane) {
    CarriedWords words;
    if (lane == 1) words.device = "another device";
    return words;
  };
  RemoteOptions options = workers.options(2);
  options.device_id = scripted_device;
  RemoteEvaluator remote(small_problem(), options);
  REQUIRE(comes([&] { return report_of(remote, 1).state == "set aside"; }));
  CHECK(report_of(remote, 1).reason.find("found `another device`, wanted `a scripted device`") !=
        std::string::npos);
  for (int i = 0; i < 4; ++i)
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
  CHECK(workers.counts(1).runs == 0);
}

TEST_CASE(
    "RemoteEvaluator: a lane whose place is still to come joins when it is there, and asks for another") {
  Workers workers;
  std::atomic<bool> is_there{false};
  std::atomic<int> asked{0};
  RemoteOptions options = workers.options(3);
  options.lanes[1].place = [&](const std::stop_token& stop) -> std::string {
    ++asked;
    while (!is_there && !stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return "--jobid=7 -w n3";
  };
  std::atomic<int> refused{0};
  options.lanes[2].place = [&](const std::stop_token&) -> std::string {
    ++refused;
    throw DeviceError("no such partition");
  };
  RemoteEvaluator remote(small_problem(), options);
  CHECK(remote.lanes() == 3);
  REQUIRE(comes([&] { return report_of(remote, 2).state == "set aside"; }));
  CHECK(report_of(remote, 2).reason.find("no such partition") != std::string::npos);
  CHECK(refused == 1);
  for (int i = 0; i < 4; ++i)
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
  CHECK(report_of(remote, 1).state == "starting");
  CHECK(workers.counts(1).started == 0);
  is_there = true;
  REQUIRE(comes([&] { return report_of(remote, 1).state == "ready"; }));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 2000 && workers.counts(1).runs == 0; ++i)
          (void)remote.evaluate(candidate_with("fast"), searching());
      });
  }
  CHECK(workers.counts(1).runs > 0);
  CHECK(asked == 1);
  workers.cut(1);
  REQUIRE(comes([&] { return workers.counts(1).started == 2; }));
  CHECK(asked == 2);
}

TEST_CASE("RemoteEvaluator: what still waits for its place ends with the run") {
  Workers workers;
  std::atomic<bool> waits{false}, left{false};
  {
    RemoteOptions options = workers.options(2);
    options.lanes[1].place = [&](const std::stop_token& stop) -> std::string {
      waits = true;
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      left = true;
      return "";
    };
    const RemoteEvaluator remote(small_problem(), options);
    REQUIRE(comes([&] { return waits.load(); }));
  }
  CHECK(left);
  CHECK(workers.counts(1).started == 0);
}

TEST_CASE("RemoteEvaluator: where no worker fits, all reasons are told") {
  Workers workers;
  RemoteOptions options = workers.options(2);
  options.toolchain_id = "a compiler of tomorrow";
  CHECK_THROWS_WITH_AS(RemoteEvaluator(small_problem(), options),
                       doctest::Contains("wanted `a compiler of tomorrow`"), DeviceError);
}

TEST_CASE("RemoteEvaluator: a worker that says nothing is given up") {
  Workers workers;
  workers.instead = [](std::size_t lane, int socket) {
    if (lane != 0) return false;
    Spoken worker(socket);
    worker.greet(scripted_device);
    (void)worker.hear("never");  // takes all, and is silent
    return true;
  };
  RemoteOptions options = workers.options(2);
  options.silence_seconds = 2;
  options.vain_starts = 1;
  RemoteEvaluator remote(small_problem(), options);
  REQUIRE(comes([&] { return report_of(remote, 1).state == "ready"; }));
  for (int i = 0; i < 3; ++i)
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
  REQUIRE(comes([&] { return report_of(remote, 0).state == "set aside"; }));
  CHECK(report_of(remote, 0).lost == 1);
  CHECK(report_of(remote, 0).reason.find("said nothing") != std::string::npos);
}

TEST_CASE("RemoteEvaluator: a request that takes too long is given up") {
  Workers workers;
  workers.judge = [](std::size_t) { return CarriedWords{}; };
  RemoteOptions options = workers.options(1);
  options.request_seconds = 0.3;
  options.most_losses = 2;
  RemoteEvaluator remote(small_problem(), options);
  const Evaluation evaluation = remote.evaluate(candidate_with("wait"), searching());
  CHECK(evaluation.verdict == Verdict::crashed);
  CHECK(evaluation.reason.find("2 workers were lost") != std::string::npos);
  CHECK(workers.counts(0).started >= 2);  // not one that was asked twice
  CHECK(comes([&] { return report_of(remote, 0).reason.find("did not answer") != std::string::npos; }));
}

TEST_CASE("RemoteEvaluator: workers that end before they do anything are not started for ever") {
  Workers workers;
  workers.instead = [](std::size_t lane, int) { return lane == 1; };  // closes at once
  RemoteOptions options = workers.options(2);
  options.vain_starts = 3;
  RemoteEvaluator remote(small_problem(), options);
  REQUIRE(comes([&] { return report_of(remote, 1).state == "set aside"; }));
  CHECK(workers.counts(1).started == 3);
  CHECK(workers.said().find("3 in a row were lost") != std::string::npos);
}

TEST_CASE(
    "RemoteEvaluator: a device that fails on the default configuration is set aside, its verdicts unused") {
  for (const std::size_t wrong : {0, 1}) {
    CAPTURE(wrong);
    Workers workers;
    workers.judge = [wrong](std::size_t lane) {
      CarriedWords words;
      words.broken = lane == wrong;
      words.delay = 0.005;
      return words;
    };
    RemoteEvaluator remote(small_problem(), workers.options(2));
    REQUIRE(comes(
        [&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
    keep_busy(remote, 2);
    CHECK(report_of(remote, wrong).state == "set aside");
    CHECK(report_of(remote, 1 - wrong).state == "ready");
    CHECK(report_of(remote, wrong).reason.find("default configuration") != std::string::npos);
  }
}

TEST_CASE(
    "RemoteEvaluator: a device that breaks later is found out at its first wrong verdict, which is not "
    "used") {
  Workers workers;
  std::atomic<bool> breaks{false};
  workers.judge = [&breaks](std::size_t lane) {
    CarriedWords words;
    words.breaks = lane == 0 ? &breaks : nullptr;
    words.delay = 0.002;
    return words;
  };
  RemoteEvaluator remote(small_problem(), workers.options(2));
  REQUIRE(
      comes([&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) {
        if (i == 20) breaks = true;
        wrong += remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok ? 0 : 1;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
  CHECK(report_of(remote, 0).state == "set aside");
  CHECK(report_of(remote, 1).state == "ready");
  CHECK(report_of(remote, 0).measured + report_of(remote, 1).measured == 80);
}

TEST_CASE(
    "RemoteEvaluator: a lane whose calibration kernel takes another time is set aside, or not, by choice") {
  for (const bool compared : {true, false}) {
    CAPTURE(compared);
    Workers workers;
    workers.judge = [](std::size_t) {
      CarriedWords words;
      words.delay = 0.005;
      return words;
    };
    RemoteOptions options = workers.options(2);
    options.tolerance = compared ? 0.02 : 0.0;
    // The first lane is the measure, so it is asked before the other one is there.
    std::atomic<bool> let{false};
    workers.instead = [&](std::size_t lane, int socket) {
      if (lane != 1) return false;
      while (!let) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      Spoken worker(socket);
      worker.greet(scripted_device);
      while (const auto asked = worker.hear("evaluate", "build")) {
        CarriedWords words;
        words.about = small_problem();
        Evaluation real = words.evaluate(small_problem().default_candidate(), {});
        real.measurement.seconds *= 1.05;
        if (asked->at("type") == "build") real = Evaluation{};
        worker.say({{"type", "result"},
                    {"id", asked->at("id")},
                    {"built", true},
                    {"evaluation", json::parse(to_json_text(real))}});
      }
      return true;
    };
    RemoteEvaluator remote(small_problem(), options);
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
    let = true;
    REQUIRE(comes([&] { return report_of(remote, 1).state == "ready"; }));
    if (!compared) continue;  // it would be asked to run
    keep_busy(remote, 2);
    CHECK(report_of(remote, 1).state == "set aside");
    CHECK(report_of(remote, 1).reason.find("default configuration is") != std::string::npos);
  }
}

TEST_CASE("RemoteEvaluator: a lane that falls behind is set aside") {
  Workers workers;
  workers.judge = [](std::size_t lane) {
    CarriedWords words;
    words.delay = lane == 1 ? 0.2 : 0.01;
    return words;
  };
  RemoteOptions options = workers.options(2);
  options.falls_behind = 5;
  RemoteEvaluator remote(small_problem(), options);
  REQUIRE(
      comes([&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
  keep_busy(remote, 2, 4000);
  CHECK(report_of(remote, 1).state == "set aside");
  CHECK(report_of(remote, 1).reason.find("falls behind") != std::string::npos);
  CHECK(report_of(remote, 0).state == "ready");
}

TEST_CASE("RemoteEvaluator: finalists are measured and compared on one device") {
  Workers workers;
  RemoteEvaluator remote(small_problem(), workers.options(3));
  REQUIRE(comes([&] {
    return report_of(remote, 2).state == "ready" && report_of(remote, 1).state == "ready" &&
           report_of(remote, 0).state == "ready";
  }));
  for (int i = 0; i < 9; ++i)
    CHECK(remote.evaluate(candidate_with("fast"), searching()).verdict == Verdict::ok);
  std::vector<int> before;
  for (std::size_t i = 0; i < 3; ++i) before.push_back(workers.counts(i).runs);
  remote.renew();
  for (int i = 0; i < 4; ++i) {
    CHECK(remote.evaluate(candidate_with("fast"), {}).verdict == Verdict::ok);
    CHECK(remote.compare(candidate_with("fast"), candidate_with("slow"), {})->pairs > 0);
  }
  int lanes = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool used = workers.counts(i).runs > before[i];
    CHECK(used == (workers.counts(i).compares > 0));
    CHECK(used == (workers.counts(i).renewals > 0));
    lanes += used ? 1 : 0;
  }
  CHECK(lanes == 1);
}

TEST_CASE(
    "RemoteEvaluator: pairs that are asked for at once are timed on several devices, each in a fresh state") {
  Workers workers;
  std::atomic<int> comparing{0};
  workers.judge = [&comparing](std::size_t) {
    CarriedWords words;
    words.comparing = [&comparing] {
      ++comparing;
      (void)comes([&comparing] { return comparing >= 2; });
    };
    return words;
  };
  RemoteEvaluator remote(small_problem(), workers.options(2));
  REQUIRE(
      comes([&] { return report_of(remote, 0).state == "ready" && report_of(remote, 1).state == "ready"; }));
  remote.renew();
  CHECK(workers.counts(0).renewals + workers.counts(1).renewals == 1);
  {
    std::vector<std::jthread> both;
    for (int i = 0; i < 2; ++i)
      both.emplace_back([&] {
        const auto speedup = remote.compare(candidate_with("fast"), candidate_with("slow"), {});
        CHECK(speedup);
      });
  }
  CHECK(workers.counts(0).compares == 1);
  CHECK(workers.counts(1).compares == 1);
  CHECK(workers.counts(0).renewals == 1);
  CHECK(workers.counts(1).renewals == 1);
  // No device measures a pair before its default configuration was compared with the others'.
  CHECK(workers.counts(0).runs + workers.counts(1).runs >= 1);
}

TEST_CASE("RemoteEvaluator: a stop reaches what a worker is doing") {
  Workers workers;
  auto gate = std::make_shared<support::Words::Gate>();
  workers.judge = [gate](std::size_t) {
    CarriedWords words;
    words.gate = gate;
    return words;
  };
  RemoteEvaluator remote(small_problem(), workers.options(1));
  std::stop_source stop;
  EvaluationContext context = searching();
  context.stop = stop.get_token();
  Evaluation evaluation;
  std::jthread measuring([&] { evaluation = remote.evaluate(candidate_with("wait"), context); });
  REQUIRE(comes([&] { return gate->waiting == 1; }));
  stop.request_stop();
  measuring.join();
  CHECK(evaluation.verdict != Verdict::ok);
  CHECK(report_of(remote, 0).lost == 0);
}

namespace {

/// The keys of what a search proposed, in its order.
std::vector<std::string> proposed(std::size_t lanes, std::size_t cuts, std::uint64_t seed) {
  Workers workers;
  workers.judge = [](std::size_t lane) {
    CarriedWords words;
    words.delay = 0.001 * static_cast<double>(lane % 3);
    return words;
  };
  RemoteOptions options = workers.options(lanes);
  options.vain_starts = 1000;
  options.most_losses = 1000;
  RemoteEvaluator remote(small_problem(), options);
  const Problem problem = small_problem();
  OptimizerOptions loop;
  loop.in_flight = 6;
  loop.build_threads = 2;
  loop.budget = std::make_shared<TrialBudget>(18);
  Optimizer search(RandomSearch(problem.kernel.space, {.seed = seed}),
                   TemplateGenerator(std::make_shared<const Kernel>(problem.kernel)), remote, loop);
  std::jthread cutter([&](const std::stop_token& stop) {
    Rng rng(seed);
    for (std::size_t i = 0; i < cuts && !stop.stop_requested(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + rng.below(12)));
      workers.cut(rng.below(lanes));
    }
  });
  search.run();
  cutter.request_stop();
  cutter.join();
  std::vector<std::string> keys;
  std::set<std::uint64_t> ids;
  for (const auto& trial : search.trials()) {
    CHECK(trial.outcome.ok());
    CHECK(ids.insert(number(trial.outcome.id)).second);
    keys.push_back(problem.kernel.space.key(trial.candidate->config));
  }
  CHECK(keys.size() == 18);
  return keys;
}

}  // namespace

TEST_CASE(
    "RemoteEvaluator: the same seed proposes the same with any number of lanes, and with lanes that die") {
  const auto one = proposed(1, 0, 5);
  CHECK(proposed(4, 0, 5) == one);
  CHECK(proposed(9, 0, 5) == one);
  CHECK(proposed(4, 30, 5) == one);
  CHECK(proposed(4, 0, 6) != one);
}

TEST_CASE("serve_lane: ends with its pipe, whatever it is doing") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  auto gate = std::make_shared<support::Words::Gate>();
  bool goodbye = true;
  std::atomic<bool> over{false};
  std::jthread worker([&] {
    LaneServerOptions options;
    options.make = [&](Problem problem, const std::string&, const std::string&) {
      CarriedWords words;
      words.about = std::move(problem);
      words.gate = gate;
      return LaneJudge{std::move(words), 1, ""};
    };
    goodbye = serve_lane(ends[1], ends[1], options);
    over = true;
  });
  {
    RemoteOptions options;
    options.lanes.push_back({"", "worker", false});
    options.vain_starts = 1;
    options.connect = [&](std::size_t) { return std::pair(dup(ends[0]), dup(ends[0])); };
    RemoteEvaluator remote(small_problem(), options);
    std::jthread measuring([&] {
      CHECK_THROWS_AS(static_cast<void>(remote.evaluate(candidate_with("wait"), searching())), DeviceError);
    });
    REQUIRE(comes([&] { return gate->waiting == 1; }));
    CHECK(!over);
    shutdown(ends[0], SHUT_RDWR);  // as when the controller is killed
  }
  CHECK(comes([&] { return over.load(); }));
  worker.join();
  CHECK(!goodbye);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("serve_lane: answers a ping that has a number, and no failure once it is asked to end") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  auto gate = std::make_shared<support::Words::Gate>();
  std::stop_source stop;
  std::jthread worker([&] {
    LaneServerOptions options;
    options.stop = stop.get_token();
    options.make = [&](Problem problem, const std::string&, const std::string&) {
      CarriedWords words;
      words.about = std::move(problem);
      words.gate = gate;
      return LaneJudge{std::move(words), 1, ""};
    };
    serve_lane(ends[1], ends[1], options);
    shutdown(ends[1], SHUT_RDWR);
  });
  Spoken controller(ends[0]);
  const Problem problem = small_problem();
  const ProblemContent content = problem_content(problem);
  const std::string digest = content.text.digest;
  controller.say(
      {{"type", "open"}, {"problem", digest}, {"files", json::array()}, {"how", ""}, {"heartbeat", 10.0}});
  REQUIRE(controller.hear("missing"));
  controller.say({{"type", "content"}, {"digest", digest}}, *content.text.bytes);
  REQUIRE(controller.hear("ready"));
  controller.say({{"type", "ping"}});
  controller.say({{"type", "ping"}, {"id", 7}});
  auto heard = controller.hear("result");
  REQUIRE(heard);
  CHECK(heard->at("id") == 7);
  KernelTexts texts(problem);
  const Candidate waits = candidate_with("wait");
  const Content text = texts.of(waits.kernel);
  controller.say({{"type", "evaluate"},
                  {"id", 8},
                  {"candidate", {{"kernel", text.digest}, {"config", waits.config}, {"text", *text.bytes}}},
                  {"context", context_json(searching())}});
  REQUIRE(comes([&] { return gate->waiting == 1; }));
  stop.request_stop();
  heard = controller.hear("goodbye", "result");
  REQUIRE(heard);
  CHECK(heard->at("type") == "goodbye");
  CHECK(!controller.hear("result"));
  close(ends[0]);
  worker.join();
  close(ends[1]);
}

TEST_CASE("serve_lane: refuses contents that are not what their digest says") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::jthread worker([&] {
    LaneServerOptions options;
    options.make = [&](Problem problem, const std::string&, const std::string&) {
      CarriedWords words;
      words.about = std::move(problem);
      return LaneJudge{std::move(words), 1, ""};
    };
    serve_lane(ends[1], ends[1], options);
  });
  Spoken controller(ends[0]);
  REQUIRE(controller.hear("hello"));
  controller.say({{"type", "open"},
                  {"problem", sha256("a problem")},
                  {"files", json::array()},
                  {"how", ""},
                  {"heartbeat", 1.0}});
  const auto missing = controller.hear("missing");
  REQUIRE(missing);
  CHECK(missing->at("digests") == json::array({sha256("a problem")}));
  controller.say({{"type", "content"}, {"digest", sha256("a problem")}}, "another problem");
  const auto refused = controller.hear("refused");
  REQUIRE(refused);
  CHECK(refused->at("reason").get<std::string>().find("damaged") != std::string::npos);
  close(ends[0]);
  worker.join();
  close(ends[1]);
}
