// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/lane_server.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/core/bounded_queue.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/process/inflow.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/version.hpp"
#include "process/scratch_folder.hpp"
#include "remote/lane_content.hpp"
#include "remote/lane_wire.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;
using remote::FrameReader;
using remote::FrameWriter;
using remote::LaneFrame;

/// Built code by its digest, the newest first to be kept.
class CodeStore {
 public:
  void add(const std::string& digest, PortableArtifact artifact) {
    const std::lock_guard lock(mutex_);
    if (known_.contains(digest)) return;
    bytes_ += artifact.code.size();
    order_.push_back(digest);
    known_.emplace(digest, std::make_shared<const PortableArtifact>(std::move(artifact)));
    while (bytes_ > most_bytes && order_.size() > 1) {
      const auto oldest = known_.find(order_.front());
      bytes_ -= oldest->second->code.size();
      known_.erase(oldest);
      order_.pop_front();
    }
  }
  [[nodiscard]] std::shared_ptr<const PortableArtifact> find(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(digest);
    return found == known_.end() ? nullptr : found->second;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const PortableArtifact>> known_;
  std::deque<std::string> order_;
  std::size_t bytes_ = 0;
};

/// What cannot be answered now: the other end has to send these contents first.
struct Missing {
  std::string digest;
};

/// Whether an answer is other than what was asked for, or tells of a candidate that failed.
bool is_failure(const json& reply) {
  if (reply.at("type") != "result") return true;
  const auto evaluation = reply.find("evaluation");
  return evaluation != reply.end() && evaluation->value("verdict", "ok") != to_string(Verdict::ok);
}

class LaneServer {
 public:
  LaneServer(int in, int out, const LaneServerOptions& options)
      : in_(in), writer_(detail::Descriptor(fcntl(out, F_DUPFD_CLOEXEC, 3))), options_(options) {}

  bool serve() {
    utsname system{};
    uname(&system);
    send({{"type", "hello"},
          {"protocol", remote::lane_protocol},
          {"version", KERNELSEARCH_VERSION},
          {"host", system.nodename},
          {"architecture", system.machine},
          {"class", options_.device_class},
          {"pid", getpid()}});
    FrameReader reader;
    double heard = detail::monotonic_seconds();
    while (!ended_) {
      if (options_.stop.stop_requested()) {
        send({{"type", "goodbye"}, {"reason", "the worker was asked to end"}});
        break;
      }
      const bool came = in_.read_within(0.2);
      if (!in_.open()) break;
      if (!came) {
        if (detail::monotonic_seconds() - heard <= options_.orphan_seconds) continue;
        log("the controller has said nothing for too long");
        break;
      }
      heard = detail::monotonic_seconds();
      reader.feed(in_.take());
      while (!ended_) {
        Result<std::optional<LaneFrame>> frame = reader.next();
        if (!frame) {
          log(frame.error().text());
          ended_ = true;
        } else if (!*frame) {
          break;
        } else {
          take(std::move(**frame));
        }
      }
    }
    finish();
    return said_goodbye_;
  }

 private:
  struct Work {
    json request;
    std::string payload;
    std::stop_token stop;
  };
  using Queue = BoundedQueue<Work>;

  void log(std::string_view text) const {
    if (options_.log) options_.log(text);
  }
  void send(const json& message, std::string_view payload = {}) {
    if (!writer_.write(json_text(message), payload)) ended_ = true;
  }

  /// On the reading thread: everything but judging.
  void take(LaneFrame frame) {
    try {
      json message = json::parse(frame.header);
      const auto type = message.at("type").get<std::string>();
      if (type == "ping") {
        // Without a number that it came is all it says; with one it asks whether we are still there.
        if (message.contains("id") && !options_.stop.stop_requested())
          send({{"type", "result"}, {"id", message.at("id").get<std::uint64_t>()}});
      } else if (type == "bye") {
        said_goodbye_ = ended_ = true;
      } else if (type == "open") {
        opening_ = std::move(message);
        const auto interval = opening_.at("heartbeat").get<double>();
        threads_.emplace_back([this, interval](const std::stop_token& stop) { beat(stop, interval); });
        open();
      } else if (type == "content") {
        keep(message.at("digest").get<std::string>(), std::move(frame.payload));
        if (!opening_.is_null()) open();
      } else if (type == "cancel") {
        cancel(message.at("id").get<std::uint64_t>());
      } else {
        admit(type, std::move(message), std::move(frame.payload));
      }
    } catch (const json::exception& error) {
      log(std::string("a message that cannot be read: ") + error.what());
      ended_ = true;
    }
  }

  void keep(const std::string& digest, std::string bytes) {
    if (sha256(bytes) != digest) {
      refuse(
          detail::error_text("contents were damaged on their way", digest, "look at what starts the worker"));
      return;
    }
    contents_[digest] = std::make_shared<const std::string>(std::move(bytes));
  }

