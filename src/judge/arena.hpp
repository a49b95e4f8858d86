// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "process/process.hpp"

namespace kernelsearch::detail {

/// Memory that controller and worker share; its size is sealed, so that a worker cannot pull it from under
/// us.
class Arena {
 public:
  /// Who may write to it.
  enum class Writers : std::uint8_t {
    both,
    controller,  ///< sealed: no other mapping can be written, however it is made
  };

  Arena() = default;
  Arena(std::size_t bytes, Writers writers);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  [[nodiscard]] int descriptor() const noexcept { return file_.number(); }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  Descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// How floating elements are stored for a process: as the problem says, or widened for a reference.
enum class Storage : std::uint8_t { native, f32, f64, extended };

/// One argument for one shape.
struct PlannedArgument {
  ElementType type = ElementType::f32;
  bool is_array = false;
  Role role = Role::in;
  Initialisation initialisation = Initialisation::uniform;
  std::size_t count = 0;  ///< elements of an array, of packed types pairs of them, of c64 the parts
  Value value;            ///< of a scalar
  Tolerance tolerance;
  const StructType* structure = nullptr;  ///< of the problem's argument, where elements are structs

  /// Whether the function may write to it.
  [[nodiscard]] bool is_writable() const noexcept { return is_array && role != Role::in; }
  /// Bytes of one element in the problem's own types.
  [[nodiscard]] std::size_t element_bytes() const noexcept {
    return structure != nullptr ? size_in_bytes(*structure) : size_in_bytes(type);
  }

  /// Numbers in an array, each of which is compared for itself.
  [[nodiscard]] std::size_t elements() const noexcept { return count * stored_together(type); }

  [[nodiscard]] bool is_input() const noexcept {
    return is_array && (role == Role::in || role == Role::inout);
  }
  [[nodiscard]] bool is_output() const noexcept {
    return is_array && (role == Role::out || role == Role::inout);
  }
};

/// The arguments of the problem's function for one shape and configuration.
struct ShapePlan {
  std::size_t shape = 0;
  std::vector<PlannedArgument> arguments;
};

/// Numbers of one type within the elements of an array: the elements themselves, or a field of structs.
struct Column {
  ElementType type = ElementType::f32;
  std::size_t offset = 0;  ///< in an element
  std::string name;        ///< `.x` of a field
};
[[nodiscard]] std::vector<Column> columns_of(const PlannedArgument& argument);

/// The values of one column of `count` elements of `element_bytes`, one after another.
[[nodiscard]] std::vector<std::byte> gathered(const Column& column, const std::byte* data, std::size_t count,
                                              std::size_t element_bytes);

[[nodiscard]] ShapePlan plan_shape(const Problem& problem, const Candidate& candidate, std::size_t shape);

/// Bytes of one element, of packed types of two: they stay together where they are widened. Structs are
/// stored as the problem says for all processes.
[[nodiscard]] std::size_t stored_bytes(ElementType type, Storage storage) noexcept;
[[nodiscard]] std::size_t stored_bytes(const PlannedArgument& argument, Storage storage) noexcept;

class FreshInputs;

/// Whether contents drawn so may be turned by any distance and still be as declared.
[[nodiscard]] bool rotatable(Initialisation initialisation);

/// What outputs are filled with before a call, for eight bytes: NaNs with a payload for floating types, so
/// that even an unwritten element cannot pass; odd bytes elsewhere.
[[nodiscard]] std::uint64_t poison_word(ElementType type, Storage storage, std::uint64_t seed);
/// The same of structs, whose floating fields of any type are NaNs.
[[nodiscard]] std::uint64_t poison_word(const PlannedArgument& argument, Storage storage, std::uint64_t seed);

/// How many elements of an honest result may look like the poison by chance: none of floating types, whose
/// poison is not a result; of integers so many that more come up once in 10^6 results whose bits are random.
[[nodiscard]] std::uint64_t poison_by_chance(ElementType type, std::uint64_t count) noexcept;

/// Converts native elements to what a process with that storage reads, and back to doubles. `count` is that
/// of PlannedArgument, so that packed types give two doubles for each.
void store_widened(ElementType type, Storage storage, const std::byte* native, std::size_t count,
                   std::byte* out);
void load_doubles(ElementType type, Storage storage, const std::byte* in, std::size_t count, double* out);

/// Buffers (input contents) of every argument in the problem's own types; empty for scalars and pure outputs.
using Contents = std::vector<std::vector<std::byte>>;

/// A fast hash to notice changes; not against adversaries who choose both contents.
[[nodiscard]] std::uint64_t hash_bytes(const std::byte* data, std::size_t size) noexcept;

/// How much memory something needs that a worker can only read, and that it can write.
struct ArenaBytes {
  std::size_t inputs = 0, outputs = 0;

  [[nodiscard]] bool holds(const ArenaBytes& other) const noexcept {
    return inputs >= other.inputs && outputs >= other.outputs;
  }
};

/// Where the two memories of a worker are, for us and for it.
struct ArenaPlaces {
  std::byte* inputs = nullptr;
  std::byte* outputs = nullptr;
  std::uint64_t inputs_at = 0, outputs_at = 0;  ///< in the worker
};

struct LaidArray;

/// The calls of one shape laid out in two arenas: in the inputs scalars, the table of arguments of each call,
/// and slots of arrays that are read only; in the outputs slots of arrays that are written. A slot holds the
/// arrays of one call with guard zones before, between and after them.
class Slots {
 public:
  Slots() = default;
  /// As many slots as fit `bytes`, at most `most`, at least `least`; no arena yet.
  Slots(const ShapePlan& plan, Storage storage, std::size_t bytes, std::size_t least, std::size_t most);

