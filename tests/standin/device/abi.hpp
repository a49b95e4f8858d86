// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a kernel and the stand-in of the HIP runtime know of each other. Without includes: it is also
/// compiled in front of every kernel.
namespace kernelsearch_standin {

constexpr unsigned largest_warp = 64;
/// Local data share of a block, in bytes, as gfx90a has it.
constexpr unsigned shared_limit = 65536;

struct Index {
  unsigned x, y, z;
};

/// The values that the lanes of a warp exchange in one operation; 0 of lanes that take no part.
struct WarpView {
  unsigned long long values[largest_warp];
  unsigned long long active;
};

/// What the threads of a block said at a barrier.
struct BarrierView {
  int nonzero;
  int arrived;
};

/// Where the thread that runs stands, and what it may ask of the runtime.
struct State {
  Index thread, block, block_size, grid_size;
  unsigned lane;
  BarrierView (*barrier)(int value);
  /// `site` tells operations of different branches apart.
  const WarpView* (*exchange)(unsigned long long mask, int site, unsigned long long value);
  /// Ends the kernel with this error of the library.
  void (*fail)(int status);
};

/// In front of the shared object of an image, which hipModuleLoadData gets without its size.
struct ImageHeader {
  char magic[8];
  unsigned long long bytes;  ///< of the shared object behind the header
  unsigned warp;
  unsigned kernels;
};
/// In front of such an image that a build command made, as bundles of code objects begin.
constexpr char bundle_magic[24] = {'_', '_', 'C', 'L', 'A', 'N', 'G', '_', 'O', 'F', 'F', 'L',
                                   'O', 'A', 'D', '_', 'B', 'U', 'N', 'D', 'L', 'E', '_', '_'};
constexpr char image_magic[8] = {'K', 'S', 'S', 'T', 'A', 'N', 'D', '1'};

}  // namespace kernelsearch_standin
