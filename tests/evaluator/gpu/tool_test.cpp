// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/tool.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "support/temporary_folder.hpp"
#include "tool_support.hpp"

using namespace kernelsearch::detail::gpu;
using tool_test::Script;

TEST_CASE("a tool is where it is said to be, and nowhere else then") {
  const Script tool("exit 0\n", "kernelsearch-test-tool");
  const char* variable = "KERNELSEARCH_TEST_TOOL";
  unsetenv(variable);
  CHECK(!find_tool("kernelsearch-test-tool", variable, {}, {}));
  CHECK(find_tool("kernelsearch-test-tool", variable, {}, {"/nonexistent", tool.folder()}) == tool.path());
  setenv(variable, tool.path().c_str(), 1);
  CHECK(find_tool("kernelsearch-test-tool", variable, {}, {}) == tool.path());
  CHECK(!find_tool("kernelsearch-test-tool", variable, "/nonexistent/tool", {tool.folder()}));
  setenv(variable, "/nonexistent/tool", 1);
  CHECK(!find_tool("kernelsearch-test-tool", variable, {}, {tool.folder()}));
  unsetenv(variable);
  setenv("CUDA_HOME", (tool.folder() / "toolkit").c_str(), 1);
  std::filesystem::create_directories(tool.folder() / "toolkit" / "bin");
  std::filesystem::copy(tool.path(), tool.folder() / "toolkit" / "bin");
  CHECK(find_tool("kernelsearch-test-tool", variable, {}, {}) ==
        tool.folder() / "toolkit" / "bin" / "kernelsearch-test-tool");
  unsetenv("CUDA_HOME");
}

TEST_CASE("read_text: the whole file, its beginning, or nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK(read_text(folder / "file") == "text");
  CHECK(read_text(folder / "file", 2) == "te");
  CHECK(read_text(folder / "none").empty());
}
