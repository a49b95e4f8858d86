// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "kernelsearch/policy/helion_lfbo.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "support/approx.hpp"
#include "support/packed_text.hpp"

// Replays runs of Helion 1.5.1's own classes (tests/fixtures/helion/README.md): given their draws and their
// forests, HelionLfbo must propose the same configurations, learn from the same rows and use as many draws.

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// The draws of CPython's module random (Mersenne Twister of Matsumoto and Nishimura, 1998; seeded by array).
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed) {
    fill(19650218U);
    std::size_t i = 1;
    for (std::size_t k = size; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525U)) + seed;
      step(i);
    }
    for (std::size_t k = size - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941U)) -
                  static_cast<std::uint32_t>(i);
      step(i);
    }
    state_[0] = 0x80000000U;
  }

  std::uint32_t bits() {
    if (at_ == size) twist();
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }
  /// random.choice, randint and sample draw with this.
  std::size_t below(std::size_t n) {
    unsigned width = 0;
    while (n >> width != 0) ++width;
    std::size_t drawn = 0;
    do {
      drawn = bits() >> (32 - width);
    } while (drawn >= n);
    return drawn;
  }
  double uniform() {
    const double high = bits() >> 5, low = bits() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

 private:
  static constexpr std::size_t size = 624;
  void fill(std::uint32_t seed) {
    state_[0] = seed;
    for (std::size_t i = 1; i < size; ++i)
      state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  }
  void step(std::size_t& i) {
    if (++i < size) return;
    state_[0] = state_[size - 1];
    i = 1;
  }
  void twist() {
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % size] & 0x7fffffffU);
      state_[i] = state_[(i + 397) % size] ^ (y >> 1) ^ ((y & 1U) != 0 ? 0x9908b0dfU : 0U);
    }
    at_ = 0;
  }
  std::array<std::uint32_t, size> state_{};
  std::size_t at_ = size;
};

struct TraceStep {
  enum class What { batch, again, fit, end } what = What::end;
  std::vector<std::pair<Config, double>> asked;  ///< with their times in ms; infinity: failed
  std::uint32_t next_bits = 0;                   ///< that Helion would have drawn next
  std::vector<std::vector<double>> rows;         ///< that are new
  std::string labels;
  std::vector<double> weights;  ///< of the rows labelled 1
  std::vector<DecisionNode> nodes;
  std::vector<std::uint32_t> roots;
  std::size_t row_count = 0;
};

struct HelionTrace {
  std::string made_by;
  std::map<std::string, std::string> options;
  std::optional<Space> space;
  std::vector<std::string> block_sizes;
  std::string warps;
  std::vector<std::pair<Config, double>> told;
  std::vector<TraceStep> steps;
};

double trace_number(const std::string& word) {
  return word == "inf" ? std::numeric_limits<double>::infinity() : std::stod(word);
}

Value trace_value(const std::string& word) {
  if (word == "true" || word == "false") return Value{word == "true"};
  if (word.front() == '"') return Value{word.substr(1, word.size() - 2)};
  if (word.find_first_of(".e") != std::string::npos) return Value{std::stod(word)};
  return Value{static_cast<std::int64_t>(std::stoll(word))};
}

std::pair<Config, double> trace_result(std::istringstream& words) {
  std::string places, time, place;
  words >> places >> time;
  Config config;
  std::istringstream list(places);
  while (std::getline(list, place, ','))
    config.indices.push_back(static_cast<std::uint32_t>(std::stoul(place)));
  return {config, trace_number(time)};
}

/// A subtree in preorder (`feature:threshold left right`, or a leaf's value) at `at`.
void read_subtree(std::istringstream& words, std::vector<DecisionNode>& nodes, std::size_t at) {
  std::string word;
  words >> word;
  REQUIRE_FALSE(word.empty());
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) {
    nodes[at].number = std::stod(word);
    return;
  }
  const std::size_t left = nodes.size();
  nodes[at] = {std::stod(word.substr(colon + 1)), std::stoi(word), static_cast<std::uint32_t>(left)};
  nodes.resize(left + 2);
  read_subtree(words, nodes, left);
  read_subtree(words, nodes, left + 1);
}

