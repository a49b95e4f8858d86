// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/http_chat_model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "http_transport.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/call_gate.hpp"
#include "kernelsearch/llm/redactor.hpp"
#include "kernelsearch/llm/sse_parser.hpp"
#include "provider_reply.hpp"
#include "provider_request.hpp"

namespace kernelsearch {
namespace {

using Clock = std::chrono::steady_clock;
using detail::ProviderReply;
using Headers = std::vector<std::pair<std::string, std::string>>;

/// One attempt: a reply, or what came in its place.
struct Attempt {
  std::optional<ChatReply> reply;
  ChatFailure failure = ChatFailure::server;
  std::string text;
  int http_status = 0;
  std::string retry_after, retry_after_ms;
  TokenUsage usage;
};

/// What a call needs from the environment.
struct Secrets {
  std::string key;
  Headers headers;
  Redactor redactor;
};

std::string environment(const Endpoint& endpoint, const std::string& name, Redactor& redactor) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0')
    detail::raise<ConfigError>("the environment has no key for the model `" + endpoint.name + "`",
                               name + " is not set", "export " + name);
  for (const char* c = value; *c != '\0'; ++c)
    if (static_cast<unsigned char>(*c) <= ' ' || *c == 127)
      detail::raise<ConfigError>("the key for the model `" + endpoint.name + "` has blanks or line ends",
                                 name + " of the environment", "set it without them");
  redactor.add(value);
  return value;
}

Secrets secrets_of(const Endpoint& endpoint) {
  Secrets secrets;
  if (!endpoint.key_env.empty()) secrets.key = environment(endpoint, endpoint.key_env, secrets.redactor);
  for (const auto& [name, value] : endpoint.headers)
    secrets.headers.emplace_back(name, value.substr(0, 4) == "env:"
                                           ? environment(endpoint, value.substr(4), secrets.redactor)
                                           : value);
  return secrets;
}

void add(TokenUsage& to, const TokenUsage& more) {
  to.input += more.input;
  to.output += more.output;
  to.cached += more.cached;
  to.cache_written += more.cache_written;
  to.reasoning += more.reasoning;
}

/// Waits; false as soon as it is stopped.
bool sleep_until(Clock::time_point until, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_until(lock, stop, until, [] { return false; });
  return !stop.stop_requested();
}

std::string_view advice(ChatFailure failure) {
  switch (failure) {
    case ChatFailure::authentication:
      return "check the key in the variable that `key_env` names";
    case ChatFailure::quota:
      return "the account has no credit left; fill it or use another model";
    case ChatFailure::rate_limited:
      return "lower `requests_per_minute` or `concurrency` of the model";
    case ChatFailure::configuration:
      return "correct the model file or the request";
    default:
      return "try again later";
  }
}

}  // namespace

struct HttpChatModel::State {
  Endpoint endpoint;
  HttpOptions options;
  CallGate gate;
  std::unique_ptr<detail::HttpTransport> transport;
  std::string target;
  std::mutex rng_mutex;
  Rng rng;

  State(Endpoint where, HttpOptions how)
      : endpoint(std::move(where)),
        options(std::move(how)),
        gate(endpoint.limits.concurrency, endpoint.limits.requests_per_minute) {
    const auto url = detail::parse_url(endpoint.base_url);
    if (!url || !url->userinfo.empty())
      detail::raise<ConfigError>("the base URL of the model `" + endpoint.name + "` cannot be used",
                                 Redactor{}(url ? "it holds a user" : endpoint.base_url),
                                 "write http://host[:port][/path] or https://..., without keys");
    for (const auto& [name, value] : endpoint.headers)
      if (name.empty() || (name + value).find_first_of("\r\n") != std::string::npos ||
          name.find_first_of(": \t") != std::string::npos)
        detail::raise<ConfigError>("a header of the model `" + endpoint.name + "` is not a header name", name,
                                   "correct it");
    target = detail::request_target(endpoint.provider, url->path);
    transport = std::make_unique<detail::HttpTransport>(
        *url, options.proxies ? *options.proxies : proxies_of_environment(), endpoint.timeouts,
        options.ca_file, options.largest_reply);
    const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    rng = Rng::stream(options.seed != 0 ? options.seed : now ^ static_cast<std::uint64_t>(::getpid()) << 32,
                      "llm retry");
  }

