// The last step is tiled and those before it are computed within its tiles; what computes tanh is open.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    %rows = transform.tune.knob<"rows"> = 1 from options = [1, 2, 4, 8] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> = 16 from options = [16, 32, 64, 128] -> !transform.param<i64>
    %last = transform.structured.match ops{["linalg.generic"]} attributes{last} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.fuse %last tile_sizes [%rows, %columns] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    %vectors = transform.structured.vectorize_children_and_apply_patterns %function : (!transform.any_op) -> !transform.any_op
    transform.apply_cse to %vectors : !transform.any_op
    %way = transform.tune.alternatives<"tanh"> selected_region = 0 -> !transform.any_op {
      transform.yield %vectors : !transform.any_op
    }, {
      %approximated = transform.apply_registered_pass "test-math-polynomial-approximation" to %vectors : (!transform.any_op) -> !transform.any_op
      transform.yield %approximated : !transform.any_op
    }
    %buffers = transform.bufferization.one_shot_bufferize %module : (!transform.any_op) -> !transform.any_op
    %done = transform.structured.match ops{["func.func"]} in %buffers : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %done {
      transform.apply_patterns.memref.fold_memref_alias_ops
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.apply_cse to %done : !transform.any_op
    transform.apply_patterns to %done {
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
    } : !transform.any_op
    transform.yield
  }
}
