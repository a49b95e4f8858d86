// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kernelsearch trial`: every system asks the scripted expert the same number of questions.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "support/check_has.hpp"
#include "support/loopback_server.hpp"

using namespace kernelsearch_test;

namespace {

const std::string root = KERNELSEARCH_SOURCE_DIR;
const std::string softmax_plain = root + "/data/transformations/proofs/problems/softmax_plain";
const std::string expert = root + "/bench/trial";

}  // namespace

namespace {

/// What each of the systems came to on the problem with so many questions.
void check_trial(const std::string& systems, const std::string& questions) {
  Desk desk;
  const Ran ran =
      desk.kernelsearch({"trial", softmax_plain, "--expert", expert, "--store", "trial.db", "--systems",
                         systems, "--questions", questions, "--sandbox", "none", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  std::string seen;
  for (const auto& cell : ran.json()) {
    CAPTURE(cell.dump());
    seen += (seen.empty() ? "" : ",") + cell["system"].get<std::string>();
    CHECK(cell["problem"] == "softmax_plain");
    CHECK(cell["questions"] >= 1);
    CHECK(cell["questions"] <= std::stoi(questions));
    CHECK(cell["wasted"] < cell["questions"]);  // at least one brought a right kernel
    CHECK(cell["tokens"] > 1000);
    // The expert has one kernel, and in the order of evidence its move is among the first.
    bool written = false;
    double best = 0;
    for (const auto& step : cell["steps"]) {
      written |= step["questions"] > 0 && step["ratio"] > 0;
      CHECK(step["best"] >= best);
      best = step["best"].get<double>();
    }
    CHECK(written);
    CHECK(cell["ratio"] == best);
  }
  CHECK(seen == systems);
}

}  // namespace

TEST_CASE("trial: the expert's kernel is found, and what it cost is counted") {
  check_trial("geak,kernelband,peak,stark", "2");
}

TEST_CASE("trial: the other systems find it too" * doctest::test_suite("thorough")) {
  check_trial("best_of_k,cuda_skill_v2,greedy_refine", "6");
}

TEST_CASE("trial: a table of the systems named, with each problem; questions are never more than allowed") {
  Desk desk;
  const Ran ran =
      desk.kernelsearch({"trial", softmax_plain, "--expert", expert, "--store", "trial.db", "--questions",
                         "1", "--systems", "kernelband,peak", "--sandbox", "none", "--each"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "| system | problems | best ratio, geometric mean |");
  check_has(ran.out, "| kernelband | 1 | ");
  check_has(ran.out, "\n| problem | kernelband | peak |");
  check_has(ran.out, "\n| softmax_plain | ");
  CHECK(ran.out.find("geak") == std::string::npos);
}

TEST_CASE("trial: models of a file are asked, and the table has their replies and tokens") {
  ::setenv("no_proxy", "127.0.0.1", 1);
  const std::string kernel = read_text(root + "/data/transformations/proofs/inline_calls/device.cpp");
  std::atomic<int> asked = 0;
  std::atomic<bool> right = true;
  LoopbackServer server([&](const LoopbackServer::Request& request, LoopbackServer::Peer& peer) {
    const auto body = nlohmann::json::parse(request.body);
    right = right && body.at("model") == "scripted-1" && request.body.find("softmax") != std::string::npos;
    // The first reply is a kernel, the others are chat.
    const std::string reply =
        ++asked == 1 ? "```cpp device\n" + kernel + "\n```\n" : std::string("I would rather talk.");
    peer.answer(200,
                nlohmann::json({{"model", "scripted-1"},
                                {"choices", {{{"message", {{"content", reply}}}, {"finish_reason", "stop"}}}},
                                {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 10}}}})
                    .dump());
  });
  Desk desk;
  write_text(
      desk.path() / "models.json",
      R"({"models": {"one": {"provider": "openai", "model": "scripted-1", "stream": false, "base_url": ")" +
          server.url() + R"("}}})");
  const Ran ran =
      desk.kernelsearch({"trial", softmax_plain, "--models", "models.json", "--store", "trial.db",
                         "--systems", "best_of_k", "--questions", "2", "--sandbox", "none", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto cells = ran.json();
  REQUIRE(cells.size() == 1);
  CHECK(asked == 2);
  CHECK(right);
  CHECK(cells[0]["questions"] == 2);
  CHECK(cells[0]["wasted"] == 1);  // the reply without a kernel
  CHECK(cells[0]["tokens"] == 2020);
  CHECK(cells[0]["ratio"] > 0);
}

TEST_CASE("trial: what cannot be asked is said, with what to do") {
  Desk desk;
  const auto refused = [&](std::vector<std::string> more, const char* words) {
    std::vector<std::string> all{"trial", softmax_plain, "--store", "trial.db"};
    all.insert(all.end(), more.begin(), more.end());
    const Ran ran = desk.kernelsearch(all);
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(ran.err.find(words) != std::string::npos);
  };
  refused({}, "give --models FILE or --expert FOLDER");
  refused({"--expert", expert, "--models", "models.json"}, "one of them");
  refused({"--expert", expert, "--systems", "helion_lfbo"}, "the system asks no model");
  refused({"--expert", expert, "--systems", "starc"}, "did you mean stark?");
  refused({"--expert", root + "/docs"}, "expert.json");
  refused({"--models", "none.json"}, "none.json");
}
