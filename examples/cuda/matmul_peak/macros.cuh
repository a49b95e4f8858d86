// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses and thread numbers, which transformations of layouts and of tilings change.
#define A(row, column) ((row) < n && (column) < k ? a[(size_t)(row)*k + (column)] : 0.0f)
#define B(row, column) ((row) < k && (column) < m ? b[(size_t)(row)*m + (column)] : 0.0f)
#define C(row, column) c[(size_t)(row)*m + (column)]
#define THREADS_M (TILE_M / THREAD_M)
#define THREADS_N (TILE_N / THREAD_N)
#define THREADS (THREADS_M * THREADS_N)
