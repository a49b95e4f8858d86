// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/referee.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/correctness.hpp"
#include "kernelsearch/evaluator/host/translation_unit.hpp"

namespace kernelsearch::detail::gpu {
namespace {

constexpr std::size_t kept_sets = 4;       // per shape, of declared contents
constexpr double cheap_seconds = 0.003;    // a reference this fast has one new set for every candidate
constexpr std::uint64_t renew_every = 32;  // candidates, of what is dearer: slow references, special contents
constexpr double reference_seconds = 120;

enum Use : std::size_t {
  native,
  widened,
  magnitude,
  kernel_precision,
  got
};  // and got + 1, + 2, ... for further claims
enum : std::uint32_t { wide_module = 1, narrow_module = 2 };

bool drawn_at_random(const Argument& argument) {
  return argument.is_array && argument.role != Role::out && argument.role != Role::workspace &&
         (argument.initialisation == Initialisation::uniform ||
          argument.initialisation == Initialisation::normal);
}

}  // namespace

Referee::Referee(const Problem& problem, const std::vector<ShapePlan>& shapes, const GpuOptions& options,
                 const GpuDevice& device, int ordinal, BuilderPool& builders, const Arena& shared)
    : problem_(problem),
      shapes_(shapes),
      options_(options),
      device_(device),
      ordinal_(ordinal),
      builders_(builders),
      shared_(shared) {}

void Referee::demand(const std::optional<WorkerError>& error, const char* doing, Blame blame) {
  if (!error) return;
  worker_.reset();
  if (error->kind == WorkerError::refused && error->status == out_of_memory)
    raise<DeviceError>(std::string("no memory for ") + doing, error->text,
                       "use smaller shapes or free the device");
  if (blame == Blame::referee)
    raise<DeviceError>(
        std::string("the referee failed at ") + doing, error->text,
        "nothing is known to be wrong with the problem: run it again, or see `kernelsearch doctor`");
  raise<ConfigError>(std::string("the reference fails: ") + doing, problem_.name + ": " + error->text,
                     "mend reference.source or reference.launch");
}

void Referee::start() {
  if (worker_ && worker_->alive()) return;
  pool_.clear();
  last_checked_.clear();
  scratch_.clear();
  plans_.clear();
  free_.clear();
  sizes_.clear();
  loans_.clear();
  // Kept only once it is ready: one that failed half-way must not serve the next candidate.
  worker_.reset();
  auto starting = std::make_unique<GpuWorker>(find_gpu_worker(options_.worker), device_.backend,
                                              GpuWorker::Role::device, ordinal_, &shared_);
  GpuDevice ignored;
  if (const auto error = starting->hello(options_.limits.start, ignored))
    raise<DeviceError>("the device cannot be used by the referee", error->text, "see `kernelsearch doctor`");
  std::vector<FunctionFacts> facts;
  const auto load = [&](std::uint32_t module, const std::string& source,
                        const std::vector<std::string>& flags, const std::vector<std::string>& names) {
    const Built built = builders_.build(source, compile_options(device_, options_, flags), names);
    if (built.verdict != Verdict::ok && module == 0)
      raise<ConfigError>("the kernels of the evaluator do not build", built.reason,
                         "see `kernelsearch doctor`");
    if (built.verdict != Verdict::ok)
      raise<ConfigError>("the reference does not build", problem_.name + ":\n" + built.reason,
                         "mend it: its floating types must be `real`");
    demand(starting->load(module, *built.image, built.functions, facts), "loading it",
           module == 0 ? Blame::referee : Blame::reference);
  };
  load(0, service_source(), {}, {service_names(), service_names() + service_count});
  if (independent()) {
    std::vector<std::string> flags;
    for (const std::string& flag : problem_.reference.flags)
      if (flag != "-O3") flags.push_back(flag);  // the default is a host compiler's
    load(wide_module, reference_source(problem_, "double"), flags, {problem_.reference.function});
    load(narrow_module, reference_source(problem_, uses_f64(problem_) ? "double" : "float"), flags,
         {problem_.reference.function});
  } else {
    const Candidate first = problem_.default_candidate();
    const Built built = build_candidate(builders_, problem_, first, device_, options_);
    if (built.verdict != Verdict::ok)
      raise<ConfigError>("the default configuration does not build", problem_.name + ":\n" + built.reason,
                         "mend it, or give the problem a reference");
    demand(load_candidate(*starting, wide_module, *built.image, built.library, built.functions, facts),
           "loading it", Blame::reference);
  }
  worker_ = std::move(starting);
}

std::uint32_t Referee::buffer(std::uint64_t bytes) {
  if (auto& kept = free_[bytes]; !kept.empty()) {
    const std::uint32_t number = kept.back();
    kept.pop_back();
    return number;
  }
  const std::uint32_t number = next_buffer_++;
  demand(worker_->allocate({number}, {bytes}), "making its buffers");
  sizes_[number] = bytes;
  return number;
}

std::uint32_t Referee::scratch(std::size_t use, std::size_t shape, std::size_t argument,
                               std::uint64_t bytes) {
  auto& [number, size] = scratch_[{use, shape, argument}];
  if (number == 0 || size < bytes) {
    if (number != 0) demand(worker_->release({number}), "making its buffers");
    number = buffer(bytes);
    size = bytes;
  }
  return number;
}

void Referee::drop(const SolvedSet& set) {
  for (const auto* list : {&set.expected, &set.slack})
    for (const std::uint32_t number : *list)
      if (number != 0) free_[sizes_[number]].push_back(number);
}

void Referee::forget() {
  if (worker_ && worker_->alive())
    for (const auto& [key, sets] : pool_)
      for (const Set& set : sets) drop(*set);
  pool_.clear();
  last_checked_.clear();
}

ElementType Referee::stored(const Argument& argument, bool wide) const noexcept {
  if (!is_floating(argument.type) || !independent()) return argument.type;
  return wide || uses_f64(problem_) ? ElementType::f64 : ElementType::f32;
}

void Referee::run(std::size_t shape, bool wide, std::uint64_t seed, InputFlavour flavour, bool magnitudes,
                  const std::vector<std::uint32_t>& outputs) {
  const auto key = std::make_pair(shape, wide);
  const std::uint32_t number = static_cast<std::uint32_t>(2 * shape + (wide ? 1 : 0));
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    CallPlan plan;
    if (independent()) {
      plan = plan_reference(problem_, shape, wide ? wide_module : narrow_module, wide || uses_f64(problem_));
    } else {
      std::string reason;
      const Candidate first = problem_.default_candidate();
      plan = plan_call(problem_, first, shape, wide_module, launched_kernels(problem_, first), reason);
      if (!reason.empty())
        raise<ConfigError>("the default configuration cannot be launched", reason, "mend it");
    }
    std::vector<std::int32_t> blocks;
    demand(worker_->program(number, plan.program, blocks), "preparing its launch", Blame::reference);
    found = plans_.emplace(key, std::move(plan)).first;
  }
  const CallPlan& plan = found->second;
  std::vector<Action> actions;
  std::vector<std::uint32_t> bindings;
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const PlannedArgument& planned = plan.arguments.arguments[a];
    std::uint32_t bound = 0;
    if (argument.is_array) {
      const ElementType type = stored(argument, wide);
      const std::uint64_t bytes = planned.count * size_in_bytes(type);
      if (argument.role == Role::workspace) {
        bound = scratch(native, shape, a, bytes);
      } else if (argument.role == Role::out) {
        bound = outputs[a];
        Action poison;
        poison.kind = Act::poison;
        poison.buffer = bound;
        poison.word = poison_word(type, Storage::native, seed);
        poison.count = bytes;
        actions.push_back(poison);
      } else {
        const std::uint32_t drawn = scratch(native, shape, a, bytes_of(planned));
        actions.push_back(fill_action(argument, planned, drawn, seed, flavour, magnitudes));
        bound = argument.role == Role::inout ? outputs[a]
                : type == argument.type      ? drawn
                                             : scratch(widened, shape, a, bytes);
        if (bound != drawn) {
          Action widen;
          widen.kind = Act::widen;
          widen.buffer = bound;
          widen.other = drawn;
          widen.count = planned.count;
          widen.type = static_cast<std::uint32_t>(argument.type);
          widen.init = static_cast<std::uint32_t>(type);
          actions.push_back(widen);
        }
      }
    }
    bindings.push_back(bound);
  }
  Action call;
  call.kind = Act::timed_call;
  call.program = number;
  call.bindings = static_cast<std::uint32_t>(bindings.size());
  actions.push_back(call);
  std::vector<std::size_t> checked;
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const std::size_t size = size_in_bytes(stored(argument, wide));
    if (!argument.is_array || argument.role != Role::out || size < 4) continue;
    Action left;
    left.kind = Act::poison_left;
    left.buffer = outputs[a];
    left.type = static_cast<std::uint32_t>(size);
    left.word = poison_word(stored(argument, wide), Storage::native, seed);
    if (size == 4) left.word &= 0xffffffffu;
    left.count = plan.arguments.arguments[a].count;
    actions.push_back(left);
    checked.push_back(a);
  }
  GpuWorker::Done done;
  demand(worker_->act(actions, bindings, reference_seconds, done), "running it", Blame::reference);
  for (std::size_t i = 0; i < checked.size() && i < done.values.size(); ++i)
    if (done.values[i] != 0)
      raise<ConfigError>("the reference leaves elements unwritten",
                         std::to_string(done.values[i]) + " of " + problem_.arguments[checked[i]].name +
                             " for shape " + problem_.shapes[shape].name,
                         "mend it: it must write every element of its outputs");
  if (wide) cost_[shape] = done.seconds.empty() ? 0.0 : done.seconds.front();
}

