// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <span>
#include <string_view>

#include "commands.hpp"

// The assembler takes a file in as it is; as an array of numbers it would cost the compiler a second a
// megabyte.
#define KERNELSEARCH_INSIDE(name, file) \
  __asm__(                              \
      ".pushsection .rodata\n"          \
      ".balign 16\n"                    \
      ".global " #name                  \
      "_begin\n"                        \
      ".global " #name "_end\n" #name   \
      "_begin:\n"                       \
      ".incbin \"" file "\"\n" #name    \
      "_end:\n"                         \
      ".popsection\n");                 \
  extern "C" const char name##_begin[]; \
  extern "C" const char name##_end[]

KERNELSEARCH_INSIDE(kernelsearch_worker, KERNELSEARCH_WORKER_INSIDE);
KERNELSEARCH_INSIDE(kernelsearch_gpu_worker, KERNELSEARCH_GPU_WORKER_INSIDE);

namespace kernelsearch::app {

std::span<const CarriedProgram> programs_inside() {
  static const std::array<CarriedProgram, 2> programs{
      CarriedProgram{"kernelsearch-worker",
                     std::string_view(kernelsearch_worker_begin, kernelsearch_worker_end)},
      CarriedProgram{"kernelsearch-gpu-worker",
                     std::string_view(kernelsearch_gpu_worker_begin, kernelsearch_gpu_worker_end)}};
  return programs;
}

}  // namespace kernelsearch::app
