// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Timestamps: events, and whether the clock outside agrees with them.
#include <algorithm>
#include <cstdio>

#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

/// Timestamps are compared with the clock outside over work of some ten milliseconds, once for a process.
Status Context::calibrate() {
  constexpr std::uint64_t bytes = std::uint64_t{4} << 20;
  Address scratch = 0;
  if (const Status status = allocate(&scratch, bytes); status != success) return status;
  const double period = static_cast<double>(properties(device_number_)->limits.timestampPeriod);
  const std::uint64_t mask = valid_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
  stamps_.resize(2);
  bool agreed = false;
  double stamped = 0, outside = 0;
  std::uint64_t fills = 8;
  // Others may hold the device or the processor for a while: the best of a few tries counts.
  for (int tries = 0; tries < 12; ++tries) {
    if (Status status = wait(); status != success) return status;
    if (const Status status = record(); status != success) return status;
    const auto at = place(scratch, bytes);
    api.CmdWriteTimestamp(commands_, vk::pipeline_bottom, queries_, 0);
    for (std::uint64_t i = 0; i < fills; ++i) {
      api.CmdFillBuffer(commands_, at->chunk->buffer, at->offset, bytes, static_cast<std::uint32_t>(i));
      touched_ = true;
      barrier();
    }
    api.CmdWriteTimestamp(commands_, vk::pipeline_bottom, queries_, 1);
    recorded_ = {0, 1};
    const double begin = clock_seconds();
    if (const Status status = wait(); status != success) return status;
    outside = clock_seconds() - begin;
    stamped = 1e-9 * period * static_cast<double>((stamps_[1].value - stamps_[0].value) & mask);
    if (impossible_) break;
    if (outside < 0.01) {
      fills = std::min<std::uint64_t>(fills * 4, 1 << 14);
      continue;
    }
    if (timestamps_agree(stamped, outside)) {
      agreed = true;
      break;
    }
  }
  stamps_[0].known = stamps_[1].known = false;
  if (const Status status = release(scratch); agreed || status != success) return status;
  char line[200];
  std::snprintf(
      line, sizeof line,
      "the timestamps of this device disagree with the clock outside: %.6g s of theirs in %.6g s, so "
      "nothing can be timed by them",
      stamped, outside);
  return refused(no_device, line);
}

Status Context::event_create(Event* event) {
  if (stamps_.size() >= most_events) return refused(out_of_memory, "there are too many events");
  if (const Status status = wait(); status != success) return status;  // recording resets those that it knows
  *event = reinterpret_cast<Event>(stamps_.size());
  stamps_.emplace_back();
  return success;
}

Status Context::event_record(Event event) {
  const auto index = reinterpret_cast<std::uintptr_t>(event);
  if (index >= stamps_.size()) return refused(invalid_value, "there is no such event");
  if (std::find(recorded_.begin(), recorded_.end(), index) != recorded_.end())
    if (const Status status = wait(); status != success) return status;
  if (const Status status = record(); status != success) return status;
  barrier();
  api.CmdWriteTimestamp(commands_, vk::pipeline_bottom, queries_, static_cast<std::uint32_t>(index));
  recorded_.push_back(static_cast<std::uint32_t>(index));
  stamps_[index].known = false;
  return success;
}

Status Context::event_elapsed(float* milliseconds, Event begin, Event end) {
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = reinterpret_cast<std::uintptr_t>(end);
  if (from >= stamps_.size() || to >= stamps_.size()) return refused(invalid_value, "there is no such event");
  if (const Status status = wait(); status != success) return status;
  if (impossible_) return refused(unsupported, clock_text_);
  if (!stamps_[from].known || !stamps_[to].known) return refused(not_ready, "the events were not recorded");
  const std::uint64_t mask = valid_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
  const double ticks = static_cast<double>((stamps_[to].value - stamps_[from].value) & mask);
  *milliseconds = static_cast<float>(1e-6 * ticks *
                                     static_cast<double>(properties(device_number_)->limits.timestampPeriod));
  return success;
}

}  // namespace kernelsearch::detail::gpu::vulkan_table
