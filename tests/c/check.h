/* SPDX-FileCopyrightText: The kernelsearch authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the C tests check with: every failure is printed and counted, and the program goes on. */
#ifndef KERNELSEARCH_TESTS_C_CHECK_H
#define KERNELSEARCH_TESTS_C_CHECK_H

#include <kernelsearch/c/kernelsearch.h>
#include <stdio.h>
#include <string.h>

static int failures = 0, checks = 0;

#define CHECK(condition)                                                                                 \
  do {                                                                                                   \
    ++checks;                                                                                            \
    if (!(condition)) {                                                                                  \
      ++failures;                                                                                        \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, ks_last_error()); \
    }                                                                                                    \
  } while (0)

/* That a call returns a status, and where it is none of success that the text says `part`. */
#define EXPECT(status, part, call)                                                                     \
  do {                                                                                                 \
    const ks_status returned_ = (call);                                                                \
    ++checks;                                                                                          \
    if (returned_ != (status) || ((status) != KS_OK && strstr(ks_last_error(), part) == NULL)) {       \
      ++failures;                                                                                      \
      fprintf(stderr, "%s:%d: %s\n  returned %d, not %d; last error: %s\n", __FILE__, __LINE__, #call, \
              (int)returned_, (int)(status), ks_last_error());                                         \
    }                                                                                                  \
  } while (0)

#define OK(call) EXPECT(KS_OK, "", call)

static int report(const char* what) {
  printf("%s: %d checks, %d failed\n", what, checks, failures);
  return failures == 0 ? 0 : 1;
}

#endif
