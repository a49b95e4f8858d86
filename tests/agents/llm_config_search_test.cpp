// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies are written by the tests; no model made them.
#include "kernelsearch/agents/llm_config_search.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/seeded.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "support/policy_contract.hpp"
#include "support/scripted_chat.hpp"

using namespace kernelsearch;

namespace {

/// `count` configurations drawn from the space by a hash of the question, as a model would write them.
ScriptedChat drawing_model(const Space& space, std::size_t count = 15) {
  return ScriptedChat([space, count](const ChatRequest& request, std::size_t) {
    Rng rng(std::hash<std::string>{}(ScriptedChat::text_of(request)));
    std::string text = "{\"configs\":[";
    for (std::size_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : ",") + config_difference(space, space.sample(rng), space.default_config());
    return ScriptedChat::says(text + "]}");
  });
}

/// A policy that waits for its model inside of ask: the contract's driver knows of no waiting.
template <class P>
struct Waiting {
  using Proposal = Config;
  P policy;
  std::size_t out = 0;
  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals = policy.ask(n);
    while (proposals.empty() && out == 0 && policy.await()) proposals = policy.ask(n);
    out += proposals.size();
    return proposals;
  }
  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& observation : batch)
      if (observation.outcome.origin && told.insert(number(observation.outcome.origin->proposal)).second)
        --out;
    policy.tell(batch);
  }
  std::set<std::uint64_t> told;
};

/// Runs the policy to its end on the contract's landscape.
std::vector<Config> run_alone(LlmConfigSearch& policy, const Space& space) {
  std::vector<Config> sequence;
  while (true) {
    const std::vector<Config> batch = policy.ask(4);
    for (const Config& config : batch) {
      policy_contract::tell(policy,
                            policy_contract::observe(space, config, sequence.size(), sequence.size()));
      sequence.push_back(config);
    }
    if (batch.empty() && !policy.await()) return sequence;
  }
}

}  // namespace

TEST_CASE("LlmConfigSearch keeps the contract, in front of a policy that goes on") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    using Hybrid = Seeded<LlmConfigSearch, RandomSearch>;
    return Waiting<Hybrid>{Hybrid(LlmConfigSearch(space, drawing_model(space), {.seed = seed}),
                                  RandomSearch(space, {.seed = seed})),
                           0,
                           {}};
  });
}

TEST_CASE("LlmConfigSearch: the first question is asked while default and seeds are measured") {
  const Space space = policy_contract::small_space();
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false, may_answer = false;
  ScriptedChat model([&](const ChatRequest&, std::size_t) {
    std::unique_lock lock(mutex);
    asked = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_answer; });
    return ScriptedChat::says(R"({"configs":[{"block":128,"unroll":3}]})");
  });
  const Config mine = space.unrank(BigCount(7));
  LlmConfigSearch policy(space, model, {.rounds = 1, .random_seeds = 5, .seeds = {mine}});
  const std::vector<Config> first = policy.ask(100);
  REQUIRE(first.size() == 6);
  CHECK(first[0] == space.default_config());
  CHECK(first[1] == mine);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked; });
  }
  CHECK(policy.ask(10).empty());  // not the end: the model is still thinking
  for (std::uint64_t i = 0; i < first.size(); ++i)
    policy_contract::tell(policy, policy_contract::observe(space, first[i], i, i));
  {
    const std::lock_guard lock(mutex);
    may_answer = true;
    changed.notify_all();
  }
  CHECK(policy.await());
  const std::vector<Config> second = policy.ask(10);
  REQUIRE(second.size() == 1);
  CHECK(space.key(second[0]) == "128,3,false,row");
  CHECK(policy.ending().empty());
  policy_contract::tell(policy, policy_contract::observe(space, second[0], 6, 6));
  CHECK_FALSE(policy.await());
  CHECK(policy.ending() == "all rounds are done");
  CHECK(policy.ask(10).empty());
}

TEST_CASE("LlmConfigSearch: proposals do not depend on when replies arrive") {
  const Space space = policy_contract::small_space();
  std::vector<std::vector<Config>> sequences;
  for (const int wait : {0, 3}) {
    ScriptedChat fast = drawing_model(space);
    ScriptedChat model([fast, wait](const ChatRequest& request, std::size_t) mutable {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
      return fast.chat(request, {});
    });
    LlmConfigSearch policy(space, model, {.seed = 3});
    sequences.push_back(run_alone(policy, space));
  }
  CHECK(sequences[0] == sequences[1]);
  CHECK(sequences[0].size() > 30);
}

