// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Apart from the other policies, because Eigen's products take the compiler as long as all of those.
#include "kernelsearch/policy/impl/bayesian_search_impl.hpp"
#include "kernelsearch/policy/impl/space_features_impl.hpp"
#include "kernelsearch/policy/impl/transfer_prior_impl.hpp"
