// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Everything light: the vocabulary, the concepts, the policies and the loop. What needs JSON, SQLite, Eigen
/// or processes is included by its own header.
#include "kernelsearch/core/bounded_queue.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/fwd.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/optimizer/observer.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/optimizer_options.hpp"
#include "kernelsearch/optimizer/run_record.hpp"
#include "kernelsearch/optimizer/run_summary.hpp"
#include "kernelsearch/optimizer/stop_rule.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/version.hpp"
