# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a schedule of matmul with three levels of tiles, ten sizes for each of nine knobs: 10^9 configurations."""
o="[1, 2, 4, 8, 16, 32, 64, 128, 256, 512]"
names=[l+d for l in("outer_","middle_","inner_") for d in "mnk"]
print('''// Three levels of tiles, ten sizes each: 10^9 configurations before constraints.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {''')
for n in names:
    d={'outer_':'256','middle_':'64','inner_':'8'}[n[:-1]]
    opts={'inner_':"[1, 2, 4, 6, 8, 10, 12, 16, 24, 32]"}.get(n[:-1],o)
    print(f'    %{n} = transform.tune.knob<"{n}"> = {d} from options = {opts} -> !transform.param<i64>')
P="!transform.param<i64>"
print(f'''    transform.smt.constrain_params(%inner_m, %inner_n) : ({P}, {P}) -> () {{
    ^bb0(%m: !smt.int, %n: !smt.int):
      %most = smt.int.constant 1024
      %block = smt.int.mul %m, %n
      %fits = smt.int.cmp le %block, %most
      smt.assert %fits
    }}
    %matmul = transform.structured.match ops{{["linalg.matmul"]}} in %module : (!transform.any_op) -> !transform.any_op''')
prev='matmul'
for l in("outer_","middle_","inner_"):
    print(f'    %{l}t, %{l}l:3 = transform.structured.tile_using_for %{prev} tile_sizes [%{l}m, %{l}n, %{l}k] : (!transform.any_op, {P}, {P}, {P}) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)')
    prev=l+'t'
print('    transform.yield\n  }\n}')
