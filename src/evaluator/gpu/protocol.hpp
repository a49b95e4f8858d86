// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/wire.hpp"
#include "kernelsearch/problem/argument.hpp"
#include "kernelsearch/problem/element_type.hpp"
#include "kernelsearch/problem/inputs.hpp"

/// What the controller and a GPU worker say to each other: a frame of 8 bytes of length and that many bytes
/// each way over a stream socket; outputs travel through shared memory. The worker is a small machine that
/// holds modules, buffers and programs and carries out lists of actions; it knows nothing of problems, seeds
/// to come or expected results.
namespace kernelsearch::detail::gpu {

inline constexpr int socket_fd = 3;
inline constexpr int memory_fd = 4;
inline constexpr std::uint64_t longest_frame = std::uint64_t{256} << 20;

/// Numbers under which a worker holds what the controller put there. A number that is used again stands for
/// the newer thing.
enum class ModuleId : std::uint32_t {};
enum class ProgramId : std::uint32_t {};
enum class BufferId : std::uint32_t {};

template <class Id>
requires std::is_enum_v<Id>
[[nodiscard]] constexpr std::uint32_t number(Id id) noexcept {
  return static_cast<std::uint32_t>(id);
}

/// Gives out numbers, each once.
template <class Id>
class IdSource {
 public:
  [[nodiscard]] Id next() noexcept { return static_cast<Id>(++last_); }

