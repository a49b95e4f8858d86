// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// A harness as many are: what the hacks of tests/hostile are shown to beat, so that a test which sees the
/// judge refuse them means something. It is no part of the library. Every habit below is one of a published
/// harness (KernelBench, robust-kbench, KernelAgent and others).
namespace naive {

/// What is computed: arrays of f32 in, arrays of f32 out.
struct Task {
  std::string function;               ///< the symbol of the kernel
  std::vector<std::size_t> inputs{};  ///< elements of each; drawn from [-1, 1)
  std::vector<std::size_t> outputs{};
  /// Calls the kernel, as a pointer to its function, on these arrays.
  std::function<void(void* kernel, const std::vector<float*>& in, const std::vector<float*>& out)> call{};
  std::function<void(const std::vector<float*>& in, const std::vector<float*>& out)> reference{};
};

/// How careless it is; the defaults are the usual ones.
struct Habits {
  bool reference_first =
      true;  ///< else the reference runs after the kernel, on whatever the inputs are by then
  bool baseline_from_file = false;  ///< the reference's time is kept in `baseline.txt` of the working folder
  unsigned seed = 42;               ///< of the only inputs there are
  int warm_ups = 3;
  int calls = 100;                    ///< timed ones, their mean counts
  double tolerance = 1e-2;            ///< absolute and relative
  double wait_before_checking = 0.0;  ///< in seconds: others fetch the output, which takes a while
  int limit_seconds = 20;
};

/// What it believes.
struct Report {
  bool accepted = false;
  double seconds = 0;  ///< of one call
  double reference_seconds = 0;
  std::string text;  ///< all that the process printed, or what went wrong
  [[nodiscard]] double speedup() const { return seconds > 0 ? reference_seconds / seconds : 0.0; }
};

/// Memory in which a freed block is given out again as it is, to the next who asks for as much: what
/// frameworks' allocators do. Blocks lie one after another, so that one array is found from another.
class Pool {
 public:
  [[nodiscard]] float* take(std::size_t elements) {
    const std::size_t bytes = rounded(elements);
    auto& free = free_[bytes];
    if (!free.empty()) {
      float* const block = free.back();
      free.pop_back();
      return block;
    }
    if (used_ + bytes > size) throw std::bad_alloc();
    auto* const block = reinterpret_cast<float*>(memory_ + used_);
    used_ += bytes;
    return block;
  }
  void give_back(float* block, std::size_t elements) { free_[rounded(elements)].push_back(block); }

  Pool() : memory_(static_cast<std::byte*>(std::aligned_alloc(4096, size))) {
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_, 0, size);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { std::free(memory_); }

 private:
  static constexpr std::size_t size = std::size_t{64} << 20;
  static std::size_t rounded(std::size_t elements) { return (elements * sizeof(float) + 4095) / 4096 * 4096; }
  std::byte* memory_;
  std::size_t used_ = 0;
  std::map<std::size_t, std::vector<float*>> free_;
};

/// As `allclose` with `equal_nan`, of the first output only.
[[nodiscard]] inline bool all_close(const float* got, const float* expected, std::size_t count,
                                    double tolerance) {
  for (std::size_t i = 0; i < count; ++i) {
    const double g = static_cast<double>(got[i]), e = static_cast<double>(expected[i]);
    if (std::isnan(g) && std::isnan(e)) continue;
    if (g == e) continue;
    if (!(std::abs(g - e) <= tolerance + tolerance * std::abs(e))) return false;
  }
  return true;
}

/// The mean of `calls` calls by a clock in this process.
template <class Call>
[[nodiscard]] double mean_seconds(const Call& call, int warm_ups, int calls) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < warm_ups; ++i) call();
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    const auto begin = Clock::now();
    call();
    sum += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return sum / calls;
}

