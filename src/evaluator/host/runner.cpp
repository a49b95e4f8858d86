// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/runner.hpp"

#include <algorithm>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {

using host_protocol::Command;
using host_protocol::Kind;
using host_protocol::Prepare;

Runner::Runner(const WorkerSettings& settings, const std::filesystem::path& library, Storage storage,
               bool trusted, std::size_t arena_bytes)
    : settings_(settings),
      storage_(storage),
      arena_(arena_bytes),
      worker_(std::make_unique<WorkerClient>(settings, arena_, library, trusted)) {}

void Runner::select(const ShapePlan& plan, std::size_t buffer_bytes, std::size_t least, std::size_t most) {
  slots_ = Slots(plan, storage_, buffer_bytes, least, most);
  if (slots_.arena_bytes() > arena_.size())
    raise<ConfigError>("the buffers do not fit their arena", std::to_string(slots_.arena_bytes()) + " bytes",
                       "report this");
  slots_.attach(arena_.data(), secret_seed());
}

std::optional<Fault> Runner::run(std::size_t samples, std::size_t calls, std::size_t first, std::size_t slots,
                                 Prepare prepare, double limit_seconds, Ran& ran) {
  Command& command = *command_;
  command = {};
  command.kind = Kind::run;
  command.prepare = prepare;
  command.samples = static_cast<std::uint32_t>(std::min(samples, host_protocol::max_samples));
  command.calls_per_sample = static_cast<std::uint32_t>(calls);
  command.argument_count = static_cast<std::uint32_t>(slots_.plan().arguments.size());
  command.slots = static_cast<std::uint32_t>(slots);
  command.first_slot = slots_.first() + first * slots_.stride();
  command.slot_stride = slots_.stride();
  for (std::size_t a = 0; a < slots_.plan().arguments.size(); ++a) {
    command.offset[a] = slots_.offset(a);
    command.bytes[a] = slots_.bytes(a);
    // an empty array still lies in its slot, where its pointer is valid though nothing may be read
    if (slots_.plan().arguments[a].is_array && command.bytes[a] == 0) command.offset[a] += command.first_slot;
  }
  if (auto fault =
          worker_->call(command, std::min(limit_seconds, settings_.run_seconds), *reply_, ran.seconds))
    return fault;
  if (reply_->failed != 0 || reply_->samples != command.samples)
    return Fault{Verdict::cheated, "the worker's reply does not match what it was asked"};
  ran.samples.resize(reply_->samples);
  for (std::size_t i = 0; i < ran.samples.size(); ++i)
    ran.samples[i] = 1e-9 * static_cast<double>(reply_->nanoseconds[i]) / static_cast<double>(calls);
  return std::nullopt;
}

}  // namespace kernelsearch::detail
