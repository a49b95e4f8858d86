// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/llm_config_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <future>
#include <stop_token>
#include <thread>
#include <unordered_set>
#include <utility>

#include "exchange.hpp"
#include "kernelsearch/agents/config_item.hpp"
#include "kernelsearch/agents/json_salvage.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "unanswered.hpp"

namespace kernelsearch {
namespace {

constexpr double failing_share = 1.0 / 3.0;       // from which on the model is told to be careful (Helion)
constexpr std::size_t shown_of_bad_reply = 2000;  // characters
constexpr const char* all_known =
    "every configuration in it is measured already or about to be; change one more tunable of each, to "
    "values that no "
    "row of the results has";

ChatResult guarded_chat(const AnyChatModel& model, const ChatRequest& request, std::stop_token stop) {
  try {
    return model.chat(request, std::move(stop));
  } catch (const std::exception& error) {
    return ChatResult::failed(ChatFailure::malformed, error.what());
  }
}

/// A question asked in a thread of its own; gone, it cancels.
class Question {
 public:
  Question(const AnyChatModel& model, ChatRequest request, std::stop_token outside)
      : request_(std::move(request)),
        thread_([this, model, outside = std::move(outside)](std::stop_token own) {
          std::stop_source either;
          const std::stop_callback a(own, [&either] { either.request_stop(); });
          const std::stop_callback b(outside, [&either] { either.request_stop(); });
          reply_.set_value(guarded_chat(model, request_, either.get_token()));
        }) {}

  [[nodiscard]] const ChatRequest& request() const noexcept { return request_; }
  [[nodiscard]] ChatResult wait() { return reply_.get_future().get(); }

 private:
  ChatRequest request_;
  std::promise<ChatResult> reply_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

struct LlmConfigSearch::State {
  /// An item of a reply as it was written, as far as a line takes it.
  static std::string one_line(const std::string& item) {
    constexpr std::size_t longest = 200;
    std::string line = shortened(clean_text(item), longest);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
  }

  State(Space the_space, AnyChatModel the_model, LlmConfigSearchOptions the_options)
      : space(std::move(the_space)),
        model(std::move(the_model)),
        options(std::move(the_options)),
        prompts(options.prompts ? *options.prompts : PromptLibrary()),
        random(space, {.seed = options.seed, .default_first = false}),
        history(space) {
    if (options.configs_per_round == 0 || options.rounds == 0)
      detail::raise<ConfigError>("LlmConfigSearchOptions has a count of 0", "rounds or configs_per_round",
                                 "give at least 1 of each");
    for (const Config& seed : options.seeds)
      if (!space.contains(seed))
        detail::raise<ConfigError>("a seed is not a configuration of the space",
                                   "one of LlmConfigSearchOptions::seeds",
                                   "take seeds from Space::config_of or Space::nearest");
  }

  // --- what is proposed ----------------------------------------------------------------------------------

  [[nodiscard]] bool taken(const Config& config) const {
    return proposed.contains(config) || history.contains(config);
  }

  void begin() {
    begun = true;
    std::deque<Config> first{space.default_config()};
    first.insert(first.end(), options.seeds.begin(), options.seeds.end());
    std::size_t seeds = std::min(options.random_seeds, options.seeds.size());
    for (Config& config : first)
      if (queued.insert(config).second) queue.push_back(std::move(config));
    while (seeds < options.random_seeds) {
      std::vector<Config> drawn = random.ask(1);
      if (drawn.empty()) break;
      if (!queued.insert(drawn.front()).second) continue;
      queue.push_back(std::move(drawn.front()));
      ++seeds;
    }
    ask_model(question_request());
  }

  // --- questions -----------------------------------------------------------------------------------------

  [[nodiscard]] ChatRequest question_request() const {
    const bool first = round == 0;
    ChatRequest request;
    request.role = options.role;
    request.model = options.model;
    request.temperature = options.temperature;
    const std::size_t tokens = std::clamp<std::size_t>(256 + 128 * options.configs_per_round, 512, 4096);
    request.max_tokens = options.max_tokens != 0 ? options.max_tokens : static_cast<std::uint32_t>(tokens);
    if (enforced) {
      request.json_schema = config_schema(space);
      request.json_schema_name = request.json_schema.empty() ? "" : "configurations";
    }
    request.messages =
        prompts.find("config_search")
            .render({{"kernel", options.kernel.empty()
                                    ? ""
                                    : kernelsearch::quoted(options.kernel, {}, options.kernel_limit)},
                     {"workload", options.workload},
                     {"device", options.device},
                     {"space", space_text(space)},
                     {"default", config_text(space, space.default_config())},
                     {"results", first ? "" : history.text(options.history) + adjusted_text()},
                     {"failing", history.failed_share() >= failing_share ? "yes" : ""},
                     {"count", std::to_string(options.configs_per_round)}});
    return request;
  }

