// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/policy/roofline_budget.hpp"
#include "support/approx.hpp"
#include "support/packed_text.hpp"

// Replays decisions of the scripts that the CUDA optimisation skill V2 published
// (tests/fixtures/cuda_skill/README.md): with all of SkillScripts RooflineBudget measures the same gaps,
// gives the same slots to the same methods, takes the same champion, files each method alike and ends alike.

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

RooflineBudgetOptions published_skill(std::size_t branches) {
  RooflineBudgetOptions options;
  options.branches = branches;
  options.as_published = {true, true, true, true};
  options.limits.attempts = 1;  // their validator takes no method twice
  for (const Axis axis : all_axes)
    for (int i = 0; i < 8; ++i) {
      Method method;
      method.id = method.name = std::string(to_string(axis)) + ".m" + std::to_string(i);
      method.axis = axis;
      method.priority = static_cast<std::size_t>(i + 1);
      method.signature.any.push_back({"code." + method.id, false});
      options.methods.push_back(std::move(method));
    }
  return options;
}

std::string verdict_or_number(std::istringstream& words, double& value) {
  std::string word;
  words >> word;
  if (!word.empty() && (std::isdigit(static_cast<unsigned char>(word.front())) != 0)) {
    value = std::stod(word);
    return "ok";
  }
  return word;
}

/// The rest of the line: percentages of processors, memory and the largest stall.
void profile_of_line(std::istringstream& words, Features& features) {
  for (const char* name : {"sm_utilisation", "dram_utilisation", "stall_wait"}) {
    double percent = 0;
    if (verdict_or_number(words, percent) == "ok") features.set(name, percent);
  }
}

class SkillReplay {
 public:
  explicit SkillReplay(std::size_t branches) : policy(published_skill(branches)) {
    for (const Method& method : policy.options().methods) root_code_.set("code." + method.id, 0);
  }

  /// Tells the next proposal; the features of its code are those of the root, changed by `code`.
  void tell(const std::string& verdict, double milliseconds, Features features,
            const std::vector<std::string>& with) {
    const std::vector<Move> asked = policy.ask(1);
    REQUIRE(asked.size() == 1);
    Observation<Move> told{asked.front(), {}};
    told.outcome.id = TrialId{next_};
    told.outcome.parents = asked.front().parents;
    told.outcome.origin = Origin{ProposalId{next_++}, 0, 1};
    if (verdict == "ok") {
      told.outcome.objective = milliseconds * 1e-3;
      told.outcome.evaluation = Evaluation::succeeded(told.outcome.objective);
      for (const auto& [name, value] : root_code_) features.set(name, value);
      for (const std::string& method : with) features.set("code." + method, 1);
      told.outcome.evaluation.features = std::move(features);
    } else if (verdict == "missing") {
      told.outcome.origin->count = 0;
      told.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "scripted");
    } else {
      told.outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "scripted");
    }
    last = told.proposal;
    policy.tell({&told, 1});
  }

  RooflineBudget policy;
  Move last;
  std::vector<std::string> kept;  ///< methods in the code of the best kernel

 private:
  Features root_code_;
  std::uint64_t next_ = 0;
};

std::vector<std::string> words_left(std::istringstream& words) {
  std::vector<std::string> rest;
  for (std::string word; words >> word;) rest.push_back(word);
  return rest;
}

/// What the lines of one iteration say, which are read before anything is told: what is in the code of its
/// branches is only known at its end.
struct SkillLines {
  std::vector<std::string> branches, ablations;
  std::vector<std::string> code, filed;
  std::size_t champion = 0;
  std::string status;
};

std::string skill_bound(Bound bound) {
  return std::string(to_string(bound));
}

}  // namespace

