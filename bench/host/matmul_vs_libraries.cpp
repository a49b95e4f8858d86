// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tuned matmul against its plain reference, Eigen and OpenBLAS: one process, one core, every
// implementation once a round in random order, so that drifts of the clock meet all alike. Prints a Markdown
// table.
//
//   matmul_vs_libraries [--rounds N] [--sizes 512,768,1024] [WINNER]
//
// WINNER is a shared object that exports `matmul`, or its source, which is then built with
// ${CXX:-g++} -std=c++20 -O3 -march=native -ffp-contract=fast. Without it, the configuration compiled in is
// timed.
#include "matmul_products.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"

#ifdef KERNELSEARCH_BENCH_OPENBLAS
// Declared here: the cblas.h that is found first need not be OpenBLAS's.
extern "C" void openblas_set_num_threads(int);
extern "C" void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
#endif

namespace {

using Product =
    std::function<void(std::int32_t, std::int32_t, std::int32_t, const float*, const float*, float*)>;
using kernelsearch::Rng;

struct Implementation {
  std::string name;
  Product run;
  std::vector<double> seconds;  // one a round
};

struct Interval {
  double low, high;
};

#ifdef KERNELSEARCH_BENCH_OPENBLAS
void matmul_openblas(std::int32_t n, std::int32_t m, std::int32_t k, const float* a, const float* b,
                     float* c) {
  constexpr int row_major = 101, as_is = 111;
  cblas_sgemm(row_major, as_is, as_is, n, m, k, 1.0f, a, k, b, m, 0.0f, c, m);
}
#endif

Product load_winner(const std::filesystem::path& given) {
  std::filesystem::path object = std::filesystem::absolute(given);
  if (object.extension() != ".so") {
    const std::filesystem::path built =
        std::filesystem::temp_directory_path() / ("matmul_winner_" + std::to_string(getpid()) + ".so");
    const char* compiler = std::getenv("CXX");
    const std::string command = std::string(compiler != nullptr ? compiler : "g++") +
                                " -std=c++20 -O3 -march=native -ffp-contract=fast -shared -fPIC '" +
                                object.string() + "' -o '" + built.string() + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot build the winner: " + command);
    object = built;
  }
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object != std::filesystem::absolute(given)) std::filesystem::remove(object);
  if (handle == nullptr) throw std::runtime_error(std::string("cannot load the winner: ") + dlerror());
  void* symbol = dlsym(handle, "matmul");
  if (symbol == nullptr) throw std::runtime_error("the winner exports no function `matmul`");
  return reinterpret_cast<decltype(&matmul)>(symbol);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// 95 % percentile bootstrap over rounds of median(above) / median(below); rounds are drawn jointly because
// both were timed in each of them. An empty `below` counts as 1.
Interval bootstrap(const std::vector<double>& above, const std::vector<double>& below, Rng& rng) {
  constexpr std::size_t resamples = 2000;
  std::vector<double> ratios(resamples), x(above.size()), y(below.size());
  for (double& ratio : ratios) {
    for (std::size_t i = 0; i < above.size(); ++i) {
      const std::size_t round = rng.below(above.size());
      x[i] = above[round];
      if (!below.empty()) y[i] = below[round];
    }
    ratio = median(x) / (below.empty() ? 1.0 : median(y));
  }
  std::sort(ratios.begin(), ratios.end());
  return {ratios[resamples / 40], ratios[resamples - 1 - resamples / 40]};
}

std::vector<float> random_matrix(std::size_t elements, Rng& rng) {
  std::vector<float> values(elements);
  for (float& value : values) value = static_cast<float>(rng.uniform() * 2.0 - 1.0);
  return values;
}

// A wrong product must not be timed: 1000 random elements against sums in double precision.
void verify(const std::string& name, std::size_t n, const std::vector<float>& a, const std::vector<float>& b,
            const std::vector<float>& c, Rng& rng) {
  for (int sample = 0; sample < 1000; ++sample) {
    const std::size_t i = rng.below(n), j = rng.below(n);
    double sum = 0;
    for (std::size_t p = 0; p < n; ++p) sum += double{a[i * n + p]} * double{b[p * n + j]};
    if (!(std::abs(double{c[i * n + j]} - sum) <= 2e-4 + 1e-4 * std::abs(sum))) {
      throw std::runtime_error("wrong product: " + name + " at size " + std::to_string(n));
    }
  }
}

void measure(std::vector<Implementation>& implementations, std::size_t n, std::size_t rounds, Rng& rng) {
  const std::vector<float> a = random_matrix(n * n, rng), b = random_matrix(n * n, rng);
  std::vector<float> c(n * n);
  const auto size = static_cast<std::int32_t>(n);
  for (Implementation& implementation : implementations) {
    std::fill(c.begin(), c.end(), std::nanf(""));
    implementation.run(size, size, size, a.data(), b.data(), c.data());
    verify(implementation.name, n, a, b, c, rng);
    implementation.seconds.clear();
  }
  std::vector<std::size_t> order(implementations.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    for (const std::size_t index : order) {
      const auto begin = std::chrono::steady_clock::now();
      implementations[index].run(size, size, size, a.data(), b.data(), c.data());
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      implementations[index].seconds.push_back(taken.count());
    }
  }
}

void print_rows(const std::vector<Implementation>& implementations, std::size_t n, Rng& rng) {
  const std::vector<double>& tuned = implementations.front().seconds;
  const double operations = 2.0 * std::pow(static_cast<double>(n), 3);
  for (const Implementation& implementation : implementations) {
    const double time = median(implementation.seconds);
    const Interval spread = bootstrap(implementation.seconds, {}, rng);
    std::printf("| %zu | %s | %.3f (%.3f to %.3f) | %.1f | ", n, implementation.name.c_str(), time * 1e3,
                spread.low * 1e3, spread.high * 1e3, operations / time * 1e-9);
    if (&implementation == &implementations.front()) {
      std::printf("1 |\n");
    } else {
      const Interval ratio = bootstrap(implementation.seconds, tuned, rng);
      std::printf("%.3g (%.3g to %.3g) |\n", time / median(tuned), ratio.low, ratio.high);
    }
  }
  std::fflush(stdout);
}

std::vector<std::size_t> parse_sizes(const std::string& list) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t length = 0;
    sizes.push_back(std::stoul(list.substr(begin), &length));
    begin += length + 1;
  }
  return sizes;
}

