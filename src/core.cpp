// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/impl/clean_text_impl.hpp"
#include "kernelsearch/core/impl/device_identity_impl.hpp"
#include "kernelsearch/core/impl/error_impl.hpp"
#include "kernelsearch/core/impl/expression_impl.hpp"
#include "kernelsearch/core/impl/features_impl.hpp"
#include "kernelsearch/core/impl/move_impl.hpp"
#include "kernelsearch/core/impl/nearest_impl.hpp"
#include "kernelsearch/core/impl/outcome_impl.hpp"
#include "kernelsearch/core/impl/result_impl.hpp"
#include "kernelsearch/core/impl/rng_impl.hpp"
#include "kernelsearch/core/impl/steady_seconds_impl.hpp"
#include "kernelsearch/core/impl/value_impl.hpp"