Referee::Set Referee::solve(std::size_t shape, InputFlavour flavour) {
  auto set = std::make_shared<SolvedSet>();
  set->shape = shape;
  set->seed = secret_seed();
  set->flavour = flavour;
  const std::size_t count = problem_.arguments.size();
  set->expected.resize(count);
  set->slack.resize(count);
  const ShapePlan& plan = shapes_[shape];
  const auto is_output = [&](std::size_t a) {
    return problem_.arguments[a].is_array &&
           (problem_.arguments[a].role == Role::out || problem_.arguments[a].role == Role::inout);
  };
  for (std::size_t a = 0; a < count; ++a)
    if (is_output(a))
      set->expected[a] = buffer(plan.arguments[a].count * size_in_bytes(stored(problem_.arguments[a], true)));
  run(shape, true, set->seed, flavour, false, set->expected);
  if (flavour != InputFlavour::declared && independent()) {
    std::vector<std::uint32_t> large(count), small(count);
    for (std::size_t a = 0; a < count; ++a) {
      if (!is_output(a)) continue;
      const std::uint64_t elements = plan.arguments[a].count;
      large[a] = scratch(magnitude, shape, a, elements * size_in_bytes(stored(problem_.arguments[a], true)));
      small[a] =
          scratch(kernel_precision, shape, a, elements * size_in_bytes(stored(problem_.arguments[a], false)));
    }
    const double cost = cost_[shape];
    run(shape, true, set->seed, flavour, true, large);
    run(shape, false, set->seed, flavour, false, small);
    cost_[shape] = cost;
    std::vector<Action> actions;
    for (std::size_t a = 0; a < count; ++a) {
      if (!is_output(a) || !is_floating(problem_.arguments[a].type)) continue;
      set->slack[a] = buffer(plan.arguments[a].count * sizeof(double));
      Action slack;
      slack.kind = Act::slack;
      slack.buffer = set->expected[a];
      slack.other = large[a];
      slack.word = small[a];
      slack.flags = set->slack[a];
      slack.type = static_cast<std::uint32_t>(stored(problem_.arguments[a], false));
      slack.count = plan.arguments[a].count;
      slack.high = plan.arguments[a].tolerance.relative;
      actions.push_back(slack);
    }
    GpuWorker::Done done;
    demand(worker_->act(actions, {}, reference_seconds, done), "bounding its rounding");
  }
  return set;
}

