# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What main.cpp says in its first lines: tune, write the table and the plan, and select from both on this processor.
# KERNELSEARCH, PROGRAM and PROBLEM are paths, FOLDER is emptied.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

function(expect regex)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(JOIN " " line ${ARGN})
  if(NOT code EQUAL 0 OR NOT "${out}${err}" MATCHES "${regex}")
    message(FATAL_ERROR "${line}\nended with ${code}, wanted ${regex}:\n${out}${err}")
  endif()
endfunction()

expect("best " ${KERNELSEARCH} tune ${PROBLEM} --budget 6 --store runs.db --out tuned --quiet)
expect("2 shapes of matmul" ${KERNELSEARCH} best latest --settings table.jsonl --store runs.db)
expect("^tuned: TILE_M=[0-9]+ TILE_K=[0-9]+.* for n=64\nright" ${PROGRAM} table.jsonl 70)
expect("^tuned: TILE_M=[0-9]+ TILE_K=[0-9]+.* for n=128\nright" ${PROGRAM} tuned/matmul_table.jsonl 128)
expect("n=64: .*n=128: " ${KERNELSEARCH} plan export latest --any --store runs.db -o plan.json)
expect("^(tuned: TILE_M=[0-9]+ TILE_K=[0-9]+|nothing better than the default).*\nright" ${PROGRAM} plan.json 128)
