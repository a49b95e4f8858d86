// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "device.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "process/process.hpp"

namespace kernelsearch::worker {
namespace {

/// Parameters of a kernel of our own: a number, or a place in memory.
template <class T>
gpu::LaunchParameter number(T& value) {
  return {gpu::LaunchParameter::Kind::value, &value, sizeof value};
}
gpu::LaunchParameter place(Address& at) {
  return {gpu::LaunchParameter::Kind::place, &at, 0};
}

}  // namespace

void Device::serve(unsigned service, std::uint64_t elements,
                   std::span<const gpu::LaunchParameter> parameters) {
  constexpr unsigned threads = 256;
  const std::uint64_t wanted = std::max<std::uint64_t>(1, (elements + threads - 1) / threads);
  gpu::LaunchShape shape;
  shape.grid[0] = static_cast<unsigned>(std::min<std::uint64_t>(wanted, grid_));
  shape.block[0] = threads;
  check(driver_->launch_kernel(module(gpu::service_module).functions.at(service), shape, stream_, parameters),
        "a kernel of our own");
}

Address Device::next_value(std::size_t count) {
  if (value_count_ + count > most_values) throw Failure{gpu::invalid_value, "too many values in one command"};
  const Address at = values_ + value_count_ * sizeof(std::uint64_t);
  value_count_ += count;
  return at;
}

std::array<Device::Zone, 2> Device::zones(const Buffer& around) const {
  const std::uint64_t end = around.base + guard_ + (around.bytes + 511) / 512 * 512 + guard_;
  return {{{around.base, guard_}, {around.data + around.bytes, end - (around.data + around.bytes)}}};
}

std::byte* Device::shared_range(gpu::BufferId id, std::uint64_t offset, std::uint64_t bytes) const {
  if (shared_ == nullptr || offset > shared_bytes_ || bytes > shared_bytes_ - offset ||
      bytes > buffer(id).bytes)
    throw Failure{gpu::invalid_value, "a copy leaves the shared memory or the buffer"};
  return shared_ + offset;
}

void Device::perform(const gpu::WriteGuard& a) {
  std::uint64_t word = a.seed;
  for (Zone zone : zones(buffer(a.buffer))) {
    // The zone behind an array of odd length does not begin at a whole word: bytes then.
    const bool aligned = zone.begin % 8 == 0;
    int random = 1;
    const gpu::LaunchParameter p[] = {place(zone.begin), number(zone.bytes), number(word), number(random)};
    serve(aligned ? gpu::service_pattern : gpu::service_pattern_bytes, aligned ? zone.bytes / 8 : zone.bytes,
          p);
    ++word;
  }
}

void Device::perform(const gpu::CheckGuard& a) {
  std::uint64_t word = a.seed;
  Address result = next_value();
  for (Zone zone : zones(buffer(a.buffer))) {
    const gpu::LaunchParameter p[] = {place(zone.begin), number(zone.bytes), number(word), place(result)};
    serve(gpu::service_pattern_check, zone.bytes, p);
    ++word;
  }
}

void Device::perform(const gpu::FindOverrun& a) {
  Address result = next_value(2);
  const std::array<Zone, 2> around = zones(buffer(a.buffer));
  std::uint64_t found[2] = {0, 0};
  for (std::size_t z = 0; z < around.size() && found[0] == 0; ++z) {
    std::uint64_t word = a.seed + z;
    const auto changed = [&](std::uint64_t bytes) {  // from the beginning of the zone on
      Zone part{around[z].begin, bytes};
      std::uint64_t count = 0;
      check(driver_->set_bytes(result, 0, sizeof count, stream_), "preparing a result");
      const gpu::LaunchParameter p[] = {place(part.begin), number(part.bytes), number(word), place(result)};
      if (bytes > 0) serve(gpu::service_pattern_check, bytes, p);
      check(driver_->stream_synchronize(stream_), "running a kernel of our own");
      check(driver_->copy_out(&count, result, sizeof count), "reading results");
      return count;
    };
    const std::uint64_t all = changed(around[z].bytes);
    if (all == 0) continue;
    // The bytes up to the first that has changed, or up to the last one: what lies next to the array.
    const std::uint64_t wanted = z == 0 ? all : 1;
    std::uint64_t too_few = 0, enough = around[z].bytes;
    while (enough - too_few > 1) {
      const std::uint64_t middle = too_few + (enough - too_few) / 2;
      (changed(middle) >= wanted ? enough : too_few) = middle;
    }
    found[0] = z + 1;
    found[1] = z == 0 ? around[z].bytes - enough : enough - 1;
  }
  check(driver_->copy_in(result, found, sizeof found), "writing results");
}

void Device::perform(const gpu::CallProgram& action) {
  const auto found = programs_.find(action.program);
  if (found == programs_.end()) throw Failure{gpu::invalid_value, "there is no such program"};
  const gpu::ProgramPlan& plan = found->second;
  const auto address = [&](std::uint32_t binding) {
    if (binding >= action.bindings.size() || !action.bindings[binding])
      throw Failure{gpu::invalid_value, "an array is not bound"};
    return buffer(*action.bindings[binding]).data;
  };
  struct alignas(64) Map {
    std::uint64_t opaque[16];
  };
  std::vector<Map> maps(plan.maps.size());
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const gpu::MapPlan& map = plan.maps[m];
    constexpr std::uint32_t ones[5] = {1, 1, 1, 1, 1};
    if (driver_->encode_map == nullptr) throw Failure{gpu::unsupported, "this driver makes no tensor maps"};
    check(driver_->encode_map(&maps[m], map.type, map.rank, address(map.binding), map.sizes, map.strides,
                              map.box, ones, 0, map.swizzle, map.promotion, 0),
          "making a tensor map (sizes, strides, box or swizzle do not fit)");
  }
  for (const gpu::SymbolPlan& symbol : plan.symbols) {
    Address at = 0;
    std::size_t bytes = 0;
    check(driver_->module_global(&at, &bytes, module(symbol.module).module, symbol.name.c_str()),
          "finding a constant symbol");
    if (symbol.bytes > bytes) throw Failure{gpu::invalid_value, "the symbol is too small: " + symbol.name};
    check(driver_->copy_within(at, address(symbol.binding), symbol.bytes, stream_),
          "filling a constant symbol");
  }
  // What the driver is given. Addresses must stay where they are.
  std::vector<std::vector<Address>> addresses(plan.steps.size());
  std::vector<std::vector<gpu::LaunchParameter>> given(plan.steps.size());
  const auto take = [&](std::size_t step, const std::vector<gpu::Parameter>& parameters) {
    using Kind = gpu::LaunchParameter::Kind;
    addresses[step].resize(parameters.size());
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (const auto* scalar = std::get_if<gpu::ScalarParameter>(&parameters[p])) {
        given[step].push_back({Kind::value, const_cast<std::uint64_t*>(scalar->bits), scalar->size});
      } else if (const auto* array = std::get_if<gpu::ArrayParameter>(&parameters[p])) {
        addresses[step][p] = address(array->binding);
        given[step].push_back(
            {Kind::array, &addresses[step][p], buffer(*action.bindings[array->binding]).bytes});
      } else if (const auto* local = std::get_if<gpu::LocalParameter>(&parameters[p])) {
        given[step].push_back({Kind::local, nullptr, local->bytes});
      } else {
        Map& map = maps.at(std::get<gpu::MapParameter>(parameters[p]).map);
        given[step].push_back({Kind::value, &map, sizeof map});
      }
    }
  };
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (const auto* launch = std::get_if<gpu::LaunchKernel>(&plan.steps[s])) take(s, launch->parameters);
    if (const auto* entry = std::get_if<gpu::CallEntry>(&plan.steps[s])) take(s, entry->parameters);
  }
  double began = 0;
  if (action.timed) {
    if (timed_ == events_.size()) {
      gpu::Event begin = nullptr, end = nullptr;
      check(driver_->event_create(&begin, 0), "making an event");
      check(driver_->event_create(&end, 0), "making an event");
      events_.emplace_back(begin, end);
    }
    if (driver_->checks_clock) check(driver_->stream_synchronize(stream_), "waiting for the kernels");
    began = detail::monotonic_seconds();
    check(driver_->event_record(events_[timed_].first, stream_), "recording an event");
  }
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (const auto* launch = std::get_if<gpu::LaunchKernel>(&plan.steps[s])) {
      const Status status = driver_->launch_kernel(module(launch->module).functions.at(launch->function),
                                                   launch->shape, stream_, given[s]);
      if (status != gpu::success) check(status, "launching the kernel");
    } else if (const auto* zero = std::get_if<gpu::SetToZero>(&plan.steps[s])) {
      check(driver_->set_bytes(address(zero->binding), 0, zero->bytes, stream_), "setting an array to zero");
    } else {
      std::vector<void*> places;
      for (const gpu::LaunchParameter& parameter : given[s]) places.push_back(parameter.at);
      enter(module(std::get<gpu::CallEntry>(plan.steps[s]).module), places.data());
    }
  }
  if (!action.timed) return;
  check(driver_->event_record(events_[timed_++].second, stream_), "recording an event");
  if (!driver_->checks_clock) return;
  check(driver_->stream_synchronize(stream_), "running the kernel");
  outside_.push_back(detail::monotonic_seconds() - began);
}

