// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_bounds.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "evaluator/host/guarded_call.hpp"
#include "judge/arena.hpp"
#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "judge/worker_client.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "process/process.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch {
namespace {

using detail::PlannedArgument;
using detail::ShapePlan;
using guarded_call::Call;

constexpr std::size_t line_bytes = 64;
const std::size_t page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Which end of the arrays lies at a page without access.
enum class Placement : std::uint8_t {
  end,          ///< exactly the last byte, wherever that puts the first
  aligned_end,  ///< the line that holds the last byte; arrays begin at multiples of 64 as in timed calls
  beginning,
};

std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

/// The arrays of one call in memory that the worker shares.
class GuardedArrays {
 public:
  GuardedArrays(const ShapePlan& plan, Placement placement, std::size_t over_read, int threads)
      : plan_(plan), over_read_(over_read) {
    std::size_t at = rounded(sizeof(Call), page_bytes);
    layout_.argument_count = static_cast<std::uint32_t>(plan.arguments.size());
    layout_.threads = static_cast<std::uint32_t>(threads);
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
      guarded_call::Argument& place = layout_.arguments[a];
      if (plan.arguments[a].is_array) continue;
      place.offset = at;
      at += 16;
    }
    at = rounded(at, page_bytes);
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
      if (!plan.arguments[a].is_array) continue;
      guarded_call::Argument& place = layout_.arguments[a];
      const std::size_t bytes = bytes_of(a);
      place.is_array = 1;
      place.offset = at;
      place.region_bytes = rounded(bytes + over_read_, page_bytes);
      const std::size_t room = place.region_bytes - bytes - over_read_;
      if (placement == Placement::end) place.begin = room;
      if (placement == Placement::aligned_end) place.begin = room / line_bytes * line_bytes;
      at += place.region_bytes;
    }
    layout_.memory_bytes = at;
    arena_ = detail::Arena(at, detail::Arena::Writers::both);
  }

  [[nodiscard]] const detail::Arena& arena() const noexcept { return arena_; }
  [[nodiscard]] const Call& call() const noexcept { return *reinterpret_cast<const Call*>(arena_.data()); }

  void fill(const detail::Contents& contents, Rng& rng) {
    new (arena_.data()) Call(layout_);
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a) {
      const PlannedArgument& argument = plan_.arguments[a];
      const guarded_call::Argument& place = layout_.arguments[a];
      std::byte* pages = arena_.data() + place.offset;
      if (!argument.is_array) {
        if (const auto* whole = std::get_if<std::int64_t>(&argument.value))
          store_element(argument.type, *whole, pages);
        else
          store_element(argument.type, to_number(argument.value), pages);
        continue;
      }
      const auto scatter = [&rng](std::byte* from, std::byte* to) {
        for (; from != to; ++from) *from = static_cast<std::byte>(rng() >> 56);
      };
      scatter(pages, pages + place.begin);
      scatter(pages + place.begin + bytes_of(a), pages + place.region_bytes);
      if (argument.is_input() && !contents[a].empty())
        std::memcpy(pages + place.begin, contents[a].data(), contents[a].size());
      around_.push_back(around(a));
    }
  }

  /// The first array near which something was written within its own pages, and how far from its beginning.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::int64_t>> written_beside() const {
    std::size_t array = 0;
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a) {
      if (!plan_.arguments[a].is_array) continue;
      const auto before = around_[array++];
      const auto now = around(a);
      const std::size_t begin = layout_.arguments[a].begin;
      for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i] != before[i])
          return std::pair{a, static_cast<std::int64_t>(i < begin ? i : i + bytes_of(a)) -
                                  static_cast<std::int64_t>(begin)};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t bytes_of(std::size_t a) const {
    return plan_.arguments[a].count * plan_.arguments[a].element_bytes();
  }

 private:
  /// What lies before and behind the array in its pages.
  [[nodiscard]] std::vector<std::byte> around(std::size_t a) const {
    const guarded_call::Argument& place = layout_.arguments[a];
    const std::byte* pages = arena_.data() + place.offset;
    std::vector<std::byte> bytes(pages, pages + place.begin);
    bytes.insert(bytes.end(), pages + place.begin + bytes_of(a), pages + place.region_bytes);
    return bytes;
  }

  const ShapePlan& plan_;
  std::size_t over_read_;
  Call layout_;
  detail::Arena arena_;
  std::vector<std::vector<std::byte>> around_;  ///< of each array before the call
};

