// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "judge/fresh_inputs.hpp"
#include "judge/overrun_text.hpp"
#include "judge/protocol.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t page = 4096, line = 64;
// Not a power of two: arrays of 2^k bytes would otherwise begin at equal page offsets and evict each other.
constexpr std::size_t guard_bytes = 1088, small_guard_bytes = 192;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// For the zone around an array of `bytes`.
std::size_t guard_of(std::size_t bytes) {
  return bytes < page ? small_guard_bytes : guard_bytes;
}

}  // namespace

bool rotatable(Initialisation initialisation) {
  return is_drawn(initialisation) || initialisation == Initialisation::permutation;
}

std::uint64_t poison_word(ElementType type, Storage storage, std::uint64_t seed) {
  const std::uint64_t random = Rng(seed)();
  const auto repeat16 = [](std::uint64_t v) { return v | v << 16 | v << 32 | v << 48; };
  const auto repeat32 = [](std::uint64_t v) { return v | v << 32; };
  if (!is_floating(type)) {
    if (size_in_bytes(type) == 8) return random;
    if (size_in_bytes(type) == 4) return repeat32(random >> 32);
    return repeat16((0x80u | (random & 0x7fu)) * 0x0101u);  // high bit set: no bool, no small count
  }
  if (storage == Storage::native && is_small_float(type)) {
    // NaNs where the format has any, of either sign; f4e2m1 has not, and gets odd bytes.
    const std::uint64_t sign = random & 0x80u;
    const std::uint64_t pattern = type == ElementType::f8e4m3   ? 0x7fu | sign
                                  : type == ElementType::f8e5m2 ? 0x7du | sign | (random & 2u)
                                                                : 0x80u | (random & 0x7fu);
    return repeat16(pattern * 0x0101u);
  }
  if (storage == Storage::native && type == ElementType::f16) return repeat16(0x7e00u | (random & 0xffu));
  if (storage == Storage::native && type == ElementType::bf16) return repeat16(0x7fc0u | (random & 0x3fu));
  if (storage == Storage::f32 || (storage == Storage::native && type == ElementType::f32))
    return repeat32(0x7fc00000u | (random & 0xfffffu));
  return 0x7ff8000000000000u | (random & 0xffffffffffffu);
}

std::uint64_t poison_word(const PlannedArgument& argument, Storage storage, std::uint64_t seed) {
  if (argument.structure == nullptr) return poison_word(argument.type, storage, seed);
  // 0x7ff8 to 0x7fff in each two bytes: a NaN as f16, bf16, f32 and f64, wherever a field begins.
  return 0x7ff87ff87ff87ff8u | (Rng(seed)() & 0x0007000700070007u);
}

std::uint64_t poison_by_chance(ElementType type, std::uint64_t count) noexcept {
  if (size_in_bytes(type) == 2) return count / 1024;  // too few patterns for a sum to be a surprise
  if (is_floating(type) || size_in_bytes(type) != 4) return 0;
  // The first term of the Poisson distribution beyond k bounds what is left of it, as the expected number is
  // small.
  const double expected = static_cast<double>(count) * 0x1p-32;
  std::uint64_t k = 0;
  for (double beyond = expected; beyond > 1e-6 && k < count; beyond *= expected / static_cast<double>(k + 1))
    ++k;
  return k;
}

Arena::Arena(std::size_t bytes, Writers writers)
    : file_(memfd_create("kernelsearch", MFD_CLOEXEC | MFD_ALLOW_SEALING)), size_(round_up(bytes, page)) {
  constexpr int future_write = 0x0010;  // F_SEAL_FUTURE_WRITE of Linux 5.1: our mapping stays as it is
  const int seals =
      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (writers == Writers::controller ? future_write : 0);
  void* at = MAP_FAILED;
  if (file_ && ftruncate(file_.number(), static_cast<off_t>(size_)) == 0)
    at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (at != MAP_FAILED && fcntl(file_.number(), F_ADD_SEALS, seals) != 0) {
    munmap(at, size_);
    at = MAP_FAILED;
  }
  if (at == MAP_FAILED)
    raise<DeviceError>("no shared memory for the buffers",
                       std::to_string(size_) + " bytes: " + std::strerror(errno),
                       "free memory or use smaller shapes");
  data_ = static_cast<std::byte*>(at);
}