void Device::perform(const gpu::FillArray& a) {
  Address at = buffer(a.buffer).data;
  std::uint64_t count = a.count, seed = a.seed, factor = a.factor;
  int type = static_cast<int>(a.type), initialisation = static_cast<int>(a.initialisation),
      flavour = static_cast<int>(a.flavour), magnitudes = a.magnitudes ? 1 : 0;
  double low = a.low, high = a.high, top = a.top;
  const gpu::LaunchParameter p[] = {
      place(at),   number(count), number(type), number(initialisation), number(flavour),   number(seed),
      number(low), number(high),  number(top),  number(factor),         number(magnitudes)};
  serve(gpu::service_fill, count, p);
}

void Device::perform(const gpu::FillPattern& a) {
  Address at = buffer(a.buffer).data;
  std::uint64_t bytes = a.bytes, word = a.word;
  int random = 0;
  const gpu::LaunchParameter p[] = {place(at), number(bytes), number(word), number(random)};
  serve(gpu::service_pattern, bytes / 8, p);
}

void Device::perform(const gpu::HashArray& a) {
  Address at = buffer(a.buffer).data;
  std::uint64_t bytes = a.bytes;
  Address result = next_value();
  const gpu::LaunchParameter p[] = {place(at), number(bytes), place(result)};
  serve(gpu::service_hash, bytes / 8, p);
}

