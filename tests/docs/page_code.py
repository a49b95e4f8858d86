# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ and C of the pages, compiled with -fsyntax-only, each block with what its page takes for granted."""
import pathlib
import re
import subprocess

FUNCTION, FILE, MEMBERS, FIRST_FILE = "function", "file", "members", "first file"  # where a block's text goes

# Of each block in the order of its page: where it goes, and what stands before it. Under PROBLEM the page speaks of a problem, a model, a space and a kernel.
PROBLEM = "Problem problem; AnyChatModel model; const Space space = SpaceBuilder().build(); const Kernel kernel{{}, space};"
CPP = {
    "README.md": [(FILE, ""), (FUNCTION, "")],
    "docs/agents.md": [(FUNCTION, PROBLEM)],
    "docs/embedding.md": [
        (FUNCTION, ""),
        (FUNCTION, "using HouseEvaluator = HostEvaluator; Problem problem; RunParts same; std::string store; struct { void on_trial(const Trial<Candidate>&) {} } counter;"),
        (FUNCTION, "const int n = 1; std::int64_t tile = 1;"),
        (FUNCTION, "const std::string text; const Tunable tunable; const auto report = [](const std::string&) {};"),
    ],
    "docs/evidence.md": [(FUNCTION, "Problem problem;")],
    "docs/extending.md": [
        (FILE, ""),
        (FILE, "struct MyPolicy { using Proposal = Config; MyPolicy(Space, std::uint64_t); std::vector<Config> ask(std::size_t); void tell(std::span<const Observation<Config>>); };"),
        (FILE, "struct MyOptions; struct MyPolicy { using Proposal = Config; MyPolicy(Space, MyOptions); std::vector<Config> ask(std::size_t); void tell(std::span<const Observation<Config>>); };"),
        (FILE, ""),
        (FILE, ""),
        (MEMBERS, ""),
        (FILE, ""),
    ],
    "docs/formats/problem.md": [(FILE, ""), (FILE, "using real = float;"), None],
    "docs/formats/source-markers.md": [(FILE, "")],
    "docs/models.md": [(FUNCTION, "const ChatRequest request;")],
    "docs/moves.md": [(FUNCTION, PROBLEM)],
    "docs/roofline.md": [(FUNCTION, "Problem problem;")],
    "docs/systems.md": [(FUNCTION, "Problem problem;"),
                        (FUNCTION, PROBLEM + " OptimizerOptions options; struct MendFirst : BestOfK {};")],
    "docs/systems/cuda_skill_v2.md": [(FUNCTION, PROBLEM)],
    "docs/systems/helion_llm.md": [(FUNCTION, PROBLEM + " std::string source, facts;")],
    "docs/systems/peak.md": [
        (FUNCTION, PROBLEM + " const auto make_policy = [](const Space& of, std::uint64_t) { return Exhaustive(of); }; std::optional<ComputeSanitizer> given; auto& sanitizer = *given;"),
        (FUNCTION, "struct { struct { CheckpointTree& checkpoints(); } policy_; auto& policy() { return policy_; } } search;"),
    ],
}
LEFT_OUT = {("docs/formats/problem.md", 2): "a launch in CUDA, which nvcc compiles"}
HEADERS = ["agents/llm_config_search.hpp", "agents/llm_rewriter.hpp", "agents/method_writer.hpp", "agents/natural_transformations.hpp", "agents/checkpoint_tree.hpp",
           "evaluator/code_inspected.hpp", "evaluator/gpu/gpu_code_inspector.hpp", "evaluator/gpu/gpu_evaluator.hpp", "evaluator/gpu/compute_sanitizer.hpp", "evaluator/host/host_code_inspector.hpp",
           "evaluator/host/host_evaluator.hpp", "evaluator/host/host_roofline.hpp", "external/policy_plugin.hpp", "kernelsearch.hpp", "llm/chat_model.hpp",
           "llm/model_set.hpp", "problem/read_problem.hpp", "run/run.hpp", "systems/cuda_skill_v2/cuda_skill_v2.hpp", "systems/peak.hpp", "systems/stark.hpp"]