Arena::Arena(Arena&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, size_);
}

ShapePlan plan_shape(const Problem& problem, const Candidate& candidate, std::size_t shape) {
  ShapePlan plan;
  plan.shape = shape;
  const auto tunables = named_values(candidate.kernel->space, candidate.config);
  for (const Argument& argument : problem.arguments) {
    PlannedArgument planned;
    planned.type = argument.type;
    planned.is_array = argument.is_array;
    planned.role = argument.role;
    planned.initialisation = argument.initialisation;
    planned.tolerance = problem.tolerance_of(argument);
    if (argument.structure) planned.structure = &*argument.structure;
    if (argument.tensor_map) {
      // stands for an array: neither elements nor a value of its own
    } else if (argument.is_array)
      planned.count = element_count(argument, problem.shapes[shape], tunables);
    else
      planned.value = scalar_value(argument, problem.shapes[shape]);
    plan.arguments.push_back(std::move(planned));
  }
  return plan;
}

std::size_t stored_bytes(ElementType type, Storage storage) noexcept {
  if (!is_floating(type) || storage == Storage::native) return size_in_bytes(type);
  const std::size_t one = storage == Storage::f32   ? sizeof(float)
                          : storage == Storage::f64 ? sizeof(double)
                                                    : sizeof(long double);
  return one * stored_together(type);
}

std::size_t stored_bytes(const PlannedArgument& argument, Storage storage) noexcept {
  return argument.structure != nullptr ? argument.element_bytes() : stored_bytes(argument.type, storage);
}

std::vector<Column> columns_of(const PlannedArgument& argument) {
  if (argument.structure == nullptr) return {{argument.type, 0, {}}};
  std::vector<Column> columns;
  for (std::size_t f = 0; f < argument.structure->fields.size(); ++f) {
    const StructField& field = argument.structure->fields[f];
    columns.push_back({field.type, offset_of(*argument.structure, f), "." + field.name});
  }
  return columns;
}

std::vector<std::byte> gathered(const Column& column, const std::byte* data, std::size_t count,
                                std::size_t element_bytes) {
  const std::size_t size = size_in_bytes(column.type);
  std::vector<std::byte> values(count * size);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(&values[i * size], data + i * element_bytes + column.offset, size);
  return values;
}

void store_widened(ElementType type, Storage storage, const std::byte* native, std::size_t count,
                   std::byte* out) {
  const std::size_t size = size_in_bytes(type), wide = stored_bytes(type, storage) / stored_together(type);
  if (!is_floating(type) || storage == Storage::native ||
      (storage == Storage::f32 && type == ElementType::f32) ||
      (storage == Storage::f64 && type == ElementType::f64)) {
    if (count != 0) std::memcpy(out, native, count * size);
    return;
  }
  for (std::size_t i = 0; i < count * stored_together(type); ++i) {
    const double value = load_element(type, native, i);
    if (storage == Storage::f32) {
      const float narrow = static_cast<float>(value);
      std::memcpy(out + i * wide, &narrow, sizeof narrow);
    } else if (storage == Storage::f64) {
      std::memcpy(out + i * wide, &value, sizeof value);
    } else {
      const long double extended = value;
      std::memcpy(out + i * wide, &extended, sizeof extended);
    }
  }
}

void load_doubles(ElementType type, Storage storage, const std::byte* in, std::size_t count, double* out) {
  const std::size_t wide = stored_bytes(type, storage) / stored_together(type);
  for (std::size_t i = 0; i < count * stored_together(type); ++i) {
    if (storage == Storage::native || !is_floating(type)) {
      out[i] = load_element(type, in, i);
    } else if (storage == Storage::f32) {
      float value;
      std::memcpy(&value, in + i * wide, sizeof value);
      out[i] = static_cast<double>(value);
    } else if (storage == Storage::f64) {
      std::memcpy(out + i, in + i * wide, sizeof(double));
    } else {
      long double value;
      std::memcpy(&value, in + i * wide, sizeof value);
      out[i] = static_cast<double>(value);
    }
  }
}

