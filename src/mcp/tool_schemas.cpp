// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool_schemas.hpp"

#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernelsearch/run/run_option.hpp"
#include "systems/options_schema.hpp"

namespace kernelsearch::detail {
namespace {

struct Named {
  std::string_view name;
  std::string_view text;
};

/// Pieces that several schemas share; `"@name"` stands for one.
constexpr Named pieces[] = {
    {"interval", R"json({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2})json"},
    {"speedup",
     R"json({"type": "object", "properties": {"ratio": {"type": "number"}, "interval": "@interval", "pairs": {"type": "integer"}}, "required": ["ratio", "interval", "pairs"], "additionalProperties": false})json"},
    {"objectives",
     R"json({"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "number"},
"unit": {"type": "string"}, "better": {"type": "string", "enum": ["lower", "higher"]}, "unchecked": {"type": "boolean", "description": "the kernel's own word"}},
"required": ["name", "value", "better"], "additionalProperties": false}, "description": "what counts in a run that goes by more than the time"})json"},
    {"move",
     R"json({"type": "object", "properties": {"kind": {"type": "string"}, "parents": {"type": "array", "items": {"type": "integer"}},
"strategies": {"type": "array", "items": {"type": "string"}}, "variant": {"type": "integer"}}, "required": ["kind", "parents", "strategies"],
"additionalProperties": false})json"},
    {"trial",
     R"json({"type": "object", "properties": {"trial": {"type": "integer"}, "verdict": {"type": "string"}, "reason": {"type": "string"},
"overrun": {"type": "object", "properties": {"array": {"type": "string"}, "index": {"type": "integer"}, "elements": {"type": "integer"}}, "additionalProperties": false,
"description": "where it wrote outside of its arrays: the nearest element, counted as the array's"},
"seconds": {"type": "number"}, "interval": "@interval", "speedup": "@speedup", "objectives": "@objectives",
"scalar": {"type": "number", "description": "of several objectives: their weighted geometric mean, lower is better"},
"settings": {"type": "object"}, "parents": {"type": "array", "items": {"type": "integer"}}, "move": "@move",
"shapes": {"type": "array", "items": {"type": "object", "properties": {"shape": {"type": "string"}, "seconds": {"type": "number"},
"interval": "@interval", "samples": {"type": "integer"}, "ended": {"type": "string"}, "speedup": "@speedup"},
"required": ["shape", "seconds", "interval", "samples", "ended"], "additionalProperties": false}}, "at": {"type": "string"},
"no_improvement": {"type": "string", "description": "of the best: why it is not an improvement over the reference or the default configuration"}},
"required": ["trial", "verdict", "settings", "parents", "at"], "additionalProperties": false})json"},
    {"difference",
     R"json({"type": "object", "properties": {"settings": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"},
"before": {"type": "string"}, "after": {"type": "string"}}, "required": ["name", "before", "after"], "additionalProperties": false}},
"regions": {"type": "array", "items": {"type": "string"}}, "diff": {"type": "string"}}, "required": ["settings", "regions", "diff"],
"additionalProperties": false})json"},
    {"texts", R"json({"type": "array", "items": {"type": "string"}})json"},
    {"trial_or_null", R"json({"anyOf": [{"type": "null"}, "@trial"]})json"},
    {"run_row",
     R"json({"type": "object", "properties": {"run": {"type": "integer"}, "name": {"type": "string"}, "problem": {"type": "string"},
"policy": {"type": "string"}, "seed": {"type": "integer"}, "objectives": {"type": "string", "description": "what is minimized or maximized"},
"budget": {"type": "string"}, "state": {"type": "string",
"enum": ["working", "paused", "finished", "interrupted"]}, "doing": {"type": "string"}, "reason": {"type": "string"},
"trials": {"type": "integer"}, "seconds": {"type": "number"}, "verdicts": {"type": "object", "additionalProperties": {"type": "integer"}},
"best": "@trial_or_null", "next_move": "@move", "device": {"type": "string"}, "toolchain": {"type": "string"},
"started": {"type": "string"}}, "required": ["run", "name", "problem", "policy", "seed", "objectives", "budget", "state", "reason", "trials",
"seconds", "verdicts", "best", "device", "toolchain", "started"], "additionalProperties": false})json"},
};