TEST_CASE("RooflineBudget: decides as the skill's published scripts, iteration by iteration") {
  std::istringstream in(
      support::packed_text(KERNELSEARCH_SOURCE_DIR "/tests/fixtures/cuda_skill/scripts.trace"));
  std::optional<SkillReplay> replay;
  std::optional<SkillLines> lines;
  std::string title, line;
  std::size_t iterations = 0, methods = 0, ended_near = 0, all_wrong = 0, branches = 0;

  const auto finish = [&] {  // tells what the lines of the iteration say, and looks at what was made of it
    if (!lines) return;
    std::vector<std::string> with = replay->kept;
    with.insert(with.end(), lines->code.begin(), lines->code.end());
    for (const std::string& branch : lines->branches) {
      std::istringstream words(branch);
      double milliseconds = 0;
      const std::string verdict = verdict_or_number(words, milliseconds);
      Features features;
      profile_of_line(words, features);
      replay->tell(verdict, milliseconds, std::move(features), with);
      CHECK(replay->last.kind == MoveKind::branch);
    }
    for (const std::string& ablation : lines->ablations) {
      std::istringstream words(ablation);
      std::string method;
      words >> method;
      double milliseconds = 0;
      const std::string verdict = verdict_or_number(words, milliseconds);
      std::vector<std::string> without = with;
      std::erase(without, method);
      replay->tell(verdict, milliseconds, {}, without);
      CHECK(replay->last.kind == MoveKind::ablate);
      CHECK(replay->last.strategies == std::vector<std::string>{method});
    }
    const std::size_t at = iterations - 1;
    REQUIRE(replay->policy.iterations().size() > at);
    const SkillIteration& now = replay->policy.iterations()[at];
    // Every round has as many branches, and its last one has the champion.
    const std::size_t first = lines->branches.size() - branches;
    CHECK(now.champion == now.branches.at(first + lines->champion - 1).id);
    REQUIRE(now.phase == SkillPhase::closed);
    REQUIRE(now.verdicts.size() == lines->filed.size());
    for (std::size_t i = 0; i < lines->filed.size(); ++i) {
      const MethodVerdict& verdict = now.verdicts[i];
      CAPTURE(verdict.words);
      CHECK(replay->policy.options().methods[verdict.method].id + ' ' +
                std::string(to_string(verdict.fate)) ==
            lines->filed[i]);
      ++methods;
    }
    std::istringstream words(lines->status);
    std::string status;
    double best = 0;
    words >> status >> best;
    CHECK(to_string(now.status) == status);
    if (status == "improved") replay->kept = with;
    const auto champion = replay->policy.champion();
    REQUIRE(champion);
    CHECK((*champion == *now.champion) == (status == "improved"));
    lines.reset();
  };

  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind.empty() || kind == "#") continue;
    CAPTURE(title);
    CAPTURE(line);
    if (kind == "trace") {
      title = line;
      std::string skipped;
      words >> skipped >> skipped >> branches;
      replay.emplace(branches);
      iterations = 0;
    } else if (kind == "root") {
      double milliseconds = 0;
      verdict_or_number(words, milliseconds);
      Features features;
      profile_of_line(words, features);
      replay->tell("ok", milliseconds, std::move(features), {});
    } else if (kind == "iteration") {
      REQUIRE(replay->policy.iterations().size() == ++iterations);
      const SkillIteration& now = replay->policy.iterations().back();
      for (const Axis axis : all_axes) {
        double gap = 0;
        verdict_or_number(words, gap);
        CHECK(now.gaps[axis].value_or(-1) == approx(gap).epsilon(1e-9));
      }
      std::string bound;
      words >> bound;
      CHECK(skill_bound(now.bound) == bound);
      for (const Axis axis : all_axes) {
        std::size_t slots = 9;
        words >> slots;
        CHECK(now.budget[axis] == slots);
      }
      std::vector<std::string> taken;
      for (const std::size_t method : now.choice.taken)
        taken.push_back(replay->policy.options().methods[method].id);
      CHECK(taken == words_left(words));
      lines.emplace();
    } else if (kind == "round") {
      if (!lines->branches.empty()) ++all_wrong;
    } else if (kind == "branch") {
      lines->branches.push_back(line.substr(7));
    } else if (kind == "champion") {
      words >> lines->champion;
    } else if (kind == "ablation") {
      lines->ablations.push_back(line.substr(9));
    } else if (kind == "code") {
      lines->code = words_left(words);
    } else if (kind == "filed") {
      lines->filed.push_back(line.substr(6));
    } else if (kind == "status") {
      lines->status = line.substr(7);
      finish();
    } else if (kind == "near_peak") {
      CHECK(replay->policy.ending().reason == SkillEnd::near_peak);
      CHECK(replay->policy.ask(1).empty());
      ++ended_near;
    } else {
      REQUIRE(kind == "iterations");
      CHECK(replay->policy.ending().reason == SkillEnd::iterations);
    }
  }
  CHECK(methods == 312);
  CHECK(ended_near == 8);
  CHECK(all_wrong > 10);
}
