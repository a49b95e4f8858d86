// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/lane.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch::remote {
namespace {

using nlohmann::json;

constexpr double seconds_to_end = 3.0;

detail::Child started(const RemoteOptions& options, std::size_t index, const std::string& command) {
  if (options.connect) {
    const auto [in, out] = options.connect(index);
    return {detail::Descriptor(in), detail::Descriptor(out)};
  }
  detail::Launch launch = detail::shell_launch(command, "");
  launch.leaves_nothing = true;
  return detail::Child(std::move(launch));
}

}  // namespace

Lane::Lane(const RemoteOptions& options, std::size_t index, const std::string& command, std::string target)
    : options_(options),
      target_(std::move(target)),
      child_(started(options, index, command)),
      writer_(child_.take_input()) {}

LaneEnd Lane::pump(const ProblemContent& problem, const std::stop_token& stop,
                   const std::function<std::string(const LaneFacts&)>& ready) {
  FrameReader reader;
  const double begun = detail::monotonic_seconds();
  double heard = begun, pinged = begun;
  const double interval = std::min(options_.silence_seconds / 3, 10.0);
  while (true) {
    if (stop.stop_requested()) {
      writer_.write(R"({"type":"bye"})", {}, 1);
      return ended(LaneEnd::Kind::left, "the run is over");
    }
    {
      const std::lock_guard lock(mutex_);
      if (over_) break;  // given up from outside
    }
    child_.listen(0.1);
    const double now = detail::monotonic_seconds();
    if (!child_.output().text().empty()) heard = now;
    reader.feed(child_.output().take());
    while (true) {
      Result<std::optional<LaneFrame>> frame = reader.next();
      if (!frame)
        return ended(frame.error().what.find("another version") != std::string::npos ? LaneEnd::Kind::refused
                                                                                     : LaneEnd::Kind::garbage,
                     frame.error().what + ": " + frame.error().given + "; " + frame.error().todo);
      if (!*frame) break;
      std::optional<LaneEnd> end;
      try {
        end = take(std::move(**frame), problem, ready);
      } catch (const std::exception& error) {  // JSON of another shape
        end = LaneEnd{LaneEnd::Kind::garbage, std::string("it sent what cannot be read: ") + error.what()};
      }
      if (end) return ended(end->kind, end->reason);
    }
    if (!child_.output().open())
      return ended(LaneEnd::Kind::gone,
                   ready_ ? "its pipe closed without a goodbye" : "it ended before it was ready");
    if (!ready_ && now - begun > options_.start_seconds)
      return ended(LaneEnd::Kind::silent,
                   "it was not ready within " + detail::seconds_text(options_.start_seconds));
    if (greeted_ && now - heard > options_.silence_seconds)
      return ended(LaneEnd::Kind::silent,
                   "it said nothing for " + detail::seconds_text(options_.silence_seconds));
    if (greeted_ && now - pinged > interval) {
      pinged = now;
      writer_.write(R"({"type":"ping"})", {}, options_.silence_seconds);
    }
  }
  const LaneEnd end = [&] {
    const std::lock_guard lock(mutex_);
    return *over_;
  }();
  return ended(end.kind, end.reason);
}

