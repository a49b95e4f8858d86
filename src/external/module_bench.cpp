// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "module_bench.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "evaluator_messages.hpp"
#include "judge/overrun_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "process/process.hpp"
#include "slope.hpp"

namespace kernelsearch::external {
namespace {

/// Virtual memory for what the reference exchanges with us; what is not used costs none.
constexpr std::size_t exchanged_bytes = std::size_t{64} << 30;
/// How much further than its elements an output may be spread, so that views of larger tensors are read.
constexpr std::size_t spread_factor = 4, spread_bytes = std::size_t{1} << 20;
/// Around inputs that a call may write to.
constexpr std::size_t module_guard = 4096;
constexpr std::byte module_guard_byte{0xa5};
/// For the library that it imports, with nothing in the disk's cache.
constexpr double least_answer_seconds = 120;

std::uint64_t python_seed() {
  return detail::secret_seed() >> 2;  // what every generator there takes
}

LineProcess::Manner module_manner() {
  return {"docs/torch.md", "external.answer_seconds", longest_module_reply};
}

/// The process that started `pid`, and when that began; 0 where it is gone.
std::pair<pid_t, std::uint64_t> origin_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name = text.rfind(')');
  if (name == std::string::npos) return {0, 0};
  std::istringstream fields(text.substr(name + 1));
  std::string word;
  pid_t parent = 0;
  std::uint64_t begin = 0;
  for (int field = 3; fields >> word && field <= 22; ++field) {
    if (field == 4) parent = static_cast<pid_t>(std::strtol(word.c_str(), nullptr, 10));
    if (field == 22) begin = std::strtoull(word.c_str(), nullptr, 10);
  }
  return {parent, begin};
}

ModuleJson spec_json(const TensorSpec& spec) {
  return {{"type", spec.type}, {"shape", spec.shape}, {"strides", spec.strides}, {"bytes", spec.bytes}};
}

}  // namespace

ModuleLayout::ModuleLayout(const ModuleDescription& description, std::size_t memory) {
  if (!description.device_memory)
    for (const TensorSpec& spec : description.state) {
      weights.push_back(weight_bytes);
      weight_bytes += aligned_module_bytes(spec.bytes);
    }
  std::size_t answer_bytes = 0;
  for (const ModuleShape& shape : description.shapes) {
    std::size_t slot_bytes = 0, output = 0, answer = 0;
    for (const TensorSpec& spec : shape.inputs) slot_bytes += aligned_module_bytes(spec.bytes);
    for (const TensorSpec& spec : shape.outputs) {
      output += aligned_module_bytes(spec.bytes);
      answer += aligned_module_bytes(spread_factor * spec.bytes + spread_bytes);
    }
    Slots laid;
    laid.count =
        std::clamp<std::size_t>(memory / std::max<std::size_t>(slot_bytes + output, 1), 2, most_calls);
    laid.inputs.resize(shape.inputs.size());
    laid.written.resize(shape.inputs.size());
    std::size_t at = weight_bytes, written_at = module_guard;
    for (std::size_t slot = 0; slot < laid.count; ++slot)
      for (std::size_t i = 0; i < shape.inputs.size(); ++i) {
        laid.inputs[i].push_back(at);
        at += aligned_module_bytes(shape.inputs[i].bytes);
        if (!shape.inputs[i].written) continue;
        laid.written[i].push_back(written_at);
        written_at += aligned_module_bytes(shape.inputs[i].bytes) + module_guard;
      }
    for (const TensorSpec& spec : shape.inputs)
      if (spec.written) answer += aligned_module_bytes(spec.bytes);
    answers = std::max(answers, at);
    output_bytes = std::max(output_bytes, written_at);
    answer_bytes = std::max(answer_bytes, answer);
    shapes.push_back(std::move(laid));
  }
  input_bytes = std::max<std::size_t>(answers, 1);
  reference_bytes = std::max<std::size_t>(answers + answer_bytes, 1);
}

// The reference