HelionTrace read_trace(const std::filesystem::path& path) {
  std::istringstream file(support::packed_text(path));
  HelionTrace trace;
  std::vector<Tunable> tunables;
  std::vector<Constraint> constraints;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "helion") {
      trace.made_by = line;
    } else if (word == "options") {
      while (words >> word) trace.options[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    } else if (word == "tunable") {
      Tunable tunable;
      std::string kind, mark, standard;
      words >> tunable.name >> kind >> mark >> standard;
      for (const TunableKind each :
           {TunableKind::integer, TunableKind::power_of_two, TunableKind::boolean, TunableKind::categorical})
        if (kind == to_string(each)) tunable.kind = each;
      REQUIRE(kind == to_string(tunable.kind));
      while (words >> word) tunable.values.push_back(trace_value(word));
      if (mark == "block") trace.block_sizes.push_back(tunable.name);
      if (mark == "warps") trace.warps = tunable.name;
      tunables.push_back(tunable.with_default(trace_value(standard)));
    } else if (word == "constraint") {
      constraints.emplace_back(line.substr(word.size() + 1));
    } else if (word == "told") {
      trace.told.push_back(trace_result(words));
    } else if (word == "batch" || word == "end") {
      TraceStep step;
      step.what = word == "batch" ? TraceStep::What::batch : TraceStep::What::end;
      if (word == "batch") words >> word;
      words >> step.next_bits;
      trace.steps.push_back(step);
    } else if (word == "ask") {
      trace.steps.back().asked.push_back(trace_result(words));
    } else if (word == "again") {
      TraceStep step;
      step.what = TraceStep::What::again;
      step.asked.push_back(trace_result(words));
      trace.steps.push_back(step);
    } else if (word == "fit") {
      TraceStep step;
      step.what = TraceStep::What::fit;
      words >> step.row_count;
      trace.steps.push_back(step);
    } else if (word == "row") {
      std::vector<double> row;
      for (double number = 0; words >> number;) row.push_back(number);
      trace.steps.back().rows.push_back(row);
    } else if (word == "labels") {
      words >> trace.steps.back().labels;
    } else if (word == "weights") {
      for (double number = 0; words >> number;) trace.steps.back().weights.push_back(number);
    } else if (word == "tree") {
      TraceStep& step = trace.steps.back();
      step.roots.push_back(static_cast<std::uint32_t>(step.nodes.size()));
      step.nodes.emplace_back();
      read_subtree(words, step.nodes, step.roots.back());
    } else {
      FAIL("a line of ", path.string(), " that no trace has: ", line.substr(0, 60));
    }
  }
  trace.space = Space::build(std::move(tunables), std::move(constraints));
  return trace;
}

HelionLfboOptions options_of(const HelionTrace& trace) {
  const auto text = [&](const char* name) {
    REQUIRE_MESSAGE(trace.options.contains(name), name);
    return trace.options.at(name);
  };
  const auto count = [&](const char* name) { return static_cast<std::size_t>(std::stoul(text(name))); };
  HelionLfboOptions options;
  options.proposals = text("search") == "tree" ? HelionProposals::tree : HelionProposals::pattern;
  options.initial = count("initial");
  options.copies = count("copies");
  options.generations = count("generations");
  options.neighbours = count("neighbours");
  options.fraction = std::stod(text("fraction"));
  options.radius = count("radius");
  options.quantile = std::stod(text("quantile"));
  options.patience = count("patience");
  options.similarity_penalty = std::stod(text("penalty"));
  options.min_improvement = std::stod(text("improvement"));
  options.polish_rounds = count("polish");
  options.trees = count("trees");
  options.start = text("start") == "random" ? HelionStart::random : HelionStart::best_known;
  options.block_sizes = trace.block_sizes;
  options.warps = trace.warps;
  options.restart = false;
  return options;
}

/// A policy that is replayed, and the steps of the trace behind it.
class Replay {
 public:
  explicit Replay(const HelionTrace& trace)
      : trace_(trace),
        random_(static_cast<std::uint32_t>(std::stoul(trace.options.at("seed")))),
        policy_(*trace.space,
                HelionSource{
                    [this](std::size_t n) { return random_.below(n); }, [this] { return random_.uniform(); },
                    [this](const FeatureMatrix& rows, const std::vector<bool>& labels,
                           std::span<const double> weights) { return learn(rows, labels, weights); }},
                options_of(trace)) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void run() {
    for (const auto& [config, time] : trace_.told) tell(config, time, false);
    while (true) {
      const std::vector<Config> proposed = policy_.ask(100000);
      skip_silent_batches();
      REQUIRE(at_ < trace_.steps.size());
      const TraceStep& step = trace_.steps[at_];
      if (step.what == TraceStep::What::end) {
        CHECK(proposed.empty());
        break;
      }
      CAPTURE(at_);
      REQUIRE(step.what == TraceStep::What::batch);
      REQUIRE(proposed == visible(step));
      CHECK(PythonRandom(random_).bits() == step.next_bits);
      ++batches_;
      for (const auto& [config, time] : step.asked)
        if (trace_.space->contains(config) && !known_.contains(config)) tell(config, time, true);
      for (++at_; trace_.steps[at_].what == TraceStep::What::again; ++at_)
        for (const auto& [config, time] : trace_.steps[at_].asked) tell(config, time, true);
    }
    CHECK(random_.bits() == trace_.steps[at_].next_bits);
    CHECK(policy_.ask(10).empty());
  }

  [[nodiscard]] std::size_t batches() const { return batches_; }
  [[nodiscard]] std::size_t fits() const { return fits_; }

