// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/wire.hpp"

/// What the controller and a GPU worker say to each other: a frame of 8 bytes of length and that many bytes
/// each way over a stream socket; outputs travel through shared memory. The worker is a small machine that
/// holds modules, buffers and programs and carries out lists of actions; it knows nothing of problems, seeds
/// to come or expected results.
namespace kernelsearch::detail::gpu {

inline constexpr int socket_fd = 3;
inline constexpr int memory_fd = 4;
inline constexpr std::uint64_t longest_frame = std::uint64_t{256} << 20;

enum class Op : std::uint32_t {
  hello = 1,     ///< -> DeviceFacts
  load,          ///< module number, image, function names -> FunctionFacts of each
  load_library,  ///< module number, a shared object with `kernelsearch_entry`
  unload,        ///< module number
  program,       ///< program number, steps -> blocks of each step that fit one multiprocessor
  allocate,      ///< buffer numbers and sizes
  lend,
  borrow,
  release,  ///< buffer numbers
  act,      ///< actions -> times and values
  compile,  ///< of a builder: source, options, name expressions -> DeviceCode
};

/// What the worker found the device to be. Sizes in bytes, clocks in kHz.
struct DeviceFacts {
  std::int32_t multiprocessors = 0, warp_size = 0, clock = 0, memory_clock = 0, bus_bits = 0, l2 = 0;
  std::int32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_multiprocessor = 0;
  std::int32_t registers_per_multiprocessor = 0, threads_per_multiprocessor = 0, threads_per_block = 0;
  std::int32_t major = 0, minor = 0, driver = 0, ordinal = 0;
  std::uint64_t memory = 0, memory_free = 0;
};

/// Resources of a compiled kernel: bytes, registers per thread.
struct FunctionFacts {
  std::int32_t threads = 0, shared = 0, constant = 0, local = 0, registers = 0;
};

/// A parameter of a launch.
struct Parameter {
  enum Kind : std::uint32_t { scalar, array, map } kind = scalar;
  std::uint32_t index = 0;     ///< array: place in the call's buffers; map: place among the program's maps
  std::uint32_t size = 0;      ///< of a scalar
  std::uint64_t bits[2] = {};  ///< of a scalar
};

/// A tensor map; see cuTensorMapEncodeTiled.
struct MapPlan {
  std::uint32_t array = 0, rank = 0;
  std::int32_t type = 0, swizzle = 0, promotion = 0;  ///< numbers of the driver's enumerations
  std::uint64_t sizes[5] = {}, strides[4] = {};
  std::uint32_t box[5] = {};
};

/// What a step of a call does.
enum class StepKind : std::uint32_t {
  launch,
  zero,   ///< sets `bytes` of `array` to 0
  entry,  ///< calls `kernelsearch_entry(parameters, stream)` of a library, which launches by itself
};

/// A step of a call.
struct Step {
  std::uint32_t module = 0, function = 0;
  StepKind kind = StepKind::launch;
  std::uint32_t array = 0;
  std::uint64_t bytes = 0;
  LaunchShape shape;
  std::uint32_t first_parameter = 0, parameters = 0;
};

/// An array that is copied to a `__constant__` variable before each call.
struct SymbolPlan {
  std::uint32_t array = 0, module = 0;
  std::uint64_t bytes = 0;
  char name[112] = {};
};

struct ProgramPlan {
  std::vector<Step> steps;
  std::vector<Parameter> parameters;
  std::vector<MapPlan> maps;
  std::vector<SymbolPlan> symbols;
};

/// What the worker does, in order on one stream. Kinds marked with * add to the values.
enum class Act : std::uint32_t {
  fill,         ///< buffer, type, init, flavour, seed, count, low, high, top, flags & 1: magnitudes
  poison,       ///< buffer, word, count bytes
  guard,        ///< buffer, seed: writes the zones around it
  guard_check,  ///< * buffer, seed: bytes that changed
  hash,         ///< * buffer, count bytes
  poison_left,  ///< * buffer, word, count elements of `type` bytes
  call,         ///< program, bindings
  timed_call,   ///< the same between two events
  flush,        ///< evicts the second-level cache
  rotate,       ///< other to buffer, beginning at byte `seed` and going round; count bytes
  touch,        ///< reads `count` bytes of the buffer
  out,          ///< buffer to shared memory at `word`, count bytes
  in,           ///< shared memory at `word` to buffer, count bytes
  widen,        ///< other to buffer: count elements of `type` become `init`: 2 float, 3 double
  compare,  ///< * 2: buffer (got, type) with other (expected, `init` its type), slack `word` (number + 1 or
            ///< 0), low absolute, high relative, top overflow: elements wrong, and the first of them
  slack,  ///< buffer: exact, other: magnitudes, `word`: kernel precision (f32 or f64 by type); high relative
  element,  ///< * buffer, seed: bits of the element at index `seed` as a double, of `type`
};

struct Action {
  Act kind = Act::call;
  std::uint32_t buffer = 0, other = 0, type = 0, init = 0, flavour = 0, flags = 0, program = 0;
  std::uint32_t first_binding = 0, bindings = 0;
  std::uint64_t seed = 0, count = 0, word = 0;
  double low = 0, high = 0, top = 0;
};

/// What came of a command.
struct Answer {
  Status status = success;
  std::string text;  ///< of a failure
};

}  // namespace kernelsearch::detail::gpu
