// C[i] += A[i] B[i] for 64 products of 64 x 64, single precision, one after the other: linalg.batch_matmul, whose
// third dimension of 1 would keep a block's sums out of registers, as a loop of linalg.matmul.
func.func @batch_matmul(%a: memref<64x64x64xf32>, %b: memref<64x64x64xf32>, %c: memref<64x64x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %products = arith.constant 64 : index
  scf.for %i = %zero to %products step %one {
    %ai = memref.subview %a[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<64x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    %bi = memref.subview %b[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<64x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    %ci = memref.subview %c[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<64x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    linalg.matmul ins(%ai, %bi : memref<64x64xf32, strided<[64, 1], offset: ?>>, memref<64x64xf32, strided<[64, 1], offset: ?>>)
        outs(%ci : memref<64x64xf32, strided<[64, 1], offset: ?>>)
  }
  return
}
