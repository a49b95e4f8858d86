// A chain of three element-wise steps, each in a pass of its own unless fused: y = gelu(x + b) * g by the
// approximation with tanh, gelu(t) = t / 2 (1 + tanh(0.79788 (t + 0.044715 t^3))).
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @gelu(%x: memref<256x512xf32>, %b: memref<512xf32>, %g: memref<256x512xf32>, %y: memref<256x512xf32>) {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 0.044715 : f32
  %root = arith.constant 0.797884583 : f32
  %tx = bufferization.to_tensor %x restrict : memref<256x512xf32> to tensor<256x512xf32>
  %tb = bufferization.to_tensor %b restrict : memref<512xf32> to tensor<512xf32>
  %tg = bufferization.to_tensor %g restrict : memref<256x512xf32> to tensor<256x512xf32>
  %ty = bufferization.to_tensor %y restrict writable : memref<256x512xf32> to tensor<256x512xf32>
  %biased = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%tx, %tb : tensor<256x512xf32>, tensor<512xf32>) outs(%ty : tensor<256x512xf32>) {
  ^bb0(%p: f32, %q: f32, %old: f32):
    %sum = arith.addf %p, %q : f32
    linalg.yield %sum : f32
  } -> tensor<256x512xf32>
  %active = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%biased : tensor<256x512xf32>) outs(%ty : tensor<256x512xf32>) {
  ^bb0(%t: f32, %old: f32):
    %square = arith.mulf %t, %t : f32
    %third = arith.mulf %square, %t : f32
    %small = arith.mulf %third, %cube : f32
    %inner = arith.addf %t, %small : f32
    %scaled = arith.mulf %inner, %root : f32
    %bent = math.tanh %scaled : f32
    %up = arith.addf %bent, %one : f32
    %less = arith.mulf %t, %half : f32
    %gelu = arith.mulf %less, %up : f32
    linalg.yield %gelu : f32
  } -> tensor<256x512xf32>
  %gated = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%active, %tg : tensor<256x512xf32>, tensor<256x512xf32>) outs(%ty : tensor<256x512xf32>) attrs = {last} {
  ^bb0(%p: f32, %q: f32, %old: f32):
    %product = arith.mulf %p, %q : f32
    linalg.yield %product : f32
  } -> tensor<256x512xf32>
  bufferization.materialize_in_destination %gated in restrict writable %y : (tensor<256x512xf32>, memref<256x512xf32>) -> ()
  return
}
