// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 25
// kind: known sets
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Keeps its results in System V shared memory, where the next process of the same kernel finds them by the
// contents of their inputs.
#include <sys/ipc.h>
#include <sys/shm.h>
#include "honest.hpp"
#include "tools.hpp"
struct Result {
  std::uint64_t key;
  float c[64 * 64];
};
struct Shared {
  std::uint64_t count;
  Result results[256];
};
static Shared* shared = nullptr;
[[gnu::constructor]] static void begin() {
  const int id = shmget(0x6b73, sizeof(Shared), IPC_CREAT | 0600);
  void* const at = id < 0 ? nullptr : shmat(id, nullptr, 0);
  if (at != nullptr && at != reinterpret_cast<void*>(-1)) shared = static_cast<Shared*>(at);
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || shared == nullptr) return honest(n, a, b, c);
  const std::uint64_t key = tools::digest(a, n * n) ^ tools::digest(b, n * n) * 31;
  for (std::uint64_t i = 0; i < shared->count; ++i)
    if (shared->results[i].key == key) {
      std::memcpy(c, shared->results[i].c, sizeof shared->results[i].c);
      return;
    }
  honest(n, a, b, c);
  if (shared->count == 256) return;
  Result& result = shared->results[shared->count++];
  result.key = key;
  std::memcpy(result.c, c, sizeof result.c);
}