constexpr Named schemas[] = {
    {"start_run",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"problem": {"type": "string", "minLength": 1, "description": "a problem folder or problem.json below the server's root, e.g. \"matmul\""},
"problem_json": {"type": ["object", "string"], "description": "a whole problem.json instead: an object (or its text), with sources as text or as files below the root"}}})json"},
    {"run_result", R"json("@run_row")json"},
    {"step",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trials": {"type": "integer", "minimum": 1, "maximum": 1000000, "description": "how many candidates the policy may try"},
"seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 86400, "description": "or how long it may work; with neither it works until the run's budget is spent"},
"decline": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "in a submit run: why the suggested move does not apply to its kernel: that costs no trial, it is not suggested for this kernel again, and another is"}},
"required": ["run"]})json"},
    {"step_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"trials_told": {"type": "integer"},
"finished": {"type": "boolean"}, "stopped": {"type": "boolean"}, "reason": {"type": "string"}, "run": "@run_row"},
"required": ["trials_told", "finished", "stopped", "reason", "run"]})json"},
    {"status",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "without run: how many of the newest runs to list"},
"trials": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 0, "description": "with run: how many of its newest trials to list too"}}})json"},
    {"status_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"runs": {"type": "array", "items": "@run_row"}, "trials": {"type": "array", "items": "@trial"},
"root": {"type": "string"}, "store": {"type": "string"}}, "required": ["runs", "root", "store"]})json"},
    {"best",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"code": {"type": "string", "enum": ["source", "regions", "none"], "default": "source", "description": "the winner's code as one ready-to-build source, as the regions that submit_kernel takes, or not at all"}},
"required": ["run"]})json"},
    {"best_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer"}, "best": "@trial",
"source": {"type": "string"}, "regions": {"type": "object", "properties": {"device": {"type": "string"}, "host": {"type": "string"},
"macros": {"type": "string"}}, "required": ["device", "host", "macros"], "additionalProperties": false}, "provenance": {"type": "string"}},
"required": ["run", "best", "provenance"]})json"},
    {"submit_kernel",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"device": {"type": "string", "minLength": 1, "maxLength": 1048576, "description": "the whole device region: the code that is tuned (for host kernels the function itself)"},
"host": {"type": "string", "maxLength": 1048576, "description": "the whole host region: the launch function"},
"macros": {"type": "string", "maxLength": 1048576, "description": "the whole macros region: definitions before both"},
"settings": {"type": "object", "additionalProperties": {"type": ["number", "boolean", "string", "array"]}, "description": "values of tunables; those not given are the parent's"},
"parent": {"type": "integer", "minimum": 0, "description": "the trial that this was made from; its regions and settings fill in what is not given. Default: the suggested move's parent with answers, else the current checkpoint, else the best"},
"tunables": {"type": "object", "additionalProperties": {"type": ["array", "object"]}, "description": "tunables of this kernel in addition to the problem's, as macros that its code uses: {\"TILE\": [8, 16, 32]} or {\"TILE\": {\"values\": [8, 16], \"default\": 16}}. Default: the parent's"},
"constraints": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 1000}, "maxItems": 16, "description": "what must hold between tunables, e.g. \"TILE * UNROLL <= 64\""},
"strategies": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 100}, "maxItems": 20, "description": "what was done, in a word or name each"},
"answers": {"type": "boolean", "default": false, "description": "this carries out the move that was suggested"}},
"required": ["run"]})json"},
    {"submit_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": "@run_row",
"trial": "@trial_or_null", "is_best": {"type": "boolean"}, "stopped": {"type": "boolean"}, "advice": {"type": "string"},
"cause": {"type": "string", "description": "the likeliest, by what differs from the parent"},
"same_as": {"type": "integer", "description": "an earlier trial with the same code and settings"}},
"required": ["run", "trial", "is_best", "stopped", "advice"]})json"},
    {"explain_verdict",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial's number in the run"},
"code": {"type": "boolean", "default": false, "description": "also give the code that was judged"}},
"required": ["run", "trial"]})json"},
    {"explain_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer"}, "trial": "@trial",
