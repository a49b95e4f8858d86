// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/referee.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "judge/output_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/correctness.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch::detail::gpu {
namespace {

// Secret sets of a shape whose reference is slow: as many as it solves in that time, within these numbers. A
// candidate takes two or three declared ones, so that a process serves about five candidates.
constexpr double kept_seconds = 4;
constexpr std::size_t most_kept = 16, most_special_kept = 5;
constexpr double reference_seconds = 120;

/// Bytes of the elements of an array as another type.
std::uint64_t stored_size(const PlannedArgument& planned, ElementType type) noexcept {
  return (type == planned.type ? planned.count : planned.elements()) * size_in_bytes(type);
}

enum Use : std::size_t {
  native,
  widened,
  magnitude,
  kernel_precision,
  got
};  // and got + 1, + 2, ... for further samples
constexpr ModuleId wide_module{1}, narrow_module{2};

bool has_edge_inputs(const Argument& argument) {
  return argument.is_input() && has_edge_flavour(argument.initialisation);
}

bool has_floats(const Argument& argument) {
  if (!argument.structure) return is_floating(argument.type);
  const auto& fields = argument.structure->fields;
  return std::any_of(fields.begin(), fields.end(),
                     [](const StructField& field) { return is_floating(field.type); });
}

/// What rounding may cost is not computed for fields of structs, so that these are compared on declared
/// inputs alone.
bool special_inputs_allowed(const Problem& problem) {
  return std::none_of(problem.arguments.begin(), problem.arguments.end(), [](const Argument& argument) {
    return argument.is_output() && argument.structure && has_floats(argument);
  });
}

}  // namespace

Referee::Referee(const Problem& problem, const std::vector<ShapePlan>& shapes,
                 const std::vector<std::vector<Argument>>& arguments, MadeInputs& made,
                 const GpuOptions& options, const GpuDevice& device, int ordinal, BuilderPool& builders,
                 const Arena& shared)
    : problem_(problem),
      shapes_(shapes),
      arguments_(arguments),
      made_(made),
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
  raise_if_killed(doing, error->text);
  if (blame == Blame::referee)
    raise<DeviceError>(
        std::string("the referee failed at ") + doing, error->text,
        "nothing is known to be wrong with the problem: run it again, or see `kernelsearch doctor`");
  raise<ConfigError>(std::string("the reference fails: ") + doing, problem_.name + ": " + error->text,
                     "fix reference.source or reference.launch");
}

void Referee::start() {
  if (worker_ && worker_->alive()) return;
  ++run_;  // sets of an earlier process have no buffers to give back
  pool_.clear();
  scratch_.clear();
  programs_.clear();
  free_.clear();
  sizes_.clear();
  loans_.clear();
  // Kept only once it is ready: one that failed half-way must not serve the next candidate.
  worker_.reset();
  auto starting = std::make_unique<GpuWorkerClient>(find_gpu_worker(options_.worker), device_.backend,
                                                    GpuWorkerClient::Role::device, ordinal_, &shared_);
  GpuDevice device;
  if (const auto error = starting->hello(options_.limits.start, device))
    raise<DeviceError>("the device cannot be used by the referee", error->text, "see `kernelsearch doctor`");
  memory_ = device.memory_free;
  std::vector<FunctionFacts> facts;
  const auto load = [&](ModuleId module, const std::string& source, const std::vector<std::string>& flags,
                        const std::vector<std::string>& names) {
    const Built built =
        builders_.build(source,
                        module == service_module ? compile_options(device_, options_, flags)
                                                 : problem_options(problem_, device_, options_, flags),
                        names);
    if (built.verdict != Verdict::ok && module == service_module)
      raise<ConfigError>("the kernels of the evaluator do not build", built.reason,
                         "see `kernelsearch doctor`");
    if (built.verdict != Verdict::ok)
      raise<ConfigError>("the reference does not build", problem_.name + ":\n" + built.reason,
                         "fix it: its floating types must be `real`");
    demand(starting->load(module, *built.image, built.functions, facts), "loading it",
           module == service_module ? Blame::referee : Blame::reference);
  };
  load(service_module, service_source(device_.backend), {},
       {service_names(), service_names() + service_count});
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
                         "fix it, or give the problem a reference");
    default_launches_ = built.launches;
    demand(load_candidate(*starting, wide_module, *built.image, built.library, built.functions, facts),
           "loading it", Blame::reference);
  }
  worker_ = std::move(starting);
}