std::uint64_t hash_bytes(const std::byte* data, std::size_t size) noexcept {
  std::uint64_t lanes[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, size};
  const auto mix = [](std::uint64_t lane, std::uint64_t word) {
    lane = (lane ^ word) * 0xff51afd7ed558ccdu;
    return lane ^ (lane >> 32);
  };
  std::size_t i = 0;
  for (; i + 32 <= size; i += 32)
    for (std::size_t k = 0; k < 4; ++k) {
      std::uint64_t word;
      std::memcpy(&word, data + i + 8 * k, sizeof word);
      lanes[k] = mix(lanes[k], word);
    }
  for (; i < size; ++i) lanes[i % 4] = mix(lanes[i % 4], static_cast<std::uint64_t>(data[i]) + 1);
  return mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3]);
}

Slots::Slots(const ShapePlan& plan, Storage storage, std::size_t bytes, std::size_t least, std::size_t most)
    : plan_(&plan), storage_(storage) {
  std::size_t scalars = round_up(sizeof(host_protocol::Request), line), ends[2] = {};
  for (const PlannedArgument& argument : plan.arguments) {
    if (!argument.is_array) {
      offsets_.push_back(scalars);
      bytes_.push_back(0);
      scalars += 16;
      continue;
    }
    std::size_t& end = ends[argument.is_writable() ? 1 : 0];
    const std::size_t size = argument.count * stored_bytes(argument, storage);
    offsets_.push_back(round_up(end + guard_of(size), line));
    bytes_.push_back(size);
    end = offsets_.back() + size;
  }
  // An odd number of lines: arrays of the next slot are aligned in another way, but for what is promised.
  const auto stride = [](std::size_t end) { return round_up(end + guard_of(end), line) | line; };
  inputs_.stride = stride(ends[0]);
  outputs_.stride = stride(ends[1]);
  count_ = std::clamp(bytes / slot_bytes(), least, most);
  tables_ = round_up(scalars, line);
  inputs_.first = round_up(tables_ + 2 * count_ * width() * sizeof(std::uint64_t), page);
  outputs_.first = round_up(host_protocol::drawn_at + count_ * sizeof(std::uint32_t), page);
}

std::size_t Slots::table(std::size_t slot) const noexcept {
  return tables_ + slot * width() * sizeof(std::uint64_t);
}

void Slots::order(std::span<const std::uint32_t> slots) {
  const std::size_t bytes = width() * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < slots.size(); ++i)
    std::memcpy(places_.inputs + ordered_table() + i * bytes, places_.inputs + table(slots[i]), bytes);
}

void Slots::let_draw(std::size_t filled) {
  std::vector<std::uint32_t> all(filled);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  std::memcpy(places_.outputs + host_protocol::drawn_at, all.data(), filled * sizeof all[0]);
}

std::optional<std::vector<std::uint32_t>> Slots::drawn(std::size_t filled) const {
  std::vector<std::uint32_t> all(filled);
  std::memcpy(all.data(), places_.outputs + host_protocol::drawn_at, filled * sizeof all[0]);
  std::vector<bool> seen(filled);
  for (const std::uint32_t slot : all) {
    if (slot >= filled || seen[slot]) return std::nullopt;
    seen[slot] = true;
  }
  return all;
}

Contents Slots::copies(std::size_t slot, Contents contents,
                       bool (PlannedArgument::*wanted)() const noexcept) const {
  contents.resize(offsets_.size());
  for (std::size_t a = 0; a < offsets_.size(); ++a)
    if ((plan_->arguments[a].*wanted)())
      contents[a].assign(data(slot, a), data(slot, a) + bytes_[a]);
    else
      contents[a].clear();
  return contents;
}

Contents Slots::inputs(std::size_t slot, Contents contents) const {
  return copies(slot, std::move(contents), &PlannedArgument::is_input);
}

Contents Slots::outputs(std::size_t slot, Contents contents) const {
  return copies(slot, std::move(contents), &PlannedArgument::is_output);
}