std::vector<std::shared_ptr<const SolvedSet>> Referee::for_check(std::size_t shape) {
  start();
  last_checked_[shape].clear();
  const std::uint64_t turn = ++turns_[shape];
  auto& declared = pool_[{shape, 0}];
  const std::size_t wanted = std::max<std::size_t>(1, options_.check.seeds);
  // One more than a check uses, so that timed calls can have one that the candidate has not seen.
  while (declared.size() < std::max(kept_sets, wanted + 1) &&
         (declared.size() <= wanted || cost_[shape] < 0.1))
    declared.push_back(solve(shape, InputFlavour::declared));
  const bool cheap = cost_[shape] < cheap_seconds;
  const std::size_t renewed = cheap || turn % renew_every == 0 ? 1 : 0;
  for (std::size_t i = 0; i < renewed; ++i) {
    drop(*declared.front());
    declared.erase(declared.begin());
    declared.push_back(solve(shape, InputFlavour::declared));
  }
  // The newest first, the others in random order.
  for (std::size_t i = declared.size() - renewed; i > 1; --i)
    std::swap(declared[i - 1], declared[static_cast<std::size_t>(rng_.below(i))]);
  std::vector<std::shared_ptr<const SolvedSet>> sets;
  for (std::size_t i = 0; i < wanted; ++i) {
    last_checked_[shape].push_back(declared[declared.size() - 1 - i]);
    sets.push_back(last_checked_[shape].back());
  }
  const auto special = [&](InputFlavour flavour) {
    auto& kept = pool_[{shape, static_cast<int>(flavour)}];
    if (kept.empty() && cost_[shape] > options_.check.special_seconds) return;
    if (kept.empty() || (cheap && turn % renew_every == 0)) {
      for (const Set& old : kept) drop(*old);
      kept = {solve(shape, flavour)};
    }
    sets.push_back(kept.front());
  };
  const auto& arguments = problem_.arguments;
  if (options_.check.edge && std::any_of(arguments.begin(), arguments.end(), drawn_at_random))
    special(InputFlavour::edge);
  if (options_.check.ill_conditioned &&
      std::any_of(arguments.begin(), arguments.end(),
                  [](const Argument& a) { return drawn_at_random(a) && is_floating(a.type); }))
    special(InputFlavour::ill_conditioned);
  return sets;
}

