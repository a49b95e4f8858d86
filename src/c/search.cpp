// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "handles.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/version.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch::c {

/// What is told of a configuration.
struct Verdicts {
  Verdict verdict = Verdict::ok;
  double seconds = 0.0;
  std::string reason;

  [[nodiscard]] Evaluation evaluation() const {
    return verdict == Verdict::ok ? Evaluation::succeeded(seconds) : Evaluation::failed(verdict, reason);
  }
};

namespace {

constexpr int search_format = 1;

Verdicts read_verdict(ks_verdict verdict, double seconds, const char* reason) {
  const int number = static_cast<int>(verdict);
  if (number < 0 || number >= verdict_count)
    refuse(KS_BAD_ARGUMENT, "there is no such verdict", std::to_string(number),
           "give one of the KS_VERDICT_ constants");
  if (verdict == KS_VERDICT_OK && !std::isfinite(seconds))
    refuse(KS_BAD_ARGUMENT, "a right configuration has finite seconds", std::to_string(seconds),
           "tell a failure, or a number");
  Verdicts told;
  told.verdict = static_cast<Verdict>(number);
  if (verdict == KS_VERDICT_OK)
    told.seconds = seconds;
  else if (reason != nullptr)
    told.reason = reason;
  return told;
}

}  // namespace

/// A policy with what was asked of it and told to it, which is all that a search is: policies are not
/// serialised but made again and taken through the same events.
class Search {
 public:
  Search(Space space, std::shared_ptr<const Recipe> recipe, std::uint64_t seed)
      : space_(std::move(space)),
        recipe_(std::move(recipe)),
        seed_(seed),
        policy_(recipe_->make({.space = space_, .seed = seed})) {}

  [[nodiscard]] const Space& space() const noexcept { return space_; }
  [[nodiscard]] std::size_t told() const noexcept { return trials_.size() - open_; }

  /// The number of the first of the new jobs; they are those from there on.
  std::size_t ask(std::size_t wanted) {
    std::vector<Config> configs = policy_.ask(wanted);
    // A policy with work of its own under way says by itself whether something will come of it.
    while (configs.empty() && open_ == 0 && policy_.await()) configs = policy_.ask(wanted);
    if (recipe_->own)
      for (const Config& config : configs)
        if (!space_.contains(config))
          refuse(KS_CALLBACK_FAILED, "a policy gave a configuration that is not valid",
                 recipe_->name + ": " + space_.key(config),
                 "give valid ones only: ks_space_contains() tells");
    const std::size_t first = trials_.size();
    events_.push_back({Event::asking, first, wanted, configs.size(), {}});
    for (Config& config : configs) {
      trials_.push_back({std::move(config), ProposalId{proposals_++}});
      ++open_;
    }
    return first;
  }

  void tell(std::uint64_t job, Verdicts verdicts) {
    Trial& trial = known(job);
    if (trial.told)
      refuse(KS_UNKNOWN_NAME, "the job was told before", std::to_string(job),
             "ks_search_revise() replaces an outcome");
    pass(job, verdicts);
    trial.told = true;
    --open_;
    note(Event::telling, job, std::move(verdicts));
  }

  void tell_foreign(Config config, Verdicts verdicts) {
    if (!space_.contains(config))
      refuse(KS_BAD_ARGUMENT, "a configuration from outside is not valid", space_.key(config),
             "tell of configurations of the space only");
    const std::uint64_t job = trials_.size();
    trials_.push_back({std::move(config), std::nullopt});
    trials_.back().told = true;
    try {
      pass(job, verdicts);
    } catch (...) {
      trials_.pop_back();
      throw;
    }
    note(Event::foreign, job, std::move(verdicts));
  }

  void revise(std::uint64_t job, Verdicts verdicts) {
    if (!known(job).told)
      refuse(KS_UNKNOWN_NAME, "the job was not told yet", std::to_string(job), "ks_search_tell() tells it");
    pass(job, verdicts);
    note(Event::revising, job, std::move(verdicts));
  }

  [[nodiscard]] std::vector<std::uint64_t> pending() const {
    std::vector<std::uint64_t> jobs;
    for (std::size_t i = 0; open_ > 0 && i < trials_.size(); ++i)
      if (!trials_[i].told) jobs.push_back(i);
    return jobs;
  }
  [[nodiscard]] std::size_t outstanding() const noexcept { return open_; }
  [[nodiscard]] const Config& config(std::uint64_t job) const {
    return const_cast<Search*>(this)->known(job).config;
  }
  [[nodiscard]] std::size_t jobs() const noexcept { return trials_.size(); }
  [[nodiscard]] const std::optional<std::uint64_t>& best() const noexcept { return best_; }
  [[nodiscard]] double seconds(std::uint64_t job) const { return trials_[job].seconds; }

