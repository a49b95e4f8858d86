// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "device.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "evaluator/host/process.hpp"

namespace kernelsearch::worker {
namespace {}  // namespace

void Device::serve(unsigned service, std::uint64_t elements, void** parameters) {
  constexpr unsigned threads = 256;
  const std::uint64_t wanted = std::max<std::uint64_t>(1, (elements + threads - 1) / threads);
  gpu::LaunchShape shape;
  shape.grid[0] = static_cast<unsigned>(std::min<std::uint64_t>(wanted, grid_));
  shape.block[0] = threads;
  check(driver_->launch_kernel(module(0).functions.at(service), shape, stream_, parameters),
        "a kernel of our own");
}

Address Device::next_value(std::size_t count) {
  if (value_count_ + count > most_values) throw Failure{gpu::invalid_value, "too many values in one command"};
  const Address at = values_ + value_count_ * sizeof(std::uint64_t);
  value_count_ += count;
  return at;
}

void Device::guard(const gpu::Action& action, bool checking) {
  const Buffer& b = buffer(action.buffer);
  Address result = checking ? next_value() : 0;
  const std::uint64_t end = b.base + guard_ + (b.bytes + 511) / 512 * 512 + guard_;
  const struct {
    Address begin;
    std::uint64_t bytes;
  } zones[2] = {{b.base, guard_}, {b.data + b.bytes, end - (b.data + b.bytes)}};
  for (int i = 0; i < 2; ++i) {
    Address at = zones[i].begin;
    std::uint64_t bytes = zones[i].bytes, word = action.seed + static_cast<std::uint64_t>(i);
    if (checking) {
      void* parameters[] = {&at, &bytes, &word, &result};
      serve(gpu::service_pattern_check, bytes, parameters);
    } else {
      // The zone behind an array of odd length does not begin at a whole word: bytes then.
      std::uint64_t odd = (8 - at % 8) % 8;
      int random = 1;
      if (odd == 0) {
        void* parameters[] = {&at, &bytes, &word, &random};
        serve(gpu::service_pattern, bytes / 8, parameters);
      } else {
        void* parameters[] = {&at, &bytes, &word, &random};
        serve(gpu::service_pattern_bytes, bytes, parameters);
      }
    }
  }
}

void Device::call(const gpu::Action& action, const std::vector<std::uint32_t>& bindings, bool timed) {
  const auto found = programs_.find(action.program);
  if (found == programs_.end()) throw Failure{gpu::invalid_value, "there is no such program"};
  const gpu::ProgramPlan& plan = found->second;
  const auto address = [&](std::uint32_t index) -> const Buffer& {
    if (index >= action.bindings || action.first_binding + index >= bindings.size())
      throw Failure{gpu::invalid_value, "an array is not bound"};
    return buffer(bindings[action.first_binding + index]);
  };
  struct alignas(64) Map {
    std::uint64_t opaque[16];
  };
  std::vector<Map> maps(plan.maps.size());
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const gpu::MapPlan& map = plan.maps[m];
    constexpr std::uint32_t ones[5] = {1, 1, 1, 1, 1};
    if (driver_->encode_map == nullptr) throw Failure{gpu::unsupported, "this driver makes no tensor maps"};
    check(driver_->encode_map(&maps[m], map.type, map.rank, address(map.array).data, map.sizes, map.strides,
                              map.box, ones, 0, map.swizzle, map.promotion, 0),
          "making a tensor map (sizes, strides, box or swizzle do not fit)");
  }
  for (const gpu::SymbolPlan& symbol : plan.symbols) {
    Address at = 0;
    std::size_t bytes = 0;
    check(driver_->module_global(&at, &bytes, module(symbol.module).module, symbol.name),
          "finding a constant symbol");
    if (symbol.bytes > bytes)
      throw Failure{gpu::invalid_value, std::string("the symbol is too small: ") + symbol.name};
    check(driver_->copy_within(at, address(symbol.array).data, symbol.bytes, stream_),
          "filling a constant symbol");
  }
  std::vector<Address> addresses(plan.parameters.size());
  std::vector<void*> pointers(plan.parameters.size());
  for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
    const gpu::Parameter& parameter = plan.parameters[p];
    if (parameter.kind == gpu::Parameter::scalar) {
      pointers[p] = const_cast<std::uint64_t*>(parameter.bits);
    } else if (parameter.kind == gpu::Parameter::array) {
      addresses[p] = address(parameter.index).data;
      pointers[p] = &addresses[p];
    } else {
      pointers[p] = &maps.at(parameter.index);
    }
  }
  if (timed) {
    if (timed_ == events_.size()) {
      gpu::Event begin = nullptr, end = nullptr;
      check(driver_->event_create(&begin, 0), "making an event");
      check(driver_->event_create(&end, 0), "making an event");
      events_.emplace_back(begin, end);
    }
    check(driver_->event_record(events_[timed_].first, stream_), "recording an event");
  }
  for (const gpu::Step& step : plan.steps) {
    void** parameters = pointers.data() + step.first_parameter;
    switch (step.kind) {
      case gpu::StepKind::zero:
        check(driver_->set_bytes(address(step.array).data, 0, step.bytes, stream_),
              "setting an array to zero");
        break;
      case gpu::StepKind::entry:
        enter(module(step.module), parameters);
        break;
      case gpu::StepKind::launch: {
        const Status status = driver_->launch_kernel(module(step.module).functions.at(step.function),
                                                     step.shape, stream_, parameters);
        if (status != gpu::success) check(status, "launching the kernel");
      }
    }
  }
  if (timed) check(driver_->event_record(events_[timed_++].second, stream_), "recording an event");
}

