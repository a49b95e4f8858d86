// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_models.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/llm/exchange_folder.hpp"
#include "kernelsearch/llm/ledgered_model.hpp"
#include "kernelsearch/llm/model_set.hpp"
#include "kernelsearch/llm/recorded_model.hpp"
#include "kernelsearch/llm/scripted_replies.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t most_of_message = 300;  // characters

/// The one model for all roles, whose temperatures and limits stay.
void take_everywhere(ModelFile& file, const std::string& model) {
  if (model.empty()) return;
  file.default_model = model;
  for (RoleChoice& choice : file.roles) choice.model.clear();
  (void)file.resolve({});  // a stranger is found out now
}

/// Books what the earlier parts of a run have spent.
void book_earlier(const std::string& folder, Ledger& ledger, const ModelFile& file) {
  ExchangeFolder(folder).each(
      [&](const std::string& role, const std::string& model, const ChatResult& result) {
        const Endpoint* const endpoint = file.find(model);
        ledger.book(role, endpoint != nullptr ? endpoint->name : model, result, 0.0,
                    endpoint != nullptr ? endpoint->prices : std::nullopt);
      });
}

}  // namespace

void FaultCount::add(ReplyFault fault) {
  if (fault == ReplyFault::none) return;
  const std::lock_guard lock(mutex_);
  ++counts_[static_cast<std::size_t>(fault)];
}

nlohmann::json FaultCount::json() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json counts = nlohmann::json::object();
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0) counts[std::string(to_string(static_cast<ReplyFault>(i)))] = counts_[i];
  return counts;
}

std::string FaultCount::text() const {
  const nlohmann::json counts = json();
  std::uint64_t all = 0;
  std::string each;
  for (const auto& [name, count] : counts.items()) {
    all += count.get<std::uint64_t>();
    each += (each.empty() ? "" : ", ") + std::to_string(count.get<std::uint64_t>()) + ' ' + name;
  }
  return all == 0 ? "" : std::to_string(all) + " (" + each + ')';
}

void ModelWatch::see(const Exchange& exchange) {
  if (exchange.error && exchange.error->failure == ChatFailure::cancelled)
    return;  // the run is being stopped
  const std::lock_guard lock(mutex_);
  ++asked_;
  if (!exchange.error && exchange.judgement.ok()) {
    if (!exchange.for_another) ++usable_;
    in_a_row_ = 0;
    last_kind_.clear();
    return;
  }
  const std::string kind(exchange.error ? to_string(exchange.error->failure)
                                        : to_string(exchange.judgement.fault));
  const std::string what = shortened(
      clean_text(exchange.error ? exchange.error->text : exchange.judgement.detail), most_of_message);
  last_ = fmt::format("{}: {} ({}): {}", exchange.role,
                      exchange.error ? "no reply" : "a reply that cannot be used", kind, what);
  in_a_row_ = kind == last_kind_ ? in_a_row_ + 1 : 1;
  last_kind_ = kind;
  // An hour of the same is a few lines: the 1st, 2nd, 4th, 8th, ...
  if ((in_a_row_ & (in_a_row_ - 1)) != 0 || !say_) return;
  say_(last_ + (in_a_row_ > 1 ? fmt::format(" ({} in a row)", in_a_row_) : std::string()) +
       (exchange.last ? "; the question is given up, and the search goes on without it"
                      : "; it is asked again"));
}

std::string ModelWatch::no_reply() const {
  const std::lock_guard lock(mutex_);
  if (asked_ == 0 || usable_ != 0) return {};
  return fmt::format("no model gave a reply that could be used, to {} {}; the last: {}", asked_,
                     asked_ == 1 ? "question" : "questions", last_);
}

RunModels open_models(const RunModelOptions& o, const std::filesystem::path& folder, MessageTeller say) {
  RunModels asked;
  asked.folder = folder;
  asked.ledger = std::make_shared<Ledger>(LedgerLimits{.money = o.max_cost, .tokens = o.max_tokens});
  const std::string kept = folder.string();
  if (ScriptedReplies::has_script(o.replay)) {
    book_earlier(kept, *asked.ledger, {});
    asked.model = RecordedModel(LedgeredModel(ScriptedReplies(o.replay), asked.ledger, "script"),
                                std::make_shared<const ExchangeFolder>(kept), RecordMode::replay_else_ask);
    return asked;
  }
  ModelFile file = read_model_file(find_model_file(o.file));
  take_everywhere(file, o.model);
  ModelSetOptions options;
  options.ledger = asked.ledger;
  options.http.on_retry = std::move(say);
  if (o.replay.empty()) {
    book_earlier(kept, *asked.ledger, file);
    options.recording = kept;
    options.mode = RecordMode::replay_else_ask;
    options.book_replays = false;  // the folder is this run's own, and all of it is booked
  } else {
    options.recording = o.replay;
    options.mode = RecordMode::replay;
    asked.folder = o.replay;
  }
  asked.model = ModelSet(std::move(file), options);
  return asked;
}

std::string RunModels::json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::parse(ledger->json());
  out["faults"] = faults->json();
  out["exchanges"] = folder.string();
  return out.dump();
}

std::string RunModels::text() const {
  std::string text = ledger->text();
  if (const std::string counted = faults->text(); !counted.empty())
    text += fmt::format("{:<10} {}\n", "faults", counted);
  return text + fmt::format("{:<10} {}\n", "exchanges", folder.string());
}

std::filesystem::path exchanges_of(const std::filesystem::path& store, std::int64_t run) {
  return store.string() + ".exchanges/" + std::to_string(run);
}

}  // namespace kernelsearch::detail
