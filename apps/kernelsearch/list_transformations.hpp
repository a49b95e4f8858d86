// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kernelsearch::app {

struct ListTransformations {
  std::string backend = "";         ///< empty: the problem's, else cuda
  std::string folder = "";          ///< of the user's own transformations and workflows
  std::string problem = "";         ///< only those that fit it; empty: whatever the traits
  std::string short_of = "memory";  ///< an axis, whose order it is
  bool json = false;
};

/// Prints the transformations of a backend in the order in which they are tried, with what each is for,
/// builds on and introduces, and whether it was proved.
void list_transformations(const ListTransformations& options);

/// Prints the workflows.
void list_workflows(const std::string& folder, bool json);

}  // namespace kernelsearch::app