BufferId Referee::buffer(std::uint64_t bytes) {
  if (auto& kept = free_[bytes]; !kept.empty()) {
    const BufferId id = kept.back();
    kept.pop_back();
    return id;
  }
  const BufferId id = buffer_ids_.next();
  demand(worker_->allocate({{id, bytes}}), "making its buffers");
  sizes_[id] = bytes;
  return id;
}

BufferId Referee::scratch(std::size_t use, std::size_t shape, std::size_t argument, std::uint64_t bytes) {
  const auto key = std::make_tuple(use, shape, argument);
  const auto known = scratch_.find(key);
  if (known != scratch_.end() && known->second.bytes >= bytes) return known->second.buffer;
  if (known != scratch_.end()) demand(worker_->release({known->second.buffer}), "making its buffers");
  const BufferId id = buffer(bytes);
  scratch_[key] = {id, bytes};
  return id;
}

InputSetPointer Referee::new_set(std::size_t shape, InputFlavour flavour) {
  InputSetPointer set(new InputSet, [this, run = run_](const InputSet* old) {
    if (run == run_)
      for (const auto* list : {&old->expected, &old->slack})
        for (const auto& id : *list)
          if (id) free_[sizes_[*id]].push_back(*id);
    delete old;
  });
  set->shape = shape;
  set->seed = set->made_seed = secret_seed();
  set->flavour = flavour;
  return set;
}

InputSetPointer Referee::unsolved(std::size_t shape, std::uint64_t seed, std::uint64_t made_seed) {
  start();
  InputSetPointer set = new_set(shape, InputFlavour::declared);
  set->seed = seed;
  set->made_seed = made_seed;
  return set;
}

InputSetPointer Referee::shared(InputSetPointer unsolved) {
  if (InputSetPointer known = take_kept(unsolved->shape, unsolved->flavour, false)) return known;
  keep_shared(unsolved);
  return unsolved;
}

void Referee::forget() {
  pool_.clear();
}

void Referee::take_shapes() {
  forget();
  cost_.clear();
  programs_.clear();
  // Buffers of these sizes may never be asked for again.
  std::vector<BufferId> unused;
  for (auto& [bytes, ids] : free_) unused.insert(unused.end(), ids.begin(), ids.end());
  free_.clear();
  for (const BufferId id : unused) sizes_.erase(id);
  if (!unused.empty() && worker_ && worker_->alive())
    demand(worker_->release(std::move(unused)), "giving back its buffers");
}

ElementType Referee::expected_type(const Argument& argument) const noexcept {
  return problem_.bit_exact ? argument.type : stored(argument, true);
}

ElementType Referee::stored(const Argument& argument, bool wide) const noexcept {
  if (!is_floating(argument.type) || !independent()) return argument.type;
  return wide || uses_f64(problem_) ? ElementType::f64 : ElementType::f32;
}