ModuleReference::ModuleReference(const Problem& problem, const HostOptions& options)
    : memory_(exchanged_bytes, detail::Arena::Writers::both),
      scratch_(sandbox_status(resolved(options.sandbox)).as_nobody) {
  const ExternalProgram& external = *problem.external;
  program_.emplace(
      program_launch(
          external, options, scratch_.path(),
          {.descriptors = {{inputs_descriptor, memory_.descriptor()}}, .last_words = {"reference"}}),
      module_manner(), std::max(10 * external.answer_seconds, least_answer_seconds), "the reference");
  ModuleJson message = describe_module(problem, python_seed());
  const std::string id = secret_name();
  message["id"] = id;
  double wall = 0;
  const auto refuse = [](const std::string& what, const std::string& given) {
    detail::raise<ConfigError>(what, given, "see docs/torch.md for what a module must be");
  };
  const FrozenProgram::Line line = program_->ask(module_line(message), "when asked for the module", wall);
  if (!line) refuse("the reference's program does not describe the module", line.error().reason);
  const Result<ModuleJson> reply = try_module_reply(*line, "described", id);
  if (!reply) refuse("the reference's program " + reply.error().what, reply.error().given);
  if (const std::string reason = refusal_of(*reply); !reason.empty())
    refuse("the module is not a problem that can be judged", reason);
  Result<ModuleDescription> said = try_description(*reply, problem.shapes.size());
  if (!said) refuse("the reference's program " + said.error().what, said.error().given);
  description_ = *std::move(said);
  layout_.emplace(description_, options.buffer_memory * 8);
  if (layout_->reference_bytes > exchanged_bytes)
    refuse("the module's inputs and outputs are too large",
           std::to_string(layout_->reference_bytes >> 20) + " MiB for two calls");
  ModuleJson load{{"type", "load"},
                  {"bytes", layout_->reference_bytes},
                  {"input_bytes", layout_->input_bytes},
                  {"shapes", ModuleJson::array()}};
  for (const ModuleLayout::Slots& shape : layout_->shapes)
    load["shapes"].push_back({{"slots", shape.count}, {"inputs", shape.inputs}});
  const ModuleJson loaded = ask(std::move(load), "loaded", "while it mapped memory");
  if (const auto found = loaded.find("handle"); found != loaded.end()) handle_ = *found;
}

ModuleReference::~ModuleReference() {
  program_->end(evaluator_end_message());
}

ModuleJson ModuleReference::ask(ModuleJson message, const char* type, const char* during) {
  const std::string id = secret_name();
  message["id"] = id;
  double wall = 0;
  const FrozenProgram::Line line = program_->ask(module_line(message), during, wall);
  spent_ += wall;
  const auto fail = [](const std::string& what, const std::string& given) {
    detail::raise<DeviceError>(what, given, "see whether memory is short, and go on with --resume");
  };
  if (!line) fail("the reference is gone", line.error().reason);
  Result<ModuleJson> reply = try_module_reply(*line, type, id);
  if (!reply) fail("the reference " + reply.error().what, reply.error().given);
  if (std::string(type) != "checked")
    if (const std::string reason = refusal_of(*reply); !reason.empty()) fail("the reference fails", reason);
  return *std::move(reply);
}

std::vector<std::string> ModuleReference::explain(const std::vector<std::size_t>& shapes, int threads,
                                                  double seconds, const DevicePeaks& peaks) {
  ModuleJson known = ModuleJson::object();
  if (!peaks.levels.empty() && peaks.levels.back().bandwidth)
    known["bandwidth"] = *peaks.levels.back().bandwidth;
  for (const auto& [name, rate] :
       {std::pair("f16", &peaks.f16), std::pair("f32", &peaks.f32), std::pair("f64", &peaks.f64)})
    if (*rate) known[name] = **rate;
  return explained_facts(ask({{"type", "explain"},
                              {"shapes", shapes},
                              {"threads", threads},
                              {"seconds", seconds},
                              {"peaks", std::move(known)}},
                             "explained", "while it told of the module"));
}

ModuleJson ModuleReference::weights(int side, const std::string& mode, std::uint64_t seed) {
  const ModuleJson reply = ask({{"type", "weights"},
                                {"side", side},
                                {"mode", mode},
                                {"seed", seed},
                                {"secret", python_seed()},
                                {"offset", 0}},
                               "weights", "while it made weights");
  const auto handles = reply.find("handles");
  return handles == reply.end() ? ModuleJson() : *handles;
}