TEST_CASE("LlmConfigSearch: what the model is told") {
  const Space space = policy_contract::small_space();
  ScriptedChat model = drawing_model(space, 5);
  LlmConfigSearch policy(space, model,
                         {.rounds = 3,
                          .configs_per_round = 5,
                          .model = "some-model",
                          .temperature = 0.3,
                          .kernel = "void f() { /* ``` */ }",
                          .workload = "x: f32[1024]",
                          .device = "one core"});
  (void)run_alone(policy, space);
  const std::vector<ChatRequest> requests = model.requests();
  REQUIRE(requests.size() >= 2);
  const ChatRequest& first = requests[0];
  CHECK(first.role == "config_search");
  CHECK(first.model == "some-model");
  CHECK(first.temperature == 0.3);
  CHECK(first.max_tokens == 896);  // 256 + 128 * 5
  REQUIRE(first.messages.size() == 3);
  CHECK(first.messages[0].stable);
  CHECK(first.messages[1].stable);
  CHECK_FALSE(first.messages[2].stable);
  CHECK(first.messages[1].text.find("````\nvoid f()") != std::string::npos);
  CHECK(first.messages[1].text.find(space_text(space)) != std::string::npos);
  CHECK(first.messages[1].text.find("x: f32[1024]") != std::string::npos);
  CHECK(first.messages[1].text.find("one core") != std::string::npos);
  CHECK(first.messages[2].text.find("Propose 5 configurations") != std::string::npos);
  // The same beginning in every round, for the provider's cache; then the results.
  CHECK(requests[1].messages[0] == first.messages[0]);
  CHECK(requests[1].messages[1] == first.messages[1]);
  CHECK(requests[1].messages[2].text.find("configurations measured") != std::string::npos);
  CHECK(requests[1].messages[2].text.find("Anchors") != std::string::npos);
}

TEST_CASE("LlmConfigSearch: cut lists, wrong values and repeats") {
  const Space space = policy_contract::small_space();
  const std::string cut =
      R"({"configs":[{"block":128},{"block":128},{"block":300,"unroll":9},{"bolck":3},7,{"block":32,"pad":true},{"blo)";
  ScriptedChat model(
      [&](const ChatRequest&, std::size_t) { return ScriptedChat::says(cut, FinishReason::length); });
  LlmConfigSearch policy(space, model, {.rounds = 1, .random_seeds = 0});
  const std::vector<Config> all = run_alone(policy, space);
  REQUIRE(all.size() == 4);
  CHECK(all[0] == space.default_config());
  CHECK(space.key(all[1]) == "128,1,false,row");
  CHECK(space.contains(all[2]));  // 300 and 9 break the lists and the constraint
  CHECK(space.key(all[3]) == "32,1,true,row");
  CHECK(policy.items_dropped() == 3);
  CHECK(model.calls() == 1);
}

TEST_CASE("LlmConfigSearch: what is not in the space is told to the model and to the one who watches") {
  const Space space = policy_contract::small_space();
  ScriptedChat model([&](const ChatRequest&, std::size_t call) {
    return ScriptedChat::says(call == 0 ? R"({"configs":[{"block":128},{"block":300}]})"
                                        : R"({"configs":[{"block":32,"pad":true}]})");
  });
  std::vector<std::string> said;
  LlmConfigSearch policy(space, model, {.rounds = 3, .random_seeds = 0, .say = [&](const std::string& text) {
                                          said.push_back(text);
                                        }});
  const std::vector<Config> all = run_alone(policy, space);
  const std::vector<ChatRequest> requests = model.requests();
  REQUIRE(requests.size() >= 3);
  const std::string became = R"({"block":300} became )" + config_text(space, all[2]);
  const std::string heading = "Not in the space, so that another configuration was taken instead:\n- ";
  CHECK(requests[0].messages[2].text.find("Not in the space") == std::string::npos);
  CHECK(requests[1].messages[2].text.find(heading + became + '\n') != std::string::npos);
  CHECK(requests[2].messages[2].text.find("Not in the space") ==
        std::string::npos);  // of the last reply alone
  REQUIRE_FALSE(said.empty());
  CHECK(said.front() ==
        "config_search: 1 of 2 configurations of the reply were not in the space and were changed, e.g. " +
            became);
}

