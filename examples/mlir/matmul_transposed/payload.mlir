// C += A B^T, 256 x 256, single precision: rows of A by rows of B.
#rows_a = affine_map<(m, n, k) -> (m, k)>
#rows_b = affine_map<(m, n, k) -> (n, k)>
#rows_c = affine_map<(m, n, k) -> (m, n)>
func.func @matmul_transposed(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#rows_a, #rows_b, #rows_c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x256xf32>, memref<256x256xf32>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }
  return
}