  void refuse(const std::string& reason) {
    send({{"type", "refused"}, {"reason", reason}});
    ended_ = true;
  }

  /// Makes the judge once all that it needs is here, and asks for what is not.
  void open() {
    const json opening = opening_;
    json missing = json::array();
    const auto text = opening.at("problem").get<std::string>();
    if (!contents_.contains(text)) missing.push_back(text);
    try {
      for (const json& file : opening.at("files")) {
        const auto digest = file.at("digest").get<std::string>();
        const std::filesystem::path target = remote::file_in(folder_.path(), file.at("name"));
        if (std::filesystem::exists(target)) continue;
        std::filesystem::create_directories(target.parent_path());
        if (const auto found = contents_.find(digest); found != contents_.end()) {
          std::ofstream out(target, std::ios::binary);
          out << *found->second;
          if (!out.flush())
            detail::raise<DeviceError>("a data file of the problem cannot be written", target.string(),
                                       "make room there");
          contents_.erase(found);
        } else if (sha256_of_file(file.at("path").get<std::string>()) == digest) {  // a shared file system
          std::filesystem::copy_file(file.at("path").get<std::string>(), target);
        } else {
          missing.push_back(digest);
        }
      }
      if (!missing.empty()) {
        send({{"type", "missing"}, {"digests", missing}});
        return;
      }
      opening_ = nullptr;
      problem_ = parse_problem(*contents_.at(text), folder_.path());
      judge_.emplace(options_.make(*problem_, opening.at("how").get<std::string>(),
                                   opening.value("target", std::string())));
    } catch (const std::exception& error) {
      refuse(error.what());
      return;
    }
    for (unsigned i = 0; i < std::max(1U, judge_->jobs); ++i)
      threads_.emplace_back([this] { work(to_build_); });
    threads_.emplace_back([this] { work(to_measure_); });
    send({{"type", "ready"},
          {"device_id", judge_->evaluator.device_id()},
          {"device_name", judge_->evaluator.device_name()},
          {"toolchain_id", judge_->evaluator.toolchain_id()},
          {"sandbox", judge_->sandbox},
          {"jobs", std::max(1U, judge_->jobs)}});
  }

  void admit(const std::string& type, json message, std::string payload) {
    const auto id = message.at("id").get<std::uint64_t>();
    if (!judge_) {
      send({{"type", "error"}, {"id", id}, {"kind", "config"}, {"what", "no problem was opened"}});
      return;
    }
    std::stop_token stop;
    {
      const std::lock_guard lock(mutex_);
      stop = stops_[id].get_token();
    }
    (type == "build" ? to_build_ : to_measure_).push(Work{std::move(message), std::move(payload), stop});
  }

  void cancel(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    if (const auto found = stops_.find(id); found != stops_.end()) found->second.request_stop();
  }

  void beat(const std::stop_token& stop, double interval) {
    std::unique_lock lock(beating_);
    while (!stop.stop_requested()) {
      quiet_.wait_for(lock, stop, std::chrono::duration<double>(interval), [] { return false; });
      if (!stop.stop_requested()) writer_.write(R"({"type":"alive"})");
    }
  }

  void work(Queue& queue) {
    while (std::optional<Work> one = queue.pop()) {
      const std::uint64_t id = one->request.at("id").get<std::uint64_t>();
      std::string code;
      json reply{{"type", "result"}, {"id", id}};
      const auto failed = [&](const char* kind, const std::string& what) {
        reply = {{"type", "error"}, {"id", id}, {"kind", kind}, {"what", what}};
      };
      if (leaving_) continue;
      try {
        judge(*one, reply, code);
      } catch (const Missing& missing) {
        reply = {{"type", "missing"}, {"id", id}, {"digests", {missing.digest}}};
      } catch (const DeviceError& error) {
        failed("device", error.what());
      } catch (const std::exception& error) {
        failed("config", error.what());
      }
      {
        const std::lock_guard lock(mutex_);
        stops_.erase(id);
      }
      // Who ends us has ended what we had started, too: what failed then has not failed by itself.
      if (is_failure(reply) && (leaving_ || options_.stop.stop_requested())) continue;
      send(reply, code);
    }
  }

