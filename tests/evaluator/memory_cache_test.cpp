// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/memory_cache.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/cached.hpp"

using namespace kernelsearch;

TEST_CASE("MemoryCache: finds what was put in, the latest of a key") {
  static_assert(EvaluationCache<MemoryCache>);
  MemoryCache cache;
  CHECK_FALSE(cache.find("a").has_value());
  cache.insert("a", Evaluation::succeeded(1.0));
  cache.insert("a", Evaluation::succeeded(2.0));
  cache.insert("b", Evaluation::failed(Verdict::crashed, "signal 11"));
  CHECK(cache.find("a")->measurement.seconds == 2.0);
  CHECK(cache.find("b")->verdict == Verdict::crashed);
}
