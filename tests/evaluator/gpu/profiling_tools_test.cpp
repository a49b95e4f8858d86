// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/profiling_tools.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "tool_support.hpp"

TEST_CASE("tools are found where the environment says, and not found where it says wrong") {
  const tool_test::Script tool("exit 0\n");
  const char* names[] = {"KERNELSEARCH_NCU", "KERNELSEARCH_COMPUTE_SANITIZER", "KERNELSEARCH_NVDISASM"};
  for (const char* name : names) setenv(name, tool.path().c_str(), 1);
  const auto found = kernelsearch::profiling_tools();
  CHECK(found.nsight_compute == tool.path());
  CHECK(found.compute_sanitizer == tool.path());
  CHECK(found.disassembler == tool.path());
  for (const char* name : names) setenv(name, "/nonexistent/tool", 1);
  CHECK(kernelsearch::profiling_tools().nsight_compute.empty());
  CHECK(kernelsearch::profiling_tools().compute_sanitizer.empty());
  setenv("KERNELSEARCH_CUOBJDUMP", tool.path().c_str(), 1);
  CHECK(kernelsearch::profiling_tools().disassembler == tool.path());
  unsetenv("KERNELSEARCH_CUOBJDUMP");
  for (const char* name : names) unsetenv(name);
}