  /// What of the last reply was not in the space, so that the model does not take the results for those of
  /// what it wrote.
  [[nodiscard]] std::string adjusted_text() const {
    constexpr std::size_t most = 5;
    if (adjusted.empty()) return {};
    std::string text = "Not in the space, so that another configuration was taken instead:\n";
    for (std::size_t i = 0; i < std::min(most, adjusted.size()); ++i) text += "- " + adjusted[i] + '\n';
    if (adjusted.size() > most) text += fmt::format("- and {} more\n", adjusted.size() - most);
    return text;
  }

  [[nodiscard]] ChatRequest again_request(ChatRequest request, const ChatReply& reply,
                                          const std::string& fault) const {
    if (!reply.text.empty())  // providers refuse empty messages
      request.messages.push_back(
          {Speaker::assistant, shortened(clean_text(reply.text), shown_of_bad_reply), false});
    for (Message& message :
         prompts.find("config_search_again")
             .render({{"fault", fault}, {"count", std::to_string(options.configs_per_round)}}))
      request.messages.push_back(std::move(message));
    return request;
  }

  void ask_model(ChatRequest request) {
    question = std::make_unique<Question>(model, std::move(request), options.stop);
  }

  // --- replies -------------------------------------------------------------------------------------------

  void log(const ChatRequest& request, const ChatResult& result, std::size_t attempt,
           const ReplyJudgement& judgement, bool last) const {
    if (!options.log) return;
    Exchange exchange = detail::exchange_of(request, result, prompts, "config_search", attempt);
    exchange.judgement = judgement;
    exchange.last = last;
    options.log(exchange);
  }

  /// Queues what is new; says what is wrong where no item was a configuration.
  [[nodiscard]] ReplyJudgement take(const ChatReply& reply) {
    const SalvagedItems salvaged = salvage_items(reply.text, "configs");
    std::size_t read = 0, fresh = 0;
    adjusted.clear();
    for (const std::string& text : salvaged.items) {
      const std::optional<ConfigItem> item = read_config_item(space, text);
      read += item ? 1 : 0;
      if (item && (item->repaired > 0 || item->moved || item->ignored > 0))
        adjusted.push_back(one_line(text) + " became " + config_text(space, item->config));
      if (item && fresh < options.configs_per_round && !taken(item->config) &&
          queued.insert(item->config).second) {
        queue.push_back(item->config);
        ++fresh;
      } else {
        ++dropped;
      }
    }
    if (!adjusted.empty() && options.say)
      options.say(
          fmt::format("{}: {} of {} configurations of the reply were not in the space and were changed, "
                      "e.g. {}",
                      options.role, adjusted.size(), read, adjusted.front()));
    if (read > 0) return {};
    if (reply.text.empty())
      return {reply.finish == FinishReason::length ? ReplyFault::truncated : ReplyFault::empty,
              reply.finish == FinishReason::stop
                  ? "it was empty"
                  : "it was empty (" + std::string(to_string(reply.finish)) + ")"};
    if (reply.finish == FinishReason::refusal || reply.finish == FinishReason::filter)
      return {ReplyFault::declined, "it was no answer"};
    if (!salvaged.items.empty()) return {ReplyFault::bad_tunables, "its items name no tunable of the space"};
    if (salvaged.cut || reply.finish == FinishReason::length)
      return {ReplyFault::truncated, "it was cut before the first item was complete"};
    return {ReplyFault::no_code, "it holds no JSON list of configurations"};
  }

