// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

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

TEST_CASE("GpuCodeInspector: all kernels of a launch function's library, with what their threads need") {
  // The other disassembler, which is next to this one, reads libraries.
  const tool_test::Script nvdisasm("exit 1\n", "nvdisasm");
  const std::filesystem::path cuobjdump = nvdisasm.folder() / "cuobjdump";
  std::ofstream(cuobjdump) << "#!/bin/sh\necho \"$1 $2\" >> \"$(dirname \"$0\")/words\"\n"
                              "for file; do :; done\ncat \"$file\"\n";
  chmod(cuobjdump.c_str(), 0700);
  const char* const wish = std::getenv("KERNELSEARCH_CUOBJDUMP");  // which would come before both
  const std::string kept = wish != nullptr ? wish : "";
  unsetenv("KERNELSEARCH_CUOBJDUMP");
  setenv("KERNELSEARCH_NVDISASM", nvdisasm.path().c_str(), 1);
  GpuCodeInspector inspector;
  std::string header(20, '\0');
  header.replace(0, 4,
                 "\x7f"
                 "ELF");
  header[18] = 62;  // x86-64
  const std::string code =
      "\nFatbin elf code:\n================\narch = sm_90a\n\nResource usage:\n Common:\n  GLOBAL:0\n"
      " Function one:\n  REG:40 STACK:16 SHARED:0 LOCAL:8 CONSTANT[0]:536 TEXTURE:0 SURFACE:0 SAMPLER:0\n"
      " Function two:\n  REG:168 STACK:0 SHARED:1024 LOCAL:0 CONSTANT[0]:536 TEXTURE:0 SURFACE:0 "
      "SAMPLER:0\n\n"
      "\t\tFunction : one\n/*0000*/ SHFL.BFLY R1 ;\n/*0010*/ STL R1 ;\n/*0020*/ EXIT ;\n"
      "\t\tFunction : two\n/*0000*/ HMMA.16816.F32 R0 ;\n/*0010*/ EXIT ;\n";
  GpuArtifact library = artifact_of(header + code, {});
  library.library = true;
  const Features features = inspector.inspect(library);
  CHECK(features.find("sass.instructions") == 5);
  CHECK(features.find("sass.shuffle") == 1);
  CHECK(features.find("sass.tensor_core") == 1);
  CHECK(features.find("sass.spills") == 1);
  CHECK(features.find("registers") == 168);
  CHECK(features.find("local_bytes") == 24);
  CHECK(tool_test::read_file(nvdisasm.folder() / "words") == "-sass -res-usage\n");
  // Without the program that reads libraries nothing is known.
  std::filesystem::remove(cuobjdump);
  library = artifact_of(header + code + "\n", {});
  library.library = true;
  CHECK(inspector.inspect(library).empty());
  unsetenv("KERNELSEARCH_NVDISASM");
  if (!kept.empty()) setenv("KERNELSEARCH_CUOBJDUMP", kept.c_str(), 1);
}

TEST_CASE("GpuCodeInspector: what cannot be read has no features") {
  GpuCodeInspector without({.program = "/nonexistent/nvdisasm"});
  CHECK(without.inspect(artifact_of("x", {"f"})).empty());
  const tool_test::Script refusing("exit 1\n", "nvdisasm");
  GpuCodeInspector inspector({.program = refusing.path()});
  CHECK(inspector.inspect(artifact_of("x", {"f"})).empty());
  CHECK(inspector.inspect({}).empty());
}