C = {"docs/c.md": [
    (FUNCTION, "int trials = 1, built = 1; double seconds = 0;"),
    (FUNCTION, "int64_t n = 1;"),
    (FIRST_FILE, "static int fits; static size_t bytes; static double measured; static const char *source_text; static ks_space *space; static ks_problem *problem;"
                 " static ks_evaluator *evaluator; static ks_run *run; static ks_trial *trial; static void *user; static double seconds; static char text[100];"
                 " void watch(void *, ks_event, const ks_trial *, const char *);"),
    (FUNCTION, "ks_policy *mine, *theirs; ks_comparison *comparison; double score, low, high; void *user = NULL;"
               " extern int make(void *, const ks_space *, uint64_t, void **), ask(void *, size_t, uint32_t *, size_t *), tell(void *, const ks_trial *); extern void release(void *);"),
]}


OURS = '#line 1 "tests/docs/page_code.py"'


def unit(blocks, table, before):
    """One file of all blocks of a language. Raises KeyError for a block that the table lacks, ValueError for an entry without its block."""
    includes, out, used = list(before), [], {}
    for number, block in enumerate(blocks):
        at = used[block.page] = used.get(block.page, -1) + 1
        if block.page not in table or at >= len(table[block.page]):
            raise KeyError(f"{block.place}: tests/docs/page_code.py does not say what this block takes for granted")
        if table[block.page][at] is None:
            continue
        where, given = table[block.page][at]
        lines = [written(line) for line in block.text.split("\n")]
        includes += [line for line in lines if line.startswith("#include")]
        lines = ["" if line.startswith("#include") else line for line in lines]
        place = f'#line {block.line} "{block.page}"'
        first, rest = [], lines
        if where == FIRST_FILE:
            end = lines.index("}") + 1
            first, rest = [OURS, given, place, *lines[:end]], [""] * end + lines[end:]
            given = ""
        elif where == FILE:
            first, rest = [OURS, given, place, *lines], []
        out += ["{open}" + str(number), *first]
        if where == MEMBERS:
            out += ["struct Members {", OURS, given, place, *rest, "};"]
        elif rest:
            out += [f"inline void shown_{number}(void) {{", OURS, given, place, *rest, "}"]
        out += [OURS, "{close}"]
    for page, entries in table.items():
        if used.get(page, -1) + 1 != len(entries):
            raise ValueError(f"{page} has {used.get(page, -1) + 1} blocks, tests/docs/page_code.py says something of {len(entries)}")
    return includes, out


def written(line):
    """`...` is what readers write: a line, a statement or a type."""
    if re.fullmatch(r"\s*\.\.\.\s*", line):
        return ""
    return line.replace(") ...", ") {}").replace("= ...;", "= int;")


def faults(root: pathlib.Path, blocks, flags=()):
    """What compilers say of the blocks in C++ and C."""
    found = []
    includes, out = unit([block for block in blocks if block.language == "cpp"], CPP, [f'#include "kernelsearch/{name}"' for name in HEADERS])
    text = "\n".join([*includes, "using namespace kernelsearch;", *out])
    text = re.sub(r"\{open\}(\d+)", r"#define kernelsearch_plugin_abi abi_\1\n#define kernelsearch_register_policies policies_\1\nnamespace block_\1 {", text)
    text = text.replace("{close}", "}\n#undef kernelsearch_plugin_abi\n#undef kernelsearch_register_policies") + "\n"
    paths = [f"-I{root / folder}" for folder in ("include", "src/judge/generator")]
    found += compiled(["g++", "-x", "c++", "-std=c++20", *paths, *flags], text)
    includes, out = unit([block for block in blocks if block.language == "c"], C, ["#include <kernelsearch/c/kernelsearch.h>", "#include <stdint.h>", "#include <stdio.h>", "#include <stdlib.h>"])
    text = "\n".join(line for line in [*includes, *out] if not re.fullmatch(r"\{open\}\d+|\{close\}", line)) + "\n"
    found += compiled(["gcc", "-x", "c", "-std=c11", paths[0]], text.replace("inline void", "void"))
    return found


def compiled(command, text):
    run = subprocess.run([*command, "-fsyntax-only", "-Wall", "-Wno-unused", "-"], input=text, capture_output=True, text=True)
    return [] if run.returncode == 0 else [run.stderr]
