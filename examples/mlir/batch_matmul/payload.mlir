// Eight products C_i += A_i B_i, 128 x 128, single precision.
func.func @batch_matmul(%a: memref<8x128x128xf32>, %b: memref<8x128x128xf32>, %c: memref<8x128x128xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<8x128x128xf32>, memref<8x128x128xf32>) outs(%c : memref<8x128x128xf32>)
  return
}