void Referee::run(const InputSet& set, bool wide, bool magnitudes,
                  const std::vector<std::optional<BufferId>>& outputs, Work& work) {
  const std::size_t shape = set.shape;
  const auto key = std::make_pair(shape, wide);
  auto found = programs_.find(key);
  if (found == programs_.end()) {
    CallPlan plan;
    if (independent()) {
      plan = plan_reference(problem_, shape, wide ? wide_module : narrow_module, wide || uses_f64(problem_));
    } else {
      std::string reason;
      const Candidate first = problem_.default_candidate();
      plan = plan_call(problem_, first, shape, wide_module, launched_kernels(problem_, first), reason,
                       default_launches_);
      if (!reason.empty())
        raise<ConfigError>("the default configuration cannot be launched", reason, "fix it");
    }
    std::vector<std::int32_t> blocks;
    const ProgramId id = program_ids_.next();
    demand(worker_->define(id, plan.program, blocks), "preparing its launch", Blame::reference);
    found = programs_.insert({key, {id, std::move(plan)}}).first;
  }
  const CallPlan& plan = found->second.plan;
  std::vector<Action>& actions = work.actions;
  CallProgram call{found->second.id, true, {}};
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const PlannedArgument& planned = plan.arguments.arguments[a];
    std::optional<BufferId> bound;
    if (argument.is_array) {
      const ElementType type = stored(argument, wide);
      const std::uint64_t bytes = argument.structure ? bytes_of(planned) : stored_size(planned, type);
      if (argument.role == Role::workspace) {
        bound = scratch(native, shape, a, bytes);
      } else if (argument.role == Role::out) {
        bound = outputs[a];
        const std::uint64_t word = argument.structure ? poison_word(planned, Storage::native, set.seed)
                                                      : poison_word(type, Storage::native, set.seed);
        actions.emplace_back(FillPattern{*bound, word, bytes});
      } else {
        // Small floats are widened here, where they are made.
        const bool widens = type != argument.type && is_small_float(argument.type);
        if (argument.role == Role::inout)
          bound = outputs[a];
        else if (type != argument.type)
          bound = scratch(widened, shape, a, bytes);
        const BufferId drawn = widens ? *bound : scratch(native, shape, a, bytes_of(planned));
        if (!bound) bound = drawn;
        if (made_.made(a)) {
          carry_out(work, "running it");  // what is queued may still need the buffer
          const auto contents = made_.of(shape, set.made_seed, set.flavour);
          std::vector<std::byte> given =
              magnitudes ? without_signs(argument, (*contents)[a]) : (*contents)[a];
          if (widens) {
            std::vector<std::byte> wide_ones(bytes);
            store_widened(argument.type, type == ElementType::f64 ? Storage::f64 : Storage::f32, given.data(),
                          planned.count, wide_ones.data());
            given = std::move(wide_ones);
          }
          demand(upload(*worker_, shared_, drawn, given), "giving it its inputs");
        } else {
          actions.emplace_back(
              fill_action(arguments_[shape][a], planned, drawn, set.seed, set.flavour, magnitudes));
        }
        if (*bound != drawn && argument.structure)
          actions.emplace_back(RotateArray{drawn, *bound, 0, bytes});
        else if (*bound != drawn)
          actions.emplace_back(ConvertArray{drawn, *bound, argument.type, type, planned.count});
      }
    }
    call.bindings.push_back(bound);
  }
  actions.emplace_back(std::move(call));
  const bool says_cost = (wide || problem_.bit_exact) && !magnitudes;
  work.timed.push_back(says_cost ? std::optional(shape) : std::nullopt);
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const ElementType type = stored(argument, wide);
    const std::size_t size = size_in_bytes(type);
    if (!argument.is_array || argument.role != Role::out || size < 4) continue;
    std::uint64_t word = poison_word(type, Storage::native, set.seed);
    if (size == 4) word &= 0xffffffffu;
    const std::uint64_t count = plan.arguments.arguments[a].elements();
    actions.emplace_back(CountPattern{*outputs[a], static_cast<std::uint32_t>(size), word, count});
    work.unwritten.push_back({shape, a, poison_by_chance(type, count)});
  }
}

