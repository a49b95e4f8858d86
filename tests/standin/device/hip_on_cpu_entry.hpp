// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// How the runtime calls a kernel: void** of a launch becomes the kernel's parameters.

namespace kernelsearch_standin {

template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<const T> : Bare<T> {};
template <class T>
struct Same {
  using Type = T;
};

template <unsigned...>
struct Indices {};
template <unsigned N, unsigned... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <unsigned... I>
struct MakeIndices<0, I...> {
  using Type = Indices<I...>;
};

template <class... A, unsigned... I>
void call(void (*kernel)(A...), void** parameters, Indices<I...>) {
  kernel(*static_cast<typename Bare<A>::Type*>(parameters[I])...);
}
template <class... A>
void call(void (*kernel)(A...), [[maybe_unused]] void** parameters) {
  call(kernel, parameters, typename MakeIndices<sizeof...(A)>::Type());
}
template <class F>
const void* address(F* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace kernelsearch_standin

/// Generated behind the source for the name expression of this number.
#define KERNELSEARCH_STANDIN_ENTRY(number, ...)                                                    \
  extern "C" __attribute__((visibility("default"), used)) void kernelsearch_standin_call_##number( \
      void** kernelsearch_standin_p) {                                                             \
    ::kernelsearch_standin::call(&__VA_ARGS__, kernelsearch_standin_p);                            \
  }                                                                                                \
  extern "C" __attribute__((visibility("default"), used))                                          \
  const void* kernelsearch_standin_kernel_##number() {                                             \
    return ::kernelsearch_standin::address(&__VA_ARGS__);                                          \
  }
/// Generated with it where the kernel has __launch_bounds__.
#define KERNELSEARCH_STANDIN_BOUND(number, threads)                                                        \
  extern "C" __attribute__((visibility("default"), used)) unsigned kernelsearch_standin_bound_##number() { \
    return threads;                                                                                        \
  }