  [[nodiscard]] ArenaBytes arena_bytes() const noexcept {
    return {inputs_.first + count_ * inputs_.stride, outputs_.first + count_ * outputs_.stride};
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Bytes that a call may touch.
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return inputs_.stride + outputs_.stride; }
  [[nodiscard]] std::size_t bytes(std::size_t argument) const noexcept { return bytes_[argument]; }
  [[nodiscard]] const ShapePlan& plan() const noexcept { return *plan_; }
  /// For the table of a call in the inputs, and the pointers in a table.
  [[nodiscard]] std::size_t table(std::size_t slot) const noexcept;
  [[nodiscard]] std::size_t width() const noexcept { return offsets_.size(); }
  /// For the first of the tables that `order` wrote.
  [[nodiscard]] std::size_t ordered_table() const noexcept { return table(count_); }
  /// Writes the tables of these slots one after the other.
  void order(std::span<const std::uint32_t> slots);
  /// Lets the worker draw its calls from the first `filled` slots.
  void let_draw(std::size_t filled);
  /// The slots that it drew for that many calls, and behind them those that it did not; nothing where what it
  /// left is not an order of all.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> drawn(std::size_t filled) const;
  /// What the inputs of a slot hold, as stored.
  /// In the memory of `contents`, which are of no use any more.
  [[nodiscard]] Contents inputs(std::size_t slot, Contents contents = {}) const;
  /// What its outputs hold; those that are read only stay empty.
  [[nodiscard]] Contents outputs(std::size_t slot, Contents contents = {}) const;

  /// Writes scalars, tables and guard zones; `guard_seed` makes the contents of these.
  void attach(const ArenaPlaces& places, std::uint64_t guard_seed);

  /// Fills the inputs of a slot and poisons its outputs.
  void fill(std::size_t slot, const Contents& contents, std::uint64_t poison_seed);
  /// The same with contents of its own, made from `seed`: drawn where `fresh` draws, else those given, turned
  /// by a random distance where elements are independent.
  void fill(std::size_t slot, const Contents& contents, std::uint64_t poison_seed, const FreshInputs& fresh,
            std::uint64_t seed);

  /// Takes the arrays of a slot out of all caches.
  void flush(std::size_t slot) const;

  /// The array that is read only and lies at an offset in the inputs.
  [[nodiscard]] std::optional<std::size_t> argument_at(std::uint64_t offset) const noexcept;
  [[nodiscard]] bool guards_intact(std::size_t slot) const;
  /// An element next to an array, which is the nearest.
  struct Place {
    std::size_t argument = 0;
    std::int64_t index = 0;  ///< counted as those of the array: negative before its beginning
  };
  /// The write outside of an array that changed the first zone that is not intact.
  [[nodiscard]] std::optional<Place> overrun(std::size_t slot) const;
  /// The place that an offset in the inputs is, where that lies in no array but between them.
  [[nodiscard]] std::optional<Place> place_at(std::uint64_t offset) const;
  /// Whether an element of a pure output still holds the poison; false where its type is too narrow to tell.
  [[nodiscard]] bool is_poison(std::size_t slot, std::size_t argument, std::size_t element) const;
  [[nodiscard]] std::size_t poison_left(std::size_t slot, std::size_t argument) const;
  /// Whether an output is as it was filled, in all its bytes.
  [[nodiscard]] bool is_all_poison(std::size_t slot, std::size_t argument) const;
  [[nodiscard]] const std::byte* data(std::size_t slot, std::size_t argument) const noexcept {
    return at(slot, argument);
  }

 private:
  /// The slots of one arena.
  struct Side {
    std::size_t first = 0, stride = 0;
  };

  [[nodiscard]] const Side& side(std::size_t argument) const noexcept {
    return plan_->arguments[argument].is_writable() ? outputs_ : inputs_;
  }
  [[nodiscard]] std::byte* at(std::size_t slot, std::size_t argument) const noexcept {
    const bool writable = plan_->arguments[argument].is_writable();
    return (writable ? places_.outputs : places_.inputs) + side(argument).first +
           slot * side(argument).stride + offsets_[argument];
  }
  /// Copies of a slot's arrays of one kind, in the memory of `contents`.
  [[nodiscard]] Contents copies(std::size_t slot, Contents contents,
                                bool (PlannedArgument::*wanted)() const noexcept) const;
  /// The arrays of a slot on one side.
  [[nodiscard]] std::vector<LaidArray> laid(bool writable) const;
  /// Calls `f(begin, end)` for the guard zones of a slot on one side.
  template <class F>
  bool each_gap(bool writable, F&& f) const;
  /// Writes the guard zones of slots up to this one, which most shapes need few of.
  void guard(std::size_t slot);
  void store(std::size_t argument, const std::byte* from, std::size_t count, std::byte* to) const;
  void poison(std::size_t slot, std::size_t argument);

  const ShapePlan* plan_ = nullptr;
  Storage storage_ = Storage::native;
  Side inputs_, outputs_;
  std::size_t tables_ = 0;  ///< where they begin
  std::size_t count_ = 0;
  std::vector<std::size_t> offsets_, bytes_;  // of each argument; scalars: offset in the inputs, 0 bytes
  ArenaPlaces places_;
  std::size_t guarded_ = 0;  ///< slots that have their zones
  std::vector<std::byte> guard_, drawn_;
  std::vector<std::uint64_t> poison_;  // slot
};

}  // namespace kernelsearch::detail