std::shared_ptr<const SolvedSet> Referee::for_timing(std::size_t shape) {
  start();
  auto& declared = pool_[{shape, 0}];
  if (declared.empty()) declared.push_back(solve(shape, InputFlavour::declared));
  const std::vector<Set>& seen = last_checked_[shape];
  std::vector<Set> unseen;
  for (const Set& set : declared)
    if (std::find(seen.begin(), seen.end(), set) == seen.end()) unseen.push_back(set);
  if (unseen.empty()) {
    declared.push_back(solve(shape, InputFlavour::declared));
    return declared.back();
  }
  return unseen[static_cast<std::size_t>(rng_.below(unseen.size()))];
}

std::uint32_t Referee::lend(GpuWorker& owner, std::uint32_t buffer, std::uint64_t bytes) {
  start();
  if (!loans_work_ || bytes < (std::uint64_t{2} << 20)) return 0;
  auto& ours = loans_[buffer];
  if (ours != 0) return ours;
  MemoryHandle handle{};
  const std::uint32_t number = next_buffer_++;
  if (owner.lend(buffer, handle) || worker_->borrow(number, bytes, handle)) {
    loans_work_ = false;
    return 0;
  }
  return ours = number;
}

void Referee::give_back() {
  if (worker_ && worker_->alive() && !loans_.empty()) {
    std::vector<std::uint32_t> numbers;
    for (const auto& [theirs, ours] : loans_)
      if (ours != 0) numbers.push_back(ours);
    (void)worker_->release(numbers);
  }
  loans_.clear();
}

