// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What controller and worker say to each other: one datagram each way over a SOCK_SEQPACKET pair, bulk data
/// in shared memory. The worker runs code that nobody trusts: the controller believes nothing that it reads
/// here beyond what it can check itself, and takes no time from it.
namespace kernelsearch::host_protocol {

inline constexpr int socket_fd = 3;
inline constexpr int inputs_fd = 4;   ///< memory that the controller alone can write
inline constexpr int outputs_fd = 5;  ///< memory that both can write
inline constexpr std::size_t max_arguments = 64;
inline constexpr std::size_t max_text = 1024;

enum class Kind : std::uint32_t {
  hello = 1,  ///< a reply only: the memory is mapped, nothing is loaded
  load,
  run,
  lockstep,
};

struct Command {
  std::uint64_t nonce = 0;  ///< echoed by the reply; drawn anew for each command
  Kind kind = Kind::run;
  std::uint32_t calls = 0;  ///< of `run`: each has the next table of arguments, or that of a drawn slot
  std::uint64_t table = 0;  ///< offset of the first table in the inputs
  std::uint32_t width = 0;  ///< pointers in a table
  /// Above 0: each call has one of that many slots, which the worker draws as it makes the call, none twice.
  std::uint32_t filled = 0;
};

/// For a reply: why it ends, or could not do what it was told.
enum Failure : std::uint32_t {
  nothing_failed,
  in_words,         ///< `text` says it
  want_of_memory,   ///< it ends
  want_of_threads,  ///< it ends
  write_to_inputs,  ///< it ends; `offset` says where
  left_changed,     ///< `offset` says which register of the processor, see LeftChanged
  uncaught,         ///< it ends by an exception; `text` is what the exception says
};

/// What a caller relies on and a call left otherwise than it found it.
enum LeftChanged : std::uint64_t {
  mxcsr,           ///< rounding, subnormal numbers and exceptions of vector instructions
  x87_control,     ///< rounding, precision and exceptions of the x87
  x87_stack,       ///< values left there
  direction_flag,  ///< of string instructions
  fpcr,            ///< the same of ARM
};

struct Reply {
  std::uint64_t nonce = 0;
  Kind kind = Kind::run;
  std::uint32_t failed = 0;                     ///< see Failure
  std::uint64_t inputs_at = 0, outputs_at = 0;  ///< hello: addresses in the worker
  std::uint64_t offset = 0;                     ///< in the inputs, of a forbidden write; see left_changed
  char text[max_text] = {};
};
/// A reply without text ends here.
inline constexpr std::size_t reply_bytes = offsetof(Reply, text);

/// The start of the inputs: which call the worker makes next in lockstep.
struct alignas(64) Request {
  std::atomic<std::uint64_t> sequence;  ///< another value: another call
  std::uint32_t slot;
};
/// No call: lockstep ends.
inline constexpr std::uint32_t no_slot = ~std::uint32_t{0};

/// The start of the outputs: the request that was answered last.
struct alignas(64) Answer {
  std::atomic<std::uint64_t> sequence;
};

/// Behind it in the outputs: the slots in the order in which they were drawn, then those that were not. The
/// controller writes the numbers of the filled slots there before a batch.
inline constexpr std::size_t drawn_at = sizeof(Answer);

}  // namespace kernelsearch::host_protocol
