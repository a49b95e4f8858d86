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
};  // and got + 1, + 2, ... for further samples
constexpr ModuleId wide_module{1}, narrow_module{2};

/// Whether the edge flavour of this argument is another than the declared one.
bool drawn_at_random(const Argument& argument) {
  switch (argument.initialisation) {
    case Initialisation::uniform:
    case Initialisation::normal:
    case Initialisation::sorted:
    case Initialisation::offsets:
    case Initialisation::generator:
      return argument.is_input();
    default:
      return false;
  }
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
  programs_.clear();
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
                         "mend it: its floating types must be `real`");
    demand(starting->load(module, *built.image, built.functions, facts), "loading it",
           module == service_module ? Blame::referee : Blame::reference);
  };
  load(service_module, service_source(), {}, {service_names(), service_names() + service_count});
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

void Referee::drop(const SolvedSet& set) {
  for (const auto* list : {&set.expected, &set.slack})
    for (const auto& id : *list)
      if (id) free_[sizes_[*id]].push_back(*id);
}

void Referee::forget() {
  if (worker_ && worker_->alive())
    for (const auto& [key, sets] : pool_)
      for (const Set& set : sets) drop(*set);
  pool_.clear();
  last_checked_.clear();
}

ElementType Referee::expected_type(const Argument& argument) const noexcept {
  return problem_.bit_exact ? argument.type : stored(argument, true);
}

ElementType Referee::stored(const Argument& argument, bool wide) const noexcept {
  if (!is_floating(argument.type) || !independent()) return argument.type;
  return wide || uses_f64(problem_) ? ElementType::f64 : ElementType::f32;
}

void Referee::run(std::size_t shape, bool wide, std::uint64_t seed, InputFlavour flavour, bool magnitudes,
                  const std::vector<std::optional<BufferId>>& outputs) {
  const auto key = std::make_pair(shape, wide);
  auto found = programs_.find(key);
  if (found == programs_.end()) {
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
    const ProgramId id = program_ids_.next();
    demand(worker_->define(id, plan.program, blocks), "preparing its launch", Blame::reference);
    found = programs_.insert({key, {id, std::move(plan)}}).first;
  }
  const CallPlan& plan = found->second.plan;
  std::vector<Action> actions;
  CallProgram call{found->second.id, true, {}};
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const PlannedArgument& planned = plan.arguments.arguments[a];
    std::optional<BufferId> bound;
    if (argument.is_array) {
      const ElementType type = stored(argument, wide);
      const std::uint64_t bytes =
          argument.structure ? bytes_of(planned) : planned.count * size_in_bytes(type);
      if (argument.role == Role::workspace) {
        bound = scratch(native, shape, a, bytes);
      } else if (argument.role == Role::out) {
        bound = outputs[a];
        const std::uint64_t word = argument.structure ? poison_word(planned, Storage::native, seed)
                                                      : poison_word(type, Storage::native, seed);
        actions.emplace_back(FillPattern{*bound, word, bytes});
      } else {
        const BufferId drawn = scratch(native, shape, a, bytes_of(planned));
        if (made_.made(a)) {
          const auto contents = made_.of(shape, seed, flavour);
          demand(upload(*worker_, shared_, drawn,
                        magnitudes ? without_signs(argument, (*contents)[a]) : (*contents)[a]),
                 "giving it its inputs");
        } else {
          actions.emplace_back(fill_action(arguments_[shape][a], planned, drawn, seed, flavour, magnitudes));
        }
        bound = argument.role == Role::inout ? outputs[a]
                : type == argument.type      ? drawn
                                             : scratch(widened, shape, a, bytes);
        if (*bound != drawn && argument.structure)
          actions.emplace_back(RotateArray{drawn, *bound, 0, bytes});
        else if (*bound != drawn)
          actions.emplace_back(ConvertArray{drawn, *bound, argument.type, type, planned.count});
      }
    }
    call.bindings.push_back(bound);
  }
  actions.emplace_back(std::move(call));
  std::vector<std::size_t> checked;
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const Argument& argument = problem_.arguments[a];
    const std::size_t size = size_in_bytes(stored(argument, wide));
    if (!argument.is_array || argument.role != Role::out || size < 4) continue;
    std::uint64_t word = poison_word(stored(argument, wide), Storage::native, seed);
    if (size == 4) word &= 0xffffffffu;
    actions.emplace_back(
        CountPattern{*outputs[a], static_cast<std::uint32_t>(size), word, plan.arguments.arguments[a].count});
    checked.push_back(a);
  }
  Act::Reply done;
  demand(worker_->act(std::move(actions), reference_seconds, done), "running it", Blame::reference);
  for (std::size_t i = 0; i < checked.size() && i < done.values.size(); ++i)
    if (done.values[i] > poison_by_chance(stored(problem_.arguments[checked[i]], wide),
                                          plan.arguments.arguments[checked[i]].count))
      raise<ConfigError>("the reference leaves elements unwritten",
                         std::to_string(done.values[i]) + " of " + problem_.arguments[checked[i]].name +
                             " for shape " + problem_.shapes[shape].name,
                         "mend it: it must write every element of its outputs");
  if (wide || problem_.bit_exact) cost_[shape] = done.seconds.empty() ? 0.0 : done.seconds.front();
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
      set->expected[a] =
          buffer(problem_.arguments[a].structure
                     ? bytes_of(plan.arguments[a])
                     : plan.arguments[a].count * size_in_bytes(expected_type(problem_.arguments[a])));
  if (problem_.bit_exact && independent()) {
    solve_exactly(*set);
    return set;
  }
  run(shape, true, set->seed, flavour, false, set->expected);
  if (flavour != InputFlavour::declared && independent()) {
    std::vector<std::optional<BufferId>> large(count), small(count);
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
      ComputeSlack compute;
      compute.exact = *set->expected[a];
      compute.magnitudes = *large[a];
      compute.kernel = *small[a];
      compute.slack = *set->slack[a];
      compute.kernel_type = stored(problem_.arguments[a], false);
      compute.count = plan.arguments[a].count;
      compute.relative = plan.arguments[a].tolerance.relative;
      actions.emplace_back(compute);
    }
    Act::Reply done;
    demand(worker_->act(std::move(actions), reference_seconds, done), "bounding its rounding");
  }
  return set;
}