std::optional<Referee::Objection> Referee::compare(const std::vector<Claim>& claims) {
  start();
  std::vector<Action> actions;
  std::vector<std::pair<std::size_t, std::size_t>> compared;  // claim, argument
  const auto make = [&](Act kind, std::size_t claim, std::size_t a) {
    Action action;
    action.kind = kind;
    const Place& place = claims[claim].places[a];
    const std::size_t shape = claims[claim].set->shape;
    const ShapePlan& plan = shapes_[shape];
    action.buffer =
        place.lent != 0 ? place.lent : scratch(got + claim, shape, a, bytes_of(plan.arguments[a]));
    action.type = static_cast<std::uint32_t>(problem_.arguments[a].type);
    action.count = plan.arguments[a].count;
    return action;
  };
  for (std::size_t c = 0; c < claims.size(); ++c)
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const ShapePlan& plan = shapes_[claims[c].set->shape];
      if (!plan.arguments[a].is_output()) continue;
      compared.emplace_back(c, a);
      if (claims[c].places[a].lent == 0) {
        Action in = make(Act::in, c, a);
        in.count = bytes_of(plan.arguments[a]);
        in.word = claims[c].places[a].offset;
        actions.push_back(in);
      }
      Action compare = make(Act::compare, c, a);
      const ElementType type = problem_.arguments[a].type;
      const SolvedSet& set = *claims[c].set;
      compare.other = set.expected[a];
      compare.init = static_cast<std::uint32_t>(stored(problem_.arguments[a], true));
      compare.word = set.slack[a] == 0 ? 0 : set.slack[a] + 1;
      compare.low = plan.arguments[a].tolerance.absolute;
      compare.high = plan.arguments[a].tolerance.relative;
      compare.top = is_floating(type) ? largest_finite(type) * (1.0 - half_ulp(type)) : 0.0;
      actions.push_back(compare);
    }
  GpuWorker::Done done;
  demand(worker_->act(actions, {}, reference_seconds, done), "comparing outputs");
  std::optional<Objection> objection;
  double elements = 0, wrong = 0;
  for (std::size_t i = 0; i < compared.size() && 2 * i + 1 < done.values.size(); ++i) {
    const auto [c, a] = compared[i];
    if (i == 0 || compared[i - 1].first != c) {
      if (objection) break;  // the outputs of the first wrong claim have all been counted
      elements = wrong = 0;
    }
    const ShapePlan& plan = shapes_[claims[c].set->shape];
    elements += static_cast<double>(plan.arguments[a].count);
    wrong += static_cast<double>(done.values[2 * i]);
    if (done.values[2 * i] == 0 || objection) continue;
    objection = Objection{
        c, Fault{Verdict::wrong_result, mismatch_text(*claims[c].set, plan, a, done.values[2 * i],
                                                      done.values[2 * i + 1], make(Act::element, c, a))}};
  }
  if (objection) objection->fault.right_share = elements > 0 ? 1.0 - wrong / elements : 0.0;
  return objection;
}

std::string Referee::mismatch_text(const SolvedSet& set, const ShapePlan& plan, std::size_t a,
                                   std::uint64_t wrong, std::uint64_t index, Action value) {
  Action values[2] = {value, value};
  values[0].seed = values[1].seed = index;
  values[1].buffer = set.expected[a];
  values[1].type = static_cast<std::uint32_t>(stored(problem_.arguments[a], true));
  GpuWorker::Done looked;
  demand(worker_->act({values[0], values[1]}, {}, reference_seconds, looked), "reading an element");
  double number[2] = {};
  for (std::size_t k = 0; k < 2 && k < looked.values.size(); ++k)
    std::memcpy(&number[k], &looked.values[k], sizeof(double));
  const Tolerance& tolerance = plan.arguments[a].tolerance;
  const char* const name = problem_.arguments[a].name.c_str();
  constexpr const char* flavours[] = {"declared", "edge", "ill-conditioned"};
  char text[512];
  std::snprintf(
      text, sizeof text,
      "%s[%llu] is %.9g, expected %.9g within %.3g%s; %.4g %% of %s wrong (shape %s, %s inputs, seed %#llx)",
      name, static_cast<unsigned long long>(index), number[0], number[1],
      tolerance.absolute + tolerance.relative * std::abs(number[1]),
      set.slack[a] != 0 ? " and what rounding may cost" : "",
      100 * static_cast<double>(wrong) / static_cast<double>(plan.arguments[a].count), name,
      problem_.shapes[set.shape].name.c_str(), flavours[static_cast<int>(set.flavour)],
      static_cast<unsigned long long>(set.seed));
  return text;
}

}  // namespace kernelsearch::detail::gpu