/// `reads 4 bytes past the end of a, at byte 0 behind its 1000 elements`
std::string access_text(const Problem& problem, const PlannedArgument& argument, std::size_t index,
                        std::int64_t distance, const char* does) {
  const auto bytes = static_cast<std::int64_t>(argument.count * argument.element_bytes());
  const std::string& name = problem.arguments[index].name;
  char text[256];
  if (distance < 0)
    std::snprintf(text, sizeof text, "it %s before the beginning of %s, %lld bytes before its first element",
                  does, name.c_str(), static_cast<long long>(-distance));
  else
    std::snprintf(text, sizeof text, "it %s past the end of %s, at byte %lld behind its %zu elements", does,
                  name.c_str(), static_cast<long long>(distance - bytes), argument.count);
  return text;
}

}  // namespace

struct HostBounds::Impl {
  Impl(Problem given, HostOptions chosen)
      : problem(std::move(given)),
        options(std::move(chosen)),
        settings(detail::worker_settings(options, detail::any_cores(options, problem.threads), problem)),
        compiler(options, host_machine().id(), host_machine().cores),
        generator(problem, options) {
    fill_generated_sizes(problem, options);
  }

  /// The worker's exit status; nothing where it was still running at the limit. A signal is negative.
  std::optional<int> run(const GuardedArrays& arrays, const std::filesystem::path& library) const {
    const detail::Descriptor program = detail::open_for_reading(settings.worker.string());
    const detail::Descriptor object = detail::open_for_reading(library.string());
    const std::filesystem::path caller = detail::caller_of(library);
    const detail::Descriptor calls = detail::open_for_reading(caller.empty() ? "/dev/null" : caller.string());
    if (!program || !object || !calls)
      detail::raise<DeviceError>("a file is gone",
                                 (!program ? settings.worker
                                  : object ? caller
                                           : library)
                                     .string(),
                                 "do not clear the cache during a run");
    const double seconds = std::min(settings.run_seconds, 2 * settings.call_seconds + settings.load_seconds);
    const std::uint64_t guards = 2 * guarded_call::guard_bytes * guarded_call::max_arguments;
    detail::Boxed boxed;
    boxed.files = {{program.number(), "/kernelsearch-worker", settings.worker.string(), true},
                   {object.number(), "/kernel.so", library.string(), false}};
    if (!caller.empty()) boxed.files.push_back({calls.number(), "/caller.so", caller.string(), false});
    boxed.argv = {path_in(settings.sandbox, boxed, 0),
                  "guarded",
                  std::to_string(settings.memory + arrays.arena().size() + guards),
                  std::to_string(settings.threads + 8),
                  std::to_string(static_cast<std::uint64_t>(seconds * settings.threads) + 1),
                  path_in(settings.sandbox, boxed, 1),
                  caller.empty() ? "" : path_in(settings.sandbox, boxed, 2)};
    boxed.descriptors = {{guarded_call::memory_fd, arrays.arena().descriptor()}};
    boxed.readable = settings.readable;
    boxed.cores = settings.cores;
    detail::Process process(launch_in(settings.sandbox, boxed));
    int status = 0;
    if (!process.wait(seconds, status)) return std::nullopt;
    if (WIFSIGNALED(status)) return -WTERMSIG(status);
    const int code = WEXITSTATUS(status);
    return code > 128 && settings.sandbox != Sandbox::none ? 128 - code
                                                           : code;  // as bubblewrap tells signals
  }