TEST_CASE("LlmConfigSearch: of a reply with more configurations than were asked for the first are taken") {
  const Space space = policy_contract::small_space();
  ScriptedChat model = ScriptedChat::replies(
      {R"({"configs":[{"block":128},{"block":32},{"block":64,"unroll":2},{"block":32,"pad":true}]})"});
  LlmConfigSearch policy(space, model, {.rounds = 1, .configs_per_round = 2, .random_seeds = 0});
  const std::vector<Config> all = run_alone(policy, space);
  REQUIRE(all.size() == 3);
  CHECK(space.key(all[1]) == "128,1,false,row");
  CHECK(space.key(all[2]) == "32,1,false,row");
  CHECK(policy.items_dropped() == 2);
}

TEST_CASE("LlmConfigSearch: an unusable reply is answered once, then the search ends") {
  const Space space = policy_contract::small_space();
  SUBCASE("the second reply is good") {
    ScriptedChat model = ScriptedChat::replies({"I would try larger blocks.", R"([{"block":128}])"});
    LlmConfigSearch policy(space, model, {.rounds = 1, .random_seeds = 1});
    CHECK(run_alone(policy, space).size() == 3);
    const auto requests = model.requests();
    REQUIRE(requests.size() == 2);
    REQUIRE(requests[1].messages.size() == 5);
    CHECK(requests[1].messages[3].speaker == Speaker::assistant);
    CHECK(requests[1].messages[4].text.find("it holds no JSON list") != std::string::npos);
    CHECK(policy.rounds_done() == 1);
  }
  SUBCASE("so is the second") {
    ScriptedChat model = ScriptedChat::replies({"", R"({"configs":[{"speed":"fast"}]})"});
    LlmConfigSearch policy(space, model, {.random_seeds = 1});
    CHECK(run_alone(policy, space).size() == 2);
    CHECK(model.calls() == 2);
    CHECK(ScriptedChat::text_of(model.requests()[1]).find("it was empty") != std::string::npos);
    CHECK(policy.ending() == "the reply could not be used: its items name no tunable of the space");
    CHECK_FALSE(policy.await());
    CHECK(model.calls() == 2);
  }
  SUBCASE("the model fails") {
    ScriptedChat model(
        [](const ChatRequest&, std::size_t) -> ChatResult { return ScriptedChat::fails("503"); });
    LlmConfigSearch policy(space, model, {.random_seeds = 3});
    CHECK(run_alone(policy, space).size() == 4);
    CHECK(policy.ending() == "the model failed (server): 503");
    CHECK(model.calls() == 11);  // an outage may pass
  }
  SUBCASE("a key is refused") {
    ScriptedChat model([](const ChatRequest&, std::size_t) -> ChatResult {
      return ChatResult::failed(ChatFailure::authentication, "401");
    });
    LlmConfigSearch policy(space, model, {.random_seeds = 3});
    CHECK(run_alone(policy, space).size() == 4);
    CHECK(policy.ending() == "the model failed (authentication): 401");
    CHECK(model.calls() == 1);  // to ask on would be in vain
  }
  SUBCASE("the model is out of reach for a while") {
    std::vector<Exchange> log;
    LlmConfigSearchOptions options{.rounds = 2, .random_seeds = 1};
    options.log = [&log](const Exchange& exchange) { log.push_back(exchange); };
    ScriptedChat model([](const ChatRequest&, std::size_t call) -> ChatResult {
      if (call != 4 && call != 10) return ScriptedChat::fails("503");
      return ScriptedChat::says(call == 4 ? R"([{"block":32}])" : R"([{"block":128}])");
    });
    LlmConfigSearch policy(space, model, options);
    CHECK(run_alone(policy, space).size() == 4);
    CHECK(policy.ending() == "all rounds are done");
    const auto requests = model.requests();
    REQUIRE(requests.size() == 11);
    // The same question, which a recording can tell from those before it.
    for (std::size_t i = 1; i <= 4; ++i) {
      CHECK(ScriptedChat::text_of(requests[i]) == ScriptedChat::text_of(requests[0]));
      CHECK(requests[i].repetition == i);
    }
    CHECK(requests[5].repetition == 0);
    REQUIRE(log.size() == 11);
    for (std::size_t i = 0; i < 11; ++i) CHECK(log[i].last == (i == 4 || i == 10));
  }
  SUBCASE("it throws") {
    ScriptedChat model(
        [](const ChatRequest&, std::size_t) -> ChatResult { throw std::runtime_error("odd"); });
    LlmConfigSearch policy(space, model);
    (void)run_alone(policy, space);
    CHECK(policy.ending() == "the model failed (malformed): odd");
  }
}

