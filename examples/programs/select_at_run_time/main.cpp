// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program that multiplies matrices with the tile sizes that were found best for its device and for the
// shape at hand, and with sizes that are right everywhere where nothing is known.
//   select_at_run_time TABLE_OR_PLAN N [DEVICE]
// `kernelsearch tune matmul` in this folder finds them. `kernelsearch best RUN --settings TABLE` then
// writes a table, and `kernelsearch plan export RUN --measure -o PLAN.json` a plan, which has only what is
// proven faster than the default. DEVICE defaults to this processor.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/runtime/plan.hpp"
#include "kernelsearch/runtime/processor.hpp"
#include "kernelsearch/runtime/settings_table.hpp"

namespace {

// C = A B for n x n matrices, in tiles. One kernel for all settings: they arrive as arguments here; kernels
// that need them at compile time would be instantiated for each entry of the table and chosen the same way.
void matmul(long n, const float* a, const float* b, float* c, long tile_m, long tile_k) {
  std::fill(c, c + n * n, 0.0F);
  for (long i0 = 0; i0 < n; i0 += tile_m)
    for (long k0 = 0; k0 < n; k0 += tile_k)
      for (long i = i0; i < std::min(i0 + tile_m, n); ++i)
        for (long k = k0; k < std::min(k0 + tile_k, n); ++k)
          for (long j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

using Shape = std::vector<std::pair<std::string, kernelsearch::Value>>;

/// From a plan, which a file is that ends in .json, or a table.
std::optional<kernelsearch::Settings> known_settings(const std::string& file, const std::string& device,
                                                     const Shape& shape) {
  if (file.ends_with(".json")) return kernelsearch::Plan::load(file).best_for("matmul", device, shape);
  return kernelsearch::SettingsTable::load(file).best_for("matmul", device, shape);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s TABLE_OR_PLAN N [DEVICE]\n", argv[0]);
    return 2;
  }
  const long n = std::atol(argv[2]);
  const std::string device = argc > 3 ? argv[3] : kernelsearch::processor_name();

  long tile_m = 16, tile_k = 16;  // the fallback: right everywhere, if not the fastest anywhere
  const Shape shape{{"n", std::int64_t{n}}};
  if (const auto best = known_settings(argv[1], device, shape)) {
    tile_m = best->integer("TILE_M");
    tile_k = best->integer("TILE_K");
    std::printf("tuned: TILE_M=%ld TILE_K=%ld, %.2fx when measured for n=%s\n", tile_m, tile_k, best->speedup,
                kernelsearch::to_string(best->shape.front().second).c_str());
  } else if (std::string(argv[1]).ends_with(".json")) {
    std::printf(
        "nothing better than the default is proven for this device and shape: TILE_M=%ld TILE_K=%ld\n",
        tile_m, tile_k);
  } else {
    std::printf("nothing known for this device and shape: TILE_M=%ld TILE_K=%ld\n", tile_m, tile_k);
  }

  const std::vector<float> a(static_cast<std::size_t>(n * n), 0.5F), b(static_cast<std::size_t>(n * n), 2.0F);
  std::vector<float> c(static_cast<std::size_t>(n * n));
  matmul(n, a.data(), b.data(), c.data(), tile_m, tile_k);
  const bool right =
      std::all_of(c.begin(), c.end(), [n](float x) { return std::abs(x - static_cast<float>(n)) < 1e-3F; });
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (const kernelsearch::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
