// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/read_problem.hpp"

/// Kernels that are timed beside themselves: every ratio that is printed for them should be 1.
namespace equal {

using namespace kernelsearch;

/// What the baseline of a problem is.
enum class Baseline {
  own_default,  ///< no reference: the kernel at its default configuration
  reference,    ///< one of the problem's own, the same text and flags
  bit_exact,    ///< the same, with outputs that must be equal to the bit
};

/// A problem that is made of a size and an amount of work for each element.
struct Kernel {
  std::string name;
  std::size_t elements = 1;
  int steps = 0;  ///< for each element, one after another; 0: a sweep over the arrays, as fast as memory is
  Baseline baseline = Baseline::reference;
  bool in_place = false;  ///< the output is an input as well
  int threads = 1;
  bool device = false;    ///< for CUDA
  bool launches = false;  ///< by a launch function, which the clock outside times
};

/// The kernel, as the tunable `TWIN` says: all twins do the same, but for `extra` of each hundred steps that
/// twin 0 does besides. `name` is that of the function. On the host each step waits for the one before, also
/// those of the next element.
inline std::string text_of(const Kernel& kernel, const std::string& name, int extra) {
  const std::string from = kernel.in_place ? "y[i]" : "x[i]";
  const std::string parameters =
      "(int n, " + std::string(kernel.in_place ? "" : "const unsigned* x, ") + "unsigned* y) {\n";
  const std::string length = std::to_string(kernel.steps);
  const std::string more = "(TWIN == 0 ? " + std::to_string(kernel.steps * extra / 100) + " : 0)";
  const std::string chain = std::string(kernel.device ? "__device__ " : "static inline ") +
                            "unsigned steps(unsigned v, int count) {\n"
                            "  for (int i = 0; i < count; ++i) {\n"
                            "    v *= 2654435761u;\n"
                            "    v ^= v >> 15;\n"
                            "  }\n"
                            "  return v;\n"
                            "}\n";
  const std::string sweep = "y[i] = " + from + " * 3u + 1u;\n";
  if (kernel.device)
    return (kernel.steps == 0 ? "" : chain) + "extern \"C\" __global__ void " + name + parameters +
           "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  if (i >= n) return;\n  " +
           (kernel.steps == 0 ? sweep
                              : "const unsigned v = steps(" + from + ", " + length +
                                    ");\n  y[i] = v + (steps(v, " + more + ") & (unsigned)(n >> 31));\n") +
           "}\n";
  const std::string head =
      "[[gnu::used]] static const int twin_of_" + name + " = TWIN;\nextern \"C\" void " + name + parameters;
  if (kernel.steps == 0) return head + "  for (int i = 0; i < n; ++i) " + sweep + "}\n";
  return chain + head +
         "  unsigned none = 0, before = 0;\n"
         "  asm volatile(\"\" : \"+r\"(none));  // 0, which no compiler knows\n"
         "  for (int i = 0; i < n; ++i) {\n"
         "    y[i] = steps(" +
         from + " ^ before, " + length + ");\n    before = steps(y[i], " + more + ") & none;\n  }\n}\n";
}

inline std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return all + "\"";
}

/// The problem; `extra` is how much more its default configuration and its reference do, in per cent.
inline Problem problem_of(const Kernel& kernel, int extra = 0) {
  const std::string grid = R"({"grid": ["(n + 127) // 128"], "block": [128]})";
  std::string text = R"({"schema": 1, "name": )" + quoted(kernel.name) +
                     R"(, "function": "work", "backend": )" + (kernel.device ? "\"cuda\"" : "\"host\"") +
                     ", \"kernel\": {\"device\": {\"text\": " +
                     quoted(text_of(kernel, kernel.launches ? "on_device" : "work", extra)) + "}";
  if (kernel.launches)
    text += ", \"host\": {\"text\": " +
            quoted(
                "void work(int n, const unsigned* x, unsigned* y, cudaStream_t stream) {\n"
                "  on_device<<<(n + 127) / 128, 128, 0, stream>>>(n, x, y);\n}\n") +
            "}";
  text += R"(}, "arguments": [{"name": "n", "type": "i32"})";
  const std::string array = R"("type": "u32", "size": "n", "low": 0, "high": 4000000000)";
  text += kernel.in_place ? ", {\"name\": \"y\", " + array + ", \"role\": \"inout\"}"
                          : ", {\"name\": \"x\", " + array +
                                "}, {\"name\": \"y\", \"type\": \"u32\", \"size\": \"n\", \"role\": \"out\"}";
  text += R"(], "shapes": [{"name": "all", "n": )" + std::to_string(kernel.elements) + "}]";
  text += R"(, "tunables": {"TWIN": [0, 1, 2, 3]})";
  if (kernel.threads > 1) text += ", \"threads\": " + std::to_string(kernel.threads);
  if (kernel.device && !kernel.launches) text += ", \"launch\": " + grid;
  if (!kernel.device) text += R"(, "build": {"compiler": "g++", "flags": ["-O3", "-march=native"]})";
  if (kernel.device || kernel.baseline != Baseline::own_default) {
    // A text of its own, with everything that twin 0 does.
    text += ", \"reference\": {\"function\": \"work_reference\", \"source\": {\"text\": " +
            quoted("#define TWIN 0\n" + text_of(kernel, "work_reference", extra)) + "}";
    text += kernel.device ? ", \"launch\": " + grid + "}" : R"(, "flags": ["-O3", "-march=native"]})";
  }
  if (kernel.baseline == Baseline::bit_exact) text += R"(, "bit_exact": true)";
  return parse_problem(text + "}", ".");
}