void Device::perform(const gpu::CountPattern& a) {
  Address at = buffer(a.buffer).data;
  std::uint64_t count = a.count, word = a.word;
  int size = static_cast<int>(a.element_bytes);
  Address result = next_value();
  const gpu::LaunchParameter p[] = {place(at), number(count), number(size), number(word), place(result)};
  serve(gpu::service_equal_count, count, p);
}

void Device::perform(const gpu::FlushCache& a) {
  if (a.drained) {
    check(driver_->synchronize(), "waiting for the device");
    if (driver_->reset_persisting != nullptr) (void)driver_->reset_persisting();
  }
  if (scratch_ == 0) {
    const auto l2 = static_cast<std::uint64_t>(std::max(1 << 20, attribute(driver_->numbers.l2_bytes)));
    scratch_words_ = 2 * l2 / sizeof(std::uint64_t);
    check(driver_->allocate(&scratch_, scratch_words_ * sizeof(std::uint64_t)),
          "allocating the flush buffer");
  }
  std::uint64_t one = 1;
  const gpu::LaunchParameter p[] = {place(scratch_), number(scratch_words_), number(one)};
  serve(gpu::service_flush, scratch_words_, p);
}

void Device::perform(const gpu::RotateArray& a) {
  const Buffer &from = buffer(a.from), &to = buffer(a.to);
  if (a.begin > a.bytes || a.bytes > from.bytes || a.bytes > to.bytes)
    throw Failure{gpu::invalid_value, "a rotation leaves its buffers"};
  const std::uint64_t rest = a.bytes - a.begin;
  check(driver_->copy_within(to.data, from.data + a.begin, rest, stream_), "copying contents");
  if (a.begin != 0)
    check(driver_->copy_within(to.data + rest, from.data, a.begin, stream_), "copying contents");
}

