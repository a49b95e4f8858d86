// Blocks of one row of points by some channels, summed over the filter. The order of the loops is open.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    %points = transform.tune.knob<"points"> = 4 from options = [1, 2, 4, 7, 8, 14, 28] -> !transform.param<i64>
    %channels = transform.tune.knob<"channels"> = 16 from options = [16, 32, 64] -> !transform.param<i64>
    transform.smt.constrain_params(%points, %channels) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%p: !smt.int, %f: !smt.int):
      %most = smt.int.constant 512
      %block = smt.int.mul %p, %f
      %fits = smt.int.cmp le %block, %most
      smt.assert %fits
    }
    %conv = transform.structured.match ops{["linalg.depthwise_conv_2d_nhwc_hwc"]} in %module : (!transform.any_op) -> !transform.any_op
    // Loops: image, row, point, channel, filter row, filter column.
    %tile = transform.tune.alternatives<"order"> selected_region = 0 -> !transform.any_op {
      %t, %l:5 = transform.structured.tile_using_for %conv tile_sizes [0, 1, %points, %channels, 1, 1] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %t : !transform.any_op
    }, {
      %t, %l:5 = transform.structured.tile_using_for %conv tile_sizes [0, 1, %points, %channels, 1, 1] interchange = [0, 3, 1, 2, 4, 5] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %t : !transform.any_op
    }, {
      %t, %l:5 = transform.structured.tile_using_for %conv tile_sizes [0, 1, %points, %channels, 1, 1] interchange = [0, 1, 3, 2, 4, 5] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %t : !transform.any_op
    }
    %row = transform.structured.decompose %tile : (!transform.any_op) -> !transform.any_op
    %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    %vectors = transform.structured.vectorize_children_and_apply_patterns %function : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %vectors {
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.reduction_to_contract
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %for = transform.structured.match interface{LoopLikeInterface} in %vectors : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %for : !transform.any_op
    transform.apply_cse to %vectors : !transform.any_op
    %buffers = transform.bufferization.one_shot_bufferize %module : (!transform.any_op) -> !transform.any_op
    %lowered = transform.structured.match ops{["func.func"]} in %buffers : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %lowered {
      transform.apply_patterns.memref.fold_memref_alias_ops
      transform.apply_patterns.vector.cast_away_vector_leading_one_dim
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %again = transform.structured.match interface{LoopLikeInterface} in %lowered : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %again : !transform.any_op
    transform.apply_cse to %lowered : !transform.any_op
    // The block of sums leaves the loops over the filter.
    %hoisted = transform.structured.hoist_redundant_vector_transfers %lowered : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %hoisted {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_transpose
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
    } : !transform.any_op
    transform.yield
  }
}
