// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What a problem's generator of inputs is written with; docs/formats/problem.md has an example. It needs the
// standard library alone, and is there by itself when a generator is compiled.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kernelsearch::inputs {

/// Which inputs are asked for; all flavours must be inputs that the kernel is defined on.
enum class Flavour : std::uint32_t {
  declared,         ///< as in life
  edge,             ///< what kernels go wrong on: empty rows, one row with everything, equal keys
  ill_conditioned,  ///< magnitudes over many decades that cancel; where that means nothing, as declared
};

namespace detail {

inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t most_variables = 128, most_arrays = 63, most_name = 64;

struct Variable {
  char name[most_name];
  std::int64_t whole;
  double real;
  std::uint32_t is_real;
  std::uint32_t is_set;
};

struct ArrayInfo {
  char name[most_name];
  std::uint64_t count;
  std::uint32_t element_bytes;
  std::uint32_t padding;
};

/// What kernelsearch and a generator tell each other; array number i is argument i + 1 of the call.
struct Control {
  std::uint32_t version;
  std::uint32_t wants_sizes;  ///< 1: make_sizes, 0: make_inputs
  std::uint64_t seed;
  Flavour flavour;
  std::uint32_t variable_count, size_count, array_count;
  std::uint32_t done, failed;
  Variable variables[most_variables];
  Variable sizes[most_variables];  ///< with names when asked for, with values in the answer
  ArrayInfo arrays[most_arrays];
  char error[1024];
};

inline Variable* find(Variable* variables, std::uint32_t count, std::string_view name) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (name == variables[i].name) return variables + i;
  return nullptr;
}

}  // namespace detail

/// A stream of random numbers that is the same on every machine (xoshiro256**, Blackman and Vigna, 2018).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }
  using result_type = std::uint64_t;
  [[nodiscard]] static constexpr std::uint64_t min() noexcept { return 0; }
  [[nodiscard]] static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

  std::uint64_t operator()() noexcept {
    const auto turned = [](std::uint64_t x, int by) { return x << by | x >> (64 - by); };
    const std::uint64_t result = turned(state_[1] * 5, 7) * 9, t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = turned(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound); `bound` must not be 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>((*this)()) * bound >> 64);
  }
  /// Uniform in [0, 1), or in [low, high).
  [[nodiscard]] double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  [[nodiscard]] double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }
  /// Standard normal.
  [[nodiscard]] double normal() noexcept {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
  }
  [[nodiscard]] bool chance(double p) noexcept { return uniform() < p; }
  template <class Range>
  void shuffle(Range&& range) noexcept {
    using std::swap;
    for (std::size_t i = range.size(); i > 1; --i)
      swap(range[i - 1], range[static_cast<std::size_t>(below(i))]);
  }

 private:
  std::uint64_t state_[4];
};

/// The shape that inputs are for.
class ShapeVariables {
 public:
  /// A whole variable of the shape, or in make_inputs a size; throws where there is none of that name.
  [[nodiscard]] std::int64_t variable(std::string_view name) const { return at(name).whole; }
  /// The same of one that may be no whole number.
  [[nodiscard]] double number(std::string_view name) const { return at(name).real; }

 protected:
  explicit ShapeVariables(detail::Control& control) : control_(control) {}
  ~ShapeVariables() = default;

  const detail::Variable& at(std::string_view name) const {
    const detail::Variable* found = detail::find(control_.variables, control_.variable_count, name);
    if (found == nullptr && control_.wants_sizes == 0)
      found = detail::find(control_.sizes, control_.size_count, name);
    if (found == nullptr) throw std::invalid_argument("the shape has no variable " + std::string(name));
    return *found;
  }

  detail::Control& control_;
};

/// What make_sizes gets: it sets each of the problem's "sizes", from the shape alone.
class Sizes : public ShapeVariables {
 public:
  explicit Sizes(detail::Control& control) : ShapeVariables(control) {}
  void set(std::string_view name, std::int64_t value) {
    detail::Variable* size = detail::find(control_.sizes, control_.size_count, name);
    if (size == nullptr) throw std::invalid_argument("the problem lists no size " + std::string(name));
    size->whole = value;
    size->real = static_cast<double>(value);
    size->is_set = 1;
  }
};

/// What make_inputs gets: it writes every element of every array, from seed, flavour and shape alone.
class Request : public ShapeVariables {
 public:
  Request(detail::Control& control, void* const* arrays) : ShapeVariables(control), arrays_(arrays) {}
  [[nodiscard]] std::uint64_t seed() const noexcept { return control_.seed; }
  [[nodiscard]] Flavour flavour() const noexcept { return control_.flavour; }
  /// A stream of its own for each role.
  [[nodiscard]] Random random(std::string_view role = {}) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char c : role) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return Random(control_.seed ^ hash);
  }
  [[nodiscard]] bool has(std::string_view name) const noexcept {
    return index_of(name) < control_.array_count;
  }
  /// The array that the argument of this name gets; T has the size of its elements (f16, bf16:
  /// std::uint16_t).
  template <class T>
  [[nodiscard]] std::span<T> array(std::string_view name) const {
    const std::uint32_t i = index_of(name);
    if (i == control_.array_count)
      throw std::invalid_argument("no argument " + std::string(name) + " has \"init\": \"generator\"");
    const detail::ArrayInfo& info = control_.arrays[i];
    if (sizeof(T) != info.element_bytes)
      throw std::invalid_argument("elements of " + std::string(name) + " have " +
                                  std::to_string(info.element_bytes) + " bytes, asked for as " +
                                  std::to_string(sizeof(T)));
    return {static_cast<T*>(arrays_[i]), static_cast<std::size_t>(info.count)};
  }

 private:
  std::uint32_t index_of(std::string_view name) const noexcept {
    for (std::uint32_t i = 0; i < control_.array_count; ++i)
      if (name == control_.arrays[i].name) return i;
    return control_.array_count;
  }

  void* const* arrays_;
};

namespace detail {

/// Runs `act` and leaves what it throws as a text.
template <class Act>
void answer(Control& control, Act act) {
  const char* error = nullptr;
  try {
    act();
    control.done = 1;
    return;
  } catch (const std::exception& thrown) {
    std::snprintf(control.error, sizeof control.error, "%s", thrown.what());
  } catch (...) {
    error = "it threw something that is not a std::exception";
  }
  if (error != nullptr) std::snprintf(control.error, sizeof control.error, "%s", error);
  control.failed = 1;
}

}  // namespace detail
}  // namespace kernelsearch::inputs
