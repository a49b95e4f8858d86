// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

/// What controller and worker say to each other: one fixed-size datagram each way over a SOCK_SEQPACKET pair,
/// bulk data in shared memory. The worker runs code that nobody trusts, so the controller believes nothing it
/// reads here beyond what it can check itself.
namespace kernelsearch::host_protocol {

inline constexpr int socket_fd = 3;
inline constexpr int memory_fd = 4;
inline constexpr std::size_t max_arguments = 64;
inline constexpr std::size_t max_samples = 1024;  ///< of one command
inline constexpr std::size_t max_text = 1024;

enum class Kind : std::uint32_t { hello = 1, load = 2, run = 3 };

/// What the worker does to the caches before each timed sample, outside of the timed window.
enum class Prepare : std::uint32_t {
  nothing,
  warm,  ///< reads every line of the sample's buffers
  cold,  ///< flushes every line of the sample's buffers
};

struct Command {
  std::uint64_t nonce = 0;  ///< echoed by the reply; drawn anew for each command
  Kind kind = Kind::run;
  Prepare prepare = Prepare::nothing;
  std::uint32_t samples = 0;
  std::uint32_t calls_per_sample = 1;
  std::uint32_t argument_count = 0;
  std::uint32_t slots = 1;       ///< call number c uses slot c % slots
  std::uint64_t first_slot = 0;  ///< offset of slot 0 in the shared memory
  std::uint64_t slot_stride = 0;
  std::uint64_t offset[max_arguments] = {};  ///< arrays: within the slot; scalars: within the shared memory
  std::uint64_t bytes[max_arguments] = {};   ///< arrays: size; scalars: 0
  std::uint64_t memory_bytes = 0;            ///< load: how much shared memory to map
  char text[max_text] = {};                  ///< load: path of the shared object
};

struct Reply {
  std::uint64_t nonce = 0;
  Kind kind = Kind::run;
  std::uint32_t failed = 0;  ///< 1: `text` says why; 2, 3: it ends for want of memory, of threads
  std::uint32_t samples = 0;
  std::uint32_t clock_nanoseconds = 0;  ///< hello: cost of reading the clock
  std::uint64_t nanoseconds[max_samples] = {};
  char text[max_text] = {};
};

}  // namespace kernelsearch::host_protocol
