// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Peaks are maxima: of several short measurements the fastest counts, since all that disturbs makes them
// slower.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "evaluator/host/peak_kernels.hpp"
#include "evaluator/host/peaks.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "process/process.hpp"

namespace kernelsearch {
namespace detail {
namespace {

// Shorter than what a scheduler gives a neighbour, longer than thousands of readings of the clock; in rounds
// over all that is measured, so that one disturbance does not meet all measurements of one kind.
constexpr double shortest_seconds = 4e-4;
constexpr int rounds = 20, memory_rounds = 3;
constexpr double warm_seconds = 0.01;  // until the clock of the core has risen
constexpr std::size_t memory_bytes = std::size_t{64}
                                     << 20;  // streamed from main memory, all threads together

std::size_t system_bytes(int level) {
  const long bytes = sysconf(level == 1   ? _SC_LEVEL1_DCACHE_SIZE
                             : level == 2 ? _SC_LEVEL2_CACHE_SIZE
                                          : _SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

/// Pages of its own, aligned, written once so that they are there.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED)
      raise<DeviceError>("no memory to measure bandwidth with", std::to_string(bytes) + " bytes",
                         "free memory");
    (void)madvise(data_, bytes_, MADV_HUGEPAGE);  // fewer page walks; as well without
    for (std::size_t i = 0; i < bytes_; i += 4096) static_cast<volatile char*>(data_)[i] = 1;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { munmap(data_, bytes_); }
  [[nodiscard]] char* data() const noexcept { return static_cast<char*>(data_); }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

/// One thread of those that measure together.
class Gauge {
 public:
  Gauge(const PeakKernels& kernels, const CacheSizes& caches, std::size_t threads, std::barrier<>& together)
      : kernels_(kernels), caches_(caches), threads_(threads), together_(together) {}

  /// Rates of this thread: operations in f32 and f64, bytes of L1, L2, L3 and memory; 0 where not measured.
  std::array<double, 6> rates() {
    std::array<double, 6> found{};
    if (kernels_.f32 == nullptr) return found;
    warm_up();
    // Half of a level, so that neither the stack nor the neighbours evict it. The last is shared by threads,
    // and with other guests of a machine: four times what is nearer is enough to come from there.
    const std::size_t halves[] = {
        caches_.bytes[0] / 2, caches_.bytes[1] / 2,
        std::min(caches_.bytes[2] / 2 / threads_, 4 * std::max(caches_.bytes[1], std::size_t{1} << 20))};
    const std::size_t most =
        std::min(std::max({halves[0], halves[1], halves[2], std::size_t{4096}}), memory_bytes);
    const Buffer buffer(most);
    char* const data = buffer.data();
    std::vector<Task> tasks;
    tasks.push_back({0, static_cast<double>(kernels_.f32_operations), kernels_.f32});
    tasks.push_back({1, static_cast<double>(kernels_.f64_operations), kernels_.f64});
    for (std::size_t level = 0; level < 3; ++level) {
      const std::size_t inner = level == 0 ? 0 : halves[level - 1];
      const std::size_t half = std::min(halves[level], most) / 1024 * 1024;
      if (half == 0 || half <= inner) continue;
      const auto bytes = static_cast<double>(half);
      tasks.push_back({2 + level, bytes, [=, this](std::size_t n) {
                         for (std::size_t i = 0; i < n; ++i) kernels_.read(data, half);
                       }});
      tasks.push_back({2 + level, bytes, [=, this](std::size_t n) {  // half is read, half is written
                         for (std::size_t i = 0; i < n; ++i) kernels_.copy(data + half / 2, data, half / 2);
                       }});
    }
    for (Task& task : tasks) calibrate(task);
    for (int round = 0; round < rounds; ++round)
      for (const Task& task : tasks) {
        together_.arrive_and_wait();
        const double work = task.units * static_cast<double>(task.times);
        found[task.rate] = std::max(found[task.rate], work / seconds_of(task));
      }
    found[5] = from_memory();
    return found;
  }

 private:
  struct Task {
    std::size_t rate;  ///< its place among the rates
    double units;      ///< that are done each time
    std::function<void(std::size_t times)> run;
    std::size_t times = 1;
  };

  void warm_up() {
    const double begin = monotonic_seconds();
    while (monotonic_seconds() - begin < warm_seconds) kernels_.f32(1000);
  }

  static double seconds_of(const Task& task) {
    const double begin = monotonic_seconds();
    task.run(task.times);
    return monotonic_seconds() - begin;
  }

  /// The fastest of three decides: one that was disturbed would pass for long enough.
  static void calibrate(Task& task) {
    while (std::min({seconds_of(task), seconds_of(task), seconds_of(task)}) < shortest_seconds)
      task.times *= 2;
  }

  /// Lines are dropped before each pass: shared caches may be larger than any buffer that is worth its time.
  double from_memory() {
    const std::size_t part =
        std::max<std::size_t>(memory_bytes / 2 / threads_, std::size_t{2} << 20) / 4096 * 4096;
    const Buffer from(part), to(part);
    double best = 0;
    for (int i = 0; i < memory_rounds; ++i)
      for (const bool copies : {false, true}) {
        drop_from_caches(from.data(), part);
        if (copies) drop_from_caches(to.data(), part);
        together_.arrive_and_wait();
        const double begin = monotonic_seconds();
        if (copies)
          kernels_.copy_past_caches(to.data(), from.data(), part);
        else
          kernels_.read(from.data(), part);
        best = std::max(best, static_cast<double>(copies ? 2 * part : part) / (monotonic_seconds() - begin));
      }
    return best;
  }

  const PeakKernels& kernels_;
  const CacheSizes& caches_;
  std::size_t threads_;
  std::barrier<>& together_;
};

}  // namespace

CacheSizes cache_sizes(int core, const std::filesystem::path& root) {
  CacheSizes sizes;
  for (int index = 0; index < 8; ++index) {
    const auto folder = root / ("cpu" + std::to_string(core)) / "cache" / ("index" + std::to_string(index));
    int level = 0;
    std::string type, size;
    std::ifstream(folder / "level") >> level;
    std::ifstream(folder / "type") >> type;
    std::ifstream(folder / "size") >> size;
    if (level < 1 || level > 3 || type == "Instruction" || size.empty()) continue;
    char* end = nullptr;
    const auto number = std::strtoull(size.c_str(), &end, 10);
    const unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (number < std::uint64_t{1} << 30) sizes.bytes[level - 1] = static_cast<std::size_t>(number) << shift;
  }
  return sizes;
}

std::vector<int> peak_cores(const HostMachine& machine, const HostPeaksOptions& options) {
  const auto threads = static_cast<std::size_t>(std::max(1, options.threads));
  if (options.core >= 0 &&
      std::find(machine.cores.begin(), machine.cores.end(), options.core) == machine.cores.end())
    raise<ConfigError>("the core to measure on is not ours", std::to_string(options.core),
                       "choose one of those allowed");
  if (machine.cores.size() < threads)
    raise<ConfigError>("peaks of more threads than there are cores", std::to_string(threads),
                       "lower `threads`");
  std::vector<int> cores;
  if (options.core >= 0) cores.push_back(options.core);
  for (auto core = machine.cores.rbegin(); core != machine.cores.rend() && cores.size() < threads; ++core)
    if (*core != options.core) cores.push_back(*core);
  return cores;
}

}  // namespace detail

DevicePeaks measure_host_peaks(const HostPeaksOptions& options) {
  using namespace detail;
  const HostMachine machine = host_machine();
  const std::vector<int> cores = peak_cores(machine, options);
  const PeakKernels kernels = peak_kernels();
  std::vector<MeasuredThing> things;
  if (!options.has_turn)
    for (const int core : cores) things.push_back(measured_core(core));
  const MeasuringTurn turn = MeasuringTurn::take(std::move(things));
  CacheSizes caches = cache_sizes(cores.front());
  for (int level = 1; level <= 3; ++level)
    if (caches.bytes[level - 1] == 0) caches.bytes[level - 1] = system_bytes(level);

  std::vector<std::array<double, 6>> rates(cores.size());
  std::vector<std::string> problems(cores.size());
  {
    std::barrier<> together(static_cast<std::ptrdiff_t>(cores.size()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cores.size(); ++i)
      threads.emplace_back([&, i] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(cores[i]), &one);
        (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);  // as well anywhere, only less steady
        try {
          rates[i] = Gauge(kernels, caches, cores.size(), together).rates();
        } catch (const Error& error) {
          problems[i] = error.what();
          together.arrive_and_drop();
        }
      });
  }
  for (const std::string& problem : problems)
    if (!problem.empty()) throw DeviceError(problem);
  const auto all = [&](std::size_t which) {
    double sum = 0;
    for (const auto& one : rates) sum += one[which];
    return sum > 0 ? std::optional(sum) : std::nullopt;
  };
  DevicePeaks peaks;
  peaks.device = machine.id();
  peaks.source = "measured on " + std::to_string(cores.size()) + (cores.size() == 1 ? " core" : " cores") +
                 (kernels.vectors.empty() ? "" : " with " + kernels.vectors);
  peaks.f32 = all(0);
  peaks.f64 = all(1);
  const double threads = static_cast<double>(cores.size());
  for (std::size_t level = 0; level < 3; ++level)
    if (caches.bytes[level] != 0 && all(2 + level))
      peaks.levels.push_back({"L" + std::to_string(level + 1),
                              static_cast<double>(caches.bytes[level]) * (level < 2 ? threads : 1.0),
                              all(2 + level)});
  peaks.levels.push_back({.name = "memory", .bandwidth = all(5)});
  return peaks;
}

}  // namespace kernelsearch