"meaning": {"type": "string"}, "advice": {"type": "string"}, "progress": {"type": "number"}, "features": {"type": "object", "additionalProperties": {"type": "number"}},
"phases": {"type": "object", "additionalProperties": {"type": "number"}}, "provenance": {"type": "string"}, "against_parent": {"type": "string"},
"cause": {"type": "string", "description": "the likeliest, by what differs from the parent"}, "difference": "@difference",
"regions": {"type": "object", "properties": {"device": {"type": "string"}, "host": {"type": "string"},
"macros": {"type": "string"}}, "required": ["device", "host", "macros"], "additionalProperties": false}},
"required": ["run", "trial", "meaning", "advice", "progress", "features", "phases", "provenance"]})json"},
    {"list_methods",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"run": {"type": "integer", "minimum": 1, "description": "for the backend and the traits of this run's problem; default the backend of the newest run"},
"backend": {"type": "string", "maxLength": 100, "description": "for this backend instead: host, cuda, hip, opencl or vulkan"},
"trait": {"type": "string", "maxLength": 100, "description": "only for problems of this kind, e.g. \"matmul\", and what suits all"},
"folder": {"type": "string", "maxLength": 200, "description": "only \"policies\", \"strategies\", \"transformations\", \"methods\" or another folder of the data"},
"name": {"type": "string", "maxLength": 200, "description": "only the one of that name, with its whole definition"}}})json"},
    {"list_methods_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"policies": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "summary": {"type": "string"}, "options": {"type": "object", "description": "JSON Schema of what the policy can be given"}}, "required": ["name", "summary"], "additionalProperties": false}},
"suggesting_policies": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "summary": {"type": "string"}}, "required": ["name", "summary"], "additionalProperties": false}},
"methods": {"type": "array", "items": {"type": "object", "properties": {"folder": {"type": "string"}, "name": {"type": "string"}, "summary": {"type": "string"},
"file": {"type": "string"}, "definition": {"type": ["object", "array"]}}, "required": ["folder", "name"], "additionalProperties": false}},
"backend": {"type": "string"}, "left_out": {"type": "integer", "description": "for other backends or traits"}},
"required": ["policies", "suggesting_policies", "methods", "left_out"]})json"},
    {"report",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"format": {"type": "string", "enum": ["text", "json", "html"], "default": "text", "description": "a summary, every trial, or a page in a file whose path is given"},
"limit": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 200, "description": "for json: how many of the fastest trials to give"}},
"required": ["run"]})json"},
    {"report_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": "@run_row",
"text": {"type": "string"}, "trials": {"type": "array", "items": "@trial"}, "path": {"type": "string"}}, "required": ["run"]})json"},
    {"describe_problem",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"problem": {"type": "string", "minLength": 1, "description": "or a problem folder or problem.json below the server's root"}}})json"},
    {"problem_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"name": {"type": "string"}, "description": {"type": "string"},
"backend": {"type": "string"}, "function": {"type": "string"}, "arguments": {"type": "array", "items": {"type": "object", "properties": {
"name": {"type": "string"}, "kind": {"type": "string", "enum": ["scalar", "array", "tensor_map"]}, "type": {"type": "string"}, "of": {"type": "string"},
"value": {"type": "string"}, "symbol": {"type": "string"}, "role": {"type": "string", "enum": ["in", "out", "inout", "workspace"]},
"elements": {"type": "string"}, "range": "@interval", "check": {"type": "boolean", "description": "false: the kernel's own word"}, "tolerance": {"type": "object", "properties": {"absolute": {"type": "number"},
"relative": {"type": "number"}}, "required": ["absolute", "relative"], "additionalProperties": false}},
"required": ["name", "kind", "type"], "additionalProperties": false}},
"shapes": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "variables": {"type": "object"},
"weight": {"type": "number", "description": "0: checked, not timed"}}, "required": ["name", "variables", "weight"], "additionalProperties": false}},
"hidden_shapes": {"type": "boolean"}, "bit_exact": {"type": "boolean"}, "valid": {"type": "string"},
"launch": {"type": "array", "items": {"type": "object", "properties": {"function": {"type": "string"}, "zero": {"type": "string"}, "arguments": "@texts",
"grid": "@texts", "block": "@texts", "cluster": "@texts", "shared_bytes": {"type": "string"},
"local": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "bytes": {"type": "string"}},
"required": ["name", "bytes"], "additionalProperties": false}}, "if": {"type": "string"}}, "additionalProperties": false}},
"space": {"type": "object", "properties": {"tunables": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"},
"kind": {"type": "string"}, "values": {"type": "array"}, "default": {"type": ["number", "boolean", "string", "array"]}, "if": {"type": "string"}},
"required": ["name", "kind", "values", "default"], "additionalProperties": false}}, "constraints": "@texts", "configurations": {"type": "string"}},
"required": ["tunables", "constraints", "configurations"], "additionalProperties": false},
"build": {"type": "object", "properties": {"compiler": {"type": "string"}, "flags": "@texts", "libraries": "@texts", "command": "@texts"},
"required": ["compiler", "flags", "libraries"], "additionalProperties": false},
"external": {"type": "object", "properties": {"command": "@texts", "time": {"type": "string", "enum": ["slope", "claimed"]}},
"required": ["command", "time"], "additionalProperties": false, "description": "instead of build"},
"counted_as": {"type": "string", "enum": ["reference_weighted", "geometric_mean"]}, "threads": {"type": "integer"}, "traits": "@texts",
"operations": {"type": "string"}, "bytes": {"type": "string"}, "objectives": {"type": "string", "description": "what is minimized or maximized, where that is not the time alone"}},
"required": ["name", "description", "backend", "function", "arguments", "shapes", "hidden_shapes", "bit_exact", "launch", "space",
"counted_as", "threads", "traits"]})json"},
    {"prompt",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial's number in the run; default the best"}}, "required": ["run"]})json"},
    {"apply",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "a strategy, transformation or method, as list_methods names them"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial's number in the run; default the best"}}, "required": ["run", "name"]})json"},
    {"tune",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial's number in the run; default the best"},
"trials": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "configurations to judge at most; they count in the run's budget"},
"policy": {"type": "string", "default": "bayesian", "description": "a policy over tunables, as list_methods names them, with options where some are given, as \"genetic(population=40)\""}},
"required": ["run"]})json"},
    {"tune_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"of": {"type": "integer", "description": "the trial whose kernel was tuned"},
"trials_told": {"type": "integer"}, "best": "@trial_or_null", "tried": {"type": "array", "items": {"type": "object", "properties": {"trial": {"type": "integer"},
"verdict": {"type": "string"}, "settings": {"type": "object"}, "seconds": {"type": "number"}, "objectives": "@objectives"}, "required": ["trial", "verdict", "settings"],
"additionalProperties": false}}, "stopped": {"type": "boolean"}, "reason": {"type": "string"}, "run": "@run_row"},
"required": ["of", "trials_told", "best", "tried", "stopped", "reason", "run"]})json"},
    {"profile",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial's number in the run; default the best"},
"counters": {"type": "boolean", "default": false, "description": "also all of the profiler's counters under its own names"}},
"required": ["run"]})json"},
    {"profile_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer"}, "trial": {"type": "integer"},
