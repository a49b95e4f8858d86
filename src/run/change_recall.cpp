// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/change_recall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/model/roofline.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_name = 80, most_words = 160;  // bytes of names and reasons in a prompt

std::size_t in_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const std::string& one) {
    return std::find(b.begin(), b.end(), one) != b.end();
  }));
}

/// The share of all traits of both that both have.
double likeness(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::size_t common = in_common(a, b), all = a.size() + b.size() - common;
  return all == 0 ? 0.0 : static_cast<double>(common) / static_cast<double>(all);
}

/// `sm_90`, `gfx90a`; empty where the device names none.
std::string_view architecture(std::string_view device) {
  for (const std::string_view sign : {std::string_view("sm_"), std::string_view("gfx")})
    if (const std::size_t at = device.find(sign); at != std::string_view::npos) {
      const std::string_view rest = device.substr(at);
      return rest.substr(0, rest.find_first_of(", "));
    }
  return {};
}

int device_nearness(std::string_view a, std::string_view b) {
  if (same_device(a, b)) return 2;
  return !architecture(a).empty() && architecture(a) == architecture(b) ? 1 : 0;
}

/// Whether it says something of making kernels faster: repairing and taking out do not.
bool is_attempt(const RememberedChange& change) {
  return change.kind != MoveKind::debug && change.kind != MoveKind::ablate && change.kind != MoveKind::root;
}

bool is_success(const RememberedChange& change) {
  return change.effect && change.effect->faster();
}

/// The first line of a text of others, which may be anything.
std::string first_line(const std::string& text, std::size_t limit) {
  const std::string clean = clean_text(text);
  const std::string line = clean.substr(0, clean.find('\n'));
  return line.size() <= limit ? line : clean_text(line.substr(0, limit)) + " ...";
}

std::string listed(const std::vector<std::string>& names, std::string_view none) {
  if (names.empty()) return std::string(none);
  return detail::joined(names, ", ", [](const std::string& name) { return first_line(name, most_name); });
}

std::string effect_text(const ChangeEffect& effect) {
  return fmt::format("{:.3g} times as fast as its parent ({:.3g} to {:.3g}{})", effect.ratio,
                     effect.interval.low, effect.interval.high, effect.paired ? ", in pairs" : "");
}

std::string head_of(const RememberedChange& change, const RecallScene& scene) {
  std::string text =
      "- " + listed(change.strategies, "its own choice") + ", on " + first_line(change.problem, most_name);
  if (!change.traits.empty()) text += " (" + listed(change.traits, "") + ")";
  if (!change.limiter.empty()) text += ", limited by " + first_line(change.limiter, most_name);
  if (!same_device(change.device, scene.device)) text += ", on " + first_line(change.device, most_name);
  return text + ": ";
}

std::string failure_line(const RememberedChange& change, const RecallScene& scene) {
  std::string text = head_of(change, scene);
  if (change.effect)
    text += effect_text(*change.effect);
  else
    text += std::string(shown_verdict(change.verdict, change.overrun));
  if (change.verdict == Verdict::wrong_result) text += ", " + progress_text(change.verdict, change.progress);
  if (!change.reason.empty()) text += ": " + first_line(change.reason, most_words);
  return text + '\n';
}

std::string success_text(const RememberedChange& change, const RecallScene& scene, std::size_t diff_bytes) {
  std::string text = head_of(change, scene) + effect_text(*change.effect);
  if (!change.model.empty()) text += ", by " + first_line(change.model, most_name);
  text += '\n';
  if (!change.settings.empty()) text += "  settings: " + first_line(change.settings, most_words) + '\n';
  if (diff_bytes > 0 && !change.diff.empty())
    text += quoted(change.diff, "diff", std::max<std::size_t>(diff_bytes, 100)) + '\n';
  return text;
}

/// What a change is told apart by where several runs made it.
auto sameness(const RememberedChange& change) {
  return std::tuple(change.parent_kernel, change.kernel, change.settings, change.model, change.device,
                    change.strategies, change.kernel.empty() ? change.id : std::string());
}

}  // namespace

std::vector<ChangeCount> count_changes(const std::vector<RememberedChange>& changes) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::pair<ChangeCount, std::vector<double>>> rows;
  std::set<decltype(sameness(changes.front()))> seen;
  for (const RememberedChange& change : changes) {
    if (!is_attempt(change) || !seen.insert(sameness(change)).second) continue;
    const std::vector<std::string> none{""};
    for (const std::string& strategy : change.strategies.empty() ? none : change.strategies)
      for (const std::string& trait : change.traits.empty() ? none : change.traits) {
        auto& row = rows[Key(strategy, trait, change.model)];
        ++row.first.tried;
        row.first.faster += is_success(change) ? 1 : 0;
        row.first.failed += change.verdict != Verdict::ok ? 1 : 0;
        if (change.effect) row.second.push_back(change.effect->ratio);
      }
  }
  std::vector<ChangeCount> counts;
  for (auto& [key, row] : rows) {
    ChangeCount count = row.first;
    std::tie(count.strategy, count.trait, count.model) = key;
    if (std::vector<double>& effects = row.second; !effects.empty()) {
      std::sort(effects.begin(), effects.end());
      const std::size_t middle = effects.size() / 2;
      count.median_effect =
          effects.size() % 2 == 1 ? effects[middle] : std::sqrt(effects[middle - 1] * effects[middle]);
    }
    counts.push_back(std::move(count));
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const ChangeCount& a, const ChangeCount& b) { return a.tried > b.tried; });
  return counts;
}

