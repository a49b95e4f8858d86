// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/workflow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/shown_verdict.hpp"

namespace kernelsearch {
namespace {

/// Tries are counted here, since a restored checkpoint's begin anew; the ledger numbers them.
constexpr MoveLimits unlimited{.variants = std::numeric_limits<std::size_t>::max(),
                               .max_failures = std::numeric_limits<std::size_t>::max(),
                               .debugs = 0};

double infinity() {
  return std::numeric_limits<double>::infinity();
}

}  // namespace

Workflow::Workflow(WorkflowOptions options)
    : options_(std::move(options)), ledger_(options_.transformations, unlimited) {
  for (const Axis axis : all_axes) {
    const std::vector<std::string>& order = options_.orders[static_cast<std::size_t>(axis)];
    std::vector<std::size_t>& ranks = ranks_[static_cast<std::size_t>(axis)];
    for (std::size_t s = 0; s < ledger_.strategies(); ++s) {
      const auto place = std::find(order.begin(), order.end(), ledger_.name(s));
      ranks.push_back(order.empty() ? s : static_cast<std::size_t>(place - order.begin()));
    }
  }
}

bool Workflow::listed() const noexcept {
  return options_.order == WorkflowOrder::listed && !options_.transformations.empty();
}

std::size_t Workflow::retries_of(std::size_t strategy) const noexcept {
  const std::size_t count = options_.transformations.size();
  const bool middle = count >= 3 && strategy >= count / 3 && strategy < count - count / 3;
  return options_.retries + (middle ? options_.middle_retries : 0);
}

std::vector<Move> Workflow::ask(std::size_t n) {
  apply_edits();
  ++events_;
  return ledger_.ask(n, [this] { return choose(); });
}

void Workflow::asked_before(std::span<const Move> moves) {
  apply_edits();
  ++events_;
  if (moves.empty()) (void)choose();  // for what it notes: there was nothing to choose then
  for (const Move& move : moves) {
    if (move.kind == MoveKind::root) {
      (void)ledger_.propose_root();
      continue;
    }
    notice_changes();
    const auto node =
        move.parents.empty() ? std::optional<std::size_t>() : ledger_.tree().find(move.parents.front());
    const auto strategy = ledger_.strategy_of(move.strategy());
    const Checkpoint* from = node ? checkpoints_.find(ledger_.node(*node).id) : nullptr;
    if (from == nullptr || !strategy)
      detail::raise<ConfigError>("the record has a step that this workflow cannot make", move.strategy(),
                                 "look at it with the version that made the run");
    if (went_to_ != from->trial) go_to(*from);
    if (listed()) (void)next_strategy(*node);  // notes what the list passes over
    again_.reset();
    const Checkpoint* best = checkpoints_.best();
    step_ = Step{*node, *strategy, best != nullptr ? best->objective : infinity(), {}};
    (void)ledger_.propose(*node, *strategy);
  }
}

void Workflow::apply_edits() {
  for (; next_edit_ < options_.edits.size() && options_.edits[next_edit_].after <= events_; ++next_edit_)
    apply(options_.edits[next_edit_].edit, checkpoints_);
}

void Workflow::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    apply_edits();
    ++events_;
    record(observation);
    if (ledger_.outstanding() == 0) settle();
    if (checkpoints_.current() == nullptr && checkpoints_.best() != nullptr) go_to(*checkpoints_.best());
  }
}

void Workflow::record(const Observation<Move>& observation) {
  const Outcome& outcome = observation.outcome;
  const bool known = ledger_.tree().find(outcome.id).has_value();
  ledger_.tell(observation);
  const std::size_t index = *ledger_.tree().find(outcome.id);
  const TreeNode& node = ledger_.node(index);
  if (!known && outcome.origin && step_) {
    step_->children.push_back(index);
    step_->verdict = shown_verdict(node.verdict, outcome.evaluation.overrun);
    if (node.not_applicable()) step_->ruled_out = outcome.evaluation.reason;
    if (const auto twin = outcome.evaluation.features.find("twin"); twin && node.not_applicable())
      step_->twin = TrialId{static_cast<std::uint64_t>(*twin)};
    if (node.unanswered) step_->unanswered = true;
  }
  if (node.ok() && options_.short_of) {
    if (const std::optional<Axis> axis = options_.short_of(outcome))
      short_[index] = *axis;
    else
      short_.erase(index);
  }

  if (node.ok() && options_.evidence) {
    std::vector<double>& seen = seen_[index];
    seen.clear();
    for (std::size_t s = 0; s < ledger_.strategies(); ++s)
      seen.push_back(options_.evidence(ledger_.name(s), outcome));
  }

  if (const Checkpoint* checkpoint = checkpoints_.find(outcome.id)) {  // measured again
    const std::string name = checkpoint->name;
    const bool was_wrong = !std::isfinite(checkpoint->objective);
    checkpoints_.set_objective(name, node.ok() ? node.objective : infinity());
    if (!node.ok()) {
      checkpoints_.set_closed(name, true);
      checkpoints_.set_note(
          name, "found out later: " + std::string(shown_verdict(node.verdict, outcome.evaluation.overrun)));
    } else if (was_wrong) {
      checkpoints_.set_closed(name, false);
      checkpoints_.set_note(name, {});
    }
    return;
  }
  if (!node.ok()) return;
  Checkpoint checkpoint;
  checkpoint.trial = outcome.id;
  checkpoint.transformation = std::string(observation.proposal.strategy());
  checkpoint.name = !checkpoint.transformation.empty()            ? checkpoint.transformation
                    : observation.proposal.kind == MoveKind::root ? "root"
                    : outcome.origin                              ? "step"
                                                                  : "submitted";
  if (const auto parent = ledger_.tree().first_parent(index))
    if (const Checkpoint* from = checkpoints_.find(ledger_.node(*parent).id)) checkpoint.parent = from->name;
  checkpoint.objective = outcome.objective;
  checkpoint.tuned_key = outcome.evaluation.tuned_key;
  const double best = checkpoints_.best() != nullptr ? checkpoints_.best()->objective : infinity();
  const std::string name = checkpoints_.add(std::move(checkpoint));
  // Work continues from a better kernel from outside, and from the root where all earlier kernels are slower.
  const bool first = observation.proposal.kind == MoveKind::root;
  if ((!outcome.origin || first) && outcome.objective < best && checkpoints_.current() != nullptr)
    go_to(checkpoints_.at(name));
}

