// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/implied_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

/// Fewer records for each combination of a pair, and one may be missing by chance (at ten: 5 in 100 000).
constexpr std::size_t least_for_each = 10;
/// More lines for one pair say less than none.
constexpr std::size_t most_lists = 4;

/// A value as an expression has it.
std::string literal(const Value& value) {
  if (const bool* const yes = std::get_if<bool>(&value)) return *yes ? "True" : "False";
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return to_string(value);
  return (text->find('\'') == std::string::npos ? "'" + *text + "'" : '"' + *text + '"');
}

/// Whether expressions can name the tunable's values.
bool sayable(const Tunable& t) {
  return std::all_of(t.values.begin(), t.values.end(), [](const Value& value) {
    const auto* const text = std::get_if<std::string>(&value);
    return !std::holds_alternative<Permutation>(value) &&
           (text == nullptr || text->find_first_of("\\\n") == std::string::npos) &&
           (text == nullptr || text->find('\'') == std::string::npos || text->find('"') == std::string::npos);
  });
}

bool numeric(const Tunable& t) {
  return t.kind != TunableKind::boolean &&
         std::all_of(t.values.begin(), t.values.end(), [](const Value& v) { return v.index() == 1; });
}

/// Which combinations of two tunables' values occur: 0 not at all, 1 outside the subject, 2 within it.
struct Pair {
  const Tunable& a;
  const Tunable& b;
  std::vector<std::uint32_t> as, bs;  ///< positions that occur within the subject
  std::vector<std::uint8_t> cells;    ///< a * bs.size() + b

  [[nodiscard]] std::uint8_t& cell(std::size_t i, std::size_t j) { return cells[i * bs.size() + j]; }
  [[nodiscard]] std::int64_t whole(bool first, std::size_t i) const {
    const Value& value = first ? a.values[as[i]] : b.values[bs[i]];
    const auto* const number = std::get_if<std::int64_t>(&value);
    return number == nullptr ? 0 : *number;
  }
};

struct Form {
  std::string text;
  std::function<bool(std::int64_t, std::int64_t)> holds;
};

class RuleFinder {
 public:
  explicit RuleFinder(const Recording& recording) : recording_(recording), space_(recording.space) {}

  ImpliedRules find() {
    for (const RuleSubject subject : {RuleSubject::recorded, RuleSubject::right}) {
      subject_ = subject;
      select();
      values();
      pairs();
    }
    count();
    return std::move(found_);
  }

 private:
  /// The records within the subject, and for each tunable the values they have.
  void select() {
    const bool right = subject_ == RuleSubject::right;
    records_.clear();
    within_ = 0;
    for (const RecordedTrial& trial : recording_.trials) {
      const bool in = !right || trial.evaluation.verdict == Verdict::ok;
      records_.push_back({&trial.config, in});
      within_ += in ? 1 : 0;
    }
    used_.assign(space_.size(), {});
    for (std::size_t t = 0; t < space_.size(); ++t) {
      std::vector<std::uint8_t> seen(space_.tunable(t).values.size(), 0);
      for (const auto& [config, in] : records_)
        seen[config->indices[t]] = std::max<std::uint8_t>(seen[config->indices[t]], in ? 2 : 1);
      for (std::uint32_t i = 0; i < seen.size(); ++i)
        if (seen[i] == 2) used_[t].push_back(i);
      seen_.resize(space_.size());
      seen_[t] = std::move(seen);
    }
  }

  void add(std::string text, std::size_t excluded) {
    found_.rules.push_back({subject_, std::move(text), excluded});
  }

  std::string list(const Tunable& t, const std::vector<std::uint32_t>& positions) const {
    std::string text = "[";
    for (const std::uint32_t i : positions) text += (text.size() > 1 ? ", " : "") + literal(t.values[i]);
    return text + "]";
  }