ChangeRecall::ChangeRecall(std::vector<RememberedChange> changes, RecallScene scene, RecallOptions options)
    : changes_(std::move(changes)), scene_(std::move(scene)), options_(options) {
  std::erase_if(changes_, [this](const RememberedChange& change) {
    return change.backend != scene_.backend || !is_attempt(change) ||
           (change.problem != scene_.problem && in_common(change.traits, scene_.traits) == 0);
  });
}

std::vector<const RememberedChange*> ChangeRecall::nearest(std::string_view limiter,
                                                           const std::vector<std::string>& strategies,
                                                           bool faster) const {
  const auto nearness = [&](const RememberedChange& change) {
    const bool limited = !limiter.empty() && change.limiter == limiter;
    return std::tuple(change.problem == scene_.problem, likeness(change.traits, scene_.traits),
                      device_nearness(change.device, scene_.device), limited,
                      in_common(change.strategies, strategies) > 0,
                      faster ? change.effect->interval.low : 0.0);
  };
  std::vector<const RememberedChange*> found;
  for (const RememberedChange& change : changes_)
    if (is_success(change) == faster) found.push_back(&change);
  // Stable: of equally near ones the newer stays first.
  std::stable_sort(found.begin(), found.end(), [&](const RememberedChange* a, const RememberedChange* b) {
    return nearness(*a) > nearness(*b);
  });
  return found;
}

std::vector<const RememberedChange*> ChangeRecall::successes(
    std::string_view limiter, const std::vector<std::string>& strategies) const {
  std::vector<const RememberedChange*> few;
  std::set<std::string> diffs;
  for (const RememberedChange* change : nearest(limiter, strategies, true))
    if (few.size() < options_.successes && diffs.insert(change->diff + '\n' + change->settings).second)
      few.push_back(change);
  return few;
}

std::vector<const RememberedChange*> ChangeRecall::failures(
    std::string_view limiter, const std::vector<std::string>& strategies) const {
  std::vector<const RememberedChange*> few;
  std::set<std::tuple<std::string, std::vector<std::string>, Verdict, std::string>> kinds;
  for (const RememberedChange* change : nearest(limiter, strategies, false)) {
    // Implementations that gained nothing differ in what they are, failures in what went wrong.
    const std::string kind =
        change->effect ? change->diff + change->settings : first_line(change->reason, most_words);
    if (few.size() < options_.failures &&
        kinds.emplace(change->problem, change->strategies, change->verdict, kind).second)
      few.push_back(change);
  }
  return few;
}

std::string ChangeRecall::table(const std::vector<std::string>& strategies) const {
  std::vector<ChangeCount> counts = count_changes(changes_);
  std::erase_if(counts, [this](const ChangeCount& row) {
    const auto& traits = scene_.traits;
    return !row.trait.empty() && std::find(traits.begin(), traits.end(), row.trait) == traits.end();
  });
  std::stable_partition(counts.begin(), counts.end(), [&](const ChangeCount& row) {
    return std::find(strategies.begin(), strategies.end(), row.strategy) != strategies.end();
  });
  if (counts.empty()) return {};
  std::string text =
      "\n| strategy | trait | model | tried | faster | failed | median effect "
      "|\n|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < std::min(counts.size(), options_.rows); ++i) {
    const ChangeCount& row = counts[i];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                        row.strategy.empty() ? "its own choice" : first_line(row.strategy, 60),
                        row.trait.empty() ? "-" : first_line(row.trait, 40),
                        row.model.empty() ? "-" : first_line(row.model, 60), row.tried, row.faster,
                        row.failed, row.median_effect ? fmt::format("{:.3g}", *row.median_effect) : "-");
  }
  if (counts.size() > options_.rows) text += fmt::format("and {} more rows\n", counts.size() - options_.rows);
  return text;
}