template <class F>
bool Slots::each_gap(bool writable, F&& f) const {
  std::size_t end = 0;
  for (std::size_t a = 0; a < offsets_.size(); ++a) {
    if (!plan_->arguments[a].is_array || plan_->arguments[a].is_writable() != writable) continue;
    if (!f(end, offsets_[a])) return false;
    end = offsets_[a] + bytes_[a];
  }
  return f(end, writable ? outputs_.stride : inputs_.stride);
}

void Slots::attach(const ArenaPlaces& places, std::uint64_t guard_seed) {
  places_ = places;
  poison_.assign(count_, 0);
  std::size_t longest = 0;
  for (const bool writable : {false, true})
    each_gap(writable, [&](std::size_t begin, std::size_t end) {
      longest = std::max(longest, end - begin);
      return true;
    });
  Rng rng(guard_seed);
  guard_.resize(longest);
  for (std::byte& byte : guard_) byte = static_cast<std::byte>(rng() >> 56);
  guarded_ = 0;
  for (std::size_t a = 0; a < offsets_.size(); ++a) {
    const PlannedArgument& argument = plan_->arguments[a];
    for (std::size_t slot = 0; slot < count_; ++slot) {
      // an empty array still lies in its slot, where its pointer is valid though nothing may be read
      const std::uint64_t pointer = !argument.is_array
                                        ? places_.inputs_at + offsets_[a]
                                        : (argument.is_writable() ? places_.outputs_at : places_.inputs_at) +
                                              side(a).first + slot * side(a).stride + offsets_[a];
      std::memcpy(places_.inputs + table(slot) + a * sizeof pointer, &pointer, sizeof pointer);
    }
    if (argument.is_array) continue;
    std::byte native[16] = {};
    if (const auto* whole = std::get_if<std::int64_t>(&argument.value))
      store_element(argument.type, *whole, native);
    else
      store_element(argument.type, to_number(argument.value), native);
    store_widened(argument.type, storage_, native, 1, places_.inputs + offsets_[a]);
  }
}

void Slots::guard(std::size_t slot) {
  for (; guarded_ <= slot; ++guarded_)
    for (const bool writable : {false, true}) {
      std::byte* const base = writable ? places_.outputs + outputs_.first + guarded_ * outputs_.stride
                                       : places_.inputs + inputs_.first + guarded_ * inputs_.stride;
      each_gap(writable, [&](std::size_t begin, std::size_t end) {
        std::memcpy(base + begin, guard_.data(), end - begin);
        return true;
      });
    }
}

void Slots::store(std::size_t argument, const std::byte* from, std::size_t count, std::byte* to) const {
  const PlannedArgument& planned = plan_->arguments[argument];
  if (planned.structure == nullptr)
    store_widened(planned.type, storage_, from, count, to);
  else if (count != 0)
    std::memcpy(to, from, count * planned.element_bytes());
}

void Slots::poison(std::size_t slot, std::size_t argument) {
  const std::uint64_t word = poison_word(plan_->arguments[argument], storage_, poison_[slot]);
  std::byte* const out = at(slot, argument);
  std::size_t i = 0;
  for (; i + 8 <= bytes_[argument]; i += 8) std::memcpy(out + i, &word, 8);
  if (i < bytes_[argument]) std::memcpy(out + i, &word, bytes_[argument] - i);
}

void Slots::fill(std::size_t slot, const Contents& contents, std::uint64_t poison_seed) {
  guard(slot);
  poison_[slot] = poison_seed;
  for (std::size_t a = 0; a < offsets_.size(); ++a) {
    if (!plan_->arguments[a].is_array) continue;
    if (plan_->arguments[a].is_input())
      store(a, contents[a].data(), plan_->arguments[a].count, at(slot, a));
    else
      poison(slot, a);
  }
}