void ModuleReference::draw(std::size_t shape, std::span<const std::uint32_t> slots, Manner manner) {
  constexpr const char* names[] = {"plain", "varied", "mixed"};
  ModuleJson message{{"type", "draw"},
                     {"seed", python_seed()},
                     {"manner", names[static_cast<std::size_t>(manner)]},
                     {"shape", shape},
                     {"slots", ModuleJson::array()}};
  for (const std::uint32_t slot : slots) message["slots"].push_back(slot);
  (void)ask(std::move(message), "drawn", "while it drew inputs");
}

ModuleCheck ModuleReference::check(int side, std::size_t shape, std::uint32_t slot,
                                   const std::vector<TensorSpec>& outputs, const ModuleJson& places,
                                   const ModuleJson& written) {
  ModuleJson message{{"type", "check"},
                     {"side", side},
                     {"shape", shape},
                     {"slot", slot},
                     {"places", places},
                     {"written", written},
                     {"outputs", ModuleJson::array()}};
  for (const TensorSpec& spec : outputs) message["outputs"].push_back(spec_json(spec));
  const ModuleJson reply = ask(std::move(message), "checked", "while it checked a call");
  Result<ModuleCheck> check = try_check(reply);
  if (!check)
    detail::raise<DeviceError>("the reference " + check.error().what, check.error().given,
                               "see docs/torch.md");
  if (!check->ok && check->reason.starts_with("the reference fails"))
    detail::raise<DeviceError>("the reference cannot compute what is right", check->reason,
                               "see whether memory is short, and go on with --resume");
  return *std::move(check);
}

// Candidates

CandidateServer::CandidateServer(const Problem& problem, const HostOptions& options,
                                 const ModuleReference& reference)
    : problem_(problem),
      reference_(reference),
      inputs_(reference.layout().input_bytes, detail::Arena::Writers::controller),
      outputs_(reference.layout().output_bytes, detail::Arena::Writers::both),
      scratch_(sandbox_status(resolved(options.sandbox)).as_nobody) {
  const ExternalProgram& external = *problem.external;
  std::vector<int> cores;
  if (!reference.description().device_memory && problem.threads == 1 && options.core >= 0)
    cores = {options.core};
  program_.emplace(program_launch(external, options, scratch_.path(),
                                  {.descriptors = {{inputs_descriptor, inputs_.descriptor()},
                                                   {outputs_descriptor, outputs_.descriptor()}},
                                   .last_words = {"candidates"},
                                   .cores = cores}),
                   module_manner(), external.answer_seconds, "the candidate");
  double wall = 0;
  const Reply reply = ask({{"type", "describe"}, {"protocol", module_protocol_version}}, "described",
                          "before there was one", wall);
  const std::string refused = reply ? refusal_of(*reply) : reply.error().reason;
  if (!refused.empty())
    detail::raise<DeviceError>("the server of candidates does not start", refused, "see docs/torch.md");
  if (reply->value("version", std::string()) != reference.description().version)
    detail::raise<DeviceError>("the server of candidates has another library than the reference",
                               reply->value("version", std::string()),
                               "start the run again: what was measured stays under its name");
  own_ = program_->processes();
}

CandidateServer::~CandidateServer() {
  finish();
  program_->end(evaluator_end_message());
}

CandidateServer::Reply CandidateServer::ask(ModuleJson message, const char* type, const char* during,
                                            double& wall) {
  const std::string id = secret_name();
  message["id"] = id;
  if (std::string(type) == "built") build_id_ = id;
  const FrozenProgram::Line line = program_->ask(module_line(message), during, wall);
  if (!line) return line.error();
  if (serving_)
    if (const Result<ModuleJson> ended = try_module_reply(*line, "ended", build_id_)) {
      serving_ = false;
      return detail::Fault{Verdict::crashed, ended->value("reason", std::string("it ended")) + " " + during};
    }
  Result<ModuleJson> reply = try_module_reply(*line, type, id);
  if (!reply)
    return program_->broken(Verdict::cheated,
                            "it " + reply.error().what + " " + during + ": " + reply.error().given);
  return *std::move(reply);
}

