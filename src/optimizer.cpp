// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/impl/loop_impl.hpp"
#include "kernelsearch/optimizer/impl/loop_instances.hpp"
#include "kernelsearch/optimizer/impl/stop_rule_impl.hpp"

namespace kernelsearch {

template class TrialLog<Candidate>;

namespace detail {

template class AnyObservers<Candidate, Config>;
template class AnyObservers<Candidate, Move>;
template class Loop<Candidate, Config>;
template class Loop<Candidate, Move>;

}  // namespace detail
}  // namespace kernelsearch
