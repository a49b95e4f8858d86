// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/impl/exhaustive_impl.hpp"
#include "kernelsearch/policy/impl/helion_lfbo_impl.hpp"
#include "kernelsearch/policy/impl/iterated_local_search_impl.hpp"
#include "kernelsearch/policy/impl/lfbo_impl.hpp"
#include "kernelsearch/policy/impl/random_search_impl.hpp"
#include "kernelsearch/policy/impl/registry_impl.hpp"
#include "kernelsearch/policy/impl/tpe_impl.hpp"
