// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "provider_reply.hpp"

// Boost.JSON, header-only, and not nlohmann/json: a streamed reply is thousands of small documents, which it
// reads without an allocation each (docs/benchmarks/llm.md).
#include <algorithm>
#include <array>
#include <boost/json/src.hpp>
#include <charconv>

#include "kernelsearch/llm/retry_policy.hpp"

namespace kernelsearch::detail {
namespace {

namespace bj = boost::json;

const bj::value* find(const bj::value* value, std::string_view key) {
  const bj::object* object = value ? value->if_object() : nullptr;
  return object ? object->if_contains(bj::string_view(key.data(), key.size())) : nullptr;
}

const bj::array* list(const bj::value* value) {
  return value ? value->if_array() : nullptr;
}

std::string_view text(const bj::value* value) {
  const bj::string* string = value ? value->if_string() : nullptr;
  return string ? std::string_view(string->data(), string->size()) : std::string_view{};
}

std::uint64_t count(const bj::value* value) {
  if (value == nullptr) return 0;
  if (const std::int64_t* number = value->if_int64())
    return *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
  if (const std::uint64_t* number = value->if_uint64()) return *number;
  return 0;
}

/// A text, or the texts of an array of parts, as some servers send it.
void append_content(std::string& to, const bj::value* content) {
  to += text(content);
  if (const bj::array* parts = list(content))
    for (const bj::value& part : *parts)
      if (const std::string_view type = text(find(&part, "type")); type.empty() || type == "text")
        to += text(find(&part, "text"));
}

std::string shortened(std::string_view words) {
  constexpr std::size_t most = 500;
  std::string result;
  for (const char c : words.substr(0, most)) result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return words.size() > most ? result + "..." : result;
}

bool mentions(std::string_view words, std::string_view what) {
  return words.find(what) != std::string_view::npos;
}

/// Providers name their errors where the status says little, as inside a stream that began with 200.
int status_of_type(std::string_view type, int http_status) {
  struct Named {
    std::string_view type;
    int status;
  };
  constexpr std::array<Named, 12> names{{{"overloaded_error", 529},
                                         {"rate_limit_error", 429},
                                         {"rate_limit_exceeded", 429},
                                         {"insufficient_quota", 429},
                                         {"api_error", 500},
                                         {"server_error", 500},
                                         {"timeout_error", 504},
                                         {"authentication_error", 401},
                                         {"permission_error", 403},
                                         {"billing_error", 402},
                                         {"not_found_error", 404},
                                         {"invalid_request_error", 400}}};
  if (http_status >= 400) return http_status;
  for (const Named& named : names)
    if (type == named.type) return named.status;
  return 500;  // an unspecific error may be temporary
}

ProviderError read_error(const bj::value* error, int http_status, std::string_view body) {
  std::string_view type = text(find(error, "type"));
  std::string_view code = text(find(error, "code"));
  std::string_view message = text(find(error, "message"));
  if (message.empty()) message = text(error);
  if (message.empty()) message = body;
  ProviderError result;
  result.http_status = status_of_type(type, http_status);
  if (http_status < 400) {
    // Chat completions have numbers here too: 429 and "429".
    int number = static_cast<int>(std::min<std::uint64_t>(count(find(error, "code")), 1000));
    if (number == 0) std::from_chars(code.data(), code.data() + code.size(), number);
    if (number >= 400 && number < 600)
      result.http_status = number;
    else if (!code.empty() && status_of_type(code, 0) != 500)
      result.http_status = status_of_type(code, 0);
  }
  result.failure = failure_of_status(result.http_status);
  // Codes of the two providers for an account that is empty: waiting does not fill it.
  for (const std::string_view word : {type, code})
    if (mentions(word, "quota") || mentions(word, "billing") || mentions(word, "credit"))
      result.failure = ChatFailure::quota;
  if (result.failure != ChatFailure::server &&
      (mentions(message, "credit balance is too low") || mentions(message, "exceeded your current quota")))
    result.failure = ChatFailure::quota;
  if (!type.empty()) (result.text += type) += ": ";
  result.text += shortened(message);
  return result;
}

std::optional<FinishReason> openai_finish(std::string_view reason) {
  if (reason.empty()) return std::nullopt;
  if (reason == "stop") return FinishReason::stop;
  if (reason == "length" || reason == "max_tokens") return FinishReason::length;
  if (reason == "content_filter") return FinishReason::filter;
  if (reason == "refusal") return FinishReason::refusal;
  return FinishReason::other;
}

std::optional<FinishReason> anthropic_finish(std::string_view reason) {
  if (reason.empty()) return std::nullopt;
  if (reason == "end_turn" || reason == "stop_sequence") return FinishReason::stop;
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return FinishReason::length;
  if (reason == "refusal") return FinishReason::refusal;
  return FinishReason::other;
}

void read_openai_usage(const bj::value* usage, TokenUsage& into) {
  if (usage == nullptr || !usage->is_object()) return;
  into.input = count(find(usage, "prompt_tokens"));
  into.output = count(find(usage, "completion_tokens"));
  into.cached = count(find(find(usage, "prompt_tokens_details"), "cached_tokens"));
  into.reasoning = count(find(find(usage, "completion_tokens_details"), "reasoning_tokens"));
}

/// Here `input_tokens` leaves out what the cache has read or written; ours has all of it. Later events repeat
/// some numbers and leave out others.
void read_anthropic_usage(const bj::value* usage, TokenUsage& into) {
  if (usage == nullptr || !usage->is_object()) return;
  std::uint64_t plain = into.input - std::min(into.input, into.cached + into.cache_written);
  if (const bj::value* read = find(usage, "cache_read_input_tokens")) into.cached = count(read);
  if (const bj::value* written = find(usage, "cache_creation_input_tokens"))
    into.cache_written = count(written);
  if (const bj::value* input = find(usage, "input_tokens")) plain = count(input);
  if (const bj::value* output = find(usage, "output_tokens")) into.output = count(output);
  into.input = plain + into.cached + into.cache_written;
}

void read_openai(const bj::value& document, ProviderReply& reply) {
  reply.model = text(find(&document, "model"));
  read_openai_usage(find(&document, "usage"), reply.usage);
  const bj::array* choices = list(find(&document, "choices"));
  if (choices == nullptr || choices->empty()) {
    reply.malformed = "it has no `choices`";
    return;
  }
  const bj::value* message = find(&choices->front(), "message");
  append_content(reply.text, find(message, "content"));
  reply.refusal = text(find(message, "refusal"));
  reply.finish = openai_finish(text(find(&choices->front(), "finish_reason")));
  if (!reply.finish) reply.finish = FinishReason::stop;  // some local servers leave it out
}

void read_anthropic(const bj::value& document, ProviderReply& reply) {
  reply.model = text(find(&document, "model"));
  read_anthropic_usage(find(&document, "usage"), reply.usage);
  const bj::array* content = list(find(&document, "content"));
  if (content == nullptr) {
    reply.malformed = "it has no `content`";
    return;
  }
  for (const bj::value& block : *content)
    if (text(find(&block, "type")) == "text") reply.text += text(find(&block, "text"));
  reply.finish = anthropic_finish(text(find(&document, "stop_reason")));
  if (!reply.finish) reply.finish = FinishReason::other;
}

}  // namespace

ProviderReply read_reply(Provider provider, int http_status, std::string_view body) {
  ProviderReply reply;
  boost::system::error_code failed;
  const bj::value document = bj::parse(bj::string_view(body.data(), body.size()), failed);
  const bj::value* error = failed ? nullptr : find(&document, "error");
  if (http_status < 200 || http_status >= 300 || (error != nullptr && !error->is_null())) {
    reply.error = read_error(error, http_status, body);
    return reply;
  }
  if (failed || !document.is_object()) {
    reply.malformed = body.empty() ? "it is empty" : "it is not JSON: " + shortened(body.substr(0, 120));
    return reply;
  }
  provider == Provider::openai ? read_openai(document, reply) : read_anthropic(document, reply);
  return reply;
}

/// One block for all events: each is read, used and forgotten.
struct ReplyStream::Memory {
  std::array<unsigned char, 16384> block;
};

ReplyStream::ReplyStream(Provider provider, std::size_t largest)
    : provider_(provider), largest_(largest), memory_(std::make_unique<Memory>()) {}
ReplyStream::~ReplyStream() = default;

bool ReplyStream::malformed(std::string text) {
  reply_.malformed = std::move(text);
  return false;
}

bool ReplyStream::event(std::string_view type, std::string_view data) {
  if (over_ || reply_.error || !reply_.malformed.empty()) return false;
  if (data == "[DONE]") {
    over_ = true;
    return false;
  }
  bj::monotonic_resource memory(memory_->block.data(), memory_->block.size());
  boost::system::error_code failed;
  const bj::value document = bj::parse(bj::string_view(data.data(), data.size()), failed, &memory);
  if (failed || !document.is_object())
    return malformed("an event of its stream is not JSON: " + shortened(data.substr(0, 120)));
  if (const bj::value* error = find(&document, "error");
      (error != nullptr && !error->is_null()) || type == "error") {
    reply_.error = read_error(error ? error : &document, 0, data);
    return false;
  }
  if (provider_ == Provider::openai) {
    if (reply_.model.empty()) reply_.model = text(find(&document, "model"));
    read_openai_usage(find(&document, "usage"), reply_.usage);
    // The last event, with the usage, has no choices.
    if (const bj::array* choices = list(find(&document, "choices"));
        choices != nullptr && !choices->empty()) {
      const bj::value& choice = choices->front();
      const bj::value* delta = find(&choice, "delta");
      append_content(reply_.text, find(delta, "content"));
      reply_.refusal += text(find(delta, "refusal"));
      if (const auto finish = openai_finish(text(find(&choice, "finish_reason")))) reply_.finish = finish;
    }
  } else {
    const std::string_view kind = text(find(&document, "type"));
    if (kind == "message_start") {
      const bj::value* message = find(&document, "message");
      reply_.model = text(find(message, "model"));
      read_anthropic_usage(find(message, "usage"), reply_.usage);
    } else if (kind == "content_block_start") {
      const bj::value* block = find(&document, "content_block");
      if (text(find(block, "type")) == "text") reply_.text += text(find(block, "text"));
    } else if (kind == "content_block_delta") {
      const bj::value* delta = find(&document, "delta");
      if (text(find(delta, "type")) == "text_delta") reply_.text += text(find(delta, "text"));
    } else if (kind == "message_delta") {
      if (const auto finish = anthropic_finish(text(find(find(&document, "delta"), "stop_reason"))))
        reply_.finish = finish;
      read_anthropic_usage(find(&document, "usage"), reply_.usage);
    } else if (kind == "message_stop") {
      over_ = true;
      return false;
    }
  }
  if (reply_.text.size() + reply_.refusal.size() > largest_) return malformed("it is longer than the limit");
  return true;
}

}  // namespace kernelsearch::detail