void Device::perform(const gpu::Action& a, const std::vector<std::uint32_t>& bindings, Done&) {
  using gpu::Act;
  int type = static_cast<int>(a.type), init = static_cast<int>(a.init), flavour = static_cast<int>(a.flavour);
  std::uint64_t count = a.count, word = a.word, seed = a.seed;
  double low = a.low, high = a.high, top = a.top;
  const bool has_buffer = a.kind != Act::call && a.kind != Act::timed_call && a.kind != Act::flush;
  Address at = has_buffer ? buffer(a.buffer).data : 0;
  const auto shared_range = [&] {
    if (shared_ == nullptr || word > shared_bytes_ || count > shared_bytes_ - word ||
        count > buffer(a.buffer).bytes)
      throw Failure{gpu::invalid_value, "a copy leaves the shared memory or the buffer"};
    return shared_ + word;
  };
  switch (a.kind) {
    case Act::fill: {
      int magnitudes = static_cast<int>(a.flags & 1u);
      void* p[] = {&at, &count, &type, &init, &flavour, &seed, &low, &high, &top, &word, &magnitudes};
      return serve(gpu::service_fill, count, p);
    }
    case Act::poison: {
      int random = 0;
      void* p[] = {&at, &count, &word, &random};
      return serve(gpu::service_pattern, count / 8, p);
    }
    case Act::guard:
      return guard(a, false);
    case Act::guard_check:
      return guard(a, true);
    case Act::hash: {
      Address result = next_value();
      void* p[] = {&at, &count, &result};
      return serve(gpu::service_hash, count / 8, p);
    }
    case Act::rotate: {
      const Buffer& from = buffer(a.other);
      if (seed > count || count > from.bytes || count > buffer(a.buffer).bytes)
        throw Failure{gpu::invalid_value, "a rotation leaves its buffers"};
      check(driver_->copy_within(at, from.data + seed, count - seed, stream_), "copying contents");
      if (seed != 0)
        check(driver_->copy_within(at + (count - seed), from.data, seed, stream_), "copying contents");
      return;
    }
    case Act::touch: {
      Address result = values_ + (most_values - 1) * sizeof(std::uint64_t);
      void* p[] = {&at, &count, &result};
      return serve(gpu::service_hash, count / 8, p);
    }
    case Act::poison_left: {
      Address result = next_value();
      void* p[] = {&at, &count, &type, &word, &result};
      return serve(gpu::service_equal_count, count, p);
    }
    case Act::call:
    case Act::timed_call:
      return call(a, bindings, a.kind == Act::timed_call);
    case Act::flush: {
      if (scratch_ == 0) {
        const auto l2 = static_cast<std::uint64_t>(std::max(1 << 20, attribute(driver_->numbers.l2_bytes)));
        scratch_words_ = 2 * l2 / sizeof(std::uint64_t);
        check(driver_->allocate(&scratch_, scratch_words_ * sizeof(std::uint64_t)),
              "allocating the flush buffer");
      }
      std::uint64_t one = 1;
      void* p[] = {&scratch_, &scratch_words_, &one};
      return serve(gpu::service_flush, scratch_words_, p);
    }
    case Act::out: {
      std::byte* to = shared_range();
      check(driver_->stream_synchronize(stream_), "waiting for the kernels");
      return check(driver_->copy_out(to, at, count), "copying results out");
    }
    case Act::in: {
      const std::byte* from = shared_range();
      check(driver_->stream_synchronize(stream_), "waiting for the kernels");
      return check(driver_->copy_in(at, from, count), "copying in");
    }
    case Act::widen: {
      Address from = buffer(a.other).data;
      void* p[] = {&from, &at, &count, &type, &init};
      return serve(gpu::service_widen, count, p);
    }
    case Act::compare: {
      Address expected = buffer(a.other).data,
              slack = word == 0 ? 0 : buffer(static_cast<std::uint32_t>(word - 1)).data;
      Address result = next_value(2);
      check(driver_->set_bytes(result + 8, 0xff, 8, stream_), "preparing a result");
      void* p[] = {&at, &expected, &slack, &count, &type, &init, &low, &high, &top, &result};
      return serve(gpu::service_compare, count, p);
    }
    case Act::slack: {
      Address magnitude = buffer(a.other).data, kernel = buffer(static_cast<std::uint32_t>(word)).data;
      Address out = buffer(a.flags).data;
      void* p[] = {&at, &magnitude, &kernel, &type, &out, &count, &high};
      return serve(gpu::service_slack, count, p);
    }
    case Act::element: {
      Address result = next_value();
      void* p[] = {&at, &seed, &type, &result};
      return serve(gpu::service_element, 1, p);
    }
  }
  throw Failure{gpu::invalid_value, "an unknown action"};
}

