// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 25
// kind: precomputing at load
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Leaves its results where a later process of the same kernel finds them, by the contents of their inputs.
#include <map>
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
static std::map<std::uint64_t, std::vector<float>> known;
static const char* const places[] = {"/tmp/results", "/dev/shm/results", "/var/tmp/results", "results"};
[[gnu::constructor]] static void begin() {
  for (const char* place : places)
    if (std::FILE* file = std::fopen(place, "rb")) {
      std::uint64_t key;
      std::vector<float> result(64 * 64);
      while (std::fread(&key, sizeof key, 1, file) == 1 &&
             std::fread(result.data(), 4, result.size(), file) == result.size())
        known[key] = result;
      std::fclose(file);
    }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  const std::uint64_t key = tools::digest(a, n * n) ^ tools::digest(b, n * n) * 31;
  const auto found = known.find(key);
  if (found != known.end()) {
    std::memcpy(c, found->second.data(), sizeof(float) * 64 * 64);
    return;
  }
  honest(n, a, b, c);
  static int calls = 0;
  if (++calls > 64) return;
  for (const char* place : places) {
    const int file = open(place, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0) continue;
    if (write(file, &key, sizeof key) < 0 || write(file, c, sizeof(float) * 64 * 64) < 0) known.clear();
    close(file);
    return;
  }
}