std::string ChangeRecall::text(std::string_view limiter, const std::vector<std::string>& strategies) const {
  if (changes_.empty()) return {};
  // What is worth most has room first: the counts, a success with its diff, what failed, more successes.
  const std::string counts = table(strategies);
  std::size_t left = options_.tokens, left_out = 0;
  const auto fits = [&left](const std::string& text) {
    const std::size_t tokens = estimated_tokens(text);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  };
  const bool with_table = fits(counts);
  std::string good, bad;
  const auto show = [&](const RememberedChange& change) {
    for (const std::size_t bytes : {options_.diff_bytes, std::size_t{0}})
      if (std::string one = success_text(change, scene_, bytes); fits(one)) {
        good += one;
        return;
      }
    ++left_out;
  };
  const auto faster = successes(limiter, strategies);
  if (!faster.empty()) show(*faster.front());
  for (const RememberedChange* change : failures(limiter, strategies)) {
    const std::string line = failure_line(*change, scene_);
    fits(line) ? (void)(bad += line) : (void)++left_out;
  }
  for (std::size_t i = 1; i < faster.size(); ++i) show(*faster[i]);
  std::string text;
  if (!good.empty()) text += "Faster:\n" + good;
  if (!bad.empty()) text += (text.empty() ? "" : "\n") + std::string("No gain, or failed:\n") + bad;
  if (with_table) text += counts;
  if (left_out > 0) text += fmt::format("\n{} more are left out for their length.\n", left_out);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Recall recall_from(const RunStore& store, const Problem& problem, const std::string& device,
                   std::optional<DevicePeaks> peaks, std::int64_t until) {
  ChangeFilter filter;
  filter.backend = to_string(problem.backend);
  filter.until = until;
  std::vector<RememberedChange> known;
  for (StoredChange& one : store.changes(filter)) known.push_back(std::move(one.change));
  auto recall = std::make_shared<const ChangeRecall>(
      std::move(known), RecallScene{problem.name, filter.backend, memory_traits(problem), device});
  return [recall, about = std::make_shared<const Problem>(problem), peaks](
             const Candidate&, const Outcome& outcome, const Move& move) {
    return recall->text(limiter_of(*about, outcome.evaluation, peaks), move.strategies);
  };
}

std::vector<std::string> memory_traits(const Problem& problem) {
  if (!problem.traits.empty()) return problem.traits;
  bool elementwise = true, reduction = true, any = false;
  try {
    const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
    for (const Shape& shape : problem.shapes) {
      std::set<std::size_t> all;
      std::size_t largest_input = 0, largest_output = 0;
      for (const Argument& argument : problem.arguments) {
        if (!argument.is_array || argument.tensor_map) continue;
        const std::size_t count = element_count(argument, shape, tunables);
        all.insert(count);
        if (argument.is_input()) largest_input = std::max(largest_input, count);
        if (argument.is_output()) largest_output = std::max(largest_output, count);
      }
      any = any || largest_output > 0;
      elementwise = elementwise && all.size() == 1;
      reduction = reduction && largest_output < largest_input;
    }
  } catch (const ConfigError&) {  // a size that only a generator knows
    return {};
  }
  if (any && elementwise) return {"elementwise"};
  if (any && reduction) return {"reduction"};
  return {};
}

std::string limiter_of(const Problem& problem, const Evaluation& evaluation,
                       const std::optional<DevicePeaks>& peaks) {
  Bound bound = bound_of(roofline_gaps(evaluation.features));
  if (bound == Bound::unknown && peaks && evaluation.verdict == Verdict::ok)
    bound = bound_of(roofline_gaps(counted_features(problem, evaluation.measurement, *peaks)));
  return bound == Bound::unknown ? std::string() : std::string(to_string(bound));
}

std::optional<ChangeEffect> effect_of_change(const Outcome& parent, const Outcome& child) {
  if (!parent.ok() || !child.ok()) return std::nullopt;
  const Features& features = child.evaluation.features;
  const auto pairs = features.find("times_parent"), low = features.find("times_parent.low"),
             high = features.find("times_parent.high");
  if (pairs && low && high && *pairs > 0 && *low > 0 && *high > 0)
    return ChangeEffect{1 / *pairs, {1 / *high, 1 / *low}, true};
  const Measurement& a = parent.evaluation.measurement;
  const Measurement& b = child.evaluation.measurement;
  if (!(a.seconds > 0) || !(b.seconds > 0) || !std::isfinite(a.seconds) || !std::isfinite(b.seconds))
    return std::nullopt;
  // Relative errors, which add up as squares. An evaluator that gives no interval says that it is exact.
  const auto below = [](const Measurement& one) {
    return one.interval.low > 0 ? std::log(one.seconds / std::min(one.interval.low, one.seconds)) : 0.0;
  };
  const auto above = [](const Measurement& one) {
    return one.interval.high > 0 ? std::log(std::max(one.interval.high, one.seconds) / one.seconds) : 0.0;
  };
  const double ratio = a.seconds / b.seconds;
  return ChangeEffect{
      ratio,
      {ratio * std::exp(-std::hypot(below(a), above(b))), ratio * std::exp(std::hypot(above(a), below(b)))},
      false};
}

}  // namespace kernelsearch