std::optional<detail::Fault> CandidateServer::build(const Candidate& candidate, std::uint64_t seed) {
  const ModuleDescription& known = reference_.description();
  ModuleJson message{{"type", "build"},
                     {"source", candidate.kernel->regions.device},
                     {"class", problem_.function},
                     {"init", known.init},
                     {"seed", seed},
                     {"threads", problem_.threads},
                     {"memory", known.device_memory ? "device" : "shared"},
                     {"state", ModuleJson::array()},
                     {"configuration", ModuleJson::object()}};
  for (const TensorSpec& spec : known.state) {
    ModuleJson one = spec_json(spec);
    one["name"] = spec.name;
    message["state"].push_back(std::move(one));
  }
  for (const auto& [name, value] : named_values(candidate.kernel->space, candidate.config))
    std::visit([&, key = name](const auto& one) { message["configuration"][key] = one; }, value);
  double wall = 0;
  serving_ = true;
  const Reply reply = ask(std::move(message), "built", "while it was built", wall);
  if (!reply) return reply.error();
  if (const std::string reason = refusal_of(*reply); !reason.empty())
    return detail::Fault{Verdict::build_failed, reason};
  weights_ = reply->value("weights", std::string("seed"));
  if (weights_ != "names" && weights_ != "order" && weights_ != "none") weights_ = "seed";
  // What it started itself came later, and is not the server's child unless its own parent has ended.
  pid_t server = 0;
  for (const pid_t pid : own_)
    if (std::none_of(own_.begin(), own_.end(),
                     [pid](pid_t other) { return other != pid && origin_of(other).first == pid; }))
      server = pid;
  std::uint64_t first = ~std::uint64_t{0};
  candidate_ = 0;
  for (const pid_t pid : program_->processes()) {
    if (std::find(own_.begin(), own_.end(), pid) != own_.end()) continue;
    const auto [parent, begin] = origin_of(pid);
    if (parent != server || begin >= first) continue;
    first = begin;
    candidate_ = pid;
  }
  return std::nullopt;
}

std::optional<detail::Fault> CandidateServer::load(const ModuleJson& weight_handles) {
  const ModuleDescription& known = reference_.description();
  const ModuleLayout& layout = reference_.layout();
  if (layout.weight_bytes != 0) std::memcpy(inputs_.data(), reference_.data(), layout.weight_bytes);
  ModuleJson message{
      {"type", "load"},
      {"shapes", ModuleJson::array()},
      {"state", ModuleJson::array()},
      {"memory",
       {{{"descriptor", inputs_descriptor}, {"bytes", layout.input_bytes}, {"writable", false}},
        {{"descriptor", outputs_descriptor}, {"bytes", layout.output_bytes}, {"writable", true}}}}};
  if (known.device_memory) message["memory"][0]["device"] = reference_.handle();
  for (std::size_t n = 0; n < known.shapes.size(); ++n) {
    const ModuleShape& shape = known.shapes[n];
    const ModuleLayout::Slots& laid = layout.shapes[n];
    ModuleJson inputs = ModuleJson::array();
    for (std::size_t i = 0; i < shape.inputs.size(); ++i) {
      ModuleJson one = spec_json(shape.inputs[i]);
      const bool apart = shape.inputs[i].written && !known.device_memory;
      one["memory"] = apart ? 1 : 0;
      one["places"] = apart ? laid.written[i] : laid.inputs[i];
      inputs.push_back(std::move(one));
    }
    ModuleJson outputs = ModuleJson::array();
    for (const TensorSpec& spec : shape.outputs)
      outputs.push_back({{"type", spec.type}, {"shape", spec.shape}});
    message["shapes"].push_back({{"slots", laid.count},
                                 {"arguments", shape.arguments},
                                 {"inputs", std::move(inputs)},
                                 {"outputs", std::move(outputs)},
                                 {"result", shape.result}});
  }
  for (std::size_t i = 0; i < known.state.size(); ++i) {
    ModuleJson one = spec_json(known.state[i]);
    one["memory"] = 0;
    one["places"] = ModuleJson::array();
    if (known.device_memory)
      one["places"].push_back(weight_handles.at(i));
    else
      one["places"].push_back(layout.weights[i]);
    message["state"].push_back(std::move(one));
  }
  std::memset(outputs_.data(), static_cast<int>(module_guard_byte), outputs_.size());
  double wall = 0;
  const Reply reply = ask(std::move(message), "loaded", "while it took its weights", wall);
  if (!reply) return reply.error();
  if (const std::string reason = refusal_of(*reply); !reason.empty())
    return detail::Fault{Verdict::launch_failed, reason};
  return std::nullopt;
}

