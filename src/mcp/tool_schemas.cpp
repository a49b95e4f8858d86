// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool_schemas.hpp"

#include <iterator>

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
    {"move",
     R"json({"type": "object", "properties": {"kind": {"type": "string"}, "parents": {"type": "array", "items": {"type": "integer"}},
"strategies": {"type": "array", "items": {"type": "string"}}, "variant": {"type": "integer"}}, "required": ["kind", "parents", "strategies"],
"additionalProperties": false})json"},
    {"trial",
     R"json({"type": "object", "properties": {"trial": {"type": "integer"}, "verdict": {"type": "string"}, "reason": {"type": "string"},
"seconds": {"type": "number"}, "interval": "@interval", "speedup": "@speedup",
"settings": {"type": "object"}, "parents": {"type": "array", "items": {"type": "integer"}}, "move": "@move",
"shapes": {"type": "array", "items": {"type": "object", "properties": {"shape": {"type": "string"}, "seconds": {"type": "number"},
"interval": "@interval", "samples": {"type": "integer"}, "ended": {"type": "string"}, "speedup": "@speedup"},
"required": ["shape", "seconds", "interval", "samples", "ended"], "additionalProperties": false}}, "at": {"type": "string"},
"no_improvement": {"type": "string", "description": "of the best: why it is none over the reference or the default configuration"}},
"required": ["trial", "verdict", "settings", "parents", "at"], "additionalProperties": false})json"},
    {"trial_or_null", R"json({"anyOf": [{"type": "null"}, "@trial"]})json"},
    {"run_row",
     R"json({"type": "object", "properties": {"run": {"type": "integer"}, "name": {"type": "string"}, "problem": {"type": "string"},
"policy": {"type": "string"}, "seed": {"type": "integer"}, "budget": {"type": "string"}, "state": {"type": "string",
"enum": ["working", "paused", "finished", "interrupted"]}, "doing": {"type": "string"}, "reason": {"type": "string"},
"trials": {"type": "integer"}, "seconds": {"type": "number"}, "verdicts": {"type": "object", "additionalProperties": {"type": "integer"}},
"best": "@trial_or_null", "next_move": "@move", "device": {"type": "string"}, "toolchain": {"type": "string"},
"started": {"type": "string"}}, "required": ["run", "name", "problem", "policy", "seed", "budget", "state", "reason", "trials",
"seconds", "verdicts", "best", "device", "toolchain", "started"], "additionalProperties": false})json"},
};

constexpr Named schemas[] = {
    {"start_run",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"problem": {"type": "string", "minLength": 1, "description": "a problem folder or problem.json below the server's root, e.g. \"matmul\""},
"problem_json": {"type": ["object", "string"], "description": "a whole problem.json instead: an object (or its text), with sources as text or as files below the root"},
"policy": {"type": "string", "default": "bayesian", "description": "who decides what is tried: a policy over the kernel's tunables (see list_methods), or \"submit\": you write the kernels and hand them in"},
"budget": {"type": "string", "default": "200", "description": "of the whole run: trials (\"200\"), wall time (\"30s\", \"5m\"), both (\"200,30s\") or \"all\""},
"seed": {"type": "integer", "minimum": 0, "default": 0, "description": "of every random choice"},
"suggest": {"type": "string", "default": "epsilon_greedy_tree", "description": "with policy submit: the policy over moves that suggests what to write next; \"none\" for no suggestions; see list_methods"},
"strategies": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 100}, "maxItems": 100, "default": [], "description": "with policy submit: names of strategies that suggestions choose from; none: you choose"},
"name": {"type": "string", "maxLength": 200, "description": "of the run, for people"}}})json"},
    {"run_result", R"json("@run_row")json"},
    {"step",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"trials": {"type": "integer", "minimum": 1, "maximum": 1000000, "description": "let the policy try so many candidates"},
"seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 86400, "description": "or work so long; with neither it works until the run's budget is spent"},
"decline": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "in a submit run: why the suggested move is not worth carrying out; another is suggested"}},
"required": ["run"]})json"},
    {"step_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"trials_told": {"type": "integer"},
"finished": {"type": "boolean"}, "stopped": {"type": "boolean"}, "reason": {"type": "string"}, "run": "@run_row"},
"required": ["trials_told", "finished", "stopped", "reason", "run"]})json"},
    {"status",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "without run: list so many of the newest runs"},
"trials": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 0, "description": "with run: also its newest so many trials"}}})json"},
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
"parent": {"type": "integer", "minimum": 0, "description": "the trial that this was made from; its regions and settings fill in what is not given. Default: the suggested move's parent with answers, else the best"},
"strategies": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 100}, "maxItems": 20, "description": "what was done, in a word or name each"},
"answers": {"type": "boolean", "default": false, "description": "this carries out the move that was suggested"}},
"required": ["run"]})json"},
    {"submit_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": "@run_row",
"trial": "@trial_or_null", "is_best": {"type": "boolean"}, "stopped": {"type": "boolean"}, "advice": {"type": "string"}},
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
"regions": {"type": "object", "properties": {"device": {"type": "string"}, "host": {"type": "string"},
"macros": {"type": "string"}}, "required": ["device", "host", "macros"], "additionalProperties": false}},
"required": ["run", "trial", "meaning", "advice", "progress", "features", "phases", "provenance"]})json"},
    {"list_methods",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"folder": {"type": "string", "maxLength": 200, "description": "only the data of this folder, e.g. \"strategies\" or \"transformations\""},
"name": {"type": "string", "maxLength": 200, "description": "only the one of that name, with its whole definition"}}})json"},
    {"list_methods_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {
"policies": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "summary": {"type": "string"}}, "required": ["name", "summary"], "additionalProperties": false}},
"suggesting_policies": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "summary": {"type": "string"}}, "required": ["name", "summary"], "additionalProperties": false}},
"methods": {"type": "array", "items": {"type": "object", "properties": {"folder": {"type": "string"}, "name": {"type": "string"}, "description": {"type": "string"},
"file": {"type": "string"}, "definition": {"type": ["object", "array"]}}, "required": ["folder", "name", "description", "file"], "additionalProperties": false}}},
"required": ["policies", "suggesting_policies", "methods"]})json"},
    {"report",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": {"type": "integer", "minimum": 1, "description": "the run's number, as start_run and status give it"},
"format": {"type": "string", "enum": ["text", "json", "html"], "default": "text", "description": "a summary, every trial, or a page in a file whose path is given"},
"limit": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 200, "description": "of json: the fastest so many trials"}},
"required": ["run"]})json"},
    {"report_result",
     R"json({"type": "object", "additionalProperties": false, "properties": {"run": "@run_row",
"text": {"type": "string"}, "trials": {"type": "array", "items": "@trial"}, "path": {"type": "string"}}, "required": ["run"]})json"},
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

}  // namespace

std::string tool_schema(std::string_view name) {
  return expanded(find(std::begin(schemas), std::end(schemas), name));
}

}  // namespace kernelsearch::detail