TEST_CASE("LlmConfigSearch: stop rules") {
  const Space space = policy_contract::small_space();
  SUBCASE("a reply without anything new") {
    ScriptedChat model =
        ScriptedChat::replies({R"({"configs":[{"block":128}]})", R"({"configs":[{"block":128},{}]})"});
    LlmConfigSearch policy(space, model, {.random_seeds = 0});
    CHECK(run_alone(policy, space).size() == 2);
    CHECK(policy.ending() == "the model failed (server): the script has ended");  // it was asked once more
    CHECK(model.calls() == 13);
    CHECK(policy.rounds_done() == 1);
  }
  SUBCASE("a reply without anything new is answered once, with what was measured; a second ends the search") {
    const std::string repeats = R"({"configs":[{"block":128},{}]})", fresh = R"([{"block":32}])";
    std::vector<Exchange> log;
    LlmConfigSearchOptions options{.rounds = 3, .random_seeds = 0};
    options.log = [&log](const Exchange& exchange) { log.push_back(exchange); };
    ScriptedChat model =
        ScriptedChat::replies({R"({"configs":[{"block":128}]})", repeats, fresh, repeats, repeats});
    LlmConfigSearch policy(space, model, options);
    CHECK(run_alone(policy, space).size() == 3);
    CHECK(policy.ending() == "the reply held no configuration that is new");
    CHECK(policy.rounds_done() == 3);
    REQUIRE(model.calls() == 5);
    const ChatRequest again = model.requests()[2];
    REQUIRE(again.messages.size() == 5);
    CHECK(again.messages[2].text.find("All measured, fastest first (block, unroll, pad, layout: ms):\n") !=
          std::string::npos);
    CHECK(again.messages[2].text.find("\n128,1,false,\"row\": ") != std::string::npos);
    CHECK(again.messages[3].speaker == Speaker::assistant);
    CHECK(again.messages[3].text == repeats);
    CHECK(again.messages[4].text.find("every configuration in it is measured already") != std::string::npos);
    REQUIRE(log.size() == 5);
    CHECK_FALSE(log[1].last);
    CHECK(log[1].judgement.ok());
    CHECK(log[2].last);
    CHECK_FALSE(log[3].last);
    CHECK(log[4].last);
    ScriptedChat helion = ScriptedChat::replies({R"({"configs":[{"block":128}]})", repeats});
    options.repeats_again = 0;  // as Helion
    LlmConfigSearch shortly(space, helion, options);
    CHECK(run_alone(shortly, space).size() == 2);
    CHECK(helion.calls() == 2);
  }
  SUBCASE("two rounds in a row without a gain, the first round not counted") {
    // the landscape's best is 64,4,true,row-like: each reply is slower than the default
    ScriptedChat model =
        ScriptedChat::replies({R"([{"block":64,"unroll":4}])", R"([{"unroll":2}])", R"([{"unroll":3}])",
                               R"([{"unroll":5}])", R"([{"unroll":6}])"});
    LlmConfigSearch policy(space, model, {.rounds = 9, .random_seeds = 0});
    CHECK(run_alone(policy, space).size() == 4);
    CHECK(model.calls() == 3);
    CHECK(policy.ending() == "2 rounds in a row gained too little");
  }
  SUBCASE("that the first round brings nothing over the seeds counts for nothing") {
    ScriptedChat model =
        ScriptedChat::replies({R"([{"layout":"column"}])", R"([{"pad":true}])",
                               R"([{"layout":"column","pad":true}])", R"([{"layout":"tiled","pad":true}])"});
    const double start = policy_contract::time_of(space, space.default_config());
    LlmConfigSearch policy(space, model, {.rounds = 9, .random_seeds = 0});
    const std::vector<Config> all = run_alone(policy, space);
    REQUIRE(all.size() == 4);
    for (std::size_t i = 1; i < all.size(); ++i) CHECK(policy_contract::time_of(space, all[i]) > start);
    CHECK(model.calls() == 3);
    CHECK(policy.ending() == "2 rounds in a row gained too little");
  }
  SUBCASE("the last round") {
    ScriptedChat model = drawing_model(space);
    LlmConfigSearch policy(space, model, {.rounds = 2, .fruitless_rounds = 100});
    (void)run_alone(policy, space);
    CHECK(model.calls() == 2);
  }
}

