// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// Names only, for headers that pass things of this library by reference or pointer.
namespace kernelsearch {

enum class TrialId : std::uint64_t;
enum class ProposalId : std::uint64_t;
enum class Verdict : std::uint8_t;
enum class MoveKind : std::uint8_t;
enum class SamplingEnd : std::uint8_t;
enum class TellOrder : std::uint8_t;

class Error;
class ConfigError;
class DeviceError;
class Rng;
class Features;
class TrialBudget;
class BigCount;
class Constraint;
class Expression;
class Space;
class SpaceBuilder;
class TemplateGenerator;

struct Candidate;
struct Config;
struct EvaluationContext;
struct Evaluation;
struct External;
struct InnerTrial;
struct Interval;
struct Kernel;
struct Measurement;
struct Move;
struct OptimizerOptions;
struct Origin;
struct Outcome;
struct RunProgress;
struct RunSummary;
struct ShapeMeasurement;
struct Speedup;
struct Tunable;

template <class Proposal>
class AnyPolicy;
template <class Candidate>
struct Generation;
template <class Candidate>
class History;
template <class Candidate>
struct Job;
template <class Proposal>
struct Observation;
template <class Candidate, class Proposal>
struct RunRecord;
template <class Candidate>
struct Trial;
template <class Candidate>
class TrialLog;
template <class Policy, class Gen, class Eval>
class Optimizer;

}  // namespace kernelsearch