/// One of the equal configurations.
inline Candidate twin(const Problem& problem, int number) {
  const auto kernel = std::make_shared<const kernelsearch::Kernel>(problem.kernel);
  const std::vector<Value> values{std::int64_t{number}};
  return {kernel, kernel->space.config_of(values).value()};
}

/// Kernels from 20 ns to 100 ms and arrays from 1 KiB to beyond the last cache, for the host: forty.
inline std::vector<Kernel> host_kernels() {
  struct Size {
    const char* name;
    std::size_t elements;
    int steps;
  };
  const Size sizes[] = {{"sweep_1k", 256, 0},       {"sweep_8k", 2048, 0},        {"sweep_64k", 16384, 0},
                        {"sweep_800k", 200000, 0},  {"sweep_8m", 2000000, 0},     {"sweep_128m", 32000000, 0},
                        {"chain_100ns", 4, 15},     {"chain_1us", 8, 100},        {"chain_3us", 16, 200},
                        {"chain_20us", 16, 1000},   {"chain_100us", 256, 300},    {"chain_1ms", 1024, 1000},
                        {"chain_10ms", 20000, 500}, {"chain_100ms", 100000, 1000}};
  std::vector<Kernel> all;
  int turn = 0;
  for (const Size& size : sizes) {
    const std::string name = size.name;
    all.push_back({name + "_reference", size.elements, size.steps, Baseline::reference});
    if (name == "chain_100ms" || name == "sweep_128m") continue;
    all.push_back({name + "_default", size.elements, size.steps, Baseline::own_default});
    switch (turn++ % 3) {
      case 0:
        all.push_back({name + "_bit_exact", size.elements, size.steps, Baseline::bit_exact});
        break;
      case 1:
        all.push_back({name + "_in_place", size.elements, size.steps, Baseline::reference, true});
        break;
      default:
        all.push_back({name + "_threads", size.elements, size.steps, Baseline::reference, false, 2});
    }
  }
  all.push_back({"sweep_64k_in_place", 16384, 0, Baseline::own_default, true});
  all.push_back({"chain_20us_threads", 16, 1000, Baseline::own_default, false, 2});
  return all;
}

/// The same for a GPU, by events and by the clock outside: a block of threads to all of the device.
inline std::vector<Kernel> device_kernels() {
  std::vector<Kernel> all;
  for (const auto& [name, elements, steps] : {std::tuple<const char*, std::size_t, int>{"small", 256, 1000},
                                              {"short", 4096, 100},
                                              {"wide", 1000000, 100},
                                              {"long", 4096, 100000},
                                              {"sweep", 4000000, 0},
                                              {"sweep_large", 64000000, 0}}) {
    Kernel kernel{std::string("gpu_") + name, elements, steps};
    kernel.device = true;
    all.push_back(kernel);
    kernel.name += "_in_place";
    kernel.in_place = true;
    all.push_back(kernel);
    kernel.name = std::string("gpu_") + name + "_launched";
    kernel.in_place = false;
    kernel.launches = true;
    all.push_back(kernel);
  }
  return all;
}

/// A ratio of two times as it is printed.
struct Ratio {
  double ratio = 0;
  Interval interval{};

  [[nodiscard]] bool misses_one() const { return interval.low > 1 || interval.high < 1; }
};

inline std::optional<Ratio> ratio_of(const std::optional<Speedup>& speedup) {
  if (!speedup || speedup->pairs == 0) return std::nullopt;
  return Ratio{speedup->ratio, speedup->interval};
}

/// That of a kernel beside its parent, the parent's time divided by its own.
inline std::optional<Ratio> ratio_to_parent(const Evaluation& evaluation) {
  const auto ratio = evaluation.features.find("times_parent"),
             low = evaluation.features.find("times_parent.low"),
             high = evaluation.features.find("times_parent.high");
  if (!ratio || !low || !high) return std::nullopt;
  return Ratio{1 / *ratio, {1 / *high, 1 / *low}};
}

/// The median of several.
inline double middle_of(const std::vector<Ratio>& ratios) {
  std::vector<double> all;
  for (const Ratio& one : ratios) all.push_back(one.ratio);
  return median(all);
}

}  // namespace equal
