// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structs in place.
// problem: particles
struct Particle {
  float x, v, mass;
  int hits;
};
extern "C" void particles(int n, Particle* p) {
  for (int i = 0; i < n; ++i) {
    p[i].x += 0.125f * p[i].v;
    if (p[i].x > 1 || p[i].x < -1) {
      p[i].v = -p[i].v;
      ++p[i].hits;
    }
    p[i].mass *= 0.5f;
  }
}
