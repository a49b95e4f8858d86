// A chain of three element-wise steps, each in a pass of its own unless fused: d = relu(a * x + b) * c.
#same = affine_map<(i, j) -> (i, j)>
func.func @elementwise(%a: memref<512x512xf32>, %b: memref<512x512xf32>, %c: memref<512x512xf32>, %d: memref<512x512xf32>) {
  %x = arith.constant 1.5 : f32
  %zero = arith.constant 0.0 : f32
  %ta = bufferization.to_tensor %a restrict : memref<512x512xf32> to tensor<512x512xf32>
  %tb = bufferization.to_tensor %b restrict : memref<512x512xf32> to tensor<512x512xf32>
  %tc = bufferization.to_tensor %c restrict : memref<512x512xf32> to tensor<512x512xf32>
  %td = bufferization.to_tensor %d restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %scaled = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%ta, %tb : tensor<512x512xf32>, tensor<512x512xf32>) outs(%td : tensor<512x512xf32>) {
  ^bb0(%p: f32, %q: f32, %old: f32):
    %product = arith.mulf %p, %x : f32
    %sum = arith.addf %product, %q : f32
    linalg.yield %sum : f32
  } -> tensor<512x512xf32>
  %positive = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%scaled : tensor<512x512xf32>) outs(%td : tensor<512x512xf32>) {
  ^bb0(%p: f32, %old: f32):
    %is = arith.cmpf ogt, %p, %zero : f32
    %kept = arith.select %is, %p, %zero : f32
    linalg.yield %kept : f32
  } -> tensor<512x512xf32>
  %result = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%positive, %tc : tensor<512x512xf32>, tensor<512x512xf32>) outs(%td : tensor<512x512xf32>) attrs = {last} {
  ^bb0(%p: f32, %q: f32, %old: f32):
    %product = arith.mulf %p, %q : f32
    linalg.yield %product : f32
  } -> tensor<512x512xf32>
  bufferization.materialize_in_destination %result in restrict writable %d : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}
