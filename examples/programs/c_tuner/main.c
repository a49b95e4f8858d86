/* SPDX-FileCopyrightText: The kernelsearch authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tuner in C11: the blocking of a matrix transposition, measured by this program itself, searched by a
 * policy of kernelsearch. `c_tuner TRIALS FILE` goes on where FILE was left, if it is there. */
#include <kernelsearch/c/kernelsearch.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 768 };
static float from[N * N], to[N * N];

/* What is tuned: blocks of rows and columns, and which of the two is the inner loop. */
static void transpose(int64_t rows, int64_t columns, int rows_inside) {
  for (int64_t i0 = 0; i0 < N; i0 += rows)
    for (int64_t k0 = 0; k0 < N; k0 += columns) {
      const int64_t i1 = i0 + rows < N ? i0 + rows : N, k1 = k0 + columns < N ? k0 + columns : N;
      if (rows_inside) {
        for (int64_t k = k0; k < k1; ++k)
          for (int64_t i = i0; i < i1; ++i) to[k * N + i] = from[i * N + k];
      } else {
        for (int64_t i = i0; i < i1; ++i)
          for (int64_t k = k0; k < k1; ++k) to[k * N + i] = from[i * N + k];
      }
    }
}

static double now(void) {
  struct timespec at;
  timespec_get(&at, TIME_UTC);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* The least of five: what else runs on the machine only adds. */
static double seconds_of(int64_t rows, int64_t columns, int rows_inside) {
  double least = 1e300;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = now();
    transpose(rows, columns, rows_inside);
    const double took = now() - start;
    if (took < least) least = took;
  }
  return least;
}

static int right(void) {
  for (int i = 0; i < N * N; ++i)
    if (to[i % N * N + i / N] != from[i]) return 0;
  return 1;
}

/* Every call returns a status; the text says what is wrong and what to do. */
static void must(ks_status status) {
  if (status == KS_OK) return;
  fprintf(stderr, "%s\n", ks_last_error());
  exit(1);
}

int main(int count, char** arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: c_tuner TRIALS FILE\n");
    return 2;
  }
  const unsigned long trials = strtoul(arguments[1], NULL, 10);
  for (int i = 0; i < N * N; ++i) from[i] = (float)i;

  ks_builder* builder = NULL;
  ks_space* space = NULL;
  must(ks_builder_new(&builder));
  must(ks_builder_add_powers_of_two(builder, "ROWS", 1, 256));
  must(ks_builder_add_powers_of_two(builder, "COLUMNS", 1, 256));
  must(ks_builder_add_boolean(builder, "ROWS_INSIDE"));
  must(ks_builder_require(builder, "ROWS * COLUMNS <= 16384"));
  must(ks_builder_build(builder, &space));
  must(ks_builder_free(builder));
  char text[256];
  must(ks_space_count(space, text, sizeof text, NULL));
  printf("%s configurations\n", text);

  ks_policy* policy = NULL;
  ks_search* search = NULL;
  must(ks_policy_named("genetic", NULL, &policy));
  if (ks_search_load(space, policy, arguments[2], &search) == KS_OK)
    printf("going on with %s\n", arguments[2]);
  else
    must(ks_search_new(space, policy, 1, &search));
  must(ks_policy_free(policy));

  uint64_t told = 0;
  for (must(ks_search_told(search, &told)); told < trials; ++told) {
    uint64_t job = 0;
    uint32_t config[3];
    size_t given = 0;
    const ks_status status = ks_search_ask(search, 1, &job, config, 3, &given);
    if (status == KS_END) break;
    must(status);
    int64_t rows = 0, columns = 0;
    int rows_inside = 0;
    must(ks_space_integer(space, config, 3, 0, &rows));
    must(ks_space_integer(space, config, 3, 1, &columns));
    must(ks_space_boolean(space, config, 3, 2, &rows_inside));
    const double seconds = seconds_of(rows, columns, rows_inside);
    if (right())
      must(ks_search_tell(search, job, KS_VERDICT_OK, seconds, NULL));
    else
      must(ks_search_tell(search, job, KS_VERDICT_WRONG_RESULT, 0.0, "an element is not where it belongs"));
  }

  uint32_t best[3];
  double seconds = 0.0;
  must(ks_search_best(search, NULL, best, 3, &seconds));
  must(ks_space_encode(space, best, 3, text, sizeof text, NULL));
  printf("%llu trials, best %s: %.1f us\n", (unsigned long long)told, text, 1e6 * seconds);
  must(ks_search_save(search, arguments[2]));
  must(ks_search_free(search));
  must(ks_space_free(space));
  return 0;
}
