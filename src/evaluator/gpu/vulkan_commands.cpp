// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Commands are recorded until someone waits, then submitted together.
#include <cstdio>
#include <optional>

#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

Status Context::record() {
  if (broken_ != success) return refused(broken_, broken_text_);
  if (recording_) return success;
  vk::CommandBufferBeginInfo begin;
  begin.flags = vk::one_time_submit;
  if (const auto result = api.BeginCommandBuffer(commands_, &begin); result < 0)
    return broken(failed(result, "recording commands"));
  recording_ = true;
  touched_ = false;
  if (!stamps_.empty())
    api.CmdResetQueryPool(commands_, queries_, 0, static_cast<std::uint32_t>(stamps_.size()));
  return success;
}

/// What follows sees all that was done before, as on a stream.
void Context::barrier() {
  if (!touched_) return;
  vk::MemoryBarrier all;
  all.srcAccessMask = vk::access_memory_write | vk::access_memory_read;
  all.dstAccessMask = vk::access_memory_write | vk::access_memory_read;
  api.CmdPipelineBarrier(commands_, vk::pipeline_all_commands, vk::pipeline_all_commands, 0, 1, &all, 0,
                         nullptr, 0, nullptr);
  touched_ = false;
}

Status Context::wait() {
  if (broken_ != success) return refused(broken_, broken_text_);
  if (device_ == nullptr || !recording_) return success;
  const Status status = submit();
  return status == success ? success : broken(status);
}

Status Context::submit() {
  barrier();
  recording_ = false;
  if (const auto result = api.EndCommandBuffer(commands_); result < 0)
    return failed(result, "recording commands");
  vk::SubmitInfo submission;
  submission.commandBufferCount = 1;
  submission.pCommandBuffers = &commands_;
  const double begin = clock_seconds();
  vk::Result result = api.QueueSubmit(queue_, 1, &submission, fence_);
  if (result >= 0) result = api.WaitForFences(device_, 1, &fence_, 1, ~std::uint64_t{0});
  const double outside = clock_seconds() - begin;
  if (result != vk::result_success) return failed(result, "running the commands");
  result = api.ResetFences(device_, 1, &fence_);
  if (result >= 0) result = api.ResetCommandBuffer(commands_, 0);
  for (const vk::Handle pool : pools_)
    if (result >= 0) result = api.ResetDescriptorPool(device_, pool, 0);
  if (result < 0) return failed(result, "clearing the commands");
  pool_ = 0;
  sets_left_ = pools_.empty() ? 0 : sets_of_pool;

  std::optional<std::uint64_t> first, last;
  for (const std::uint32_t index : recorded_) {
    std::uint64_t ticks = 0;
    result = api.GetQueryPoolResults(device_, queries_, index, 1, sizeof ticks, &ticks, sizeof ticks,
                                     vk::query_result_64 | vk::query_result_wait);
    if (result != vk::result_success) return failed(result, "reading a timestamp");
    stamps_[index].value = ticks;
    stamps_[index].known = true;
    if (!first) first = ticks;
    last = ticks;
  }
  recorded_.clear();
  if (first) {
    const std::uint64_t mask = valid_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
    const double stamped = 1e-9 * static_cast<double>((*last - *first) & mask) *
                           static_cast<double>(properties(device_number_)->limits.timestampPeriod);
    if (!timestamps_possible(stamped, outside)) {
      impossible_ = true;
      char line[160];
      std::snprintf(line, sizeof line,
                    "the timestamps of this device say that %.6g s passed in %.6g s of the clock outside",
                    stamped, outside);
      clock_text_ = line;
    }
  }
  return success;
}

}  // namespace kernelsearch::detail::gpu::vulkan_table