TEST_CASE("LlmConfigSearch: many failures make the model careful") {
  const Space space = policy_contract::small_space();
  ScriptedChat model = ScriptedChat::replies({R"([{"block":256}])", R"([{"block":32}])"});
  LlmConfigSearch policy(space, model, {.rounds = 2, .random_seeds = 0});
  (void)run_alone(policy, space);  // 256,1 is the corner that fails: one of two
  const std::string text = ScriptedChat::text_of(model.requests()[1]);
  CHECK(text.find("Many configurations fail") != std::string::npos);
  CHECK(text.find("forbidden corner") != std::string::npos);
}

TEST_CASE("LlmConfigSearch: misuse and going away while the model thinks") {
  const Space space = policy_contract::small_space();
  CHECK_THROWS_AS(LlmConfigSearch(space, drawing_model(space), {.rounds = 0}), ConfigError);
  CHECK_THROWS_AS(LlmConfigSearch(space, drawing_model(space), {.seeds = {Config{{9, 9, 9, 9}}}}),
                  ConfigError);
  struct Patient {
    ChatResult chat(const ChatRequest&, std::stop_token stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      return ChatResult::failed(ChatFailure::cancelled, "stopped");
    }
  };
  {
    LlmConfigSearch policy(space, AnyChatModel(Patient{}));
    CHECK(policy.ask(1).size() == 1);
    LlmConfigSearch moved = std::move(policy);
    CHECK(moved.ask(1).size() == 1);
  }
  std::stop_source stop;
  LlmConfigSearch policy(space, AnyChatModel(Patient{}), {.random_seeds = 0, .stop = stop.get_token()});
  const auto first = policy.ask(1);
  policy_contract::tell(policy, policy_contract::observe(space, first[0], 0, 0));
  stop.request_stop();
  CHECK_FALSE(policy.await());
  CHECK(policy.ending() == "the model failed (cancelled): stopped");
}

TEST_CASE("Helion's hybrid: with a model it starts from its best, without one it is LFBO, and it resumes") {
  const Space space = policy_contract::small_space();
  const Kernel kernel{{"code", "", ""}, space};
  const auto judge = [space](const Candidate& candidate) {
    const double time = policy_contract::time_of(space, candidate.config);
    return std::isinf(time) ? Evaluation::failed(Verdict::crashed, "corner") : Evaluation::succeeded(time);
  };
  const auto hybrid = [&](const ScriptedChat& model, std::uint64_t budget, std::size_t in_flight) {
    return Optimizer(Seeded(LlmConfigSearch(space, model, {.rounds = 1}), Lfbo(space)),
                     TemplateGenerator(kernel), FunctionEvaluator(judge),
                     {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(budget)});
  };
  const ScriptedChat broken([](const ChatRequest&, std::size_t) { return ScriptedChat::fails("no key"); });
  for (const std::size_t in_flight : {std::size_t{1}, std::size_t{4}}) {
    auto search = hybrid(broken, 60, in_flight);
    CHECK(search.run().trials == 60);
    CHECK(search.policy().first().ending() == "the model failed (server): no key");
  }
  // Told again what the first part was told, the second goes on the same, replies included.
  struct Recorder {
    RunRecord<Candidate, Config> record;
    void on_ask(const AskEvent& event) { record.events.emplace_back(event); }
    void on_trial(const Trial<Candidate>& trial, const Config& config) {
      record.events.emplace_back(ToldEvent<Candidate, Config>{trial, config});
    }
  };
  auto whole = hybrid(drawing_model(space), 60, 1);
  whole.run();
  for (const std::uint64_t part : {5u, 11u, 20u, 40u}) {
    CAPTURE(part);
    Recorder recorder;
    auto first = hybrid(drawing_model(space), part, 1);
    first.run(recorder);
    auto second = hybrid(drawing_model(space), 60, 1);
    second.resume(recorder.record);
    second.run();
    REQUIRE(second.trials().size() == whole.trials().size());
    for (std::size_t i = 0; i < whole.trials().size(); ++i)
      CHECK(second.trials()[i].candidate->config == whole.trials()[i].candidate->config);
  }
}