Act::Reply Referee::carry_out(Work& work, const char* doing, Blame blame) {
  Work now = std::exchange(work, {});
  Act::Reply done;
  if (now.actions.empty()) return done;
  const double runs = static_cast<double>(std::max<std::size_t>(1, now.timed.size()));
  demand(worker_->act(std::move(now.actions), runs * reference_seconds, done), doing, blame);
  for (std::size_t i = 0; i < now.unwritten.size() && i < done.values.size(); ++i) {
    const auto& [shape, argument, allowed] = now.unwritten[i];
    if (done.values[i] > allowed)
      raise<ConfigError>("the reference leaves elements unwritten",
                         std::to_string(done.values[i]) + " of " + problem_.arguments[argument].name +
                             " for shape " + problem_.shapes[shape].name,
                         "fix it: it must write every element of its outputs");
  }
  for (std::size_t i = 0; i < now.timed.size() && i < done.seconds.size(); ++i)
    if (now.timed[i]) {
      const auto known = cost_.try_emplace(*now.timed[i], done.seconds[i]).first;
      known->second = std::min(known->second, done.seconds[i]);
    }
  // What is left are the values of actions that were queued after the last run.
  done.values.erase(
      done.values.begin(),
      done.values.begin() + static_cast<std::ptrdiff_t>(std::min(now.unwritten.size(), done.values.size())));
  return done;
}

void Referee::solve(const std::vector<InputSetPointer>& sets) {
  start();
  Work work;
  for (const InputSetPointer& set : sets)
    if (!set->solved()) solve(*set, work);
  carry_out(work, "running it");
}

void Referee::solve(InputSet& set, Work& work) {
  const std::size_t count = problem_.arguments.size();
  set.expected.resize(count);
  set.slack.resize(count);
  const std::size_t shape = set.shape;
  const ShapePlan& plan = shapes_[shape];
  const auto is_output = [&](std::size_t a) {
    return problem_.arguments[a].is_array &&
           (problem_.arguments[a].role == Role::out || problem_.arguments[a].role == Role::inout);
  };
  for (std::size_t a = 0; a < count; ++a)
    if (is_output(a))
      set.expected[a] = buffer(problem_.arguments[a].structure
                                   ? bytes_of(plan.arguments[a])
                                   : stored_size(plan.arguments[a], expected_type(problem_.arguments[a])));
  if (problem_.bit_exact && independent()) {
    solve_exactly(set, work);
    return;
  }
  run(set, true, false, set.expected, work);
  if (set.flavour == InputFlavour::declared || !independent()) return;
  std::vector<std::optional<BufferId>> large(count), small(count);
  for (std::size_t a = 0; a < count; ++a) {
    if (!is_output(a)) continue;
    large[a] =
        scratch(magnitude, shape, a, stored_size(plan.arguments[a], stored(problem_.arguments[a], true)));
    small[a] = scratch(kernel_precision, shape, a,
                       stored_size(plan.arguments[a], stored(problem_.arguments[a], false)));
  }
  run(set, true, true, large, work);
  run(set, false, false, small, work);
  for (std::size_t a = 0; a < count; ++a) {
    if (!is_output(a) || !is_floating(problem_.arguments[a].type)) continue;
    set.slack[a] = buffer(plan.arguments[a].elements() * sizeof(double));
    ComputeSlack compute;
    compute.exact = *set.expected[a];
    compute.magnitudes = *large[a];
    compute.kernel = *small[a];
    compute.slack = *set.slack[a];
    compute.kernel_type = stored(problem_.arguments[a], false);
    compute.count = plan.arguments[a].elements();
    compute.relative = plan.arguments[a].tolerance.relative;
    work.actions.emplace_back(compute);
  }
}

void Referee::solve_exactly(InputSet& set, Work& work) {
  std::vector<std::optional<BufferId>> computed = set.expected;
  std::vector<Action> rounding;
  for (std::size_t a = 0; a < computed.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const ElementType type = stored(argument, false);
    if (!computed[a] || type == argument.type) continue;
    const std::uint64_t elements = shapes_[set.shape].arguments[a].count;
    computed[a] = scratch(kernel_precision, set.shape, a, elements * size_in_bytes(type));
    rounding.emplace_back(ConvertArray{*computed[a], *set.expected[a], type, argument.type, elements});
  }
  run(set, false, false, computed, work);
  std::move(rounding.begin(), rounding.end(), std::back_inserter(work.actions));
}