  Attempt ask(const std::string& body, const Headers& headers, Clock::time_point deadline,
              const std::stop_token& stop) {
    Attempt attempt;
    SseParser events;
    detail::ReplyStream stream(endpoint.provider, options.largest_reply);
    std::string whole;
    bool streamed = false;
    detail::HttpSink sink;
    sink.head = [&](const detail::HttpHead& head) {
      attempt.http_status = head.status;
      attempt.retry_after = head.header("retry-after");
      attempt.retry_after_ms = head.header("retry-after-ms");
      streamed = head.status == 200 && head.header("content-type").substr(0, 17) == "text/event-stream";
    };
    sink.body = [&](std::string_view bytes) {
      if (!streamed) {
        whole += bytes;
        return true;
      }
      const bool more = events.feed(
          bytes, [&](std::string_view type, std::string_view data) { return stream.event(type, data); });
      if (events.too_long()) stream.reply().malformed = "an event of its stream is too long";
      sink.over = stream.over();
      return more || sink.over;
    };
    const auto failed = transport->post(target, headers, body, deadline, stop, sink);

    if (attempt.http_status >= 300 && attempt.http_status < 400) {
      attempt.failure = ChatFailure::configuration;
      attempt.text = "the server sends elsewhere, which is not followed since the key would go there too";
      return attempt;
    }
    ProviderReply reply;
    const bool refused = attempt.http_status >= 400;  // then even a part of the text is useful
    if (streamed)
      reply = std::move(stream.reply());
    else if (attempt.http_status != 0 && (!failed || refused))
      reply = detail::read_reply(endpoint.provider, attempt.http_status, whole);
    attempt.usage = reply.usage;
    if (reply.error) {
      attempt.failure = reply.error->failure;
      attempt.http_status = reply.error->http_status;
      attempt.text =
          (streamed ? "the provider broke its reply off: " : "the provider says: ") + reply.error->text;
    } else if (!reply.malformed.empty()) {
      attempt.failure = ChatFailure::malformed;
      attempt.text = "the reply cannot be read: " + reply.malformed;
    } else if (failed && !(streamed && stream.over())) {
      attempt.failure = failed->failure;
      attempt.text = failed->text;
      if (streamed && failed->failure == ChatFailure::network)
        attempt.text += fmt::format(" (after {} characters of the reply)", reply.text.size());
    } else if (!reply.finish) {
      attempt.failure = ChatFailure::network;
      attempt.text =
          fmt::format("the stream ended before the reply did, after {} characters", reply.text.size());
    } else if (reply.text.empty() && reply.refusal.empty() && *reply.finish == FinishReason::stop) {
      attempt.failure = ChatFailure::malformed;
      attempt.text = "the reply is complete and empty";
    } else {
      attempt.reply.emplace();
      attempt.reply->finish = reply.refusal.empty() ? *reply.finish : FinishReason::refusal;
      attempt.reply->text = reply.text.empty() ? std::move(reply.refusal) : std::move(reply.text);
      attempt.reply->usage = reply.usage;
      attempt.reply->model = std::move(reply.model);
    }
    return attempt;
  }

  ChatResult failed(const Attempt& last, std::uint32_t attempts, const TokenUsage& paid,
                    const Redactor& redactor) const {
    ChatResult result;
    result.error.failure = last.failure;
    result.error.http_status = last.http_status;
    result.error.attempts = attempts;
    result.error.usage = paid;
    std::string what = fmt::format("the model `{}` gave no reply", endpoint.name);
    if (attempts > 1) what += fmt::format(" in {} attempts", attempts);
    std::string given = last.text;
    if (last.http_status != 0 && last.http_status != 200)
      given += fmt::format(" (status {})", last.http_status);
    result.error.text = last.failure == ChatFailure::cancelled
                            ? "the call was cancelled"
                            : redactor(detail::error_text(what, given, advice(last.failure)));
    return result;
  }

