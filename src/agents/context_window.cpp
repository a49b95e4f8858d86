// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/context_window.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace kernelsearch {
namespace {

/// The trials of a group by relevance.
std::vector<TrialId> ranked(const History<Candidate>& history, const std::vector<TrialId>& ids) {
  std::vector<std::tuple<double, double, std::uint64_t, TrialId>> keys;
  for (const TrialId id : ids) {
    const Outcome outcome = history.find(id).outcome;
    keys.emplace_back(outcome.objective, -outcome.evaluation.progress, ~number(id), id);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<TrialId> result;
  for (const auto& key : keys) result.push_back(std::get<3>(key));
  return result;
}

std::vector<TrialId> siblings(const History<Candidate>& history, TrialId id) {
  std::vector<TrialId> result;
  for (const TrialId parent : history.find(id).outcome.parents)
    if (history.contains(parent))
      for (const TrialId child : history.children(parent))
        if (child != id && std::find(result.begin(), result.end(), child) == result.end())
          result.push_back(child);
  return result;
}

/// The fastest right kernels, the fastest first.
std::vector<TrialId> leaderboard(const History<Candidate>& history, std::size_t most) {
  std::vector<std::pair<double, TrialId>> right;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Trial<Candidate> trial = history[i];
    if (trial.outcome.ok() && trial.candidate) right.emplace_back(trial.outcome.objective, trial.outcome.id);
  }
  std::sort(right.begin(), right.end());
  right.resize(std::min(right.size(), most));
  std::vector<TrialId> result;
  for (const auto& [objective, id] : right) result.push_back(id);
  return result;
}

}  // namespace

TrialId root_of(const History<Candidate>& history, TrialId id) {
  std::set<TrialId> seen;
  while (seen.insert(id).second) {
    const std::vector<TrialId> parents = history.find(id).outcome.parents;
    if (parents.empty() || !history.contains(parents.front())) break;
    id = parents.front();
  }
  return id;
}

std::vector<WindowEntry> context_window(WindowKind kind, const History<Candidate>& history, TrialId i,
                                        const WindowOptions& options) {
  std::vector<WindowEntry> window{{i, WindowRole::self}};
  std::set<TrialId> seen{i};
  const auto add = [&](const std::vector<TrialId>& ids, WindowRole role) {
    for (const TrialId id : ids)
      if (seen.insert(id).second) window.push_back({id, role});
  };
  if (kind == WindowKind::plan || kind == WindowKind::code || kind == WindowKind::debug)
    add({root_of(history, i)}, WindowRole::root);
  if (kind == WindowKind::plan || kind == WindowKind::code)
    add(ranked(history, history.children(i)), WindowRole::child);
  if (kind == WindowKind::plan || kind == WindowKind::leaders) {
    // The root and i may be among them; the leaderboard is not lengthened for that.
    add(leaderboard(history, options.leaders), WindowRole::leader);
  }
  if (kind == WindowKind::code) {
    std::vector<TrialId> nephews;
    for (const TrialId sibling : siblings(history, i))
      for (const TrialId child : history.children(sibling)) nephews.push_back(child);
    add(ranked(history, nephews), WindowRole::nephew);
  }
  if (kind == WindowKind::debug) add(ranked(history, siblings(history, i)), WindowRole::sibling);
  return window;
}

std::vector<WindowEntry> cut_to_budget(std::vector<WindowEntry> window, std::span<const std::size_t> tokens,
                                       std::size_t budget) {
  std::size_t total = 0;
  for (const std::size_t count : tokens) total += count;
  for (std::size_t i = window.size(); i-- > 0 && total > budget;) {
    if (window[i].role == WindowRole::self || window[i].role == WindowRole::root) continue;
    total -= tokens[i];
    window.erase(window.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return window;
}

}  // namespace kernelsearch
