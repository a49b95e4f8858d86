// Products one after the other, each in blocks that are held in registers as vectors of outer products.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %rows = transform.tune.knob<"rows"> = 4 from options = [2, 4, 8, 16] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> = 16 from options = [16, 32, 64] -> !transform.param<i64>
    %depth = transform.tune.knob<"depth"> = 1 from options = [1, 2, 4, 8] -> !transform.param<i64>
    // At most 32 registers of 16 numbers hold the block, and a row of B's and a number of A's.
    transform.smt.constrain_params(%rows, %columns) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%r: !smt.int, %c: !smt.int):
      %lanes = smt.int.constant 16
      %most = smt.int.constant 32
      %wide = smt.int.div %c, %lanes
      %block = smt.int.mul %r, %wide
      %used = smt.int.add %block, %wide
      %fits = smt.int.cmp lt %used, %most
      smt.assert %fits
    }
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %panel = transform.tune.alternatives<"order"> selected_region = 0 -> !transform.any_op {
      %t, %l:2 = transform.structured.tile_using_for %matmul tile_sizes [%rows, %columns, 0] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %t : !transform.any_op
    }, {
      %t, %l:2 = transform.structured.tile_using_for %matmul tile_sizes [%rows, %columns, 0] interchange = [1, 0, 2] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
      transform.yield %t : !transform.any_op
    }
    %block, %loop = transform.structured.tile_using_for %panel tile_sizes [0, 0, %depth] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.structured.vectorize %block vector_sizes [%rows, %columns, %depth] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.lower_masked_transfers
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.reduction_to_contract
      transform.apply_patterns.memref.fold_memref_alias_ops
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    // The block of C leaves the innermost loop: sums stay in registers.
    %for = transform.structured.match interface{LoopLikeInterface} in %function : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %for : !transform.any_op
    transform.apply_cse to %function : !transform.any_op
    %hoisted = transform.structured.hoist_redundant_vector_transfers %function : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %hoisted {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_transpose
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
    } : !transform.any_op
    transform.yield
  }
}
