// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "line_process.hpp"

#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::external {
namespace {

constexpr double seconds_to_end = 2.0;

}  // namespace

LineProcess::LineProcess(const std::string& command, const std::filesystem::path& folder)
    : LineProcess(detail::shell_launch(command, folder.string()),
                  {"docs/formats/policy_protocol.md", "--policy-timeout", std::size_t{64} << 20}) {}

LineProcess::LineProcess(detail::Launch launch, Manner manner)
    : manner_(std::move(manner)), child_(std::move(launch), {.output = manner_.longest_line + (1 << 16)}) {}

LineProcess::~LineProcess() {
  child_.end(seconds_to_end);
}

Result<void> LineProcess::write(std::string line, double seconds) {
  line += '\n';
  const detail::Sent sent = child_.write(line, seconds);
  if (sent == detail::Sent::all) return {};
  return sent == detail::Sent::gone ? ended() : late("does not read its input", seconds);
}

Result<std::string> LineProcess::read(double seconds) {
  if (auto line = child_.line(seconds, manner_.longest_line)) return *std::move(line);
  if (const std::size_t seen = child_.output().text().size(); seen > manner_.longest_line)
    return Fault{"answered with a line that does not end", std::to_string(seen) + " bytes" + last_errors(),
                 "end each message with a line feed"};
  return child_.output().open() ? late("did not answer", seconds) : ended();
}

const std::string& LineProcess::unread() {
  child_.listen(0.0);
  return child_.output().text();
}

Fault LineProcess::late(std::string what, double seconds) {
  return {std::move(what), "within " + detail::seconds_text(seconds) + last_errors(),
          "flush each answer, or allow more with " + manner_.more_time};
}

Fault LineProcess::ended() {
  int status = 0;
  const bool over = child_.process().wait(1.0, status);
  return {over ? "ended" : "closed its output or its input",
          (over ? "it " + detail::end_text(status) : "it still runs") + last_errors(0.3),
          "run the command by hand and give it the messages of " + manner_.protocol};
}

std::string LineProcess::last_errors(double seconds) {
  const std::string text = child_.last_errors(seconds);
  return text.empty() ? "" : ", having written:\n" + text + "\n";
}

}  // namespace kernelsearch::external
