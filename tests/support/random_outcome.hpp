// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/rng.hpp"

/// Outcomes with every member set at random, awkward numbers and texts among them.
namespace random_outcome {

using namespace kernelsearch;

inline double awkward_number(Rng& rng) {
  constexpr double special[] = {0.0,
                                -0.0,
                                1e-308,
                                4.9e-324,
                                1.7976931348623157e308,
                                0.1,
                                1.0 / 3.0,
                                2.5e-05,
                                1e22,
                                1e21,
                                123456789012345680.0,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  if (rng.chance(0.3)) return special[rng.below(std::size(special))];
  return std::ldexp(rng.uniform(-1.0, 1.0), static_cast<int>(rng.below(200)) - 100);
}

inline std::string awkward_text(Rng& rng) {
  constexpr const char* pieces[] = {"a",  "\"", "\\", ",", "\n", "\r\n", "\t", "é",
                                    "日", "'",  ";",  " ", "{",  "NULL", "1"};
  std::string text;
  for (std::uint64_t i = rng.below(12); i > 0; --i) text += pieces[rng.below(std::size(pieces))];
  return text;
}

inline Interval interval(Rng& rng) {
  return {awkward_number(rng), awkward_number(rng)};
}

inline std::optional<Speedup> speedup(Rng& rng) {
  if (rng.chance(0.5)) return std::nullopt;
  return Speedup{awkward_number(rng), interval(rng), static_cast<std::uint32_t>(rng.below(1000))};
}

inline Evaluation evaluation(Rng& rng) {
  Evaluation e;
  e.verdict = static_cast<Verdict>(rng.below(verdict_count));
  e.progress = rng.uniform();
  e.reason = awkward_text(rng);
  e.measurement.seconds = awkward_number(rng);
  e.measurement.spread = awkward_number(rng);
  e.measurement.interval = interval(rng);
  e.measurement.speedup = speedup(rng);
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    ShapeMeasurement shape;
    shape.shape = awkward_text(rng);
    shape.weight = awkward_number(rng);
    for (std::uint64_t k = rng.below(20); k > 0; --k) shape.samples.push_back(awkward_number(rng));
    shape.median = awkward_number(rng);
    shape.spread = awkward_number(rng);
    shape.interval = interval(rng);
    shape.ended = static_cast<SamplingEnd>(rng.below(4));
    shape.speedup = speedup(rng);
    e.measurement.shapes.push_back(std::move(shape));
  }
  for (std::uint64_t i = rng.below(4); i > 0; --i) e.features.set(awkward_text(rng), awkward_number(rng));
  e.phases = {rng.uniform(), rng.uniform(), rng.uniform()};
  if (rng.chance(0.3)) {
    e.overrun = Overrun{awkward_text(rng)};
    if (rng.chance(0.5)) {
      e.overrun->index = static_cast<std::int64_t>(rng());
      e.overrun->elements = rng();
    }
  }
  e.tuned_key = awkward_text(rng);
  e.provenance = awkward_text(rng);
  return e;
}

inline Outcome outcome(Rng& rng, std::uint64_t id) {
  Outcome o;
  o.id = TrialId{id};
  if (rng.chance(0.8))
    o.origin = Origin{ProposalId{rng() >> 1}, static_cast<std::uint32_t>(rng.below(5)),
                      static_cast<std::uint32_t>(rng.below(5))};
  for (std::uint64_t i = rng.below(3); i > 0; --i) o.parents.push_back(TrialId{rng.below(1000)});
  o.evaluation = evaluation(rng);
  if (o.ok()) o.objective = awkward_number(rng);
  o.rationale = awkward_text(rng);
  return o;
}

inline bool same(const std::optional<Speedup>& a, const std::optional<Speedup>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->ratio == b->ratio && a->interval == b->interval && a->pairs == b->pairs));
}

inline bool same(const Measurement& a, const Measurement& b) {
  bool equal = a.seconds == b.seconds && a.spread == b.spread && a.interval == b.interval &&
               same(a.speedup, b.speedup) && a.shapes.size() == b.shapes.size();
  for (std::size_t i = 0; equal && i < a.shapes.size(); ++i) {
    const auto& x = a.shapes[i];
    const auto& y = b.shapes[i];
    equal = x.shape == y.shape && x.weight == y.weight && x.samples == y.samples && x.median == y.median &&
            x.spread == y.spread && x.interval == y.interval && x.ended == y.ended &&
            same(x.speedup, y.speedup);
  }
  return equal;
}

inline bool same(const Evaluation& a, const Evaluation& b) {
  return a.verdict == b.verdict && a.progress == b.progress && a.reason == b.reason &&
         same(a.measurement, b.measurement) && a.features == b.features && a.phases.build == b.phases.build &&
         a.phases.check == b.phases.check && a.phases.measure == b.phases.measure && a.overrun == b.overrun &&
         a.tuned_key == b.tuned_key && a.provenance == b.provenance;
}

inline bool same(const Outcome& a, const Outcome& b) {
  return a.id == b.id && a.origin == b.origin && a.parents == b.parents && a.objective == b.objective &&
         a.rationale == b.rationale && same(a.evaluation, b.evaluation);
}

}  // namespace random_outcome
