// The sum of each row of 1024 x 1024 numbers, added to the output.
func.func @row_sums(%x: memref<1024x1024xf32>, %sums: memref<1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1024x1024xf32>) outs(%sums : memref<1024xf32>) {
  ^bb0(%value: f32, %sum: f32):
    %next = arith.addf %sum, %value : f32
    linalg.yield %next : f32
  }
  return
}
