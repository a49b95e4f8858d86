// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
StructuredBuffer<real> a : register(t0);
StructuredBuffer<real> b : register(t1);
RWStructuredBuffer<real> c : register(u0);
[[vk::push_constant]] cbuffer sizes { int n; };

[numthreads(8, 8, 1)]
void matmul_reference(uint3 id : SV_DispatchThreadID) {
  const uint size = uint(n);
  real sum = 0;
  for (uint k = 0; k < size; ++k) sum += a[id.y * size + k] * b[k * size + id.x];
  c[id.y * size + id.x] = sum;
}
