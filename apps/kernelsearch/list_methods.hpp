// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace kernelsearch::app {

struct ListMethods {
  std::string backend = "cuda";
  std::string folder = "";    ///< of the user's own methods
  std::string features = "";  ///< a file of features to decide by; empty: the methods alone
  std::string problem = "";   ///< its traits join the features
  unsigned architecture = 0;  ///< compute capability
  std::size_t slots = 1;      ///< on each axis
  bool json = false;
};

/// Prints the methods of a backend or, with features, which of them would be chosen and why the others not.
void list_methods(const ListMethods& options);

}  // namespace kernelsearch::app