std::optional<LaneEnd> Lane::take(LaneFrame frame, const ProblemContent& problem,
                                  const std::function<std::string(const LaneFacts&)>& ready) {
  json message = json::parse(frame.header);
  const auto type = message.at("type").get<std::string>();
  if (type == "alive") return std::nullopt;
  if (type == "goodbye")
    return LaneEnd{LaneEnd::Kind::left, "it said goodbye: " + message.at("reason").get<std::string>()};
  if (type == "hello") {
    facts_.host = message.at("host").get<std::string>();
    facts_.architecture = message.at("architecture").get<std::string>();
    facts_.version = message.at("version").get<std::string>();
    facts_.device_class = message.at("class").get<std::string>();
    if (facts_.version != KERNELSEARCH_VERSION)
      return LaneEnd{LaneEnd::Kind::refused,
                     "it is kernelsearch " + facts_.version + ", wanted " KERNELSEARCH_VERSION};
    greeted_ = true;
    json files = json::array();
    for (const ContentFile& file : problem.files)
      files.push_back({{"name", file.name}, {"path", file.path}, {"digest", file.digest}});
    writer_.write(json_text({{"type", "open"},
                             {"problem", problem.text.digest},
                             {"files", files},
                             {"how", options_.how},
                             {"target", target_},
                             {"heartbeat", std::min(options_.silence_seconds / 3, 10.0)}}));
    return std::nullopt;
  }
  if (type == "refused")
    return LaneEnd{LaneEnd::Kind::refused, "it refused: " + message.at("reason").get<std::string>()};
  if (!greeted_) return LaneEnd{LaneEnd::Kind::garbage, "it did not begin with hello but with " + type};
  if (type == "missing" && !message.contains("id")) {
    for (const auto& one : message.at("digests")) {
      const auto digest = one.get<std::string>();
      const json header{{"type", "content"}, {"digest", digest}};
      if (digest == problem.text.digest) {
        writer_.write(json_text(header), *problem.text.bytes);
        continue;
      }
      for (const ContentFile& file : problem.files) {
        if (file.digest != digest) continue;
        writer_.write(json_text(header), try_whole_file(file.path).value_or(""));
        break;
      }
    }
    return std::nullopt;
  }
  if (type == "ready") {
    facts_.device_id = message.at("device_id").get<std::string>();
    facts_.device_name = message.at("device_name").get<std::string>();
    facts_.toolchain_id = message.at("toolchain_id").get<std::string>();
    facts_.sandbox = message.at("sandbox").get<std::string>();
    facts_.jobs = std::clamp<std::size_t>(message.at("jobs").get<std::size_t>(), 1, 4096);
    std::string misfit = ready(facts_);
    if (!misfit.empty()) return LaneEnd{LaneEnd::Kind::refused, std::move(misfit)};
    ready_ = true;
    return std::nullopt;
  }
  const auto id = message.at("id").get<std::uint64_t>();
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end() || found->second.answer)
    return LaneEnd{LaneEnd::Kind::garbage, "it answered what nobody asked: " + std::to_string(id)};
  found->second.answer = LaneAnswer{std::move(message), std::move(frame.payload)};
  changed_.notify_all();
  return std::nullopt;
}

LaneEnd Lane::ended(LaneEnd::Kind kind, std::string reason) {
  const bool kill_now = kind == LaneEnd::Kind::silent || kind == LaneEnd::Kind::garbage;
  writer_.close();
  // What a launcher writes last says why.
  if (kind != LaneEnd::Kind::left)
    if (const std::string errors = child_.last_errors(0.3); !errors.empty())
      reason += ", having written: " + errors;
  detail::Process& process = child_.process();
  int status = 0;
  // Asked before it is killed: srun and ssh then end what they have started, killed they could not.
  if (process.running() && (kill_now || !process.wait(seconds_to_end, status))) {
    ::kill(-process.pid(), SIGTERM);
    if (!process.wait(seconds_to_end, status)) process.kill();
  }
  const std::lock_guard lock(mutex_);
  over_ = LaneEnd{kind, reason};
  changed_.notify_all();
  return *over_;
}

void Lane::give_up(LaneEnd end) {
  const std::lock_guard lock(mutex_);
  if (!over_) over_ = std::move(end);
  changed_.notify_all();
}

std::optional<LaneAnswer> Lane::ask(json message, std::string_view payload, const std::stop_token& stop) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (over_) return std::nullopt;
    id = next_++;
    waiting_[id].asked = detail::monotonic_seconds();
  }
  message["id"] = id;
  const auto forget = [&] {
    const std::lock_guard lock(mutex_);
    waiting_.erase(id);
  };
  if (!writer_.write(json_text(message), payload, options_.silence_seconds)) {
    forget();
    // Its pipe closed or took nothing; the one who reads it will see that, too, but may wait for long.
    give_up({LaneEnd::Kind::gone, "it does not take what it is sent"});
    return std::nullopt;
  }
  const std::stop_callback cancel(stop, [this, id] {
    writer_.write(json_text({{"type", "cancel"}, {"id", id}}), {}, options_.silence_seconds);
  });
  std::unique_lock lock(mutex_);
  Waiting& mine = waiting_.at(id);
  const bool there = changed_.wait_for(lock, std::chrono::duration<double>(options_.request_seconds),
                                       [&] { return mine.answer.has_value() || over_.has_value(); });
  std::optional<LaneAnswer> answer = std::move(mine.answer);
  waiting_.erase(id);
  if (!there) {
    over_ = LaneEnd{LaneEnd::Kind::silent,
                    "it did not answer within " + detail::seconds_text(options_.request_seconds)};
    changed_.notify_all();
  }
  return answer;
}

json Lane::candidate(const Candidate& candidate, KernelTexts& texts, bool with_text) {
  const Content text = texts.of(candidate.kernel);
  json out{{"kernel", text.digest}, {"config", candidate.config}};
  const std::lock_guard lock(sent_mutex_);
  if (sent_.insert(text.digest).second || with_text) out["text"] = *text.bytes;
  return out;
}

}  // namespace kernelsearch::remote
