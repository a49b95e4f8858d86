// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/command_policy.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "line_process.hpp"
#include "new_name.hpp"
#include "policy_messages.hpp"

namespace kernelsearch {

struct CommandPolicy::Body {
  Body(std::string its_name, const std::string& command, const PolicySetup& setup,
       const PolicyCommandOptions& options)
      : name(std::move(its_name)),
        space(setup.space),
        seconds(options.answer_seconds),
        process(command, options.folder) {}
  ~Body() {
    // Its end is asked for; a process that is gone already is not one of our business any more.
    if (!failed) (void)process.write(external::end_message(), 1.0);
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  [[noreturn]] void fail(const Fault& fault) {
    failed = true;
    detail::raise<ConfigError>("policy " + name + " " + fault.what,
                               fault.given + " (after " + std::to_string(told) + " trials)", fault.todo);
  }
  void send(std::string message) {
    // Else it would be taken for the answer to what is asked now, and each later answer for another's.
    if (const std::string& more = process.unread(); !more.empty())
      fail({"spoke without being asked", more.substr(0, 200),
            "answer hello and ask with one line each, and tell with none"});
    const Result<void> sent = process.write(std::move(message), seconds);
    if (!sent) fail(sent.error());
  }
  external::PolicyReply receive(external::PolicyReplyKind wanted, const char* answer) {
    const Result<std::string> line = process.read(seconds);
    if (!line) fail(line.error());
    Result<external::PolicyReply> reply = external::try_parse_policy_reply(*line, space);
    if (!reply) fail(reply.error());
    if (reply->kind == external::PolicyReplyKind::error)
      fail({"gave up", reply->message + process.last_errors(), "see what it says"});
    if (reply->kind != wanted)
      fail({"answered out of turn", line->substr(0, 200), std::string("answer ") + answer});
    return *std::move(reply);
  }

  std::string name;
  Space space;
  double seconds;
  external::LineProcess process;
  std::uint64_t told = 0;
  bool failed = false;
};

CommandPolicy::CommandPolicy(std::string name, const std::string& command, const PolicySetup& setup,
                             const PolicyCommandOptions& options)
    : body_(std::make_unique<Body>(std::move(name), command, setup, options)) {
  body_->send(external::hello_message(body_->name, setup));
  const external::PolicyReply reply =
      body_->receive(external::PolicyReplyKind::ready, "hello with ready, once");
  if (reply.protocol != external::policy_protocol_version)
    body_->fail({"speaks another protocol", std::to_string(reply.protocol),
                 "this version speaks " + std::to_string(external::policy_protocol_version)});
}

CommandPolicy::CommandPolicy(CommandPolicy&&) noexcept = default;
CommandPolicy& CommandPolicy::operator=(CommandPolicy&&) noexcept = default;
CommandPolicy::~CommandPolicy() = default;

std::vector<Config> CommandPolicy::ask(std::size_t n) {
  body_->send(external::ask_message(n));
  external::PolicyReply reply =
      body_->receive(external::PolicyReplyKind::proposals, "ask with proposals, once");
  if (reply.configurations.size() > n)
    body_->fail({"proposed more than it was asked for",
                 std::to_string(reply.configurations.size()) + " instead of " + std::to_string(n),
                 "propose at most n"});
  return std::move(reply.configurations);
}

void CommandPolicy::tell(std::span<const Observation<Config>> batch) {
  body_->send(external::tell_message(body_->space, batch));
  body_->told += batch.size();
}

namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return detail::in_word(c) || c == '-' || c == '.'; });
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

/// `python3 mine.py --fast`: mine.
std::string name_of(const std::string& command) {
  std::istringstream words(command);
  std::string first;
  words >> first;
  for (std::string word; words >> word;) {
    const std::filesystem::path file(word);
    if (word.front() != '-' && file.has_extension() && is_name(file.stem().string()))
      return file.stem().string();
  }
  const std::string stem = std::filesystem::path(first).stem().string();
  return is_name(stem) ? stem : "command";
}

}  // namespace

ExternalPolicy command_policy(std::string_view text, const PolicyCommandOptions& options) {
  std::string command = trimmed(text), name;
  const std::size_t colon = command.find(": ");
  if (colon != std::string::npos && is_name(command.substr(0, colon))) {
    name = command.substr(0, colon);
    command = trimmed(command.substr(colon + 1));
  }
  if (command.empty())
    detail::raise<ConfigError>("a policy command is empty", std::string(text),
                               "give a command, as 'python3 mine.py' or 'name: python3 mine.py'");
  if (!(options.answer_seconds > 0))
    detail::raise<ConfigError>("no time to answer in", std::to_string(options.answer_seconds),
                               "give more than 0 seconds");
  if (name.empty()) name = name_of(command);
  external::check_new_name(name, "give it another: 'NAME: " + command + "'");
  ExternalPolicy policy{name, "the command " + command, command, {}, true};
  policy.make = [name, command, options](const PolicySetup& setup) {
    return AnyPolicy<Config>(CommandPolicy(name, command, setup, options));
  };
  return policy;
}

}  // namespace kernelsearch