void CandidateServer::fill(std::size_t shape, std::span<const std::uint32_t> slots) {
  if (reference_.description().device_memory) return;
  const std::vector<TensorSpec>& inputs = reference_.description().shapes[shape].inputs;
  const ModuleLayout::Slots& laid = reference_.layout().shapes[shape];
  for (const std::uint32_t slot : slots)
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::byte* const to =
          inputs[i].written ? outputs_.data() + laid.written[i][slot] : inputs_.data() + laid.inputs[i][slot];
      std::memcpy(to, reference_.data() + laid.inputs[i][slot], inputs[i].bytes);
    }
}

CandidateServer::Ran CandidateServer::run(std::size_t shape, std::span<const std::uint32_t> slots,
                                          bool layout, double& wall) {
  ModuleJson message{{"type", "run"}, {"shape", shape}, {"layout", layout}, {"slots", ModuleJson::array()}};
  for (const std::uint32_t slot : slots) message["slots"].push_back(slot);
  const Reply reply = ask(std::move(message), "ran", "while it ran", wall);
  if (!reply) return reply.error();
  if (const std::string reason = refusal_of(*reply); !reason.empty())
    return detail::Fault{Verdict::launch_failed, reason};
  const bool all = layout || reference_.description().device_memory;
  Result<ModuleRan> ran = try_ran(*reply, slots.size(), all);
  if (!ran) return program_->broken(Verdict::cheated, "it " + ran.error().what + ": " + ran.error().given);
  return *std::move(ran);
}

std::optional<detail::Fault> CandidateServer::release() {
  double wall = 0;
  const Reply reply = ask({{"type", "release"}}, "released", "after its calls", wall);
  if (!reply) return reply.error();
  return std::nullopt;
}

std::optional<detail::Fault> CandidateServer::copy_out(std::uint64_t address, std::size_t bytes,
                                                       std::byte* to) {
  for (std::size_t done = 0; done < bytes;) {
    const iovec ours{to + done, bytes - done};
    const iovec theirs{reinterpret_cast<void*>(address + done), bytes - done};  // NOLINT: of another process
    const ssize_t copied = process_vm_readv(candidate_, &ours, 1, &theirs, 1, 0);
    if (copied > 0) {
      done += static_cast<std::size_t>(copied);
      continue;
    }
    if (errno == EPERM)
      detail::raise<DeviceError>("the outputs of a candidate cannot be read",
                                 "process_vm_readv: " + std::string(std::strerror(errno)),
                                 "allow ptrace of own processes (in a container: --cap-add SYS_PTRACE)");
    if (errno == ESRCH) return detail::Fault{Verdict::crashed, "it ended before its outputs were read"};
    return detail::Fault{Verdict::cheated, "an output lies where it has no memory"};
  }
  return std::nullopt;
}