void Referee::solve_exactly(SolvedSet& set) {
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
  run(set.shape, false, set.seed, set.flavour, false, computed);
  if (rounding.empty()) return;
  Act::Reply done;
  demand(worker_->act(std::move(rounding), reference_seconds, done), "rounding its results");
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
  if (!special_inputs_allowed(problem_)) return sets;
  if (options_.check.edge && std::any_of(arguments.begin(), arguments.end(), drawn_at_random))
    special(InputFlavour::edge);
  if (options_.check.ill_conditioned &&
      std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) {
        return drawn_at_random(a) && a.initialisation != Initialisation::offsets && has_floats(a);
      }))
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

std::optional<BufferId> Referee::lend(GpuWorker& owner, BufferId buffer, std::uint64_t bytes) {
  start();
  if (!loans_work_ || bytes < (std::uint64_t{2} << 20)) return std::nullopt;
  if (const auto known = loans_.find(buffer); known != loans_.end()) return known->second;
  MemoryHandle handle{};
  const BufferId ours = buffer_ids_.next();
  if (owner.lend(buffer, handle) || worker_->borrow(ours, bytes, handle)) {
    loans_work_ = false;
    return std::nullopt;
  }
  loans_[buffer] = ours;
  return ours;
}

void Referee::give_back() {
  if (worker_ && worker_->alive() && !loans_.empty()) {
    std::vector<BufferId> borrowed;
    for (const auto& [theirs, ours] : loans_) borrowed.push_back(ours);
    (void)worker_->release(std::move(borrowed));
  }
  loans_.clear();
}

