// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/comparison.hpp"

#include <algorithm>
#include <limits>
#include <stop_token>

#include "handles.hpp"
#include "kernelsearch/compare/scores.hpp"
#include "kernelsearch/recorded/read_recording.hpp"

struct ks_comparison : kernelsearch::c::Marked<10> {
  std::atomic<bool> busy = false;
  std::stop_source stop;
  std::vector<kernelsearch::Recording> recordings;
  std::vector<std::shared_ptr<const kernelsearch::c::Recipe>> policies;
  std::vector<kernelsearch::Trace> traces;
  std::vector<kernelsearch::PolicyScores> scores;
};

using namespace kernelsearch;     // NOLINT: as in space.cpp
using namespace kernelsearch::c;  // NOLINT

ks_status ks_comparison_new(ks_comparison** out) {
  return guarded([&] { give(out, [] { return std::make_unique<ks_comparison>(); }); });
}
ks_status ks_comparison_free(ks_comparison* comparison) {
  return freed(comparison);
}

ks_status ks_comparison_add_recording(ks_comparison* comparison, const char* file) {
  return guarded([&] {
    checked(comparison);
    const Working working(comparison->busy);
    comparison->recordings.push_back(read_recording(std::filesystem::path(text_of(file, "file"))));
  });
}
ks_status ks_comparison_add_policy(ks_comparison* comparison, const ks_policy* policy) {
  return guarded([&] {
    checked(comparison);
    const Working working(comparison->busy);
    const auto& recipe = checked(policy).recipe;
    for (const auto& other : comparison->policies)
      if (other->name == recipe->name)
        refuse(KS_BAD_ARGUMENT, "two policies of a comparison have one name", recipe->name,
               "add each once; one of yours may be named otherwise");
    comparison->policies.push_back(recipe);
  });
}

ks_status ks_comparison_run(ks_comparison* comparison, const char* options, ks_comparison_progress progress,
                            void* user) {
  return guarded([&] {
    checked(comparison);
    const Working working(comparison->busy);
    if (comparison->recordings.empty() || comparison->policies.empty())
      refuse(KS_BAD_ARGUMENT, "a comparison needs recordings and policies",
             std::to_string(comparison->recordings.size()) + " and " +
                 std::to_string(comparison->policies.size()),
             "add one of each at least");
    ComparisonOptions with;
    std::uint64_t threads = 0, in_flight = 1;
    std::string folder;
    Options given(options);
    given.read("repeats", with.repeats);
    given.read("seed", with.seed);
    given.read("budget", with.budget);
    given.read("threads", threads);
    given.read("in_flight", in_flight);
    given.read("declared_default", with.declared_default);
    given.read("strict", with.strict);
    given.read("folder", folder);
    given.finish();
    with.threads = threads;
    with.in_flight = in_flight;
    with.folder = folder;
    with.stop = comparison->stop.get_token();
    if (progress != nullptr)
      with.progress = [progress, user](const ComparisonProgress& at) {
        progress(user, at.finished, at.runs);
      };
    std::vector<Contestant> contestants;
    for (const auto& recipe : comparison->policies)
      contestants.push_back({recipe->name, recipe->make, false});
    const std::vector<Landscape> landscapes = landscapes_of(comparison->recordings);
    comparison->traces = compare(comparison->recordings, landscapes, contestants, with);
    comparison->scores = score(landscapes, comparison->traces);
  });
}
ks_status ks_comparison_request_stop(ks_comparison* comparison) {
  return guarded([&] { checked(comparison).stop.request_stop(); });
}

ks_status ks_comparison_score(ks_comparison* comparison, size_t policy, const char* measure, double* value,
                              double* low, double* high) {
  return guarded([&] {
    checked(comparison);
    const Working working(comparison->busy);
    needed(value, "value");
    if (policy >= comparison->policies.size())
      refuse(KS_BAD_ARGUMENT, "there is no such policy", std::to_string(policy),
             "the comparison has " + std::to_string(comparison->policies.size()) + ", from 0");
    const auto which = std::find(area_names.begin(), area_names.end(), text_of(measure, "measure"));
    if (which == area_names.end())
      refuse(KS_UNKNOWN_NAME, "there is no such score", measure, "name P, P@20, P@40, P@60, P200 or P300");
    const auto found = std::find_if(
        comparison->scores.begin(), comparison->scores.end(),
        [&](const PolicyScores& one) { return one.strategy == comparison->policies[policy]->name; });
    if (found == comparison->scores.end())
      refuse(KS_NONE, "the policy has no runs yet", comparison->policies[policy]->name,
             "call ks_comparison_run()");
    const AreaScore& area = found->areas[static_cast<std::size_t>(which - area_names.begin())];
    const double none = std::numeric_limits<double>::quiet_NaN();
    *value = area.value;
    if (low != nullptr) *low = area.interval ? area.interval->low : none;
    if (high != nullptr) *high = area.interval ? area.interval->high : none;
  });
}

ks_status ks_comparison_evaluations(ks_comparison* comparison, size_t recording, size_t policy, size_t repeat,
                                    uint32_t* positions, size_t capacity, size_t* count) {
  return guarded([&] {
    checked(comparison);
    const Working working(comparison->busy);
    if (recording >= comparison->recordings.size() || policy >= comparison->policies.size())
      refuse(KS_BAD_ARGUMENT, "there is no such recording or policy",
             std::to_string(recording) + ", " + std::to_string(policy),
             "they count from 0 as they were added");
    if (positions == nullptr && capacity > 0)
      refuse(KS_BAD_ARGUMENT, "a buffer is missing", "NULL with a capacity", "give a buffer");
    const std::string& space = comparison->recordings[recording].name;
    const std::string& strategy = comparison->policies[policy]->name;
    const auto found =
        std::find_if(comparison->traces.begin(), comparison->traces.end(), [&](const Trace& trace) {
          return trace.space == space && trace.strategy == strategy && trace.repeat == repeat;
        });
    if (found == comparison->traces.end())
      refuse(KS_NONE, "there is no such run", strategy + " on " + space + ", " + std::to_string(repeat),
             "call ks_comparison_run() with more repeats");
    const auto& evaluations = found->evaluations;
    if (count != nullptr) *count = evaluations.size();
    if (capacity < evaluations.size())
      refuse(KS_SMALL_BUFFER, "the buffer is too small", std::to_string(capacity) + " positions",
             "give one of " + std::to_string(evaluations.size()));
    std::copy(evaluations.begin(), evaluations.end(), positions);
  });
}
