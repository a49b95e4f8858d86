// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/backend_table.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("backend_table: the tables say the same concepts") {
  const BackendTable cuda = backend_table("cuda"), hip = backend_table("hip"), host = backend_table("host"),
                     vulkan = backend_table("vulkan");
  CHECK(cuda.language == "CUDA C++");
  CHECK(cuda.find("barrier of the block") == "__syncthreads()");
  CHECK(cuda.find("nothing").empty());
  CHECK(cuda.rows.size() == hip.rows.size());
  for (const auto& row : cuda.rows) {
    const std::string concept_name = row.first;
    CAPTURE(concept_name);
    CHECK_FALSE(row.second.empty());
    CHECK_FALSE(hip.find(concept_name).empty());
    CHECK_FALSE(vulkan.find(concept_name).empty());
  }
  CHECK(cuda.find("exchange between lanes") != hip.find("exchange between lanes"));
  // The machine's facts have the width: another one here would contradict them.
  CHECK(host.find("vector type").find("vector_size(BYTES)") != std::string::npos);
  const std::string text = backend_text(host);
  CHECK(text.find("The language is C++ for the processor") == 0);
  CHECK(text.find("- no aliasing: __restrict") != std::string::npos);
  CHECK_THROWS_AS((void)backend_table("abacus"), ConfigError);
}
