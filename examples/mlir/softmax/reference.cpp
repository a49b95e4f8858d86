// MLIR's EmitC cannot write the buffers that the payload needs between its steps.
#include <cmath>

void softmax_reference(const real* x, real* y) {
  for (int i = 0; i < 256; ++i) {
    const real* const from = x + i * 512;
    real* const to = y + i * 512;
    real most = from[0], sum = 0;
    for (int j = 1; j < 512; ++j) most = from[j] > most ? from[j] : most;
    for (int j = 0; j < 512; ++j) {
      to[j] = std::exp(from[j] - most);
      sum += to[j];
    }
    for (int j = 0; j < 512; ++j) to[j] /= sum;
  }
}