void Workflow::go_to(const Checkpoint& checkpoint) {
  went_to_ = checkpoint.trial;
  again_.reset();
  fruitless_ = 0;
  checkpoints_.restore(checkpoint.name);
}

void Workflow::settle() {
  if (!step_) return;
  const Step step = *std::exchange(step_, std::nullopt);
  std::optional<std::size_t> best;
  for (const std::size_t child : step.children)
    if (ledger_.node(child).ok() && (!best || ledger_.node(child).objective < ledger_.node(*best).objective))
      best = child;
  Attempts& attempts = attempts_[{step.node, step.strategy}];
  const Checkpoint* reached = best        ? checkpoints_.find(ledger_.node(*best).id)
                              : step.twin ? checkpoints_.find(*step.twin)  // known and tuned: free
                                          : nullptr;
  if (reached != nullptr && !reached->closed) {
    attempts.over = true;
    const bool gain = reached->objective < step.best_before * (1 - options_.min_gain);
    const std::size_t fruitless = gain ? 0 : fruitless_ + 1;
    const Checkpoint* current = checkpoints_.current();
    const bool here = current != nullptr && current->trial == ledger_.node(step.node).id;
    if (!here) return;  // work was moved elsewhere meanwhile
    go_to(*reached);
    fruitless_ = fruitless;
    next_ = std::max(next_, step.strategy + 1);
    return;
  }
  if (!step.ruled_out.empty()) {  // no try: the ledger has closed it on this kernel
    attempts_.erase({step.node, step.strategy});
    next_ = std::max(next_, step.strategy + 1);
    note(step.node, "does not apply: " + step.ruled_out);
    return;
  }
  if (step.unanswered) {  // no try either
    again_ = step.strategy;
    return;
  }
  if (++attempts.failed <= retries_of(step.strategy)) {
    again_ = step.strategy;
    return;
  }
  attempts.over = true;
  next_ = std::max(next_, step.strategy + 1);
  std::string text =
      ledger_.name(step.strategy).empty() ? std::string("a step") : ledger_.name(step.strategy);
  text += " failed " + std::to_string(attempts.failed) + " times";
  if (!step.children.empty()) text += " (" + std::string(step.verdict) + ')';
  note(step.node, text);
}

/// Adds to the note of the node's checkpoint.
void Workflow::note(std::size_t node, const std::string& text) {
  const Checkpoint* const from = checkpoints_.find(ledger_.node(node).id);
  if (from != nullptr && from->note.find(text) == std::string::npos)
    checkpoints_.set_note(from->name, from->note + (from->note.empty() ? "" : "; ") + text);
}

/// What was done to the tree from outside since the last call.
void Workflow::notice_changes() {
  const Checkpoint* current = checkpoints_.current();
  if (current != nullptr && !current->closed && went_to_ == current->trial) return;
  if (current == nullptr || current->closed) {
    const Checkpoint* best = checkpoints_.best();
    if (best == nullptr) {
      went_to_.reset();
      return;
    }
    go_to(*best);
    return;
  }
  const Checkpoint restored = *current;
  go_to(restored);
  next_ = 0;
  for (const std::string& step : checkpoints_.transformations_on(restored.name))
    if (const auto strategy = ledger_.strategy_of(step)) next_ = std::max(next_, *strategy + 1);
  if (const auto node = ledger_.tree().find(restored.trial))
    for (std::size_t s = 0; s < ledger_.strategies(); ++s) attempts_.erase({*node, s});
}

std::optional<std::size_t> Workflow::current_node() {
  notice_changes();
  if (!went_to_) return std::nullopt;
  return ledger_.tree().find(*went_to_);
}