double Referee::cost(std::size_t shape) {
  start();
  if (const auto known = cost_.find(shape); known != cost_.end()) return known->second;
  // Twice, since the first run loads the code, unless it is slow anyway. The next check takes the sets.
  constexpr double surely_dear = 0.2;
  for (int run = 0; run == 0 || (run == 1 && cost_[shape] < surely_dear); ++run) {
    InputSetPointer set = new_set(shape, InputFlavour::declared);
    solve({set});
    pool_[{shape, InputFlavour::declared}].push_back({std::move(set), {}});
  }
  return cost_[shape];
}

double Referee::cost_of_check(std::size_t shape) {
  double runs = 0;  // of the others three: exact, of magnitudes, in the kernel's precision
  for (const InputFlavour flavour : flavours_of_check(shape))
    runs += flavour == InputFlavour::declared || !independent() ? 1 : 3;
  return runs * cost(shape);
}

std::uint64_t Referee::kept_bytes(std::size_t shape, InputFlavour flavour) const {
  std::uint64_t bytes = 1;
  for (const PlannedArgument& argument : shapes_[shape].arguments)
    if (argument.is_output())
      bytes += argument.count * sizeof(double) * (flavour == InputFlavour::declared ? 1 : 2);
  return bytes;
}

std::size_t Referee::kept_limit(std::size_t shape, InputFlavour flavour) const {
  const bool special = flavour != InputFlavour::declared;
  const std::size_t least = special ? 1 : std::max<std::size_t>(1, options_.check.seeds) + 1,
                    most = std::max(least, special ? most_special_kept : most_kept);
  const double fit = static_cast<double>(memory_) / 8 / static_cast<double>(kept_bytes(shape, flavour)),
               affordable = kept_seconds / cost_.at(shape) / (special ? 3 : 1);
  return static_cast<std::size_t>(
      std::clamp(std::min(fit, affordable), static_cast<double>(least), static_cast<double>(most)));
}

std::size_t Referee::shared_limit(std::size_t shape, InputFlavour flavour) const {
  // Candidates take different numbers of sets, for checks and timed calls, so that processes are not all at
  // the same one.
  const std::uint64_t fit = memory_ / 16 / kept_bytes(shape, flavour), timed = 8;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(fit, sharers_ * (std::max<std::size_t>(1, options_.check.seeds) + timed)));
}

bool Referee::has_unseen(std::size_t candidates) const {
  for (const auto& [key, kept] : pool_) {
    const auto& [shape, flavour] = key;
    if (kept.empty() || cost_.at(shape) <= dear_seconds) continue;
    const auto seen = static_cast<std::size_t>(
        std::count_if(kept.begin(), kept.end(), [this](const Kept& one) { return one.shown_to(process_); }));
    const std::size_t each =
        flavour == InputFlavour::declared ? std::max<std::size_t>(1, options_.check.seeds) : 1;
    if (seen != 0 && seen + candidates * each > kept_limit(shape, flavour)) return false;
  }
  return true;
}

InputSetPointer Referee::take_kept(std::size_t shape, InputFlavour flavour, bool fresh) {
  std::vector<Kept>& kept = pool_[{shape, flavour}];
  const bool dear = is_dear(shape);
  std::vector<std::size_t> unseen;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (!kept[i].shown_to(process_) && (dear || !fresh || kept[i].shown.empty())) unseen.push_back(i);
  if (unseen.empty()) return nullptr;
  const std::size_t chosen = unseen[static_cast<std::size_t>(rng_.below(unseen.size()))];
  kept[chosen].shown.push_back(process_);
  InputSetPointer set = kept[chosen].set;
  if (!dear && (fresh || kept[chosen].shown.size() >= sharers_))
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(chosen));
  return set;
}

