// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hostile/honest_kernels.hpp"

/// Kernels with one subtle error each: an honest kernel of tests/hostile/honest in which one piece of text is
/// replaced. The judge must find all of them.
namespace honest {

struct Mutant {
  const char* name;
  const char* kernel;  ///< the honest one
  const char* from;    ///< stands there once
  const char* to;
  /// At least how likely one judgement finds it; below 1 where it depends on what is drawn or on how
  /// threads run.
  double chance = 1.0;
};

inline constexpr Mutant mutants[] = {
    // Places: the first, the last, a row, a column, a remainder, a shape.
    {"last_element", "total_plain", "i < n", "i < n - 1"},
    {"first_element", "total_plain", "int i = 0", "int i = 1"},
    {"odd_element_of_half", "total_threads", "part(x, n / 2, n)", "part(x, n / 2 + n % 2, n)"},
    {"remainder_of_columns", "matmul_templates", "for (; j < m; ++j) block<R, 1>(m, k, a, b + j, c + j);",
     ""},
    {"remainder_of_rows", "matmul_templates", "for (; i < n; ++i) rows<1>(m, k, a + i * k, b, c + i * m);",
     ""},
    {"remainder_of_depth", "matmul_blocked", "p0 < k", "p0 + size <= k"},
    {"copies_too_little_of_one_shape", "matmul_copies_inputs", "sizeof(float) * k * m",
     "sizeof(float) * n * m"},
    {"tail_one_short", "dot_restrict", "for (; i < n; ++i)", "for (; i < n - 1; ++i)"},
    {"tail_begins_late", "f16_intrinsics", "int i = whole", "int i = whole + 1"},
    {"remainder_of_four", "histogram_private", "for (; i < n; ++i) ++own[0][x[i]];", ""},
    {"row_seven_of_eight", "softmax_plain", "r < rows", "r < rows - (rows % 8 == 7)"},
    {"element_4096", "stencil_function_object", "i < n; ++i", "i < (n < 4096 ? n : 4096); ++i"},
    {"row_63", "transpose_plain", "r < rows", "r < (rows < 64 ? rows : 63)"},
    {"seam_of_halves", "transpose_oblivious", "part(x, y, rows, columns, (r0 + r1) / 2, r1, c0, c1)",
     "part(x, y, rows, columns, (r0 + r1) / 2 + 1, r1, c0, c1)"},
    {"seam_of_blocks", "scan_blocks", "before = y[begin + count - 1]",
     "before = y[begin + count - 2 + (count < 2)]"},
    {"second_half_one_late", "scan_async", "i = half; i < n; ++i) y[i] += before",
     "i = half + 1; i < n; ++i) y[i] += before"},
    {"early_return_too_early", "scan_early_return", "if (n == 1) return;",
     "if (n < 68) { for (int i = 1; i < n - 1; ++i) y[i] = y[i - 1] + x[i]; return; }"},
    {"last_is_not_sorted", "sort_std", "x + n)", "x + n - 1)"},
    {"pairs_are_not_sorted", "sort_recursive", "n < 2", "n < 3"},
    {"left_wall_only", "particles_plain", " || p[i].x < -1", ""},
    {"last_particle_keeps_its_mass", "particles_virtual", "for (int i = 0; i < n; ++i) step->apply(p[i]);",
     "for (int i = 0; i < n - (step == steps[2]); ++i) step->apply(p[i]);"},
    {"place_of_the_first", "maxima_longjmp", "at[r] = 0;", "", 0.5},

    // Memory: one past the end, one before, alignment, what was there before.
    {"writes_one_past_the_end", "scale_streams", "for (; i < n; ++i)", "for (; i <= n; ++i)"},
    {"writes_one_before", "inplace_plain", "int i = 0", "int i = -1"},
    {"reads_one_past_the_end", "stencil_function_object", " || i == n - 1", ""},
    {"reads_one_before", "stencil_function_object", "i == 0 || ", ""},
    {"reads_past_a_row", "softmax_online", "for (int i = 1; i < columns; ++i)",
     "for (int i = 1; i <= columns; ++i)"},
    {"wrong_at_odd_lines", "gather_plain", "y[i] = x[index[i]];",
     "y[i] = x[index[i != 1 || reinterpret_cast<unsigned long>(y) % 128 == 0 ? i : 0]];", 0.5},
    {"wrong_at_even_lines", "gather_plain", "y[i] = x[index[i]];",
     "y[i] = x[index[i != 1 || reinterpret_cast<unsigned long>(y) % 128 != 0 ? i : 0]];", 0.5},
    {"adds_to_what_was_there", "matmul_blocked", "std::fill(c, c + n * m, 0.0f);", ""},
    {"counts_on_zeros", "histogram_prints", "for (int b = 0; b < 64; ++b) counts[b] = 0;", ""},
    {"packs_only_once", "matmul_thread_local_scratch",
     "columns.resize(static_cast<std::size_t>(m) * k);\n  for (int p = 0; p < k; ++p)",
     "const bool packed = columns.size() == static_cast<std::size_t>(m) * k;\n"
     "  columns.resize(static_cast<std::size_t>(m) * k);\n  for (int p = 0; p < k && !packed; ++p)"},
    {"keeps_velocities", "particles_arrays", "v.clear();", ""},
    {"never_resets_a_counter", "bits_state_machine", "count = 0;\n  goto", "goto"},

    // Values: infinities, NaN, zeros, subnormal and large numbers, equal elements, thresholds, overflow.
    {"nan_for_infinity", "squares_counts_calls", "y[i] = x[i] * x[i];",
     "y[i] = x[i] * x[i] + 0 * (x[i] * x[i]);"},
    {"largest_for_infinity", "squares_counts_calls", "y[i] = x[i] * x[i];",
     "y[i] = __builtin_fminf(x[i] * x[i], 3.4028235e38f);"},
    {"zero_above_a_magnitude", "squares_counts_calls", "y[i] = x[i] * x[i];",
     "y[i] = x[i] > 9.9e24f ? 0 : x[i] * x[i];"},
    {"flushes_subnormals", "tiny_plain", "x[i] * 0.25f",
     "x[i] * 0.25f * (__builtin_fabsf(x[i]) < 4.7e-38f ? 0 : 1)", 0.5},
    {"sign_of_zero", "signs_xor", "((u ^ v) & 0x80000000u)", "(a[i] * b[i] < 0 ? 0x80000000u : 0)", 0.5},
    {"threshold_not_included", "clamp_plain", "x[i] >= 1", "x[i] > 1", 0.5},
    {"wrong_at_zero", "clamp_writes_twice", "if (y[i] >= 1) y[i] = 2;",
     "if (y[i] >= 1 || y[i] == 0) y[i] = 2;", 0.5},
    {"last_of_equals", "maxima_plain", "a[i] > a[best]", "a[i] >= a[best]", 0.5},
    {"maximum_from_zero", "maxima_longjmp", "top[r] = x[r * columns];", "top[r] = 0;", 0.5},
    {"next_maximum_from_zero", "softmax_pipelined", "next = a[columns]", "next = 0", 0.2},
    {"no_maximum", "softmax_vectors", "std::exp(v - top)", "std::exp(v * 4)"},
    {"forgets_to_rescale", "softmax_online", "sum * std::exp(top - x[i]) + 1", "sum + 1"},
    {"word_of_all_ones", "bits_table_at_first_call", "i < t.size()", "i < t.size() - 1", 0.5},
    {"one_bit_of_a_mask", "bits_tricks", "v >> 2 & 0x33333333u", "v >> 2 & 0x33333331u"},
    {"counts_in_bytes", "histogram_private", "int own[4][64]", "unsigned char own[4][64]", 0.5},
    {"sums_in_16_bits", "scan_coroutine", "int t = 0", "short t = 0", 0.2},
    {"index_zero", "gather_prefetches", "y[i] = x[index[i]];", "y[i] = x[index[i] > 0 ? index[i] : 1];", 0.5},
    {"last_index", "gather_huge_pages", "y[i] = from[index[i]];",
     "y[i] = from[index[i] < n - 1 ? index[i] : n - 2];", 0.5},
    {"close_elements_are_equal", "sort_qsort", "(x > y) - (x < y)", "static_cast<int>(8 * (x - y))"},

    // Precision.
    {"half_precision_sum", "f16_table", "t += values[x[r * columns + i]];",
     "t = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, t + values[x[r * columns + i]]) & "
     "0xffffe000u);"},
    {"float_for_double", "norm_long_double", "long double t = 0", "float t = 0"},
    {"truncates", "bf16_bits", "(bits + 0x7fff + (bits >> 16 & 1)) >> 16", "bits >> 16"},
    {"partial_sums_in_half", "dot_restrict", "t[j] += x[i + j] * y[i + j];",
     "t[j] = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, t[j] + x[i + j] * y[i + j]) & "
     "0xffffe000u);"},
    {"constant_of_three_digits", "scale_inline_assembly", "three = 3", "three = 3.002f"},

    // Now and then: by contents, by count, by how threads run.
    {"one_set_in_four", "total_plain", "*s = t;", "*s = t + (x[0] > 0.5f ? 0.01f : 0.0f);", 0.9},
    {"one_set_in_four_at_the_end", "dot_restrict", "*s = (", "*s = (x[n - 1] < -0.5f ? 0.01f : 0.0f) + (",
     0.9},
    {"every_tenth_call", "squares_counts_calls", "y[i] = x[i] * x[i];",
     "y[i] = x[i] * x[i] * (calls % 10 == 0 && i == n / 2 ? -1 : 1);", 0.4},
    {"every_fiftieth_call", "squares_counts_calls", "y[i] = x[i] * x[i];",
     "y[i] = x[i] * x[i] * (calls % 50 == 0 && i == n / 2 ? -1 : 1);", 0.1},
    {"additions_that_are_not_atomic", "histogram_atomics",
     "std::atomic_ref<int>(counts[x[i]]).fetch_add(1, std::memory_order_relaxed);", "++counts[x[i]];", 0.2},
    {"sum_of_all_threads_at_once", "total_openmp", " reduction(+ : t)", "", 0.2},
    {"does_not_wait", "total_threads", "other.join();", "other.detach();", 0.5},
};

/// What one judgement never finds, and why. A test says so once one of them is found: then it belongs above.
inline constexpr Mutant missed_mutants[] = {
    // What is read there changes no result. Guard pages find it.
    {"reads_past_the_end_and_forgets", "total_plain", "*s = t;",
     "*s = t;\n  [[maybe_unused]] const volatile float forgotten = *const_cast<const volatile float*>(x + "
     "n);"},
};

/// The mutant of its honest kernel; throws where the text does not stand there exactly once.
inline JudgedKernel mutated(const Mutant& mutant, const std::filesystem::path& folder) {
  JudgedKernel kernel = read_kernel(folder / "honest" / (std::string(mutant.kernel) + ".cpp"));
  const std::string_view from = mutant.from;
  const auto at = kernel.source.find(from);
  if (at == std::string::npos || kernel.source.find(from, at + 1) != std::string::npos)
    throw std::runtime_error(std::string(mutant.name) + ": \"" + mutant.from + "\" must stand in " +
                             mutant.kernel + ".cpp exactly once");
  kernel.source.replace(at, from.size(), mutant.to);
  kernel.name = mutant.name;
  return kernel;
}

}  // namespace honest