 private:
  std::uint32_t last_ = 0;
};

inline constexpr ModuleId service_module{0};  ///< the evaluator's own kernels

/// What the worker found the device to be. Sizes in bytes, clocks in kHz.
struct DeviceFacts {
  std::int32_t multiprocessors = 0, warp_size = 0, clock = 0, memory_clock = 0, bus_bits = 0, l2 = 0;
  std::int32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_multiprocessor = 0;
  std::int32_t registers_per_multiprocessor = 0, threads_per_multiprocessor = 0, threads_per_block = 0;
  std::int32_t major = 0, minor = 0, driver = 0, ordinal = 0;
  std::int32_t on_host = 0;                             ///< 1: kernels run on the host's processors
  std::int32_t platform = -1, number_in_platform = -1;  ///< -1: devices are counted without platforms
  std::uint64_t memory = 0, memory_free = 0;
};

/// Resources of a compiled kernel: bytes, registers per thread.
struct FunctionFacts {
  std::int32_t threads = 0, shared = 0, constant = 0, local = 0, registers = 0;
  std::int32_t multiple = 0;  ///< threads that a group should have, or a multiple of them
};

/// A parameter of a launch: a number, the address of an array among the call's bindings, one of the program's
/// tensor maps, or local memory.
struct ScalarParameter {
  std::uint32_t size = 0;
  std::uint64_t bits[2] = {};
};
struct ArrayParameter {
  std::uint32_t binding = 0;
};
struct MapParameter {
  std::uint32_t map = 0;
};
/// That many bytes of a group's local memory.
struct LocalParameter {
  std::uint64_t bytes = 0;
};
using Parameter = std::variant<ScalarParameter, ArrayParameter, MapParameter, LocalParameter>;

/// A tensor map of the array among the call's bindings; see cuTensorMapEncodeTiled.
struct MapPlan {
  std::uint32_t binding = 0, rank = 0;
  std::int32_t type = 0, swizzle = 0, promotion = 0;  ///< numbers of the driver's enumerations
  std::uint64_t sizes[5] = {}, strides[4] = {};
  std::uint32_t box[5] = {};
};

/// A step of a call: a launch of a kernel.
struct LaunchKernel {
  ModuleId module{};
  std::uint32_t function = 0;  ///< place among the names that the module was loaded with
  LaunchShape shape;
  std::vector<Parameter> parameters;
  static auto members(auto& s) { return std::tie(s.module, s.function, s.shape, s.parameters); }
};
/// A step of a call: sets the first bytes of an array to 0.
struct SetToZero {
  std::uint32_t binding = 0;
  std::uint64_t bytes = 0;
  static auto members(auto& s) { return std::tie(s.binding, s.bytes); }
};
/// A step of a call: `kernelsearch_entry(parameters, stream)` of a library, which launches by itself.
struct CallEntry {
  ModuleId module{};
  std::vector<Parameter> parameters;
  static auto members(auto& s) { return std::tie(s.module, s.parameters); }
};
using Step = std::variant<LaunchKernel, SetToZero, CallEntry>;

/// An array that is copied to a `__constant__` variable before each call.
struct SymbolPlan {
  std::uint32_t binding = 0;
  ModuleId module{};
  std::uint64_t bytes = 0;
  std::string name;
  static auto members(auto& s) { return std::tie(s.binding, s.module, s.bytes, s.name); }
};

/// A call, but for its buffers.
struct ProgramPlan {
  std::vector<Step> steps;
  std::vector<MapPlan> maps;
  std::vector<SymbolPlan> symbols;
  static auto members(auto& s) { return std::tie(s.steps, s.maps, s.symbols); }
};

// Actions: what the worker does, in order on one stream. `values`: how many it adds to the reply's.

/// Draws the contents of an input; see fill_action.
struct FillArray {
  BufferId buffer{};
  ElementType type = ElementType::f32;
  Initialisation initialisation = Initialisation::zeros;
  InputFlavour flavour = InputFlavour::declared;
  bool magnitudes = false;  ///< without signs
  std::uint64_t seed = 0, count = 0;
  double low = 0, high = 0, top = 0;  ///< top: the largest value that may be drawn
  /// arange: values begin again after so many; permutation: i -> factor * i + seed; uniform and normal: 0, or
  /// one more than the length of a stretch as a power of two.
  std::uint64_t factor = 0;
  static auto members(auto& a) {
    return std::tie(a.buffer, a.type, a.initialisation, a.flavour, a.magnitudes, a.seed, a.count, a.low,
                    a.high, a.top, a.factor);
  }
};
/// Repeats a word over an array.
struct FillPattern {
  BufferId buffer{};
  std::uint64_t word = 0, bytes = 0;
  static auto members(auto& a) { return std::tie(a.buffer, a.word, a.bytes); }
};
/// Writes the zones around an array.
struct WriteGuard {
  BufferId buffer{};
  std::uint64_t seed = 0;
  static auto members(auto& a) { return std::tie(a.buffer, a.seed); }
};
/// Value: how many bytes of the zones around an array have changed.
struct CheckGuard {
  static constexpr std::size_t values = 1;
  BufferId buffer{};
  std::uint64_t seed = 0;  ///< of WriteGuard
  static auto members(auto& a) { return std::tie(a.buffer, a.seed); }
};
/// Value: a hash of an array.
struct HashArray {
  static constexpr std::size_t values = 1;
  BufferId buffer{};
  std::uint64_t bytes = 0;
  static auto members(auto& a) { return std::tie(a.buffer, a.bytes); }
};
/// Value: how many elements, of 2, 4 or 8 bytes, still are those of a pattern.
struct CountPattern {
  static constexpr std::size_t values = 1;
  BufferId buffer{};
  std::uint32_t element_bytes = 0;
  std::uint64_t word = 0, count = 0;
  static auto members(auto& a) { return std::tie(a.buffer, a.element_bytes, a.word, a.count); }
};
/// Runs a program, timed between two events where asked.
struct CallProgram {
  ProgramId program{};
  bool timed = false;
  std::vector<std::optional<BufferId>> bindings;  ///< for each argument; none for those that are not arrays
  static auto members(auto& a) { return std::tie(a.program, a.timed, a.bindings); }
};
/// Evicts the second-level cache.
struct FlushCache {
  /// Waits for everything before and has no line persist: host code of the candidate may have made some that
  /// no flush evicts, or have work on other streams.
  bool drained = false;
  static auto members(auto& a) { return std::tie(a.drained); }
};
/// Copies an array, beginning at a byte and going round.
struct RotateArray {
  BufferId from{}, to{};
  std::uint64_t begin = 0, bytes = 0;
  static auto members(auto& a) { return std::tie(a.from, a.to, a.begin, a.bytes); }
};
/// Reads an array, so that caches hold it.
struct TouchArray {
  BufferId buffer{};
  std::uint64_t bytes = 0;
  static auto members(auto& a) { return std::tie(a.buffer, a.bytes); }
};
/// Copies an array to the shared memory.
struct CopyOut {
  BufferId buffer{};
  std::uint64_t offset = 0, bytes = 0;
  static auto members(auto& a) { return std::tie(a.buffer, a.offset, a.bytes); }
};
/// Copies from the shared memory to an array.
struct CopyIn {
  BufferId buffer{};
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t begin = 0;  ///< byte of the array
  static auto members(auto& a) { return std::tie(a.buffer, a.offset, a.bytes, a.begin); }
};
/// Writes bytes that come with it to an array: for replays, which share no memory with anyone.
struct StoreBytes {
  BufferId buffer{};
  std::uint64_t begin = 0;  ///< byte of the array
  std::vector<std::byte> bytes;
  static auto members(auto& a) { return std::tie(a.buffer, a.begin, a.bytes); }
};
/// Converts elements to another type.
struct ConvertArray {
  BufferId from{}, to{};
  ElementType from_type = ElementType::f32, to_type = ElementType::f32;
  std::uint64_t count = 0;
  static auto members(auto& a) { return std::tie(a.from, a.to, a.from_type, a.to_type, a.count); }
};
/// Values: how many elements are wrong, and the place of the first of them.
struct CompareArrays {
  static constexpr std::size_t values = 2;
  BufferId got{}, expected{};
  std::optional<BufferId> slack;  ///< a double for each element, allowed besides the tolerance
  ElementType type = ElementType::f32, expected_type = ElementType::f32;
  std::uint64_t count = 0;
  double absolute = 0, relative = 0;
  double overflow = 0;  ///< beyond it an infinity of the right sign is right
  /// For a field of structs: bytes of a struct, and where in it the field begins; 0: elements in a row.
  std::uint32_t stride = 0, offset = 0;
  /// The bits must be equal, any NaN for a NaN; both are of `type` then, and tolerances do not count.
  bool bits = false;
  /// `absolute` and `relative` are the cap of Tolerance, and of `overflow` alone an infinity is right.
  bool cap = false;
  Infinities infinities = Infinities::as_expected;
  static auto members(auto& a) {
    return std::tie(a.got, a.expected, a.slack, a.type, a.expected_type, a.count, a.absolute, a.relative,
                    a.overflow, a.stride, a.offset, a.bits, a.cap, a.infinities);
  }
};
/// What an honest kernel may be off by for each element, from the exact result, the magnitudes that it is a
/// sum of, and the result in the kernel's own precision.
struct ComputeSlack {
  BufferId exact{}, magnitudes{}, kernel{}, slack{};
  ElementType kernel_type = ElementType::f32;
  std::uint64_t count = 0;
  double relative = 0;
  static auto members(auto& a) {
    return std::tie(a.exact, a.magnitudes, a.kernel, a.slack, a.kernel_type, a.count, a.relative);
  }
};
/// Value: the bits of an element as a double.
struct ReadElement {
  static constexpr std::size_t values = 1;
  BufferId buffer{};
  std::uint64_t index = 0;
  ElementType type = ElementType::f32;
  std::uint32_t stride = 0, offset = 0;  ///< of a field of structs; see CompareArrays
  static auto members(auto& a) { return std::tie(a.buffer, a.index, a.type, a.stride, a.offset); }
};

/// Values: where a zone around an array has changed (0: nowhere, 1: before the array, 2: behind it), and how
/// many bytes lie between the array and the nearest one that has.
struct FindOverrun {
  static constexpr std::size_t values = 2;
  BufferId buffer{};
  std::uint64_t seed = 0;  ///< of WriteGuard
  static auto members(auto& a) { return std::tie(a.buffer, a.seed); }
};

using Action = std::variant<FillArray, FillPattern, WriteGuard, CheckGuard, HashArray, CountPattern,
                            CallProgram, FlushCache, RotateArray, TouchArray, CopyOut, CopyIn, StoreBytes,
                            ConvertArray, CompareArrays, ComputeSlack, ReadElement, FindOverrun>;

/// How many values the reply has of an action.
[[nodiscard]] inline std::size_t value_count(const Action& action) noexcept {
  return std::visit(
      []<class A>(const A&) -> std::size_t {
        if constexpr (requires { A::values; })
          return A::values;
        else
          return 0;
      },
      action);
}

// Commands, each with what the worker replies.

struct NoReply {
  static auto members(auto&) { return std::tuple<>(); }
};

/// Takes the device, and says what it is.
struct Hello {
  struct Reply {
    DeviceFacts facts;
    std::string name, bus;
    static auto members(auto& r) { return std::tie(r.facts, r.name, r.bus); }
  };
  static auto members(auto&) { return std::tuple<>(); }
};
/// A compiled image with its kernels.
struct LoadModule {
  struct Reply {
    std::vector<FunctionFacts> functions;
    static auto members(auto& r) { return std::tie(r.functions); }
  };
  ModuleId module{};
  std::vector<std::byte> image;
  std::vector<std::string> functions;
  static auto members(auto& c) { return std::tie(c.module, c.image, c.functions); }
};
/// A shared object with `kernelsearch_entry`.
struct LoadLibrary {
  using Reply = NoReply;
  ModuleId module{};
  std::vector<std::byte> object;
  static auto members(auto& c) { return std::tie(c.module, c.object); }
};
struct UnloadModule {
  using Reply = NoReply;
  ModuleId module{};
  static auto members(auto& c) { return std::tie(c.module); }
};
struct DefineProgram {
  struct Reply {
    std::vector<std::int32_t> blocks;  ///< of each launch, that fit one multiprocessor
    static auto members(auto& r) { return std::tie(r.blocks); }
  };
  ProgramId program{};
  ProgramPlan plan;
  static auto members(auto& c) { return std::tie(c.program, c.plan); }
};
struct AllocateBuffers {
  using Reply = NoReply;
  struct Buffer {
    BufferId id{};
    std::uint64_t bytes = 0;
    static auto members(auto& b) { return std::tie(b.id, b.bytes); }
  };
  std::vector<Buffer> buffers;
  static auto members(auto& c) { return std::tie(c.buffers); }
};
struct ReleaseBuffers {
  using Reply = NoReply;
  std::vector<BufferId> buffers;
  static auto members(auto& c) { return std::tie(c.buffers); }
};
/// A handle by which another worker can see a buffer.
struct LendBuffer {
  struct Reply {
    MemoryHandle handle{};
    static auto members(auto& r) { return std::tie(r.handle); }
  };
  BufferId buffer{};
  static auto members(auto& c) { return std::tie(c.buffer); }
};
struct BorrowBuffer {
  using Reply = NoReply;
  BufferId buffer{};
  std::uint64_t bytes = 0;
  MemoryHandle handle{};
  static auto members(auto& c) { return std::tie(c.buffer, c.bytes, c.handle); }
};
struct Act {
  struct Reply {
    std::vector<double> seconds;        ///< of timed calls, in their order
    std::vector<std::uint64_t> values;  ///< of the actions that have some
    double host_seconds = 0;            ///< from the first action until the device had done all
    std::vector<double> outside;        ///< of timed calls by the clock around each, where that is looked at
    static auto members(auto& r) { return std::tie(r.seconds, r.values, r.host_seconds, r.outside); }
  };
  std::vector<Action> actions;
  static auto members(auto& c) { return std::tie(c.actions); }
};
/// For a builder. Without a source it only says which compiler it is.
struct CompileSource {
  struct Reply {
    bool ok = false;
    std::vector<std::byte> image;      ///< a cubin, or AMD's code object
    std::vector<std::string> lowered;  ///< of the name expressions, in their order
    std::string log, compiler;
    static auto members(auto& r) { return std::tie(r.ok, r.image, r.lowered, r.log, r.compiler); }
  };
  std::string source;
  std::vector<std::string> options, name_expressions;
  static auto members(auto& c) { return std::tie(c.source, c.options, c.name_expressions); }
};

using Command = std::variant<Hello, LoadModule, LoadLibrary, UnloadModule, DefineProgram, AllocateBuffers,
                             ReleaseBuffers, LendBuffer, BorrowBuffer, Act, CompileSource>;

/// The reply to every command but for its body, which only a success has.
struct Answer {
  Status status = success;
  std::string text;  ///< of a failure
  static auto members(auto& a) { return std::tie(a.status, a.text); }
};

/// The bytes of a command.
[[nodiscard]] inline std::vector<std::byte> frame_of(const Command& command) {
  return Writer().put(command).bytes();
}

}  // namespace kernelsearch::detail::gpu
