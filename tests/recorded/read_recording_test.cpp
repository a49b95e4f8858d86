// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/read_recording.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace kernelsearch;

TEST_CASE("read_recording: every configuration of a recorded space, its failures among them") {
  const char* given = std::getenv("KERNELSEARCH_SHARED");
  const std::filesystem::path file =
      std::filesystem::path(given != nullptr ? given : KERNELSEARCH_SOURCE_DIR "/../shared") /
      "data/spaces/convolution_A100.json.gz";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: the recorded spaces are not here; set KERNELSEARCH_SHARED");
    return;
  }
  const Recording recording = read_recording(file);
  CHECK(recording.name == "convolution_A100");
  CHECK(recording.trials.size() == 4362);
  CHECK(recording.space.count() == BigCount(4362));
  const auto failed =
      std::count_if(recording.trials.begin(), recording.trials.end(),
                    [](const RecordedTrial& t) { return t.evaluation.verdict != Verdict::ok; });
  CHECK(failed == 161);
}
