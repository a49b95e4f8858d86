// y += A x, 1024 x 1024, single precision.
func.func @matvec(%a: memref<1024x1024xf32>, %x: memref<1024xf32>, %y: memref<1024xf32>) {
  linalg.matvec ins(%a, %x : memref<1024x1024xf32>, memref<1024xf32>) outs(%y : memref<1024xf32>)
  return
}
