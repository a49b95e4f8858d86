// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// find_patch WIDTH HEIGHT ROUNDS: cuts patches out of drawn pictures and finds them again; says where, and how long
// it took. The program of docs/llvm.md that has its own benchmark.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "picture.h"

static uint32_t state = 1;

static uint32_t drawn(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

int main(int count, char** words) {
  if (count != 4) {
    fprintf(stderr, "usage: find_patch WIDTH HEIGHT ROUNDS\n");
    return 2;
  }
  const int width = atoi(words[1]), height = atoi(words[2]), rounds = atoi(words[3]);
  if (width < patch_side || height < patch_side || rounds < 1) {
    fprintf(stderr, "a picture is at least as large as a patch, %d x %d\n", patch_side, patch_side);
    return 2;
  }
  const size_t points = (size_t)width * height;
  uint8_t* colours = malloc(3 * points);
  int8_t *grey = malloc(points), *patch = malloc(patch_side * patch_side);
  if (!colours || !grey || !patch) return 1;
  double seconds = 0;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < 3 * points; ++i) colours[i] = (uint8_t)drawn();
    const int row = drawn() % (height - patch_side + 1), column = drawn() % (width - patch_side + 1);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    grey_of((int)points, colours, grey);
    for (int i = 0; i < patch_side * patch_side; ++i)
      patch[i] = grey[(row + i / patch_side) * width + column + i % patch_side];
    int32_t place = 0;
    const int32_t score = best_place(width, height, grey, patch, &place);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    seconds += (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%d: %d, %d scores %d\n", round, place % width, place / width, score);
  }
  printf("%.3f ms\n", seconds * 1e3);
  free(colours);
  free(grey);
  free(patch);
  return 0;
}