std::optional<Referee::Mismatch> Referee::compare(const std::vector<OutputSample>& samples) {
  start();
  std::vector<Action> actions;
  struct Compared {
    std::size_t sample, argument;
    Column column;
  };
  std::vector<Compared> compared;
  const auto got_in = [&](std::size_t sample, std::size_t a) {
    const std::size_t shape = samples[sample].set->shape;
    const auto lent = samples[sample].places[a].lent;
    return lent ? *lent : scratch(got + sample, shape, a, bytes_of(shapes_[shape].arguments[a]));
  };
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const SolvedSet& set = *samples[s].set;
      const PlannedArgument& planned = shapes_[set.shape].arguments[a];
      if (!planned.is_output()) continue;
      const Place& place = samples[s].places[a];
      if (!place.lent) actions.emplace_back(CopyIn{got_in(s, a), place.offset, bytes_of(planned)});
      for (const Column& column : columns_of(planned)) {
        compared.push_back({s, a, column});
        const bool field = planned.structure != nullptr;
        const Tolerance tolerance = field ? problem_.tolerance_of(column.type) : planned.tolerance;
        CompareArrays compare;
        compare.got = got_in(s, a);
        compare.expected = *set.expected[a];
        compare.slack = set.slack[a];
        compare.type = column.type;
        compare.expected_type = field ? column.type : expected_type(problem_.arguments[a]);
        compare.count = planned.count;
        compare.absolute = tolerance.absolute;
        compare.relative = tolerance.relative;
        compare.overflow =
            is_floating(column.type) ? largest_finite(column.type) * (1.0 - half_ulp(column.type)) : 0.0;
        compare.stride = field ? static_cast<std::uint32_t>(planned.element_bytes()) : 0;
        compare.offset = static_cast<std::uint32_t>(column.offset);
        compare.bits = problem_.bit_exact;
        actions.emplace_back(compare);
      }
    }
  Act::Reply done;
  demand(worker_->act(std::move(actions), reference_seconds, done), "comparing outputs");
  std::optional<Mismatch> mismatch;
  double elements = 0, wrong = 0;
  for (std::size_t i = 0; i < compared.size() && 2 * i + 1 < done.values.size(); ++i) {
    const auto& [s, a, column] = compared[i];
    if (i == 0 || compared[i - 1].sample != s) {
      if (mismatch) break;  // the outputs of the first wrong sample have all been counted
      elements = wrong = 0;
    }
    const ShapePlan& plan = shapes_[samples[s].set->shape];
    elements += static_cast<double>(plan.arguments[a].count);
    wrong += static_cast<double>(done.values[2 * i]);
    if (done.values[2 * i] == 0 || mismatch) continue;
    mismatch =
        Mismatch{s, Fault{Verdict::wrong_result, mismatch_text(*samples[s].set, plan, a, column, got_in(s, a),
                                                               done.values[2 * i], done.values[2 * i + 1])}};
  }
  if (mismatch) mismatch->fault.right_share = elements > 0 ? 1.0 - wrong / elements : 0.0;
  return mismatch;
}

std::string Referee::mismatch_text(const SolvedSet& set, const ShapePlan& plan, std::size_t a,
                                   const Column& column, BufferId got, std::uint64_t wrong,
                                   std::uint64_t index) {
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
  const Tolerance tolerance = field ? problem_.tolerance_of(column.type) : plan.arguments[a].tolerance;
  const char* const name = argument.name.c_str();
  char within[64];
  std::snprintf(within, sizeof within, problem_.bit_exact ? "bit by bit" : "within %.3g",
                tolerance.absolute + tolerance.relative * std::abs(number[1]));
  constexpr const char* flavours[] = {"declared", "edge", "ill-conditioned"};
  char text[512];
  std::snprintf(
      text, sizeof text,
      "%s[%llu]%s is %.9g, expected %.9g %s%s; %.4g %% of %s wrong (shape %s, %s inputs, seed %#llx)", name,
      static_cast<unsigned long long>(index), column.name.c_str(), number[0], number[1], within,
      set.slack[a] ? " and what rounding may cost" : "",
      100 * static_cast<double>(wrong) / static_cast<double>(plan.arguments[a].count), name,
      problem_.shapes[set.shape].name.c_str(), flavours[static_cast<int>(set.flavour)],
      static_cast<unsigned long long>(set.seed));
  return text;
}

}  // namespace kernelsearch::detail::gpu