void Device::perform(const gpu::TouchArray& a) {
  Address at = buffer(a.buffer).data;
  std::uint64_t bytes = a.bytes;
  Address result = values_ + (most_values - 1) * sizeof(std::uint64_t);
  const gpu::LaunchParameter p[] = {place(at), number(bytes), place(result)};
  serve(gpu::service_hash, bytes / 8, p);
}

void Device::perform(const gpu::CopyOut& a) {
  const Address from = buffer(a.buffer).data;
  std::byte* to = shared_range(a.buffer, a.offset, a.bytes);
  check(driver_->stream_synchronize(stream_), "waiting for the kernels");
  check(driver_->copy_out(to, from, a.bytes), "copying results out");
}

void Device::perform(const gpu::CopyIn& a) {
  const Buffer& to = buffer(a.buffer);
  const std::byte* from = shared_range(a.buffer, a.offset, a.bytes);
  if (a.begin > to.bytes || a.bytes > to.bytes - a.begin)
    throw Failure{gpu::invalid_value, "a copy leaves its array"};
  check(driver_->stream_synchronize(stream_), "waiting for the kernels");
  check(driver_->copy_in(to.data + a.begin, from, a.bytes), "copying in");
}

void Device::perform(const gpu::StoreBytes& a) {
  const Buffer& to = buffer(a.buffer);
  if (a.begin > to.bytes || a.bytes.size() > to.bytes - a.begin)
    throw Failure{gpu::invalid_value, "a copy leaves its array"};
  check(driver_->stream_synchronize(stream_), "waiting for the kernels");
  check(driver_->copy_in(to.data + a.begin, a.bytes.data(), a.bytes.size()), "copying in");
}

void Device::perform(const gpu::ConvertArray& a) {
  Address from = buffer(a.from).data, to = buffer(a.to).data;
  std::uint64_t count = a.count;
  int from_type = static_cast<int>(a.from_type), to_type = static_cast<int>(a.to_type);
  const gpu::LaunchParameter p[] = {place(from), place(to), number(count), number(from_type),
                                    number(to_type)};
  serve(gpu::service_widen, count, p);
}

double Device::absolute_of(const gpu::CompareArrays& a) {
  if (a.bits || a.cap) return a.absolute;
  if (scaled_tolerance(a.type, {1.0, 0.0}, std::array{0.5}).absolute == 1.0) return a.absolute;
  const std::uint64_t stride = a.stride != 0 ? a.stride : size_in_bytes(a.expected_type);
  check(driver_->stream_synchronize(stream_), "waiting for the kernels");
  std::vector<double> sample;
  for (const auto& [first, count] : scale_sample(a.count)) {
    std::vector<std::byte> piece(count * stride);
    if (!piece.empty())
      check(driver_->copy_out(piece.data(), buffer(a.expected).data + first * stride, piece.size()),
            "reading expected results");
    for (std::size_t i = 0; i < count; ++i)
      sample.push_back(load_element(a.expected_type, piece.data() + i * stride + a.offset));
  }
  return scaled_tolerance(a.type, {a.absolute, a.relative}, sample).absolute;
}