// Stays where it is now: migrating between cores would show as noise.
void pin_to_this_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

int run(const std::vector<std::string>& arguments) {
  std::size_t rounds = 31;
  std::vector<std::size_t> sizes{512, 768, 1024};
  Product tuned = matmul;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--rounds" && has_value) {
      rounds = std::stoul(arguments[++i]);
    } else if (arguments[i] == "--sizes" && has_value) {
      sizes = parse_sizes(arguments[++i]);
    } else if (!arguments[i].starts_with("-")) {
      tuned = load_winner(arguments[i]);
    } else {
      throw std::runtime_error(
          "usage: matmul_vs_libraries [--rounds N] [--sizes 512,768,1024] [WINNER.so|.cpp]");
    }
  }
  std::vector<Implementation> implementations{{"tuned", tuned, {}},
                                              {"plain reference, -O3", matmul_plain, {}},
                                              {"plain, inner loops swapped, -O3", matmul_plain_swapped, {}},
                                              {"Eigen", matmul_eigen, {}}};
#ifdef KERNELSEARCH_BENCH_OPENBLAS
  openblas_set_num_threads(1);
  implementations.push_back({"OpenBLAS", matmul_openblas, {}});
#endif
  pin_to_this_core();
  std::printf("One core, %zu rounds in random order; medians and ratios with 95 %% bootstrap intervals.\n\n",
              rounds);
  std::printf("| size | product | ms | GFLOP/s | time / tuned |\n|---|---|---|---|---|\n");
  Rng rng(20240001);
  for (const std::size_t n : sizes) {
    measure(implementations, n, rounds, rng);
    print_rows(implementations, n, rng);
  }
  return 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(std::vector<std::string>(values + 1, values + count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "matmul_vs_libraries: %s\n", error.what());
    return 1;
  }
}
