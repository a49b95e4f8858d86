// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/impl/axis_budget_impl.hpp"
#include "kernelsearch/model/impl/feature_matrix_impl.hpp"
#include "kernelsearch/model/impl/gaussian_process_impl.hpp"
#include "kernelsearch/model/impl/kmeans_impl.hpp"
#include "kernelsearch/model/impl/logistic_head_impl.hpp"
#include "kernelsearch/model/impl/normaliser_impl.hpp"
#include "kernelsearch/model/impl/random_forest_impl.hpp"
#include "kernelsearch/model/impl/roofline_impl.hpp"
#include "kernelsearch/model/impl/tree_ensemble_impl.hpp"
