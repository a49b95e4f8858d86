// One Jacobi step on 512 x 512 points: the mean of the four neighbours and the point.
#same = affine_map<(i, j) -> (i, j)>
func.func @stencil(%in: memref<514x514xf32>, %out: memref<512x512xf32>) {
  %fifth = arith.constant 0.2 : f32
  %north = memref.subview %in[0, 1] [512, 512] [1, 1] : memref<514x514xf32> to memref<512x512xf32, strided<[514, 1], offset: 1>>
  %west = memref.subview %in[1, 0] [512, 512] [1, 1] : memref<514x514xf32> to memref<512x512xf32, strided<[514, 1], offset: 514>>
  %centre = memref.subview %in[1, 1] [512, 512] [1, 1] : memref<514x514xf32> to memref<512x512xf32, strided<[514, 1], offset: 515>>
  %east = memref.subview %in[1, 2] [512, 512] [1, 1] : memref<514x514xf32> to memref<512x512xf32, strided<[514, 1], offset: 516>>
  %south = memref.subview %in[2, 1] [512, 512] [1, 1] : memref<514x514xf32> to memref<512x512xf32, strided<[514, 1], offset: 1029>>
  linalg.generic {indexing_maps = [#same, #same, #same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%north, %west, %centre, %east, %south : memref<512x512xf32, strided<[514, 1], offset: 1>>, memref<512x512xf32, strided<[514, 1], offset: 514>>, memref<512x512xf32, strided<[514, 1], offset: 515>>, memref<512x512xf32, strided<[514, 1], offset: 516>>, memref<512x512xf32, strided<[514, 1], offset: 1029>>)
      outs(%out : memref<512x512xf32>) {
  ^bb0(%n: f32, %w: f32, %c: f32, %e: f32, %s: f32, %old: f32):
    %nw = arith.addf %n, %w : f32
    %es = arith.addf %e, %s : f32
    %four = arith.addf %nw, %es : f32
    %five = arith.addf %four, %c : f32
    %mean = arith.mulf %five, %fifth : f32
    linalg.yield %mean : f32
  }
  return
}
