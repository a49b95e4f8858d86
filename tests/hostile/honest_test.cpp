// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include "hostile/honest_kernels.hpp"
#include "support/temporary_folder.hpp"
#include "support/thorough.hpp"

TEST_CASE("honest kernels in odd styles are ok") {
  const auto folder = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests" / "hostile";
  const TemporaryFolder cache;
  std::vector<honest::JudgedKernel> kernels;
  for (auto& kernel : honest::read_kernels(folder / "honest")) {
    if (const auto why = honest::obstacle(kernel); why.empty())
      kernels.push_back(std::move(kernel));
    else
      MESSAGE("skipped: ", kernel.name, ": ", why);
  }
#if defined(__x86_64__)
  CHECK(kernels.size() >= 40);
#endif
  keep_tested(kernels, 3);
  auto built = honest::build_all(kernels, honest::light_options(cache.path()), folder);
  std::size_t not_told = 0;
  for (auto& one : built) {
    CAPTURE(one.kernel.name);
    auto evaluation = honest::judge(one);
    for (int again = 0; again < 4 && honest::not_distinguishable(evaluation); ++again)
      evaluation = honest::judge(one);
    if (honest::not_distinguishable(evaluation)) {
      ++not_told;
      MESSAGE(one.kernel.name, ": ", evaluation.reason);
    } else {
      CHECK_MESSAGE(evaluation.verdict == kernelsearch::Verdict::ok, to_string(evaluation.verdict)
                                                                         << ": " << evaluation.reason);
    }
  }
  // On a busy machine that may happen to kernels with threads; of more kernels this test shows nothing.
  CHECK(10 * not_told <= built.size());
}