void Device::perform(const gpu::CompareArrays& a) {
  Address got = buffer(a.got).data + a.offset, expected = buffer(a.expected).data + a.offset,
          slack = a.slack ? buffer(*a.slack).data : 0;
  std::uint64_t got_stride = a.stride != 0 ? a.stride : size_in_bytes(a.type);
  std::uint64_t expected_stride = a.stride != 0 ? a.stride : size_in_bytes(a.expected_type);
  int bits = (a.bits ? 1 : 0) | (a.infinities == Infinities::none ? 2 : 0) |
             (a.infinities == Infinities::negative ? 4 : 0) | (a.cap ? 8 : 0);
  std::uint64_t count = a.count;
  int type = static_cast<int>(a.type), expected_type = static_cast<int>(a.expected_type);
  double absolute = absolute_of(a), relative = a.relative, overflow = a.overflow;
  Address result = next_value(2);
  check(driver_->set_bytes(result + 8, 0xff, 8, stream_), "preparing a result");
  const gpu::LaunchParameter p[] = {place(got),
                                    place(expected),
                                    place(slack),
                                    number(count),
                                    number(type),
                                    number(expected_type),
                                    number(absolute),
                                    number(relative),
                                    number(overflow),
                                    number(got_stride),
                                    number(expected_stride),
                                    number(bits),
                                    place(result)};
  serve(gpu::service_compare, count, p);
}

void Device::perform(const gpu::ComputeSlack& a) {
  Address exact = buffer(a.exact).data, magnitudes = buffer(a.magnitudes).data,
          kernel = buffer(a.kernel).data, slack = buffer(a.slack).data;
  int type = static_cast<int>(a.kernel_type);
  std::uint64_t count = a.count;
  double relative = a.relative;
  const gpu::LaunchParameter p[] = {place(exact), place(magnitudes), place(kernel),   number(type),
                                    place(slack), number(count),     number(relative)};
  serve(gpu::service_slack, count, p);
}

void Device::perform(const gpu::ReadElement& a) {
  Address at = buffer(a.buffer).data + a.offset;
  std::uint64_t index = a.index, stride = a.stride != 0 ? a.stride : size_in_bytes(a.type);
  int type = static_cast<int>(a.type);
  Address result = next_value();
  const gpu::LaunchParameter p[] = {place(at), number(index), number(type), number(stride), place(result)};
  serve(gpu::service_element, 1, p);
}

gpu::Act::Reply Device::act(const std::vector<gpu::Action>& actions) {
  gpu::Act::Reply done;
  timed_ = 0;
  outside_.clear();
  value_count_ = 0;
  check(driver_->synchronize(), "waiting for the device");
  const bool flushes = std::any_of(actions.begin(), actions.end(), [](const gpu::Action& action) {
    return std::holds_alternative<gpu::FlushCache>(action);
  });
  if (flushes && driver_->reset_persisting != nullptr) (void)driver_->reset_persisting();
  std::size_t values = 0;
  for (const gpu::Action& action : actions) values += gpu::value_count(action);
  if (values > 0)
    check(driver_->set_bytes(values_, 0, std::min(values, most_values) * sizeof(std::uint64_t), stream_),
          "preparing results");
  const double begin = detail::monotonic_seconds();
  for (const gpu::Action& action : actions) std::visit([this](const auto& one) { perform(one); }, action);
  check(driver_->stream_synchronize(stream_), "running the kernel");
  check(driver_->synchronize(), "running the kernel");
  done.host_seconds = detail::monotonic_seconds() - begin;
  for (std::size_t i = 0; i < timed_; ++i) {
    float milliseconds = 0;
    check(driver_->event_elapsed(&milliseconds, events_[i].first, events_[i].second), "reading the events");
    done.seconds.push_back(1e-3 * static_cast<double>(milliseconds));
  }
  done.outside = outside_;
  done.values.resize(value_count_);
  if (value_count_ > 0)
    check(driver_->copy_out(done.values.data(), values_, value_count_ * sizeof(std::uint64_t)),
          "reading results");
  return done;
}

}  // namespace kernelsearch::worker
