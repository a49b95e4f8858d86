// A 3 x 3 convolution of 32 x 32 points, 32 channels to 64, single precision, added to the output.
func.func @conv2d(%image: memref<1x34x34x32xf32>, %filter: memref<3x3x32x64xf32>, %out: memref<1x32x32x64xf32>) {
  %i = bufferization.to_tensor %image restrict : memref<1x34x34x32xf32> to tensor<1x34x34x32xf32>
  %f = bufferization.to_tensor %filter restrict : memref<3x3x32x64xf32> to tensor<3x3x32x64xf32>
  %o = bufferization.to_tensor %out restrict writable : memref<1x32x32x64xf32> to tensor<1x32x32x64xf32>
  %sum = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%i, %f : tensor<1x34x34x32xf32>, tensor<3x3x32x64xf32>) outs(%o : tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32>
  bufferization.materialize_in_destination %sum in restrict writable %out : (tensor<1x32x32x64xf32>, memref<1x32x32x64xf32>) -> ()
  return
}