/// What the checkpoint's kernel has: the transformations on its path, and those that the first one came with.
std::vector<std::string> Workflow::had_by(const Checkpoint& checkpoint) const {
  std::vector<std::string> had = checkpoints_.transformations_on(checkpoint.name);
  had.insert(had.end(), options_.present.begin(), options_.present.end());
  return had;
}

/// One of those that the transformation builds on which is not there; empty: none is missing.
std::string Workflow::missing_for(std::size_t strategy, const std::vector<std::string>& had) const {
  if (const auto found = options_.after.find(ledger_.name(strategy)); found != options_.after.end())
    for (const std::string& before : found->second)
      if (std::find(had.begin(), had.end(), before) == had.end()) return before;
  return {};
}

/// Whether a later step of the list builds on a step of this path that the best checkpoint's path lacks.
bool Workflow::list_needs_path() const {
  const Checkpoint *current = checkpoints_.current(), *best = checkpoints_.best();
  if (!listed() || current == nullptr || best == nullptr) return false;
  const std::vector<std::string> here = had_by(*current), there = had_by(*best);
  for (std::size_t s = next_; s < ledger_.strategies(); ++s)
    if (missing_for(s, here).empty() && !missing_for(s, there).empty()) return true;
  return false;
}

std::size_t Workflow::rank_of(std::size_t strategy, std::size_t node) const {
  const auto known = short_.find(node);
  const Axis axis = known == short_.end() ? Axis::memory : known->second;
  return ranks_[static_cast<std::size_t>(axis)][strategy];
}

double Workflow::seen_of(std::size_t strategy, std::size_t node) const {
  const auto known = seen_.find(node);
  return known == seen_.end() ? 0.0 : known->second[strategy];
}

std::optional<std::size_t> Workflow::open_strategy(std::size_t node) const {
  const Checkpoint* checkpoint = checkpoints_.find(ledger_.node(node).id);
  if (checkpoint == nullptr || checkpoint->closed) return std::nullopt;
  const std::vector<std::string> had = had_by(*checkpoint);
  std::optional<std::size_t> least;
  std::tuple<std::size_t, double, std::size_t> first{};
  for (std::size_t s = 0; s < ledger_.strategies(); ++s) {
    if (!ledger_.name(s).empty() && std::find(had.begin(), had.end(), ledger_.name(s)) != had.end()) continue;
    if (!ledger_.open(node, s) || !missing_for(s, had).empty()) continue;
    const auto tried = attempts_.find({node, s});
    if (tried != attempts_.end() && tried->second.over) continue;
    const auto uses = static_cast<std::size_t>(std::count_if(
        attempts_.begin(), attempts_.end(), [s](const auto& entry) { return entry.first.second == s; }));
    const auto key = std::make_tuple(uses, -seen_of(s, node), rank_of(s, node));
    if (!least || key < first) {
      least = s;
      first = key;
    }
  }
  return least;
}

std::optional<std::size_t> Workflow::next_strategy(std::size_t node) {
  if (again_) return std::exchange(again_, std::nullopt);
  if (!listed()) return open_strategy(node);
  const std::vector<std::string> had = had_by(*checkpoints_.current());
  for (; next_ < ledger_.strategies(); ++next_) {
    const std::string& name = ledger_.name(next_);
    if (!ledger_.open(node, next_) || std::find(had.begin(), had.end(), name) != had.end()) continue;
    const std::string missing = missing_for(next_, had);
    if (missing.empty()) return next_;
    note(node, name + " was passed over: " + missing + ", which it builds on, is not on the path");
  }
  return std::nullopt;
}

std::optional<Move> Workflow::choose() {
  if (ledger_.outstanding() > 0) return std::nullopt;  // the next step is made on this one
  std::optional<std::size_t> node = current_node();
  if (!node) return std::nullopt;
  if (fruitless_ > options_.patience && !again_ && checkpoints_.best() != nullptr && !list_needs_path()) {
    go_to(*checkpoints_.best());
    node = ledger_.tree().find(*went_to_);
  }
  std::optional<std::size_t> strategy = next_strategy(*node);
  if (!strategy && !listed()) {
    // Nothing is left to try here: continue from the best checkpoint that has something left.
    std::vector<std::tuple<double, std::size_t>> others;
    for (const Checkpoint& checkpoint : checkpoints_.list())
      if (const auto other = ledger_.tree().find(checkpoint.trial); other && open_strategy(*other))
        others.emplace_back(checkpoint.objective, *other);
    if (others.empty()) return std::nullopt;
    node = std::get<1>(*std::min_element(others.begin(), others.end()));
    go_to(*checkpoints_.find(ledger_.node(*node).id));
    strategy = open_strategy(*node);
  }
  if (!strategy) return std::nullopt;
  const Checkpoint* best = checkpoints_.best();
  step_ = Step{*node, *strategy, best != nullptr ? best->objective : infinity(), {}};
  return ledger_.propose(*node, *strategy);
}

}  // namespace kernelsearch