void Referee::keep_shared(const InputSetPointer& set) {
  std::vector<Kept>& kept = pool_[{set->shape, set->flavour}];
  if (sharers_ > 1) kept.push_back({set, {process_}});
  if (kept.size() > 1 && kept.size() > shared_limit(set->shape, set->flavour)) kept.erase(kept.begin());
}

InputSetPointer Referee::take(std::size_t shape, InputFlavour flavour, bool fresh, Work& work) {
  std::vector<Kept>& kept = pool_[{shape, flavour}];
  const bool dear = is_dear(shape), full = dear && kept.size() >= kept_limit(shape, flavour);
  // Half of the draws of an expensive shape add one, until there are as many as are kept.
  if (full || !dear || rng_.below(2) == 0)
    if (InputSetPointer set = take_kept(shape, flavour, fresh)) {
      if (!set->solved()) solve(*set, work);  // whose candidate failed before that was needed
      return set;
    }
  // Also where every one was shown: what a check needs it gets, at whatever price.
  InputSetPointer set = new_set(shape, flavour);
  solve(*set, work);
  if (full) kept.erase(kept.begin());
  if (dear)
    kept.push_back({set, {process_}});
  else if (!fresh)
    keep_shared(set);
  return set;
}

std::vector<InputFlavour> Referee::flavours_of_check(std::size_t shape) {
  std::vector<InputFlavour> flavours(std::max<std::size_t>(1, options_.check.seeds), InputFlavour::declared);
  const auto& arguments = problem_.arguments;
  if (!special_inputs_allowed(problem_) || cost(shape) > options_.check.special_seconds) return flavours;
  if (options_.check.edge && std::any_of(arguments.begin(), arguments.end(), has_edge_inputs))
    flavours.push_back(InputFlavour::edge);
  if (options_.check.ill_conditioned &&
      std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) {
        return has_edge_inputs(a) && a.initialisation != Initialisation::offsets && has_floats(a);
      }))
    flavours.push_back(InputFlavour::ill_conditioned);
  return flavours;
}

std::size_t Referee::sets_of_check(std::size_t shape) {
  return flavours_of_check(shape).size();
}

std::vector<std::vector<InputSetPointer>> Referee::for_check(const std::vector<Wanted>& wanted, bool fresh) {
  std::vector<std::vector<InputSetPointer>> all;
  Work work;
  for (const auto& [shape, begin, end] : wanted) {
    const std::vector<InputFlavour> flavours = flavours_of_check(shape);
    std::vector<InputSetPointer>& sets = all.emplace_back();
    for (std::size_t i = begin; i < end; ++i) sets.push_back(take(shape, flavours.at(i), fresh, work));
  }
  carry_out(work, "running it");
  return all;
}

InputSetPointer Referee::for_timing(std::size_t shape) {
  if (!is_dear(shape)) return nullptr;
  const std::vector<Kept>& kept = pool_[{shape, InputFlavour::declared}];
  const bool has_room = kept.size() < kept_limit(shape, InputFlavour::declared);
  if (!has_room &&
      std::all_of(kept.begin(), kept.end(), [this](const Kept& one) { return one.shown_to(process_); }))
    return nullptr;
  Work work;
  InputSetPointer set = take(shape, InputFlavour::declared, false, work);
  carry_out(work, "running it");
  return set;
}

std::optional<BufferId> Referee::lend(GpuWorkerClient& owner, BufferId buffer, std::uint64_t bytes) {
  start();
  if (!loans_work_ || bytes < (std::uint64_t{2} << 20)) return std::nullopt;
  const auto key = std::make_pair(process_, buffer);
  if (const auto known = loans_.find(key); known != loans_.end()) return known->second;
  MemoryHandle handle{};
  const BufferId ours = buffer_ids_.next();
  if (owner.lend(buffer, handle) || worker_->borrow(ours, bytes, handle)) {
    loans_work_ = false;
    return std::nullopt;
  }
  loans_[key] = ours;
  return ours;
}

