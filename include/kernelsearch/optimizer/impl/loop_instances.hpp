// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/optimizer/impl/loop.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/space/config.hpp"

// The loops that most programs use are compiled once, in the library (src/optimizer.cpp).
#if !KERNELSEARCH_HEADER_ONLY
namespace kernelsearch {

extern template class TrialLog<Candidate>;

namespace detail {

extern template class AnyObservers<Candidate, Config>;
extern template class AnyObservers<Candidate, Move>;
extern template class Loop<Candidate, Config>;
extern template class Loop<Candidate, Move>;

}  // namespace detail
}  // namespace kernelsearch
#endif
