// The softmax of each of 256 rows of 512 numbers: exp(x - max) / sum of these.
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%x: memref<256x512xf32>, %y: memref<256x512xf32>) {
  %least = arith.constant -3.40282347E+38 : f32
  %zero = arith.constant 0.0 : f32
  %tx = bufferization.to_tensor %x restrict : memref<256x512xf32> to tensor<256x512xf32>
  %ty = bufferization.to_tensor %y restrict writable : memref<256x512xf32> to tensor<256x512xf32>
  %column = tensor.empty() : tensor<256xf32>
  %none = linalg.fill ins(%least : f32) outs(%column : tensor<256xf32>) -> tensor<256xf32>
  %most = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%tx : tensor<256x512xf32>) outs(%none : tensor<256xf32>) {
  ^bb0(%value: f32, %max: f32):
    %next = arith.maximumf %value, %max : f32
    linalg.yield %next : f32
  } -> tensor<256xf32>
  %exp = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%tx, %most : tensor<256x512xf32>, tensor<256xf32>) outs(%ty : tensor<256x512xf32>) {
  ^bb0(%value: f32, %max: f32, %old: f32):
    %less = arith.subf %value, %max : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<256x512xf32>
  %other = tensor.empty() : tensor<256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%other : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<256x512xf32>) outs(%zeros : tensor<256xf32>) {
  ^bb0(%value: f32, %total: f32):
    %next = arith.addf %value, %total : f32
    linalg.yield %next : f32
  } -> tensor<256xf32>
  %part = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<256x512xf32>, tensor<256xf32>) outs(%ty : tensor<256x512xf32>) attrs = {last} {
  ^bb0(%value: f32, %total: f32, %old: f32):
    %quotient = arith.divf %value, %total : f32
    linalg.yield %quotient : f32
  } -> tensor<256x512xf32>
  bufferization.materialize_in_destination %part in restrict writable %y : (tensor<256x512xf32>, memref<256x512xf32>) -> ()
  return
}
