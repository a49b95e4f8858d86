// Rows in blocks, columns in vectors; how a block is reduced is one of two ways.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %rows = transform.tune.knob<"rows"> = 1 from options = [1, 2, 4, 8, 16] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> = 16 from options = [16, 32, 64, 128, 256] -> !transform.param<i64>
    transform.smt.constrain_params(%rows, %columns) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%r: !smt.int, %c: !smt.int):
      %most = smt.int.constant 512
      %tile = smt.int.mul %r, %c
      %fits = smt.int.cmp le %tile, %most
      smt.assert %fits
    }
    %sum = transform.structured.match ops{["linalg.generic"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %sum tile_sizes [%rows, %columns] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %tile vector_sizes [%rows, %columns] : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.lower_masked_transfers
      transform.apply_patterns.memref.fold_memref_alias_ops
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %for = transform.structured.match interface{LoopLikeInterface} in %function : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %for : !transform.any_op
    transform.apply_cse to %function : !transform.any_op
    %hoisted = transform.structured.hoist_redundant_vector_transfers %function : (!transform.any_op) -> !transform.any_op
    %way = transform.tune.alternatives<"reduction"> selected_region = 0 -> !transform.any_op {
      transform.apply_patterns to %hoisted {
        transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerparallel"
      } : !transform.any_op
      transform.yield %hoisted : !transform.any_op
    }, {
      transform.apply_patterns to %hoisted {
        transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerreduction"
      } : !transform.any_op
      transform.yield %hoisted : !transform.any_op
    }
    transform.apply_patterns to %way {
      transform.apply_patterns.vector.lower_transpose
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
}