  /// `unaligned`: the kernel needs arrays at multiples of 64.
  std::optional<detail::Fault> try_once(const ShapePlan& plan, const detail::Contents& contents,
                                        const std::filesystem::path& library, Placement placement,
                                        bool& unaligned) {
    GuardedArrays arrays(plan, placement, problem.over_read_bytes, settings.threads);
    Rng rng(detail::secret_seed());
    arrays.fill(contents, rng);
    const auto code = run(arrays, library);
    const Call& call = arrays.call();
    const bool exact = placement == Placement::end;
    if (!code) return detail::Fault{Verdict::timed_out, "it does not end in a run with guarded arrays"};
    if (*code == guarded_call::ended_by_access && call.argument < plan.arguments.size()) {
      const char* does = call.access == guarded_call::Access::write  ? "writes"
                         : call.access == guarded_call::Access::read ? "reads"
                                                                     : "reads or writes";
      return detail::Fault{Verdict::crashed, access_text(problem, plan.arguments[call.argument],
                                                         call.argument, call.distance, does)};
    }
    if (*code == guarded_call::ended_by_loading)
      return detail::Fault{Verdict::launch_failed,
                           std::string(call.text, strnlen(call.text, sizeof call.text))};
    if (*code != guarded_call::ended_well && exact) {  // it may need what this placement does not give
      unaligned = true;
      return std::nullopt;
    }
    if (*code != guarded_call::ended_well)
      return detail::Fault{Verdict::crashed, (*code < 0 ? detail::signal_text(-*code)
                                                        : "it ended with status " + std::to_string(*code)) +
                                                 " in a run with guarded arrays"};
    if (const auto written = arrays.written_beside())
      return detail::Fault{Verdict::crashed, access_text(problem, plan.arguments[written->first],
                                                         written->first, written->second, "writes")};
    return std::nullopt;
  }

  std::optional<detail::Fault> try_shape(const Candidate& candidate, const std::filesystem::path& library,
                                         std::size_t shape) {
    const ShapePlan plan = detail::plan_shape(problem, candidate, shape);
    const auto contents = generator.contents(plan, InputFlavour::declared, detail::secret_seed());
    bool unaligned = false, ignored = false;
    auto fault = try_once(plan, contents, library, Placement::end, unaligned);
    if (!fault && unaligned) fault = try_once(plan, contents, library, Placement::aligned_end, ignored);
    if (!fault) fault = try_once(plan, contents, library, Placement::beginning, ignored);
    if (fault) fault->reason += " (shape " + problem.shapes[shape].name + ")";
    return fault;
  }

  Problem problem;
  HostOptions options;
  detail::WorkerSettings settings;
  detail::CompileCache compiler;
  detail::InputGenerator generator;
};

HostBounds::HostBounds(Problem problem, HostOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), std::move(options))) {}
HostBounds::HostBounds(HostBounds&&) noexcept = default;
HostBounds& HostBounds::operator=(HostBounds&&) noexcept = default;
HostBounds::~HostBounds() = default;

std::optional<Evaluation> HostBounds::validate(const Candidate& candidate, const std::stop_token& stop) {
  const auto compiled =
      impl_->compiler.compile(candidate_job(impl_->problem, candidate), detail::Product::library, stop);
  if (stop.stop_requested()) return std::nullopt;
  if (compiled.verdict != Verdict::ok) return Evaluation::failed(compiled.verdict, compiled.reason);
  for (std::size_t s = 0; s < impl_->problem.shapes.size() && !stop.stop_requested(); ++s) {
    if (!is_valid(impl_->problem, impl_->problem.shapes[s], candidate)) continue;
    if (const auto fault = impl_->try_shape(candidate, compiled.library, s))
      return Evaluation::failed(fault->verdict, fault->reason);
  }
  return std::nullopt;
}

}  // namespace kernelsearch