  /// Values that never occur, or never without failing.
  void values() {
    const std::uint8_t cut = subject_ == RuleSubject::right ? 1 : 0;
    if (within_ == 0) return;
    for (std::size_t t = 0; t < space_.size(); ++t) {
      const Tunable& tunable = space_.tunable(t);
      if (!sayable(tunable)) continue;
      std::vector<std::uint32_t> missing;
      std::size_t records = 0;
      for (std::uint32_t i = 0; i < tunable.values.size(); ++i)
        if (seen_[t][i] == cut) missing.push_back(i);
      for (const auto& [config, in] : records_)
        records += std::find(missing.begin(), missing.end(), config->indices[t]) != missing.end() ? 1 : 0;
      const bool chance = cut == 0 ? recording_.trials.size() < least_for_each * tunable.values.size()
                                   : records < least_for_each * missing.size();
      if (missing.empty() || chance) continue;
      if (missing.size() == 1)
        add(tunable.name + " != " + literal(tunable.values[missing[0]]), 1);
      else
        add(tunable.name + " not in " + list(tunable, missing), missing.size());
    }
  }

  void pairs() {
    for (std::size_t a = 0; a < space_.size(); ++a)
      for (std::size_t b = a + 1; b < space_.size(); ++b) {
        const std::size_t combinations = used_[a].size() * used_[b].size();
        if (used_[a].size() < 2 || used_[b].size() < 2 || within_ < least_for_each * combinations) continue;
        if (!sayable(space_.tunable(a)) || !sayable(space_.tunable(b))) continue;
        pair(a, b);
      }
  }

  void pair(std::size_t a, std::size_t b) {
    Pair pair{space_.tunable(a), space_.tunable(b), used_[a], used_[b], {}};
    pair.cells.assign(pair.as.size() * pair.bs.size(), 0);
    std::vector<std::size_t> row(pair.a.values.size(), pair.as.size()),
        column(pair.b.values.size(), pair.bs.size());
    for (std::size_t i = 0; i < pair.as.size(); ++i) row[pair.as[i]] = i;
    for (std::size_t j = 0; j < pair.bs.size(); ++j) column[pair.bs[j]] = j;
    for (const auto& [config, in] : records_) {
      const std::size_t i = row[config->indices[a]], j = column[config->indices[b]];
      if (i < pair.as.size() && j < pair.bs.size())
        pair.cell(i, j) = std::max<std::uint8_t>(pair.cell(i, j), in ? 2 : 1);
    }
    // What was never recorded says nothing about failures.
    const std::uint8_t cut = subject_ == RuleSubject::right ? 1 : 0;
    auto missing = static_cast<std::size_t>(std::count(pair.cells.begin(), pair.cells.end(), cut));
    if (missing == 0) return;
    if (numeric(pair.a) && numeric(pair.b)) missing -= formulas(pair, cut, missing);
    if (missing > 0) lists(pair, cut);
  }

  std::vector<Form> forms(Pair& pair) const {
    const std::string &a = pair.a.name, &b = pair.b.name;
    std::int64_t most_product = INT64_MIN, least_product = INT64_MAX, most_sum = INT64_MIN;
    bool positive = true;
    for (std::size_t i = 0; i < pair.as.size(); ++i)
      for (std::size_t j = 0; j < pair.bs.size(); ++j) {
        const std::int64_t x = pair.whole(true, i), y = pair.whole(false, j);
        constexpr std::int64_t large = std::int64_t{1} << 30;  // products and sums fit
        positive = positive && x > 0 && y > 0 && x < large && y < large;
        if (!positive || pair.cell(i, j) != 2) continue;
        most_product = std::max(most_product, x * y);
        least_product = std::min(least_product, x * y);
        most_sum = std::max(most_sum, x + y);
      }
    using Int = std::int64_t;
    std::vector<Form> all{{a + " <= " + b, [](Int x, Int y) { return x <= y; }},
                          {a + " >= " + b, [](Int x, Int y) { return x >= y; }}};
    if (!positive) return all;
    all.push_back({a + " % " + b + " == 0", [](Int x, Int y) { return x % y == 0; }});
    all.push_back({b + " % " + a + " == 0", [](Int x, Int y) { return y % x == 0; }});
    all.push_back({a + " * " + b + " <= " + std::to_string(most_product),
                   [most_product](Int x, Int y) { return x * y <= most_product; }});
    all.push_back({a + " * " + b + " >= " + std::to_string(least_product),
                   [least_product](Int x, Int y) { return x * y >= least_product; }});
    all.push_back({a + " + " + b + " <= " + std::to_string(most_sum),
                   [most_sum](Int x, Int y) { return x + y <= most_sum; }});
    return all;
  }