TEST_CASE("LlmConfigSearch: a cut reply is asked again with more room, and the end is said") {
  const Space space = policy_contract::small_space();
  const std::string good = R"({"configs":[{"block":128,"unroll":3}]})";
  std::vector<std::string> said;
  std::vector<Exchange> log;
  LlmConfigSearchOptions options{.rounds = 1, .random_seeds = 1, .max_tokens = 1000};
  options.say = [&said](const std::string& text) { said.push_back(text); };
  options.log = [&log](const Exchange& exchange) { log.push_back(exchange); };
  SUBCASE("before its first word: the same question, no attempt") {
    ScriptedChat model([&good](const ChatRequest&, std::size_t at) {
      if (at == 0) return ScriptedChat::says("", FinishReason::length);
      return at == 1 ? ScriptedChat::says("prose") : ScriptedChat::says(good);
    });
    LlmConfigSearch policy(space, model, options);
    run_alone(policy, space);
    REQUIRE(model.calls() == 3);
    CHECK(model.asked()[1].max_tokens == 4000);
    CHECK(model.asked()[1].messages == model.asked()[0].messages);
    CHECK(policy.rounds_done() == 1);
    REQUIRE(log.size() == 3);
    CHECK(log[0].judgement.fault == ReplyFault::truncated);
    CHECK_FALSE(log[0].last);
    CHECK(log[1].judgement.fault == ReplyFault::no_code);
    CHECK(log[2].judgement.ok());
  }
  SUBCASE("in its first item") {
    ScriptedChat model([&good](const ChatRequest&, std::size_t at) {
      return at == 0 ? ScriptedChat::says(R"({"configs":[{"blo)", FinishReason::length)
                     : ScriptedChat::says(good);
    });
    LlmConfigSearch policy(space, model, options);
    run_alone(policy, space);
    REQUIRE(model.calls() == 2);
    CHECK(model.asked()[1].max_tokens == 2000);
  }
  SUBCASE("a model that is gone") {
    LlmConfigSearch policy(space, ScriptedChat::replies({}), options);
    run_alone(policy, space);
    REQUIRE(said.size() == 1);
    CHECK(said[0] ==
          "config_search: the search of configurations by a model has ended: the model failed "
          "(server): the script has ended");
    REQUIRE(log.size() == 11);
    CHECK(log[0].error.has_value());
    CHECK_FALSE(log[0].last);
    CHECK(log[10].last);
  }
}

TEST_CASE("LlmConfigSearch: questions carry the schema of their reply, unless the provider refuses it") {
  const Space space = policy_contract::small_space();
  const std::string good = R"({"configs":[{"block":128,"unroll":3,"pad":null}]})";
  std::vector<Exchange> log;
  LlmConfigSearchOptions options{.rounds = 1, .random_seeds = 1};
  options.log = [&log](const Exchange& exchange) { log.push_back(exchange); };
  ScriptedChat takes([&good](const ChatRequest&) {
    ChatResult result = ScriptedChat::says(good);
    result.reply->model = "some-model-2026";
    return result;
  });
  LlmConfigSearch policy(space, takes, options);
  run_alone(policy, space);
  REQUIRE(takes.calls() == 1);
  CHECK(takes.asked()[0].json_schema == config_schema(space));
  CHECK(takes.asked()[0].json_schema_name == "configurations");
  CHECK(policy.rounds_done() == 1);
  // The exchange is kept as those of all roles are: what answered, and which texts.
  REQUIRE(log.size() == 1);
  CHECK(log[0].model == "some-model-2026");
  CHECK(log[0].template_hash == PromptLibrary().find("config_search").hash());
  CHECK(log[0].question_hash.size() == 64);
  CHECK(log[0].reply_hash == sha256(good));

  log.clear();
  ScriptedChat refuses([&good](const ChatRequest& request) {
    return request.json_schema.empty()
               ? ScriptedChat::says(good)
               : ChatResult::failed(ChatFailure::configuration, "no response_format here");
  });
  LlmConfigSearch plain(space, refuses, options);
  run_alone(plain, space);
  REQUIRE(refuses.calls() == 2);
  CHECK(refuses.asked()[1].messages == refuses.asked()[0].messages);
  CHECK(plain.rounds_done() == 1);
  REQUIRE(log.size() == 2);
  CHECK_FALSE(log[0].last);
  // Where that was not the reason it ends.
  ScriptedChat wrong([](const ChatRequest&) { return ChatResult::failed(ChatFailure::configuration, "no"); });
  LlmConfigSearch lost(space, wrong, options);
  run_alone(lost, space);
  CHECK(wrong.calls() == 2);
  CHECK(lost.ending().find("configuration") != std::string::npos);
}
