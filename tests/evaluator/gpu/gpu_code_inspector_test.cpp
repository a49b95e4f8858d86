// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/code_inspected.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;

static_assert(ArtifactInspector<GpuCodeInspector, GpuArtifact>);
static_assert(StagedEvaluator<CodeInspected<GpuEvaluator, Candidate, GpuCodeInspector>, Candidate>);

namespace {

GpuArtifact artifact_of(const std::string& text, std::vector<std::string> functions) {
  auto image = std::make_shared<std::vector<std::byte>>();
  for (const char c : text) image->push_back(static_cast<std::byte>(c));
  return {{}, image, std::move(functions)};
}

}  // namespace

TEST_CASE("GpuCodeInspector: features of the launched kernels only, each image read once") {
  const tool_test::Script tool("echo >> \"$(dirname \"$0\")/calls\"; cat \"$2\"\n", "nvdisasm");
  GpuCodeInspector inspector({.program = tool.path()});
  const std::string image =
      "Function : used\n/*0000*/ SHFL.BFLY R1 ;\n/*0010*/ EXIT ;\n"
      "Function : other\n/*0000*/ HMMA.16816.F32 R0 ;\n/*0010*/ EXIT ;\n";
  for (int i = 0; i < 3; ++i) {
    const Features features = inspector.inspect(artifact_of(image, {"used"}));
    CHECK(features.find("sass.shuffle") == 1);
    CHECK(features.find("sass.tensor_core") == 0);
  }
  CHECK(tool_test::read_file(tool.folder() / "calls") == "\n");
  CHECK(inspector.inspect(artifact_of(image, {"other"})).find("sass.tensor_core") == 1);
  CHECK(inspector.inspect(artifact_of(image, {"neither"})).empty());
}

TEST_CASE("GpuCodeInspector: what cannot be read has no features") {
  GpuCodeInspector without({.program = "/nonexistent/nvdisasm"});
  CHECK(without.inspect(artifact_of("x", {"f"})).empty());
  const tool_test::Script refusing("exit 1\n", "nvdisasm");
  GpuCodeInspector inspector({.program = refusing.path()});
  CHECK(inspector.inspect(artifact_of("x", {"f"})).empty());
  CHECK(inspector.inspect({}).empty());
}