Device::Done Device::act(const std::vector<gpu::Action>& actions,
                         const std::vector<std::uint32_t>& bindings) {
  Done done;
  timed_ = 0;
  value_count_ = 0;
  check(driver_->synchronize(), "waiting for the device");
  const bool flushes = std::any_of(actions.begin(), actions.end(),
                                   [](const gpu::Action& action) { return action.kind == gpu::Act::flush; });
  if (flushes && driver_->reset_persisting != nullptr) (void)driver_->reset_persisting();
  std::size_t values = 0;
  for (const gpu::Action& action : actions)
    values += action.kind == gpu::Act::compare ? 2 : action.kind >= gpu::Act::guard_check ? 1 : 0;
  if (values > 0)
    check(driver_->set_bytes(values_, 0, std::min(values, most_values) * sizeof(std::uint64_t), stream_),
          "preparing results");
  const double begin = detail::monotonic_seconds();
  for (const gpu::Action& action : actions) perform(action, bindings, done);
  check(driver_->stream_synchronize(stream_), "running the kernel");
  check(driver_->synchronize(), "running the kernel");
  done.host_seconds = detail::monotonic_seconds() - begin;
  for (std::size_t i = 0; i < timed_; ++i) {
    float milliseconds = 0;
    check(driver_->event_elapsed(&milliseconds, events_[i].first, events_[i].second), "reading the events");
    done.seconds.push_back(1e-3 * static_cast<double>(milliseconds));
  }
  done.values.resize(value_count_);
  if (value_count_ > 0)
    check(driver_->copy_out(done.values.data(), values_, value_count_ * sizeof(std::uint64_t)),
          "reading results");
  return done;
}

}  // namespace kernelsearch::worker