void Slots::fill(std::size_t slot, const Contents& contents, std::uint64_t poison_seed,
                 const FreshInputs& fresh, std::uint64_t seed) {
  guard(slot);
  poison_[slot] = poison_seed;
  Rng rng(seed);
  const Contents generated = fresh.generated(rng());
  for (std::size_t a = 0; a < offsets_.size(); ++a) {
    const PlannedArgument& argument = plan_->arguments[a];
    if (!argument.is_array) continue;
    std::byte* const out = at(slot, a);
    if (!argument.is_input()) {
      poison(slot, a);
    } else if (fresh.generates(a)) {
      store(a, generated[a].data(), argument.count, out);
    } else if (!fresh.draws(a)) {
      const std::size_t by = argument.count > 1 && rotatable(argument.initialisation)
                                 ? static_cast<std::size_t>(rng.below(argument.count))
                                 : 0;
      store(a, contents[a].data() + by * argument.element_bytes(), argument.count - by, out);
      store(a, contents[a].data(), by, out + (argument.count - by) * stored_bytes(argument, storage_));
    } else if (bytes_[a] == argument.count * argument.element_bytes()) {
      fresh.draw(a, argument.count, rng(), out);
    } else {  // widened
      drawn_.resize(argument.count * argument.element_bytes());
      fresh.draw(a, argument.count, rng(), drawn_.data());
      store(a, drawn_.data(), argument.count, out);
    }
  }
}

void Slots::flush(std::size_t slot) const {
  for (std::size_t a = 0; a < offsets_.size(); ++a) {
    const std::byte* const begin = data(slot, a);
#if defined(__x86_64__) || defined(__i386__)
    for (std::size_t i = 0; i < bytes_[a]; i += line) __builtin_ia32_clflush(begin + i);
  }
  __builtin_ia32_mfence();
#elif defined(__aarch64__)
    for (std::size_t i = 0; i < bytes_[a]; i += line)
      asm volatile("dc civac, %0" ::"r"(begin + i) : "memory");
  }
  asm volatile("dsb ish" ::: "memory");
#else
#  error "kernelsearch: no cache flush known for this processor"
#endif
}

std::optional<std::size_t> Slots::argument_at(std::uint64_t offset) const noexcept {
  if (offset < inputs_.first) return std::nullopt;
  const std::size_t in_slot = (offset - inputs_.first) % inputs_.stride;
  for (std::size_t a = 0; a < offsets_.size(); ++a)
    if (plan_->arguments[a].is_array && !plan_->arguments[a].is_writable() && in_slot >= offsets_[a] &&
        in_slot < offsets_[a] + bytes_[a])
      return a;
  return std::nullopt;
}

bool Slots::guards_intact(std::size_t slot) const {
  const std::byte* const base = places_.outputs + outputs_.first + slot * outputs_.stride;
  return each_gap(true, [&](std::size_t begin, std::size_t end) {
    return std::memcmp(base + begin, guard_.data(), end - begin) == 0;
  });
}

std::optional<Slots::Place> nearest_place(std::span<const LaidArray> arrays, std::size_t first,
                                          std::size_t last) {
  const LaidArray *before = nullptr, *behind = nullptr;
  for (const LaidArray& array : arrays) {
    if (array.begin < last) before = &array;
    if (array.begin >= last && behind == nullptr) behind = &array;
  }
  const std::size_t after = before ? first - (before->begin + before->count * before->element_bytes) : 0;
  const std::size_t ahead = behind ? behind->begin - last : 0;
  if (before != nullptr && (behind == nullptr || after <= ahead))
    return Slots::Place{before->argument, index_behind(before->count, before->element_bytes, after)};
  if (behind != nullptr) return Slots::Place{behind->argument, index_before(behind->element_bytes, ahead)};
  return std::nullopt;
}

std::vector<LaidArray> Slots::laid(bool writable) const {
  std::vector<LaidArray> arrays;
  for (std::size_t a = 0; a < offsets_.size(); ++a)
    if (const PlannedArgument& argument = plan_->arguments[a];
        argument.is_array && argument.is_writable() == writable)
      arrays.push_back({a, offsets_[a], argument.count, stored_bytes(argument, storage_)});
  return arrays;
}