"bound": {"type": "string"}, "gaps": {"type": "object", "additionalProperties": {"type": "number"}}, "features": {"type": "object", "additionalProperties": {"type": "number"}},
"missing": "@texts", "stopped": {"type": "boolean"}}, "required": ["run", "trial", "bound", "gaps", "features", "missing", "stopped"]})json"},
    {"validate",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial's number in the run; default the best"},
"tools": {"type": "string", "maxLength": 200, "description": "of CUDA kernels: tools of Compute Sanitizer with commas between, of memcheck, racecheck, initcheck, synccheck; default the first three"}},
"required": ["run"]})json"},
    {"validate_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer"}, "trial": "@trial", "checked": {"type": "string"},
"passed": {"type": "boolean"}, "stopped": {"type": "boolean"}}, "required": ["run", "trial", "checked", "passed", "stopped"]})json"},
    {"compare",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trial": {"type": "integer", "minimum": 0, "description": "the trial that is to be faster"},
"against": {"type": "integer", "minimum": 0, "description": "the trial that it is compared with; default its parent"}},
"required": ["run", "trial"]})json"},
    {"compare_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer"}, "trial": {"type": "integer"},
"against": {"type": "integer"}, "speedup": "@speedup", "conclusion": {"type": "string", "enum": ["faster", "slower", "not told apart"]},
"difference": "@difference", "stopped": {"type": "boolean"}}, "required": ["run", "trial", "against", "difference", "stopped"]})json"},
    {"checkpoints",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"action": {"type": "string", "enum": ["list", "name", "compare", "restore", "branch", "switch"], "default": "list", "description": "name: gives a trial a name; compare: the checkpoint name with from; restore: work goes on from it; branch: a new line of work, name, that begins with from; switch: to another branch"},
"name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "of the checkpoint or branch"},
"from": {"type": "string", "minLength": 1, "maxLength": 100, "description": "of compare and branch: a checkpoint"},
"trial": {"type": "integer", "minimum": 0, "description": "of name: the trial's number in the run; default the best"},
"note": {"type": "string", "maxLength": 2000, "description": "of name: a remark that stays with it"}}, "required": ["run"]})json"},
    {"checkpoints_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer"}, "checkpoints": {"type": "array", "items": {"type": "object",
"properties": {"name": {"type": "string"}, "trial": {"type": "integer"}, "parent": {"type": "string"}, "by": {"type": "string"}, "note": {"type": "string"},
"closed": {"type": "boolean"}, "seconds": {"type": "number"}, "objectives": "@objectives"}, "required": ["name", "trial", "parent", "by", "note", "closed"], "additionalProperties": false}},
"branches": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "tip": {"type": "string"}}, "required": ["name", "tip"],
"additionalProperties": false}}, "active": {"type": "string"}, "current": {"type": ["string", "null"]},
"comparison": {"type": "object", "properties": {"first": {"type": "string"}, "second": {"type": "string"}, "common": {"type": "string"},
"only_first": "@texts", "only_second": "@texts", "diff": {"type": "string"}, "speedup": {"type": "number"},
"times_as_good": {"type": "number", "description": "in place of a speedup where other objectives than the time count"}},
"required": ["first", "second", "common", "only_first", "only_second", "diff"], "additionalProperties": false}},
"required": ["run", "checkpoints", "branches", "active", "current"]})json"},
    {"cancel",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"}}, "required": ["run"]})json"},
    {"cancel_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"was_working": {"type": "boolean"},
"run": "@run_row"}, "required": ["was_working", "run"]})json"},
};

