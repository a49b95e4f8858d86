// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// The three texts of a kernel (PEAK, section 3): a transformation edits exactly one of them.
struct Regions {
  std::string device;  ///< the compute code; for host kernels the function that is tuned
  std::string host;    ///< the launch function; may be empty
  std::string macros;  ///< definitions placed before both
  friend bool operator==(const Regions&, const Regions&) = default;
};

/// Code with the space of its own tunables. Immutable once made, shared by the candidates that use it.
struct Kernel {
  Regions regions;
  Space space = Space::without_tunables();
};

/// What is evaluated: a kernel at one point of its space.
struct Candidate {
  std::shared_ptr<const Kernel> kernel;
  Config config;
};

}  // namespace kernelsearch