  [[nodiscard]] std::string text() const {
    using nlohmann::ordered_json;
    const auto line = [](const ordered_json& json) {
      return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
    };
    std::string all = line({{"kernelsearch_search", search_format},
                            {"version", KERNELSEARCH_VERSION},
                            {"policy", recipe_->name},
                            {"seed", seed_},
                            {"space", space_digest()}});
    for (const Event& event : events_) {
      if (event.kind == Event::asking) {
        ordered_json configs = ordered_json::array();
        for (std::size_t i = 0; i < event.given; ++i)
          configs.push_back(trials_[event.job + i].config.indices);
        all += line({{"ask", event.wanted}, {"configs", std::move(configs)}});
        continue;
      }
      ordered_json told;
      told[names[event.kind]] = event.job;
      if (event.kind == Event::foreign) told["config"] = trials_[event.job].config.indices;
      told["verdict"] = to_string(event.verdicts.verdict);
      if (event.verdicts.verdict == Verdict::ok)
        told["seconds"] = event.verdicts.seconds;
      else
        told["reason"] = event.verdicts.reason;
      all += line(told);
    }
    return all;
  }

  /// Takes a new search through the events of `text`, a saved one's.
  static std::unique_ptr<Search> replayed(const Space& space, std::shared_ptr<const Recipe> recipe,
                                          const std::string& text, const std::string& file) {
    std::size_t at = 0;
    std::uint64_t line_number = 0;
    const auto place = [&] { return file + ":" + std::to_string(line_number); };
    const auto next = [&]() -> std::optional<nlohmann::json> {
      if (at >= text.size()) return std::nullopt;
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_number;
      nlohmann::json line =
          nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
      at = end + 1;
      if (!line.is_object())
        refuse(KS_CONFIG_ERROR, "a line of a saved search is not a JSON object", place(),
               "give a file that ks_search_save() wrote");
      return line;
    };
    try {
      const auto head = next();
      if (!head || head->value("kernelsearch_search", 0) != search_format)
        refuse(KS_CONFIG_ERROR, "this is not a saved search of a version that is known", place(),
               "give a file that ks_search_save() wrote");
      if (const auto name = head->at("policy").get<std::string>(); name != recipe->name)
        refuse(KS_CONFIG_ERROR, "the saved search is of another policy", name + ", not " + recipe->name,
               "give the policy that it was begun with");
      auto search = std::make_unique<Search>(space, recipe, head->at("seed").get<std::uint64_t>());
      if (head->at("space").get<std::string>() != search->space_digest())
        refuse(KS_CONFIG_ERROR, "the saved search is of another space", file,
               "give the space that it was begun with: tunables, values, defaults and constraints");
      while (const auto line = next()) search->repeat(*line, place());
      return search;
    } catch (const nlohmann::json::exception& error) {
      refuse(KS_CONFIG_ERROR, "a saved search is malformed", place() + ": " + error.what(),
             "give a file that ks_search_save() wrote");
    }
  }

 private:
  struct Trial {
    Config config;
    std::optional<ProposalId> proposal;  ///< nothing: from outside
    bool told = false;
    double seconds = std::numeric_limits<double>::infinity();  ///< infinity: it failed, or is outstanding
    std::uint64_t order = 0;                                   ///< in which it was told first
  };
  struct Event {
    enum Kind : std::uint8_t { asking, telling, foreign, revising };
    Kind kind = asking;
    std::uint64_t job = 0;
    std::size_t wanted = 0, given = 0;  ///< of ask
    Verdicts verdicts;                  ///< of the others
  };
  static constexpr const char* names[] = {"ask", "tell", "foreign", "revise"};

  Trial& known(std::uint64_t job) {
    if (job >= trials_.size())
      refuse(KS_UNKNOWN_NAME, "there is no such job", std::to_string(job),
             "give a number that ks_search_ask() wrote");
    return trials_[job];
  }

  /// The digest of the space alone: of a kernel without a text.
  [[nodiscard]] std::string space_digest() const { return kernel_digest({Regions{}, space_}); }

  void pass(std::uint64_t job, const Verdicts& verdicts) {
    Trial& trial = trials_[job];
    Observation<Config> observation;
    observation.proposal = trial.config;
    Outcome& outcome = observation.outcome;
    outcome.id = TrialId{job};
    if (trial.proposal) outcome.origin = Origin{*trial.proposal, 0, 1};
    outcome.evaluation = verdicts.evaluation();
    if (verdicts.verdict == Verdict::ok) outcome.objective = verdicts.seconds;
    policy_.tell({&observation, 1});
  }

