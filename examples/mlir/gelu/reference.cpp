// MLIR's EmitC has no tanh.
#include <cmath>

void gelu_reference(const real* x, const real* b, const real* g, real* y) {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 512; ++j) {
      const real t = x[i * 512 + j] + b[j];
      const real bent = std::tanh((t + t * t * t * real(0.044715)) * real(0.797884583));
      y[i * 512 + j] = t * real(0.5) * (bent + 1) * g[i * 512 + j];
    }
}
