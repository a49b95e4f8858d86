// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what the problem declares, in that order, and the stream to launch on.
void launch_normalise(int rows, const float* x, float* y, float* lengths, cudaStream_t stream) {
#if FUSE
  normalised<<<rows, 256, 0, stream>>>(x, y);
#else
  lengths_of<<<rows, 256, 0, stream>>>(x, lengths);
#  if PDL
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(rows);
  launch.blockDim = dim3(256);
  launch.stream = stream;
  launch.attrs = &early;
  launch.numAttrs = 1;
  cudaLaunchKernelEx(&launch, scaled, x, static_cast<const float*>(lengths), y);
#  else
  scaled<<<rows, 256, 0, stream>>>(x, lengths, y);
#  endif
#endif
}