  void note(typename Event::Kind kind, std::uint64_t job, Verdicts verdicts) {
    Trial& trial = trials_[job];
    const double before = std::exchange(trial.seconds, verdicts.verdict == Verdict::ok
                                                           ? verdicts.seconds
                                                           : std::numeric_limits<double>::infinity());
    if (kind != Event::revising) trial.order = order_++;
    events_.push_back({kind, job, 0, 0, std::move(verdicts)});
    if (best_ == job && trial.seconds > before) {
      best_.reset();
      for (std::uint64_t i = 0; i < trials_.size(); ++i) consider(i);
    } else {
      consider(job);
    }
  }

  void consider(std::uint64_t job) {
    const Trial& trial = trials_[job];
    if (!std::isfinite(trial.seconds)) return;
    const Trial* best = best_ ? &trials_[*best_] : nullptr;
    if (best == nullptr || trial.seconds < best->seconds ||
        (trial.seconds == best->seconds && trial.order < best->order))
      best_ = job;
  }

  void repeat(const nlohmann::json& line, const std::string& place) {
    if (const auto asked = line.find("ask"); asked != line.end()) {
      const std::size_t first = ask(asked->get<std::size_t>());
      std::vector<std::vector<std::uint32_t>> proposed;
      for (std::size_t i = first; i < trials_.size(); ++i) proposed.push_back(trials_[i].config.indices);
      if (proposed != line.at("configs").get<std::vector<std::vector<std::uint32_t>>>())
        refuse(KS_CONFIG_ERROR, "the policy does not propose what it proposed when the search was saved",
               place + ", policy " + recipe_->name,
               "give the policy with the options it had, and the version of the library");
      return;
    }
    Verdicts verdicts;
    const auto verdict = verdict_from(line.at("verdict").get<std::string>());
    if (!verdict)
      refuse(KS_CONFIG_ERROR, "a saved search has an unknown verdict", place,
             "give a file that ks_search_save() wrote");
    verdicts.verdict = *verdict;
    if (verdicts.verdict == Verdict::ok)
      verdicts.seconds = line.at("seconds").get<double>();
    else
      verdicts.reason = line.at("reason").get<std::string>();
    if (const auto foreign = line.find("foreign"); foreign != line.end()) {
      const auto indices = line.at("config").get<std::vector<std::uint32_t>>();
      tell_foreign(read_config(space_, indices.data(), indices.size()), std::move(verdicts));
    } else if (const auto revised = line.find("revise"); revised != line.end()) {
      revise(revised->get<std::uint64_t>(), std::move(verdicts));
    } else {
      tell(line.at("tell").get<std::uint64_t>(), std::move(verdicts));
    }
  }

  Space space_;
  std::shared_ptr<const Recipe> recipe_;
  std::uint64_t seed_ = 0;
  AnyPolicy<Config> policy_;
  std::vector<Trial> trials_;  ///< by number
  std::vector<Event> events_;
  std::size_t open_ = 0;
  std::uint64_t proposals_ = 0, order_ = 0;
  std::optional<std::uint64_t> best_;
};

}  // namespace kernelsearch::c

struct ks_search : kernelsearch::c::Marked<9> {
  explicit ks_search(std::unique_ptr<kernelsearch::c::Search> s) : search(std::move(s)) {}
  std::atomic<bool> busy = false;
  std::unique_ptr<kernelsearch::c::Search> search;
};

using namespace kernelsearch;     // NOLINT: as in space.cpp
using namespace kernelsearch::c;  // NOLINT

ks_status ks_search_new(const ks_space* space, const ks_policy* policy, uint64_t seed, ks_search** out) {
  return guarded([&] {
    const Space& in = checked(space).space;
    const auto& recipe = checked(policy).recipe;
    give(out, [&] { return std::make_unique<ks_search>(std::make_unique<Search>(in, recipe, seed)); });
  });
}
ks_status ks_search_free(ks_search* search) {
  return freed(search);
}

