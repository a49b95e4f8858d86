// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/ptx_assembler.hpp"

#include <doctest/doctest.h>

#include <string>

using kernelsearch::detail::gpu::PtxAssembler;

namespace {

/// What NVIDIA's OpenCL gives for a kernel, with that many bytes of local memory of its own.
std::string ptx_of_opencl(const std::string& local_bytes) {
  return R"(.version 8.0
.target sm_90, texmode_independent
.address_size 64
.shared .align 4 .b8 scale_tile[)" +
         local_bytes + R"(];
.entry scale(
  .param .u64 .ptr .global .align 4 scale_param_0,
  .param .u64 .ptr .const .align 4 scale_param_1,
  .param .u64 .ptr .shared .align 4 scale_param_2
)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [scale_param_0];
  mov.b32 %r1, %envreg3;
  st.shared.u32 [scale_tile], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [scale_tile];
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
}

}  // namespace

TEST_CASE("ptx: code of OpenCL becomes a cubin without a device, and what CUDA refuses does not") {
  const auto assembler = PtxAssembler::load();
  if (!assembler) {
    MESSAGE("skipped: no nvJitLink of a CUDA toolkit");
    return;
  }
  CHECK(assembler->identity().starts_with("nvJitLink 1"));
  const std::string cubin = assembler->assemble(ptx_of_opencl("64"), 9, 0);
  CHECK(
      cubin.starts_with("\x7f"
                        "ELF"));
  CHECK(cubin.find("scale") != std::string::npos);
  // The driver's text may end with a zero, and what lies behind is not read.
  CHECK(assembler->assemble(ptx_of_opencl("64") + '\0' + "behind it", 9, 0) == cubin);
  // The driver of OpenCL takes this one, which is why its PTX is kept then.
  CHECK(assembler->assemble(ptx_of_opencl("69632"), 9, 0).empty());
  CHECK(assembler->assemble("no assembly language", 9, 0).empty());
  CHECK(assembler->assemble(ptx_of_opencl("64"), 1, 0).empty());
  CHECK(assembler->assemble("", 9, 0).empty());
}