  /// Waits for the reply in flight and, where it cannot be used, for another.
  bool finish_question() {
    bool raised = false;
    std::size_t repeated = 0, outages = 0;
    for (std::size_t attempt = 0;;) {
      ChatResult result = question->wait();
      ChatRequest request = question->request();
      question.reset();
      if (!result && !request.json_schema.empty() &&
          result.error.failure == ChatFailure::configuration) {  // perhaps the provider takes no schema
        log(request, result, attempt, {}, false);
        enforced = false;
        request.json_schema.clear();
        request.json_schema_name.clear();
        ask_model(std::move(request));
        continue;
      }
      if (!result && detail::is_outage(result.error.failure) && outages < options.outages_again) {
        log(request, result, attempt, {}, false);
        request.repetition = ++outages;  // a recording has the failure of the same question
        ask_model(std::move(request));
        continue;
      }
      if (!result) {
        log(request, result, attempt, {}, true);
        return end("the model failed (" + std::string(to_string(result.error.failure)) +
                   "): " + result.error.text);
      }
      outages = 0;
      const ReplyJudgement judgement = take(*result.reply);
      const bool cut = result.reply->finish == FinishReason::length;
      const bool again = cut && result.reply->text.empty() && !raised;
      const bool repeats = judgement.ok() && queue.empty() && repeated < options.repeats_again;
      log(request, result, attempt + repeated, judgement,
          !repeats && (judgement.ok() || (!again && attempt == options.ask_again)));
      if (repeats) {
        ++repeated;
        ask_model(again_request(std::move(request), *result.reply, all_known));
        continue;
      }
      if (judgement.ok()) break;
      if (again) {  // thinking has used the limit up: no attempt
        raised = true;
        request.max_tokens = detail::roomier * request.max_tokens;
        ask_model(std::move(request));
        continue;
      }
      if (attempt == options.ask_again) return end("the reply could not be used: " + judgement.detail);
      ++attempt;
      if (cut) request.max_tokens = std::max(request.max_tokens, 2 * question_request().max_tokens);
      ask_model(again_request(std::move(request), *result.reply, judgement.detail));
    }
    ++round;
    if (queue.empty()) return end("the reply held no configuration that is new");
    best_before = history.best();
    return true;
  }

  /// After all of a round was measured: whether to ask for another round.
  bool next_round() {
    if (round > 1) {  // the first round's gain is over seeds, not over the model's own
      const double best = history.best();
      const bool gained =
          std::isinf(best_before) ? !std::isinf(best) : best < best_before * (1 - options.min_gain);
      fruitless = gained ? 0 : fruitless + 1;
    }
    if (round >= options.rounds) return end("all rounds are done");
    if (fruitless >= options.fruitless_rounds)
      return end(std::to_string(fruitless) + " rounds in a row gained too little");
    ask_model(question_request());
    return true;
  }

  bool end(std::string why) {
    ending = std::move(why);
    if (options.say)
      options.say(options.role + ": the search of configurations by a model has ended: " + ending);
    return false;
  }

  Space space;
  AnyChatModel model;
  LlmConfigSearchOptions options;
  PromptLibrary prompts;
  RandomSearch random;
  ConfigHistory history;
  std::deque<Config> queue;
  std::unordered_set<Config> queued, proposed;
  std::unique_ptr<Question> question;
  std::string ending;
  std::size_t round = 0;  ///< usable replies
  std::size_t fruitless = 0, dropped = 0;
  std::vector<std::string> adjusted;  ///< of the last reply: what is not in the space, and what became of it
  double best_before = 0.0;
  bool begun = false;
  bool enforced = true;  ///< questions carry the schema of their reply
};

LlmConfigSearch::LlmConfigSearch(Space space, AnyChatModel model, LlmConfigSearchOptions options)
    : state_(std::make_unique<State>(std::move(space), std::move(model), std::move(options))) {}
LlmConfigSearch::LlmConfigSearch(LlmConfigSearch&&) noexcept = default;
LlmConfigSearch& LlmConfigSearch::operator=(LlmConfigSearch&&) noexcept = default;
LlmConfigSearch::~LlmConfigSearch() = default;

std::vector<Config> LlmConfigSearch::ask(std::size_t n) {
  State& s = *state_;
  if (!s.begun) s.begin();
  std::vector<Config> proposals;
  while (proposals.size() < n && !s.queue.empty()) {
    Config config = std::move(s.queue.front());
    s.queue.pop_front();
    if (s.history.contains(config) || !s.proposed.insert(config).second) continue;
    proposals.push_back(std::move(config));
  }
  return proposals;
}

void LlmConfigSearch::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) state_->history.tell(observation);
}

bool LlmConfigSearch::await() {
  State& s = *state_;
  if (!s.ending.empty()) return false;
  if (!s.begun) s.begin();
  while (true) {
    while (!s.queue.empty() && s.taken(s.queue.front())) s.queue.pop_front();  // told meanwhile
    if (!s.queue.empty()) return true;
    if (!s.question && !s.next_round()) return false;
    if (!s.finish_question()) return false;
  }
}

const std::string& LlmConfigSearch::ending() const noexcept {
  return state_->ending;
}
std::size_t LlmConfigSearch::rounds_done() const noexcept {
  return state_->round;
}
std::size_t LlmConfigSearch::items_dropped() const noexcept {
  return state_->dropped;
}

}  // namespace kernelsearch