namespace detail {

/// Everything that happens in the process of the kernel: loading, checking, timing, and printing the result.
inline void judge_here(const std::string& library, const Task& task, const Habits& habits) {
  std::mt19937 generator(habits.seed);
  std::uniform_real_distribution<float> draw(-1.0f, 1.0f);
  Pool pool;
  std::vector<float*> in, out, expected;
  for (const std::size_t count : task.inputs) {
    in.push_back(pool.take(count));
    for (std::size_t i = 0; i < count; ++i) in.back()[i] = draw(generator);
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const kernel = handle != nullptr ? dlsym(handle, task.function.c_str()) : nullptr;
  if (kernel == nullptr) {
    std::printf("not loaded: %s\n", dlerror());
    return;
  }
  for (const std::size_t count : task.outputs) expected.push_back(pool.take(count));
  const auto reference = [&] {
    std::vector<float*> results;
    for (const std::size_t count : task.outputs) results.push_back(pool.take(count));
    task.reference(in, results);
    for (std::size_t o = 0; o < results.size(); ++o) {
      std::memcpy(expected[o], results[o], task.outputs[o] * sizeof(float));
      pool.give_back(results[o], task.outputs[o]);
    }
  };
  if (habits.reference_first) reference();
  for (const std::size_t count : task.outputs) out.push_back(pool.take(count));
  task.call(kernel, in, out);
  if (!habits.reference_first) reference();
  if (habits.wait_before_checking > 0) usleep(static_cast<useconds_t>(1e6 * habits.wait_before_checking));
  if (!all_close(out[0], expected[0], task.outputs[0], habits.tolerance)) {
    std::printf("wrong result\n");
    return;
  }
  const double seconds = mean_seconds([&] { task.call(kernel, in, out); }, habits.warm_ups, habits.calls);
  double baseline = 0;
  std::ifstream known("baseline.txt");
  if (!habits.baseline_from_file || !(known >> baseline))
    baseline = mean_seconds([&] { task.reference(in, out); }, habits.warm_ups, habits.calls);
  if (habits.baseline_from_file) std::ofstream("baseline.txt") << baseline;
  std::printf("RESULT ok %.9e %.9e\n", seconds, baseline);
}

}  // namespace detail

/// Compiles a kernel's source with g++ into a shared library of `folder`; the library, or an empty path where
/// that fails.
[[nodiscard]] inline std::filesystem::path build(const std::string& source,
                                                 const std::filesystem::path& folder,
                                                 const std::string& flags = "-O2") {
  static int number = 0;
  const auto at = folder / ("naive-" + std::to_string(getpid()) + "-" + std::to_string(number++));
  std::filesystem::path code = at, library = at;
  code += ".cpp";
  library += ".so";
  std::ofstream(code) << source;
  const std::string command = "g++ -std=c++20 " + flags + " -shared -fPIC -pthread -o '" + library.string() +
                              "' '" + code.string() + "' -ldl";
  return std::system(command.c_str()) == 0 ? library : std::filesystem::path();
}

/// Judges a library: in a process of its own with `folder` as working folder, and believes the first line
/// "RESULT ok SECONDS SECONDS" that this process prints.
[[nodiscard]] inline Report judge_library(const std::filesystem::path& library, const Task& task,
                                          const std::filesystem::path& folder, const Habits& habits = {}) {
  Report report;
  int ends[2];
  if (library.empty() || pipe(ends) != 0) {
    report.text = library.empty() ? "it was not built" : "no pipe";
    return report;
  }
  (void)std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    (void)setpgid(0, 0);  // what a kernel starts ends with it, below
    (void)dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    if (chdir(folder.c_str()) != 0) _exit(1);
    detail::judge_here(std::filesystem::absolute(library).string(), task, habits);
    (void)std::fflush(nullptr);
    _exit(0);
  }
  close(ends[1]);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(habits.limit_seconds);
  char buffer[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd one{ends[0], POLLIN, 0};
    if (left.count() <= 0 || poll(&one, 1, static_cast<int>(left.count())) <= 0) break;
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count <= 0) break;
    report.text.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  kill(child, SIGKILL);
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  const auto at = report.text.find("RESULT ok ");
  report.accepted = at != std::string::npos && std::sscanf(report.text.c_str() + at, "RESULT ok %le %le",
                                                           &report.seconds, &report.reference_seconds) == 2;
  return report;
}

/// Builds and judges the source of a kernel.
[[nodiscard]] inline Report judge(const std::string& source, const Task& task,
                                  const std::filesystem::path& folder, const Habits& habits = {},
                                  const std::string& flags = "-O2") {
  return judge_library(build(source, folder, flags), task, folder, habits);
}

}  // namespace naive