  void judge(Work& work, json& reply, std::string& code) {
    AnyEvaluator& evaluator = judge_->evaluator;
    const auto type = work.request.at("type").get<std::string>();
    if (type == "renew") {
      evaluator.renew();
      return;
    }
    if (type == "compare") {
      PairOptions pairs = remote::pairs_from(work.request.at("pairs"));
      pairs.stop = work.stop;
      const auto speedup = evaluator.compare(candidate(work.request.at("candidate")),
                                             candidate(work.request.at("champion")), pairs);
      if (speedup) reply["speedup"] = *speedup;
      return;
    }
    const Candidate what = candidate(work.request.at("candidate"));
    EvaluationContext context = remote::context_from(work.request.at("context"));
    context.stop = work.stop;
    if (type == "evaluate") {
      reply["evaluation"] = evaluator.evaluate(what, context);
    } else if (type == "build") {
      auto staged = evaluator.build(what, context);
      reply["evaluation"] = staged.evaluation;
      if (!staged.artifact) return;
      auto portable = evaluator.carry(*staged.artifact);
      reply["built"] = true;
      if (!portable) return;
      code = portable->code;
      const std::string digest = sha256(code);
      reply.update(
          {{"artifact", digest}, {"functions", portable->functions}, {"library", portable->library}});
      if (!portable->launches.empty()) reply["launches"] = remote::launches_json(portable->launches);
      code_.add(digest, *std::move(portable));
    } else if (type == "run") {
      const auto digest = work.request.at("artifact").get<std::string>();
      const auto functions = work.request.at("functions").get<std::vector<std::string>>();
      auto launches = remote::launches_from(work.request.value("launches", json::array()), functions.size());
      if (!launches)
        detail::raise<ConfigError>("a worker is told of launches what makes no sense",
                                   work.request.at("launches").dump(),
                                   "use the same version of kernelsearch at both ends");
      if (!work.payload.empty()) {
        if (sha256(work.payload) != digest)
          detail::raise<DeviceError>("built code was damaged on its way", digest,
                                     "look at what starts the worker");
        code_.add(digest, PortableArtifact{std::move(work.payload), functions,
                                           work.request.at("library").get<bool>(), *launches});
      }
      auto known = code_.find(digest);
      if (!known) throw Missing{digest};
      // Equal code may be launched in other ways.
      if (known->functions != functions || known->launches != *launches)
        known = std::make_shared<const PortableArtifact>(
            PortableArtifact{known->code, functions, known->library, *std::move(launches)});
      auto artifact = evaluator.carried(what, *known);
      if (!artifact)
        detail::raise<ConfigError>("this evaluator takes no code that was built elsewhere", type,
                                   "evaluate the candidate");
      reply["evaluation"] =
          evaluator.run(Staged<AnyEvaluator::Artifact>{work.request.at("evaluation").get<Evaluation>(),
                                                       std::move(artifact)},
                        context);
    } else {
      detail::raise<ConfigError>("a worker is asked for what it does not know", type,
                                 "use the same version of kernelsearch at both ends");
    }
  }

  /// The candidate that a message names; its kernel was sent before.
  Candidate candidate(const json& named) {
    const auto digest = named.at("kernel").get<std::string>();
    std::shared_ptr<const Kernel> kernel;
    {
      const std::lock_guard lock(kernels_mutex_);
      std::shared_ptr<const Kernel>& known = kernels_[digest];
      if (!known) {
        if (!named.contains("text")) {
          kernels_.erase(digest);
          throw Missing{digest};
        }
        const auto text = named.at("text").get<std::string>();
        if (sha256(text) != digest) {
          kernels_.erase(digest);
          detail::raise<DeviceError>("a kernel was damaged on its way", digest,
                                     "look at what starts the worker");
        }
        known = remote::kernel_from(text);
      }
      kernel = known;
    }
    Config config = named.at("config").get<Config>();
    if (config.indices.size() != kernel->space.size())
      detail::raise<ConfigError>("a configuration does not fit its kernel", named.at("config").dump(),
                                 "use the same version of kernelsearch at both ends");
    for (std::size_t i = 0; i < config.indices.size(); ++i)
      if (config.indices[i] >= kernel->space.tunable(i).values.size())
        detail::raise<ConfigError>("a configuration has a value that its tunable has not",
                                   named.at("config").dump(),
                                   "use the same version of kernelsearch at both ends");
    return {std::move(kernel), std::move(config)};
  }

  void finish() {
    leaving_ = true;
    if (options_.leaving) options_.leaving();
    {
      const std::lock_guard lock(mutex_);
      for (auto& [id, stop] : stops_) stop.request_stop();
    }
    to_build_.close();
    to_measure_.close();
    threads_.clear();  // asks those that wait to stop, and joins
  }

  detail::Inflow in_;
  FrameWriter writer_;
  const LaneServerOptions& options_;
  std::atomic<bool> ended_ = false, leaving_ = false;
  bool said_goodbye_ = false;
  detail::ScratchFolder folder_;
  json opening_;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> contents_;
  std::optional<Problem> problem_;
  std::optional<LaneJudge> judge_;
  CodeStore code_;
  std::mutex kernels_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Kernel>> kernels_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::stop_source> stops_;
  Queue to_build_{static_cast<std::size_t>(-1)}, to_measure_{static_cast<std::size_t>(-1)};
  std::mutex beating_;
  std::condition_variable_any quiet_;
  std::vector<std::jthread> threads_;
};

}  // namespace

bool serve_lane(int in, int out, const LaneServerOptions& options) {
  detail::do_not_block(in);
  detail::do_not_block(out);
  return LaneServer(in, out, options).serve();
}

}  // namespace kernelsearch
