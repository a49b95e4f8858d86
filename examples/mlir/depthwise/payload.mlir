// A 3 x 3 depthwise convolution of 56 x 56 points, 64 channels, single precision, added to the output.
func.func @depthwise(%image: memref<1x58x58x64xf32>, %filter: memref<3x3x64xf32>, %out: memref<1x56x56x64xf32>) {
  %i = bufferization.to_tensor %image restrict : memref<1x58x58x64xf32> to tensor<1x58x58x64xf32>
  %f = bufferization.to_tensor %filter restrict : memref<3x3x64xf32> to tensor<3x3x64xf32>
  %o = bufferization.to_tensor %out restrict writable : memref<1x56x56x64xf32> to tensor<1x56x56x64xf32>
  %sum = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%i, %f : tensor<1x58x58x64xf32>, tensor<3x3x64xf32>) outs(%o : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  bufferization.materialize_in_destination %sum in restrict writable %out : (tensor<1x56x56x64xf32>, memref<1x56x56x64xf32>) -> ()
  return
}