  ChatResult chat(const ChatRequest& request, const std::stop_token& stop) {
    Secrets secrets;
    std::string body;
    try {
      secrets = secrets_of(endpoint);
      body = detail::request_body(endpoint, request);
    } catch (const ConfigError& error) {
      return ChatResult::failed(ChatFailure::configuration, secrets.redactor(error.what()));
    }
    const Headers headers = detail::request_headers(endpoint, secrets.key, secrets.headers);
    Attempt last;
    last.failure = ChatFailure::cancelled;
    if (!gate.enter(stop)) return failed(last, 0, {}, secrets.redactor);
    struct Leave {
      CallGate& gate;
      ~Leave() { gate.leave(); }
    } const leave{gate};

    const Clock::time_point began = Clock::now();
    const Clock::time_point deadline =
        began + std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(std::min(endpoint.timeouts.total, 1e8)));
    TokenUsage paid;
    for (std::uint32_t attempts = 0;;) {
      if (!gate.pace(stop, deadline)) {
        if (stop.stop_requested()) {
          last.failure = ChatFailure::cancelled;
        } else if (attempts == 0) {
          last.failure = ChatFailure::timed_out;
          last.text = "its turn under `requests_per_minute` did not come within the limit `total`";
        }
        return failed(last, attempts, paid, secrets.redactor);
      }
      ++attempts;
      last = ask(body, headers, deadline, stop);
      add(paid, last.usage);
      if (last.reply) {
        last.reply->usage = paid;
        last.reply->attempts = attempts;
        last.reply->seconds = std::chrono::duration<double>(Clock::now() - began).count();
        ChatResult result;
        result.reply = std::move(last.reply);
        return result;
      }
      const auto wait = wait_after(last, attempts);
      if (!wait) return failed(last, attempts, paid, secrets.redactor);
      const Clock::time_point next =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*wait));
      if (next >= deadline) return failed(last, attempts, paid, secrets.redactor);
      if (options.on_retry)
        options.on_retry(secrets.redactor(fmt::format(
            "the model `{}` gave no reply ({}{}): {}; attempt {} of {} in {:.1f} s", endpoint.name,
            to_string(last.failure),
            last.http_status != 0 && last.http_status != 200 ? fmt::format(", status {}", last.http_status)
                                                             : std::string(),
            last.text, attempts + 1, options.retry.attempts, *wait)));
      if (!sleep_until(next, stop)) {
        last.failure = ChatFailure::cancelled;
        return failed(last, attempts, paid, secrets.redactor);
      }
    }
  }

  std::optional<double> wait_after(const Attempt& last, std::uint32_t attempts) {
    FailedAttempt failed;
    failed.failure = last.failure;
    failed.http_status = last.http_status;
    failed.retry_after = last.retry_after;
    failed.retry_after_ms = last.retry_after_ms;
    failed.attempt = attempts;
    failed.now =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    const std::lock_guard lock(rng_mutex);
    return retry_wait(failed, options.retry, rng);
  }
};

HttpChatModel::HttpChatModel(Endpoint endpoint, HttpOptions options)
    : state_(std::make_unique<State>(std::move(endpoint), std::move(options))) {}
HttpChatModel::HttpChatModel(HttpChatModel&&) noexcept = default;
HttpChatModel& HttpChatModel::operator=(HttpChatModel&&) noexcept = default;
HttpChatModel::~HttpChatModel() = default;

ChatResult HttpChatModel::chat(const ChatRequest& request, std::stop_token stop) {
  return state_->chat(request, stop);
}
const Endpoint& HttpChatModel::endpoint() const noexcept {
  return state_->endpoint;
}
std::size_t HttpChatModel::connections() const noexcept {
  return state_->transport->connections();
}

}  // namespace kernelsearch