  /// Adds the formulas that together explain the most of what is missing; how much that is.
  std::size_t formulas(Pair& pair, std::uint8_t cut, std::size_t missing) {
    constexpr std::size_t most_formulas = 2;
    std::vector<Form> all = forms(pair);
    std::erase_if(all, [&](const Form& form) {
      for (std::size_t i = 0; i < pair.as.size(); ++i)
        for (std::size_t j = 0; j < pair.bs.size(); ++j)
          if (pair.cell(i, j) == 2 && !form.holds(pair.whole(true, i), pair.whole(false, j))) return true;
      return false;
    });
    std::size_t explained = 0;
    for (std::size_t round = 0; round < most_formulas && explained < missing; ++round) {
      const Form* best = nullptr;
      std::size_t most = 0;
      for (const Form& form : all)  // of equals the first, which is the simplest
        if (const std::size_t cuts = cut_by(pair, form, cut); cuts > most) {
          most = cuts;
          best = &form;
        }
      if (best == nullptr) break;
      add(best->text, most);
      explained += most;
      for (std::size_t i = 0; i < pair.as.size(); ++i)
        for (std::size_t j = 0; j < pair.bs.size(); ++j)
          if (pair.cell(i, j) == cut && !best->holds(pair.whole(true, i), pair.whole(false, j)))
            pair.cell(i, j) = explained_;
    }
    return explained;
  }

  static std::size_t cut_by(Pair& pair, const Form& form, std::uint8_t cut) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < pair.as.size(); ++i)
      for (std::size_t j = 0; j < pair.bs.size(); ++j)
        if (pair.cell(i, j) == cut && !form.holds(pair.whole(true, i), pair.whole(false, j))) ++count;
    return count;
  }

  /// What is still missing, value by value of the tunable that needs fewer lines.
  void lists(Pair& pair, std::uint8_t cut) {
    const auto lines = [&](bool by_first) {
      std::vector<std::pair<std::string, std::size_t>> out;
      const std::size_t outer = (by_first ? pair.as : pair.bs).size(),
                        inner = (by_first ? pair.bs : pair.as).size();
      const Tunable &x = by_first ? pair.a : pair.b, &y = by_first ? pair.b : pair.a;
      const auto &xs = by_first ? pair.as : pair.bs, &ys = by_first ? pair.bs : pair.as;
      for (std::size_t i = 0; i < outer; ++i) {
        std::vector<std::uint32_t> gone, kept;
        for (std::size_t j = 0; j < inner; ++j)
          ((by_first ? pair.cell(i, j) : pair.cell(j, i)) == cut ? gone : kept).push_back(ys[j]);
        if (gone.empty()) continue;
        const std::string start = x.name + " != " + literal(x.values[xs[i]]) + " or " + y.name;
        std::string text;
        if (gone.size() == 1 && kept.size() > 1)
          text = start + " != " + literal(y.values[gone[0]]);
        else if (kept.size() == 1)
          text = start + " == " + literal(y.values[kept[0]]);
        else if (gone.size() < kept.size())
          text = start + " not in " + list(y, gone);
        else
          text = start + " in " + list(y, kept);
        out.emplace_back(std::move(text), gone.size());
      }
      return out;
    };
    const auto first = lines(true), second = lines(false);
    const auto& fewer = second.size() < first.size() ? second : first;
    if (fewer.size() > most_lists) return;
    for (const auto& [text, excluded] : fewer) add(text, excluded);
  }

  void count() {
    std::vector<Constraint> constraints;
    for (const ImpliedRule& rule : found_.rules)
      if (rule.subject == RuleSubject::recorded) constraints.emplace_back(rule.text);
    found_.allowed = space_.raw_count();
    if (constraints.empty()) return;
    std::vector<Tunable> tunables(space_.tunables().begin(), space_.tunables().end());
    for (Tunable& t : tunables) t.active_if.reset();
    found_.allowed = Space::build(std::move(tunables), std::move(constraints)).count();
  }

  static constexpr std::uint8_t explained_ = 3;
  const Recording& recording_;
  const Space& space_;
  RuleSubject subject_ = RuleSubject::recorded;
  std::vector<std::pair<const Config*, bool>> records_;
  std::size_t within_ = 0;
  std::vector<std::vector<std::uint32_t>> used_;
  std::vector<std::vector<std::uint8_t>> seen_;
  ImpliedRules found_;
};

}  // namespace

ImpliedRules implied_rules(const Recording& recording) {
  return RuleFinder(recording).find();
}

}  // namespace kernelsearch
