// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A map of a row-major matrix of halves for the copy engine: boxes of box_columns (at most 64) by box_rows, swizzled by 128 bytes. Rows
// begin at multiples of 16 bytes. The driver's function is found at run time, so nothing more is linked.
static bool ks_tensor_map(CUtensorMap& map, const void* array, int columns, int rows, int box_columns, int box_rows) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    return cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result) == cudaSuccess
               ? reinterpret_cast<Encode>(found)
               : nullptr;
  }();
  const cuuint64_t sizes[] = {(cuuint64_t)columns, (cuuint64_t)rows}, strides[] = {2ull * columns};
  const cuuint32_t box[] = {(cuuint32_t)box_columns, (cuuint32_t)box_rows}, steps[] = {1, 1};
  return encode != nullptr &&
         encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<void*>(array), sizes, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

bool launch_matmul(int n, int m, int k, const __half* a, const __half* b, __half* c, cudaStream_t stream) {
  // More than 48 KiB are granted to those who ask; asked once. False: this device does not have as much.
  static const cudaError_t granted = cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
  if (granted != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  CUtensorMap map_a, map_b, map_c;
  if (!ks_tensor_map(map_a, a, k, n, 64, TILE_M) || !ks_tensor_map(map_b, b, m, k, 64, TILE_K) ||
      !ks_tensor_map(map_c, c, m, n, 64, 64))
    return false;
  matmul<<<TILES_M * TILES_N, THREADS, SHARED_BYTES, stream>>>(n, m, k, map_a, map_b, map_c);
  return true;
}