void Referee::give_back(std::uint64_t process) {
  std::vector<BufferId> borrowed;
  std::erase_if(loans_, [&](const auto& loan) {
    if (loan.first.first != process) return false;
    borrowed.push_back(loan.second);
    return true;
  });
  if (worker_ && worker_->alive() && !borrowed.empty()) (void)worker_->release(std::move(borrowed));
}

void Referee::receive(const std::vector<OutputSample>& samples) {
  start();
  std::vector<Action> actions;
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const std::size_t shape = samples[s].set->shape;
      const PlannedArgument& planned = shapes_[shape].arguments[a];
      if (planned.is_output() && !samples[s].places[a].lent)
        actions.emplace_back(CopyIn{scratch(got + s, shape, a, bytes_of(planned)),
                                    samples[s].places[a].offset, bytes_of(planned)});
    }
  if (actions.empty()) return;
  Act::Reply done;
  demand(worker_->act(std::move(actions), reference_seconds, done), "comparing outputs");
}

BufferId Referee::place_of(const std::vector<OutputSample>& samples, std::size_t sample,
                           std::size_t argument) {
  const std::size_t shape = samples[sample].set->shape;
  const auto lent = samples[sample].places[argument].lent;
  return lent ? *lent : scratch(got + sample, shape, argument, bytes_of(shapes_[shape].arguments[argument]));
}

double Referee::number(const std::vector<OutputSample>& samples, std::size_t sample, std::size_t argument) {
  Act::Reply looked;
  demand(
      worker_->act({ReadElement{place_of(samples, sample, argument), 0, problem_.arguments[argument].type}},
                   reference_seconds, looked),
      "reading a metric");
  double value = std::numeric_limits<double>::quiet_NaN();
  if (!looked.values.empty()) std::memcpy(&value, looked.values.data(), sizeof value);
  return value;
}

std::optional<Referee::Mismatch> Referee::judge(const std::vector<OutputSample>& samples) {
  start();
  Work work;
  for (const OutputSample& sample : samples)
    if (!sample.set->solved()) solve(*sample.set, work);
  const bool only_compares = work.timed.empty();
  struct Compared {
    std::size_t sample, argument;
    Column column;
    Tolerance tolerance;
    bool cap;
  };
  std::vector<Compared> compared;
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const InputSet& set = *samples[s].set;
      const PlannedArgument& planned = shapes_[set.shape].arguments[a];
      if (!planned.is_output()) continue;
      for (const Column& column : columns_of(planned)) {
        const bool field = planned.structure != nullptr;
        const Tolerance tolerance = problem_.bit_exact ? Tolerance{}
                                    : field            ? problem_.tolerance_of(column.type)
                                                       : planned.tolerance;
        compared.push_back({s, a, column, tolerance, false});
        CompareArrays compare;
        compare.got = place_of(samples, s, a);
        compare.expected = *set.expected[a];
        compare.slack = set.slack[a];
        compare.type = column.type;
        compare.expected_type = field ? column.type : expected_type(problem_.arguments[a]);
        compare.count = planned.elements();
        compare.infinities = tolerance.infinities;
        compare.absolute = tolerance.absolute;
        compare.relative = tolerance.relative;
        compare.overflow =
            is_floating(column.type) ? largest_finite(column.type) * (1.0 - half_ulp(column.type)) : 0.0;
        compare.stride = field ? static_cast<std::uint32_t>(planned.element_bytes()) : 0;
        compare.offset = static_cast<std::uint32_t>(column.offset);
        compare.bits = problem_.bit_exact;
        work.actions.emplace_back(compare);
        if (tolerance.matched_ratio >= 1) continue;
        // Once more, for what no element may be beyond.
        const Tolerance cap = cap_of(tolerance);
        compared.push_back({s, a, column, tolerance, true});
        compare.overflow = (compare.overflow - tolerance.absolute) / (1 + tolerance.relative);
        compare.absolute = cap.absolute;
        compare.relative = cap.relative;
        compare.cap = true;
        work.actions.emplace_back(compare);
      }
    }
  const Act::Reply done =
      only_compares ? carry_out(work, "comparing outputs", Blame::referee) : carry_out(work, "running it");
  std::optional<Mismatch> mismatch;
  double elements = 0, wrong = 0;
  for (std::size_t i = 0; i < compared.size() && 2 * i + 1 < done.values.size(); ++i) {
    const auto& [s, a, column, tolerance, cap] = compared[i];
    if (i == 0 || compared[i - 1].sample != s) {
      if (mismatch) break;  // the outputs of the first wrong sample have all been counted
      elements = wrong = 0;
    }
    const ShapePlan& plan = shapes_[samples[s].set->shape];
    const auto count = static_cast<double>(plan.arguments[a].elements());
    const std::uint64_t off = done.values[2 * i];
    if (!cap) {
      elements += count;
      wrong += static_cast<double>(off);
    }
    const std::uint64_t allowed = cap ? 0 : allowed_wrong(tolerance, plan.arguments[a].elements());
    if (off <= allowed || mismatch) continue;
    const std::uint64_t outside = cap ? done.values[2 * (i - 1)] : off;
    mismatch = Mismatch{s, Fault{Verdict::wrong_result,
                                 mismatch_text(*samples[s].set, plan, a, column, place_of(samples, s, a),
                                               outside, done.values[2 * i + 1], tolerance, cap)}};
  }
  if (!mismatch) return mismatch;
  mismatch->fault.right_share = elements > 0 ? 1.0 - wrong / elements : 0.0;
  const InputSetPointer& told = samples[mismatch->sample].set;
  if (!is_dear(told->shape))
    std::erase_if(pool_[{told->shape, told->flavour}], [&](const Kept& one) { return one.set == told; });
  return mismatch;
}