std::optional<Slots::Place> Slots::overrun(std::size_t slot) const {
  const std::byte* const base = places_.outputs + outputs_.first + slot * outputs_.stride;
  std::optional<Place> found;
  each_gap(true, [&](std::size_t begin, std::size_t end) {
    const std::byte *const zone = base + begin, *const zone_end = base + end;
    const std::byte* const first = std::mismatch(zone, zone_end, guard_.data()).first;
    if (first == zone_end) return true;
    const std::byte* last = zone_end;  // behind the last byte that changed
    while (last[-1] == guard_[static_cast<std::size_t>(last - 1 - zone)]) --last;
    found = nearest_place(laid(true), static_cast<std::size_t>(first - base),
                          static_cast<std::size_t>(last - base));
    return false;
  });
  return found;
}

std::optional<Slots::Place> Slots::place_at(std::uint64_t offset) const {
  if (offset < inputs_.first) return std::nullopt;
  const std::size_t in_slot = (offset - inputs_.first) % inputs_.stride;
  std::optional<Place> found;
  each_gap(false, [&](std::size_t begin, std::size_t end) {
    if (in_slot < begin || in_slot >= end) return true;
    found = nearest_place(laid(false), in_slot, in_slot + 1);
    return false;
  });
  return found;
}

bool Slots::is_poison(std::size_t slot, std::size_t argument, std::size_t element) const {
  const PlannedArgument& planned = plan_->arguments[argument];
  const std::size_t size = stored_bytes(planned, storage_);
  if (planned.role != Role::out || size < 4) return false;
  const std::uint64_t word = poison_word(planned, storage_, poison_[slot]);
  if (planned.structure != nullptr) {  // any field: a kernel must write all of them
    std::byte pattern[16];
    std::memcpy(pattern, &word, 8);
    std::memcpy(pattern + 8, &word, 8);
    const std::byte* at = data(slot, argument) + element * size;
    for (std::size_t f = 0; f < planned.structure->fields.size(); ++f) {
      const std::size_t begin = offset_of(*planned.structure, f);
      const std::size_t bytes = size_in_bytes(planned.structure->fields[f].type);
      if (bytes >= 4 && std::memcmp(at + begin, pattern + (element * size + begin) % 8, bytes) == 0)
        return true;
    }
    return false;
  }
  // Two that were widened together are looked at one by one.
  const std::size_t each = size / (storage_ == Storage::native ? 1 : stored_together(planned.type));
  for (std::size_t at = 0; at < size; at += each)
    if (std::memcmp(data(slot, argument) + element * size + at, &word, std::min<std::size_t>(each, 8)) == 0)
      return true;
  return false;
}

bool Slots::is_all_poison(std::size_t slot, std::size_t argument) const {
  const std::uint64_t word = poison_word(plan_->arguments[argument], storage_, poison_[slot]);
  const std::byte* const in = data(slot, argument);
  for (std::size_t i = 0; i < bytes_[argument]; i += 8)
    if (std::memcmp(in + i, &word, std::min<std::size_t>(8, bytes_[argument] - i)) != 0) return false;
  return true;
}

std::size_t Slots::poison_left(std::size_t slot, std::size_t argument) const {
  const PlannedArgument& planned = plan_->arguments[argument];
  const std::size_t size = stored_bytes(planned, storage_);
  if (planned.role != Role::out || size < 4) return 0;
  const std::uint64_t word = poison_word(planned, storage_, poison_[slot]);
  const std::byte* in = data(slot, argument);
  std::size_t left = 0;
  if (planned.structure != nullptr || is_packed(planned.type)) {
    for (std::size_t i = 0; i < planned.count; ++i) left += is_poison(slot, argument, i) ? 1u : 0u;
    return left;
  }
  if (size == 4) {
    for (std::size_t i = 0; i < planned.count; ++i) {
      std::uint32_t element;
      std::memcpy(&element, in + i * size, sizeof element);
      left += element == static_cast<std::uint32_t>(word) ? 1u : 0u;
    }
  } else {
    for (std::size_t i = 0; i < planned.count; ++i) {
      std::uint64_t element;
      std::memcpy(&element, in + i * size, sizeof element);
      left += element == word ? 1u : 0u;
    }
  }
  return left;
}

}  // namespace kernelsearch::detail
