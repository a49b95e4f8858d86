// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

namespace kernelsearch::test {

/// Equal to `value` up to 1.2e-5 of it (`epsilon` for another share), however small `value` is: doctest's own
/// adds 1 to what the share is of, so that any number of nanoseconds is equal to any other. A `value` of 0
/// has no share: give a `scale`.
[[nodiscard]] inline doctest::Approx approx(double value) {
  return doctest::Approx(value).scale(0);
}

}  // namespace kernelsearch::test