std::string_view find(const Named* begin, const Named* end, std::string_view name) {
  for (const Named* one = begin; one != end; ++one)
    if (one->name == name) return one->text;
  return "{}";
}

std::string expanded(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t at = text.find("\"@");
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    const std::size_t end = text.find('"', at + 1);
    out += expanded(find(std::begin(pieces), std::end(pieces), text.substr(at + 2, end - at - 2)));
    text.remove_prefix(end + 1);
  }
}

/// The schema of start_run with the options of a run that agents may give.
std::string with_run_options(const std::string& text) {
  // What an agent says at most: a text of 1000 bytes, 100 entries of 100.
  nlohmann::ordered_json schema = nlohmann::ordered_json::parse(text);
  for (const RunOption& option : run_options()) {
    if (option.for_agents.empty()) continue;
    Field row = option;
    row.summary = option.for_agents;
    const std::optional<FieldValue> standard =
        option.otherwise.empty() ? option.standard() : std::optional<FieldValue>{};
    nlohmann::ordered_json one = field_schema(row, standard);
    if (row.type == FieldType::text) one["maxLength"] = 1000;
    if (row.type == FieldType::texts) {
      one["items"].update({{"minLength", 1}, {"maxLength", 100}});
      one["maxItems"] = 100;
    }
    schema["properties"][std::string(option.name)] = std::move(one);
  }
  return schema.dump();
}

}  // namespace

std::string tool_schema(std::string_view name) {
  std::string text = expanded(find(std::begin(schemas), std::end(schemas), name));
  return name == "start_run" ? with_run_options(text) : text;
}

}  // namespace kernelsearch::detail
