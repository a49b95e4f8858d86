// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "line_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::external {
namespace {

constexpr std::size_t kept_errors = 2000;
constexpr double seconds_to_end = 2.0;

std::string seconds_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return "it was ended by " + detail::signal_text(WTERMSIG(status));
  return "it ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

LineProcess::LineProcess(const std::string& command, const std::filesystem::path& folder)
    : LineProcess(detail::shell_launch(command, folder.string()),
                  {"docs/formats/policy_protocol.md", "--policy-timeout", std::size_t{64} << 20}) {}

LineProcess::LineProcess(detail::Launch launch, Manner manner) : manner_(std::move(manner)) {
  auto [in_read, in_write] = detail::make_pipe();
  auto [out_read, out_write] = detail::make_pipe();
  auto [err_read, err_write] = detail::make_pipe();
  for (const auto& [inside, ours] :
       {std::pair(0, in_read.number()), std::pair(1, out_write.number()), std::pair(2, err_write.number())})
    launch.descriptors.emplace_back(inside, ours);
  process_ = detail::Process(launch);
  in_ = std::move(in_write);
  out_ = std::move(out_read);
  err_ = std::move(err_read);
  for (const int fd : {in_.number(), out_.number(), err_.number()}) detail::do_not_block(fd);
}

LineProcess::~LineProcess() {
  in_.reset();
  int status = 0;
  if (process_.running() && !process_.wait(seconds_to_end, status)) process_.kill();
}

Result<void> LineProcess::write(std::string line, double seconds) {
  line += '\n';
  const double deadline = detail::monotonic_seconds() + seconds;
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = detail::write_quietly(in_.number(), line.data() + done, line.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      Result<bool> ready = wait_for(true, deadline, seconds);
      if (!ready) return std::move(ready).error();
    } else if (errno != EINTR) {
      return ended();
    }
  }
  return {};
}

Result<std::string> LineProcess::read(double seconds) {
  const double deadline = detail::monotonic_seconds() + seconds;
  std::size_t seen = 0;
  while (true) {
    const std::size_t end = output_.find('\n', seen);
    if (end != std::string::npos) {
      std::string line = output_.substr(0, end);
      output_.erase(0, end + 1);
      return line;
    }
    seen = output_.size();
    if (seen > manner_.longest_line)
      return Fault{"answered with a line that does not end", std::to_string(seen) + " bytes" + last_errors(),
                   "end each message with a line feed"};
    if (!output_open_) return ended();
    Result<bool> ready = wait_for(false, deadline, seconds);
    if (!ready) return std::move(ready).error();
  }
}

const std::string& LineProcess::unread() {
  pollfd waiting{out_.number(), POLLIN, 0};
  if (output_open_ && poll(&waiting, 1, 0) > 0)
    take(out_.number(), output_, output_open_, manner_.longest_line + (1 << 16));
  return output_;
}

Result<bool> LineProcess::wait_for(bool writing, double deadline, double seconds) {
  const double left = deadline - detail::monotonic_seconds();
  if (left <= 0)
    return Fault{writing ? "does not read its input" : "did not answer",
                 "within " + seconds_text(seconds) + last_errors(),
                 "flush each answer, or allow more with " + manner_.more_time};
  pollfd waiting[3] = {{output_open_ ? out_.number() : -1, POLLIN, 0},
                       {errors_open_ ? err_.number() : -1, POLLIN, 0},
                       {writing ? in_.number() : -1, POLLOUT, 0}};
  poll(waiting, 3, static_cast<int>(std::min(left, 3600.0) * 1000) + 1);
  if (waiting[0].revents != 0) take(out_.number(), output_, output_open_, manner_.longest_line + (1 << 16));
  if (waiting[1].revents != 0) take(err_.number(), errors_, errors_open_, kept_errors);
  return true;
}

void LineProcess::take(int fd, std::string& into, bool& open, std::size_t keep) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) open = false;
  if (got <= 0) return;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  if (into.size() > keep) into.erase(0, into.size() - keep);
}

Fault LineProcess::ended() {
  int status = 0;
  const bool over = process_.wait(1.0, status);
  while (errors_open_) {
    pollfd waiting{err_.number(), POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) break;
    take(err_.number(), errors_, errors_open_, kept_errors);
  }
  return Fault{over ? "ended" : "closed its output or its input",
               (over ? end_text(status) : "it still runs") + last_errors(),
               "run the command by hand and give it the messages of " + manner_.protocol};
}

std::string LineProcess::last_errors() const {
  if (errors_.empty()) return "";
  std::string text = errors_;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return ", having written:\n" + text + "\n";
}

}  // namespace kernelsearch::external
