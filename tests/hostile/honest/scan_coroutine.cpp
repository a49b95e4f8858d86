// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums come out of a coroutine one at a time.
// problem: scan
#include <coroutine>
#include <exception>
struct Sums {
  struct promise_type {
    int value = 0;
    Sums get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) noexcept {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};
static Sums sums(int n, const int* x) {
  int t = 0;
  for (int i = 0; i < n; ++i) co_yield t += x[i];
}
extern "C" void scan(int n, const int* x, int* y) {
  const Sums all = sums(n, x);
  for (int i = 0; i < n; ++i) {
    all.handle.resume();
    y[i] = all.handle.promise().value;
  }
  all.handle.destroy();
}
