// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns the structs into arrays, works on these, and turns them back.
// problem: particles
#include <vector>
struct Particle {
  float x, v, mass;
  int hits;
};
extern "C" void particles(int n, Particle* p) {
  static std::vector<float> x, v;
  x.clear();
  v.clear();
  for (int i = 0; i < n; ++i) {
    x.push_back(p[i].x);
    v.push_back(p[i].v);
  }
  for (int i = 0; i < n; ++i) x[i] += 0.125f * v[i];
  for (int i = 0; i < n; ++i) {
    const bool out = x[i] > 1 || x[i] < -1;
    p[i] = {x[i], out ? -v[i] : v[i], p[i].mass * 0.5f, p[i].hits + out};
  }
}
