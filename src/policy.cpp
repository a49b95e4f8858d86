// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/impl/differential_evolution_impl.hpp"
#include "kernelsearch/policy/impl/exhaustive_impl.hpp"
#include "kernelsearch/policy/impl/genetic_algorithm_impl.hpp"
#include "kernelsearch/policy/impl/greedy_search_impl.hpp"
#include "kernelsearch/policy/impl/iterated_local_search_impl.hpp"
#include "kernelsearch/policy/impl/ledger_impl.hpp"
#include "kernelsearch/policy/impl/particle_swarm_impl.hpp"
#include "kernelsearch/policy/impl/policy_bandit_impl.hpp"
#include "kernelsearch/policy/impl/random_search_impl.hpp"
#include "kernelsearch/policy/impl/registry_impl.hpp"
#include "kernelsearch/policy/impl/simulated_annealing_impl.hpp"
#include "kernelsearch/policy/impl/tabu_search_impl.hpp"