 private:
  /// What of a batch of Helion's ours proposes: what meets the constraints and is not known.
  [[nodiscard]] std::vector<Config> visible(const TraceStep& step) const {
    std::vector<Config> configs;
    for (const auto& [config, time] : step.asked)
      if (trace_.space->contains(config) && !known_.contains(config)) configs.push_back(config);
    return configs;
  }

  void skip_silent_batches() {
    while (trace_.steps[at_].what == TraceStep::What::batch && visible(trace_.steps[at_]).empty()) ++at_;
  }

  TreeEnsemble learn(const FeatureMatrix& rows, const std::vector<bool>& labels,
                     std::span<const double> weights) {
    skip_silent_batches();
    CAPTURE(at_);
    const TraceStep& step = trace_.steps[at_];
    REQUIRE(step.what == TraceStep::What::fit);
    REQUIRE(rows.rows() == step.row_count);
    for (const std::vector<double>& row : step.rows) {
      REQUIRE(learned_ < rows.rows());
      const auto ours = rows.row(learned_++);
      CHECK(row == std::vector<double>(ours.begin(), ours.end()));
    }
    CHECK(learned_ == rows.rows());
    std::string told;
    std::vector<double> positive;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      told += labels[i] ? '1' : '0';
      if (labels[i])
        positive.push_back(weights[i]);
      else
        CHECK(weights[i] == 1.0);
    }
    CHECK(told == step.labels);
    REQUIRE(positive.size() == step.weights.size());
    for (std::size_t i = 0; i < positive.size(); ++i)
      CHECK(positive[i] == approx(step.weights[i]).epsilon(1e-9));
    ++at_;
    ++fits_;
    return TreeEnsemble::of(rows.columns(), step.nodes, step.roots);
  }

  void tell(const Config& config, double time, bool own) {
    Observation<Config> observation{config, {}};
    observation.outcome.id = TrialId{next_id_++};
    const auto [known, fresh] = known_.emplace(config, proposals_);
    if (fresh && own) ++proposals_;
    if (own) observation.outcome.origin = Origin{ProposalId{known->second}, 0, 1};
    const double seconds = time * 1e-3;
    observation.outcome.objective = seconds;
    observation.outcome.evaluation = std::isfinite(time)
                                         ? Evaluation::succeeded(seconds)
                                         : Evaluation::failed(Verdict::crashed, "as recorded");
    policy_.tell(std::span(&observation, 1));
  }

  const HelionTrace& trace_;
  PythonRandom random_;
  HelionLfbo policy_;
  std::size_t at_ = 0, learned_ = 0, batches_ = 0, fits_ = 0;
  std::uint64_t next_id_ = 0, proposals_ = 0;
  std::unordered_map<Config, std::uint64_t> known_;
};

const std::filesystem::path traces_folder =
    std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures/helion";

}  // namespace

TEST_CASE("HelionLfbo traces: Python's draws are drawn as Python draws them") {
  PythonRandom random(42);  // of CPython 3.11
  CHECK(random.uniform() == 0.6394267984578837);
  for (const std::size_t each : {0, 4, 3, 3, 2, 1}) CHECK(random.below(10) == each);
  CHECK(random.below(1) == 0);
  CHECK(random.below(100) == 75);
}

TEST_CASE("HelionLfbo traces: each step is that of Helion 1.5.1's own classes") {
  struct Expected {
    const char* name;
    std::size_t batches, fits;  // that a trace has, so that an empty one is none
  };
  for (const Expected expected : {Expected{"tree", 8, 5},
                                  {"pattern", 6, 4},
                                  {"unmarked", 6, 4},
                                  {"remeasured", 8, 5},
                                  {"told", 5, 2},
                                  {"level", 4, 0},
                                  {"matmul", 6, 5}}) {
    SUBCASE(expected.name) {
      CAPTURE(expected.name);
      const HelionTrace trace = read_trace(traces_folder / (std::string(expected.name) + ".trace"));
      CHECK(trace.made_by.starts_with("helion 1.5.1 "));
      Replay replay(trace);
      replay.run();
      CHECK(replay.batches() >= expected.batches);
      CHECK(replay.fits() >= expected.fits);
    }
  }
}

TEST_CASE("HelionLfbo traces: those of a folder named by the environment, of recordings that are not ours") {
  const char* folder = std::getenv("KERNELSEARCH_TEST_HELION_TRACES");
  if (folder == nullptr) {
    MESSAGE("skipped: KERNELSEARCH_TEST_HELION_TRACES names no folder (tests/fixtures/helion/README.md)");
    return;
  }
  std::size_t replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find(".trace") == std::string::npos) continue;
    CAPTURE(entry.path().string());
    const HelionTrace trace = read_trace(entry.path());
    Replay replay(trace);
    replay.run();
    ++replayed;
  }
  CHECK(replayed > 0);
}
