// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/model_set.hpp"

#include <cstdlib>
#include <map>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/ledgered_model.hpp"
#include "kernelsearch/llm/raised_limit.hpp"

namespace kernelsearch {

struct ModelSet::State {
  ModelFile file;
  std::shared_ptr<Ledger> ledger;
  std::map<std::string, AnyChatModel> models;
};

namespace {

Redactor redactor_for(const ModelFile& file) {
  Redactor redactor;
  for (const Endpoint& endpoint : file.models) {
    if (const char* key = endpoint.key_env.empty() ? nullptr : std::getenv(endpoint.key_env.c_str()))
      redactor.add(key);
    for (const auto& [name, value] : endpoint.headers)
      if (value.substr(0, 4) == "env:")
        if (const char* secret = std::getenv(value.c_str() + 4)) redactor.add(secret);
  }
  return redactor;
}

AnyChatModel model_of(const Endpoint& endpoint, const ModelSetOptions& options,
                      const std::shared_ptr<Ledger>& ledger,
                      const std::shared_ptr<const ExchangeFolder>& folder) {
  HttpChatModel model(endpoint, options.http);
  const auto booked = [&](auto asked) {
    return LedgeredModel(std::move(asked), ledger, endpoint.name, endpoint.prices);
  };
  const auto recorded = [&](auto asked) { return RecordedModel(std::move(asked), folder, options.mode); };
  const std::uint32_t most = endpoint.limits.max_tokens;
  if (!folder) return RaisedLimit(booked(std::move(model)), most);
  if (!options.book_replays) return RaisedLimit(recorded(booked(std::move(model))), most);
  // The ledger outside the recording: a replayed run spends what the recorded one spent, and stops where it
  // did.
  return RaisedLimit(booked(recorded(std::move(model))), most);
}

}  // namespace

ModelSet::ModelSet(ModelFile file, ModelSetOptions options) : state_(std::make_shared<State>()) {
  state_->file = std::move(file);
  state_->ledger = options.ledger ? options.ledger : std::make_shared<Ledger>();
  std::shared_ptr<const ExchangeFolder> folder;
  if (!options.recording.empty())
    folder = std::make_shared<const ExchangeFolder>(options.recording, redactor_for(state_->file));
  for (const Endpoint& endpoint : state_->file.models)
    state_->models[endpoint.name] = model_of(endpoint, options, state_->ledger, folder);
}

ChatResult ModelSet::chat(const ChatRequest& request, std::stop_token stop) const {
  try {
    auto [endpoint, resolved] = state_->file.resolve(request);
    return state_->models.at(endpoint->name).chat(resolved, std::move(stop));
  } catch (const ConfigError& error) {
    return ChatResult::failed(ChatFailure::configuration, error.what());
  }
}

const ModelFile& ModelSet::file() const noexcept {
  return state_->file;
}
Ledger& ModelSet::ledger() const noexcept {
  return *state_->ledger;
}

}  // namespace kernelsearch