ks_status ks_search_ask(ks_search* search, size_t wanted, uint64_t* jobs, uint32_t* configs, size_t length,
                        size_t* given) {
  return guarded([&] {
    Search& in = *checked(search).search;
    const Working working(search->busy);
    if (wanted == 0)
      refuse(KS_BAD_ARGUMENT, "a search is asked for configurations", "0 of them", "ask for 1 or more");
    needed(jobs, "jobs");
    needed(given, "given");
    const std::size_t size = in.space().size();
    if (size > 0) needed(configs, "configs");
    // Before it is asked: what a policy proposed must reach the caller.
    if (size > 0 && length / size < wanted)
      refuse(KS_SMALL_BUFFER, "the buffer is too small for the configurations asked for",
             std::to_string(length) + " positions",
             "give " + std::to_string(size) + " for each, or ask for fewer");
    const std::size_t first = in.ask(wanted);
    if (in.jobs() == first && in.outstanding() > 0)
      refuse(KS_NOT_NOW, "the policy waits for outcomes", std::to_string(in.outstanding()) + " outstanding",
             "tell one, then ask again");
    if (in.jobs() == first)
      refuse(KS_END, "the policy has no more to propose", std::to_string(in.jobs()) + " trials",
             "the search is over");
    *given = in.jobs() - first;
    for (std::size_t job = first; job < in.jobs(); ++job) {
      jobs[job - first] = job;
      write_config(in.config(job), configs + (job - first) * size, size);
    }
  });
}
ks_status ks_search_tell(ks_search* search, uint64_t job, ks_verdict verdict, double seconds,
                         const char* reason) {
  return guarded([&] {
    Search& in = *checked(search).search;
    const Working working(search->busy);
    in.tell(job, read_verdict(verdict, seconds, reason));
  });
}
ks_status ks_search_tell_foreign(ks_search* search, const uint32_t* config, size_t length, ks_verdict verdict,
                                 double seconds, const char* reason) {
  return guarded([&] {
    Search& in = *checked(search).search;
    const Working working(search->busy);
    in.tell_foreign(read_config(in.space(), config, length), read_verdict(verdict, seconds, reason));
  });
}
ks_status ks_search_revise(ks_search* search, uint64_t job, ks_verdict verdict, double seconds,
                           const char* reason) {
  return guarded([&] {
    Search& in = *checked(search).search;
    const Working working(search->busy);
    in.revise(job, read_verdict(verdict, seconds, reason));
  });
}
ks_status ks_search_pending(ks_search* search, uint64_t* jobs, size_t capacity, size_t* count) {
  return guarded([&] {
    const Search& in = *checked(search).search;
    const Working working(search->busy);
    if (jobs == nullptr && capacity > 0)
      refuse(KS_BAD_ARGUMENT, "a buffer is missing", "NULL with a capacity", "give a buffer");
    const std::vector<std::uint64_t> open = in.pending();
    if (count != nullptr) *count = open.size();
    if (open.size() > capacity)
      refuse(KS_SMALL_BUFFER, "the buffer is too small", std::to_string(capacity) + " jobs",
             "give one of " + std::to_string(open.size()));
    std::copy(open.begin(), open.end(), jobs);
  });
}
ks_status ks_search_config(ks_search* search, uint64_t job, uint32_t* config, size_t length) {
  return guarded([&] {
    const Search& in = *checked(search).search;
    const Working working(search->busy);
    write_config(in.config(job), config, length);
  });
}
ks_status ks_search_told(ks_search* search, uint64_t* trials) {
  return guarded([&] {
    const Search& in = *checked(search).search;
    const Working working(search->busy);
    *needed(trials, "trials") = in.told();
  });
}
ks_status ks_search_best(ks_search* search, uint64_t* job, uint32_t* config, size_t length, double* seconds) {
  return guarded([&] {
    const Search& in = *checked(search).search;
    const Working working(search->busy);
    if (!in.best())
      refuse(KS_NONE, "there is no best yet", std::to_string(in.told()) + " outcomes told",
             "tell one that is right");
    if (config != nullptr) write_config(in.config(*in.best()), config, length);
    if (job != nullptr) *job = *in.best();
    if (seconds != nullptr) *seconds = in.seconds(*in.best());
  });
}
ks_status ks_search_save(ks_search* search, const char* file) {
  return guarded([&] {
    const Search& in = *checked(search).search;
    const Working working(search->busy);
    const std::filesystem::path to(text_of(file, "file"));
    if (const std::error_code failed = detail::replace_file(to, in.text()))
      refuse(KS_FILE_ERROR, "a search cannot be saved", to.string() + ": " + failed.message(),
             "name a file in a folder that exists and may be written");
  });
}
ks_status ks_search_load(const ks_space* space, const ks_policy* policy, const char* file, ks_search** out) {
  return guarded([&] {
    const Space& in = checked(space).space;
    const auto& recipe = checked(policy).recipe;
    const std::filesystem::path from(text_of(file, "file"));
    const std::optional<std::string> text = try_whole_file(from);
    if (!text)
      refuse(KS_FILE_ERROR, "a saved search cannot be read", from.string(), "name a file that is there");
    give(out,
         [&] { return std::make_unique<ks_search>(Search::replayed(in, recipe, *text, from.string())); });
  });
}
