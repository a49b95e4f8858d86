// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Virtual calls of objects on the heap.
// problem: particles
#include <memory>
#include <vector>
struct Particle {
  float x, v, mass;
  int hits;
};
struct Step {
  virtual ~Step() = default;
  virtual void apply(Particle& p) const = 0;
};
struct Move : Step {
  void apply(Particle& p) const override { p.x += 0.125f * p.v; }
};
struct Bounce : Step {
  void apply(Particle& p) const override {
    if (p.x <= 1 && p.x >= -1) return;
    p.v = -p.v;
    ++p.hits;
  }
};
struct Fade : Step {
  void apply(Particle& p) const override { p.mass /= 2; }
};
extern "C" void particles(int n, Particle* p) {
  std::vector<std::unique_ptr<Step>> steps;
  steps.push_back(std::make_unique<Move>());
  steps.push_back(std::make_unique<Bounce>());
  steps.push_back(std::make_unique<Fade>());
  for (const auto& step : steps)
    for (int i = 0; i < n; ++i) step->apply(p[i]);
}