std::string Referee::mismatch_text(const InputSet& set, const ShapePlan& plan, std::size_t a,
                                   const Column& column, BufferId got, std::uint64_t wrong,
                                   std::uint64_t index, const Tolerance& tolerance, bool beyond) {
  const Argument& argument = problem_.arguments[a];
  const bool field = argument.structure.has_value();
  const auto stride = static_cast<std::uint32_t>(field ? argument.element_bytes() : 0);
  const auto offset = static_cast<std::uint32_t>(column.offset);
  Act::Reply looked;
  demand(worker_->act({ReadElement{got, index, column.type, stride, offset},
                       ReadElement{*set.expected[a], index, field ? column.type : expected_type(argument),
                                   stride, offset}},
                      reference_seconds, looked),
         "reading an element");
  double number[2] = {};
  for (std::size_t k = 0; k < 2 && k < looked.values.size(); ++k)
    std::memcpy(&number[k], &looked.values[k], sizeof(double));
  char within[64];
  std::snprintf(within, sizeof within, problem_.bit_exact ? "bit by bit" : "within %.3g",
                tolerance.absolute + tolerance.relative * std::abs(number[1]));
  constexpr const char* flavours[] = {"declared", "edge", "ill-conditioned"};
  // By its seed a set could be drawn again and solved, so that of one that is kept none is told.
  char seed[64] = "which are secret";
  if (!is_dear(set.shape))
    std::snprintf(seed, sizeof seed, "seed %#llx", static_cast<unsigned long long>(set.seed));
  char numbers[240];
  std::snprintf(numbers, sizeof numbers, " is %.9g, expected %.9g %s%s; ", number[0], number[1], within,
                set.slack[a] ? " and what rounding may cost" : "");
  const double share = static_cast<double>(wrong) / static_cast<double>(plan.arguments[a].elements());
  return element_text(argument, index, column.name) + numbers +
         share_text(share, argument.name, tolerance, beyond) + " (shape " + problem_.shapes[set.shape].name +
         ", " + flavours[static_cast<int>(set.flavour)] + " inputs, " + seed + ")";
}

}  // namespace kernelsearch::detail::gpu