std::optional<Overrun> CandidateServer::overrun(std::size_t shape, std::uint32_t slot) const {
  const std::vector<TensorSpec>& inputs = reference_.description().shapes[shape].inputs;
  const ModuleLayout::Slots& laid = reference_.layout().shapes[shape];
  std::vector<detail::LaidArray> arrays;
  for (std::size_t of = 0; of < laid.count; ++of)
    for (std::size_t i = 0; i < laid.written.size(); ++i)
      if (inputs[i].written)
        arrays.push_back(
            {i, laid.written[i][of], inputs[i].bytes / inputs[i].element_bytes, inputs[i].element_bytes});
  const auto in_zone = [&](std::size_t from, std::size_t to) -> std::optional<detail::Slots::Place> {
    const auto changed = [](std::byte one) { return one != module_guard_byte; };
    const std::byte *const begin = outputs_.data() + from, *const end = outputs_.data() + to;
    const std::byte* const first = std::find_if(begin, end, changed);
    if (first == end) return std::nullopt;
    const std::byte* last = end;
    while (!changed(last[-1])) --last;
    return detail::nearest_place(arrays, static_cast<std::size_t>(first - outputs_.data()),
                                 static_cast<std::size_t>(last - outputs_.data()));
  };
  for (std::size_t i = 0; i < laid.written.size(); ++i) {
    if (laid.written[i].empty()) continue;
    const std::size_t at = laid.written[i][slot], bytes = inputs[i].bytes;
    auto place = in_zone(at - module_guard, at);
    if (!place) place = in_zone(at + bytes, at + aligned_module_bytes(bytes) + module_guard);
    if (!place) continue;
    const TensorSpec& tensor = inputs[place->argument];
    return Overrun{"input " + std::to_string(place->argument), place->index,
                   tensor.bytes / tensor.element_bytes};
  }
  return std::nullopt;
}

std::optional<detail::Fault> CandidateServer::collect(std::size_t shape, std::uint32_t slot,
                                                      const std::vector<TensorSpec>& layout,
                                                      const ModuleJson& addresses, ModuleJson& places,
                                                      ModuleJson& written) {
  places = ModuleJson::array();
  written = ModuleJson::array();
  if (addresses.size() != layout.size())
    return detail::Fault{Verdict::wrong_result, "it gives another number of tensors than before"};
  const ModuleShape& known = reference_.description().shapes[shape];
  if (reference_.description().device_memory) {
    places = addresses;
    for (std::size_t i = 0; i < known.inputs.size(); ++i)
      if (known.inputs[i].written) written.push_back(0);
    return std::nullopt;
  }
  const ModuleLayout::Slots& own = reference_.layout().shapes[shape];
  if (auto outside = overrun(shape, slot)) return detail::overrun_fault(std::move(*outside));
  std::size_t at = reference_.layout().answers;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const std::size_t room = aligned_module_bytes(spread_factor * known.outputs[i].bytes + spread_bytes);
    if (layout[i].bytes > room)
      return detail::Fault{Verdict::wrong_result, "output " + std::to_string(i) + " is spread over " +
                                                      std::to_string(layout[i].bytes) +
                                                      " bytes: give a tensor of its own"};
    if (!addresses[i].is_number_unsigned())
      return detail::Fault{Verdict::cheated, "an output lies where it has no memory"};
    if (auto fault = copy_out(addresses[i].get<std::uint64_t>(), layout[i].bytes, reference_.data() + at))
      return fault;
    places.push_back(at);
    at += room;
  }
  for (std::size_t i = 0; i < known.inputs.size(); ++i) {
    if (!known.inputs[i].written) continue;
    std::memcpy(reference_.data() + at, outputs_.data() + own.written[i][slot], known.inputs[i].bytes);
    written.push_back(at);
    at += aligned_module_bytes(known.inputs[i].bytes);
  }
  return std::nullopt;
}

void CandidateServer::finish() {
  if (!serving_ || program_->is_broken()) return;
  serving_ = false;
  program_->kill_all_but(own_);
  const FrozenProgram::Line line = program_->await("after its candidate was ended", 10);
  if (line && !try_module_reply(*line, "ended", build_id_))
    (void)program_->broken(Verdict::crashed, "the server of candidates is out of step");
}

ModuleBench::ModuleBench(const Problem& given, const HostOptions& chosen)
    : problem(given), options(chosen), reference(given, chosen) {}

CandidateServer& ModuleBench::server(int side) {
  std::unique_ptr<CandidateServer>& one = servers[side];
  if (one) one->finish();
  if (!one || !one->usable()) {
    one.reset();
    one = std::make_unique<CandidateServer>(problem, options, reference);
  }
  return *one;
}

}  // namespace kernelsearch::external
