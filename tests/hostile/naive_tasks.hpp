// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "hostile/naive_harness.hpp"

/// The problems of this folder as a naive harness is told them: one shape, the timed one.
namespace hostile {

template <class Function>
Function* as(void* kernel) {
  return reinterpret_cast<Function*>(kernel);
}

inline naive::Task naive_matmul(int n = 64) {
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  naive::Task task{.function = "matmul", .inputs = {count, count}, .outputs = {count}};
  task.call = [n](void* kernel, const auto& in, const auto& out) {
    as<void(int, const float*, const float*, float*)>(kernel)(n, in[0], in[1], out[0]);
  };
  task.reference = [n](const auto& in, const auto& out) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int k = 0; k < n; ++k) sum += in[0][i * n + k] * in[1][k * n + j];
        out[0][i * n + j] = sum;
      }
  };
  return task;
}

inline naive::Task naive_matvec() {
  constexpr int n = 48;
  naive::Task task{.function = "matvec", .inputs = {n * n, n}, .outputs = {n}};
  task.call = [](void* kernel, const auto& in, const auto& out) {
    as<void(int, const float*, const float*, float*)>(kernel)(n, in[0], in[1], out[0]);
  };
  task.reference = [](const auto& in, const auto& out) {
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int j = 0; j < n; ++j) sum += in[0][i * n + j] * in[1][j];
      out[0][i] = sum;
    }
  };
  return task;
}

inline naive::Task naive_chain(const std::string& function, int n) {
  const auto count = static_cast<std::size_t>(n);
  naive::Task task{.function = function, .inputs = {count}, .outputs = {count}};
  task.call = [n](void* kernel, const auto& in, const auto& out) {
    as<void(int, const float*, float*)>(kernel)(n, in[0], out[0]);
  };
  task.reference = [n](const auto& in, const auto& out) {
    float last = 0;
    for (int i = 0; i < n; ++i)
      out[0][i] = last = ((last * 0.5f + in[0][i]) * 0.5f + in[0][i]) * 0.5f + in[0][i];
  };
  return task;
}

inline naive::Task naive_costly() {
  constexpr int n = 1024;
  naive::Task task{.function = "costly", .inputs = {n}, .outputs = {n}};
  task.call = [](void* kernel, const auto& in, const auto& out) {
    as<void(int, const float*, float*)>(kernel)(n, in[0], out[0]);
  };
  task.reference = [](const auto& in, const auto& out) {
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 1; k <= 40; ++k) sum += std::cos(static_cast<double>(in[0][i]) * k) / k;
      out[0][i] = static_cast<float>(sum);
    }
  };
  return task;
}

inline naive::Task naive_mean_of_softmax() {
  constexpr int n = 16, m = 64;
  naive::Task task{.function = "mean_of_softmax", .inputs = {n * m}, .outputs = {n}};
  task.call = [](void* kernel, const auto& in, const auto& out) {
    as<void(int, int, const float*, float*)>(kernel)(n, m, in[0], out[0]);
  };
  task.reference = [](const auto& in, const auto& out) {
    for (int i = 0; i < n; ++i) {
      float sum = 0, mean = 0;
      for (int j = 0; j < m; ++j) sum += std::exp(in[0][i * m + j]);
      for (int j = 0; j < m; ++j) mean += std::exp(in[0][i * m + j]) / sum;
      out[0][i] = mean / m;
    }
  };
  return task;
}

inline naive::Task naive_scale_and_sum() {
  constexpr int n = 4096;
  naive::Task task{.function = "scale_and_sum", .inputs = {n}, .outputs = {n, 1}};
  task.call = [](void* kernel, const auto& in, const auto& out) {
    as<void(int, const float*, float*, float*)>(kernel)(n, in[0], out[0], out[1]);
  };
  task.reference = [](const auto& in, const auto& out) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += out[0][i] = 3 * in[0][i] + 1;
    *out[1] = sum;
  };
  return task;
}

inline naive::Task naive_task(const std::string& problem) {
  if (problem == "matmul" || problem == "matmul_threads") return naive_matmul();
  if (problem == "matmul_shapes") return naive_matmul(16);
  if (problem == "matvec") return naive_matvec();
  if (problem == "chain") return naive_chain(problem, 4096);
  if (problem == "chain_short") return naive_chain(problem, 128);
  if (problem == "chain_tiny") return naive_chain(problem, 24);
  if (problem == "slow_reference") return naive_matmul(160);
  if (problem == "costly") return naive_costly();
  if (problem == "mean_of_softmax") return naive_mean_of_softmax();
  if (problem == "scale_and_sum") return naive_scale_and_sum();
  throw std::runtime_error("no naive task is written for " + problem);
}

/// The habits that `naive: fooled with ...` names.
inline naive::Habits naive_habits(const std::string& says) {
  naive::Habits habits;
  habits.limit_seconds = 5;
  if (says.find("reference last") != std::string::npos) habits.reference_first = false;
  if (says.find("baseline in a file") != std::string::npos) habits.baseline_from_file = true;
  if (says.find("a wait") != std::string::npos) habits.wait_before_checking = 0.05;
  return habits;
}

}  // namespace hostile
