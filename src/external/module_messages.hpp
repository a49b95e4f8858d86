// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/problem/problem.hpp"

/// The contract of problems whose reference is a Python module: docs/torch.md.
///
/// The problem's program is started in two roles, by one more word behind its command.
///
///   reference   trusted with what is right: it holds the module, draws weights and inputs from seeds that we
///               give it and computes the expected outputs. It never sees a candidate, and shares no memory
///               with one: contents are copied by us.
///   candidates  is trusted with nothing. A server that has imported what takes long; a process is forked
///               from it for each candidate, answers the requests below, and is killed afterwards with all
///               that it started.
///
/// Both stand still (SIGSTOP) but between a request and its reply, and speak lines of JSON: each of our
/// messages has a `type` and a random `id`, which the reply repeats. `"ok": false` with a `reason` is a
/// refusal.
///
///   to the reference             it answers
///   describe  module, class      described  what a call takes and gives: ModuleDescription
///   explain   shapes, peaks      explained  what models are told of it (`facts`), where `explains` was said
///   load      shapes, offsets    loaded
///   weights   side, mode, seeds  weights    the state is in memory, where its names or their order say which
///   draw      shape, slots, seed drawn      the inputs of these slots are in memory
///   check     shape, slot        checked    whether outputs, copied into its memory, are right
///
///   to the candidates            it answers
///   build     source, seed       built      loaded and constructed; `weights`: names, order, seed or none
///   load      shapes, offsets    loaded     mapped, and the weights taken
///   run       shape, slots       ran        one call on each; `places`: where its outputs lie in its memory
///   release                      released   outputs are let go
///   (its end)                    ended      with the reason; sent by the server
///
/// The shapes of the problem are told in `describe`, by name and variables, and described in that order. A
/// slot is where one call of a shape has its inputs; shapes share the memory, as calls of one shape alone are
/// under way at a time.
///
/// Time runs from the moment that `run` is let go until `ran` is there; outputs are read from outside of the
/// stopped process, so nothing is copied within it.
namespace kernelsearch::external {

using ModuleJson = nlohmann::json;

inline constexpr std::uint64_t module_protocol_version = 2;
/// The bytes of one reply, at most.
inline constexpr std::size_t longest_module_reply = std::size_t{4} << 20;
/// Where an array begins in memory.
inline constexpr std::size_t module_alignment = 256;

/// A tensor that both sides know.
struct TensorSpec {
  std::string name;  ///< of weights
  std::string type;  ///< f32, i64, ...
  std::size_t element_bytes = 0;
  std::vector<std::int64_t> shape, strides;
  std::size_t bytes = 0;  ///< from its first element to the end of its last
  bool written = false;   ///< an input that a call changes
  ModuleJson json;        ///< as it was told
};

/// What one call cannot do without, as the reference counts it.
struct ModuleWork {
  double bytes = 0;  ///< of inputs, weights and outputs; what is changed counts twice. 0: it does not say
  double operations = 0;  ///< of products, convolutions and attention; 0: it counts nothing
  std::string type;       ///< of these operations
};

/// What a call takes and gives for one shape of the problem.
struct ModuleShape {
  ModuleWork work;
  ModuleJson arguments, result;  ///< structures of the call's arguments and outputs
  std::vector<TensorSpec> inputs, outputs;
};

/// What a reference says of its module.
struct ModuleDescription {
  std::string name, version, device;  ///< torch, its version, what it computes on
  bool device_memory = false;         ///< tensors are on a device, and handed on by handles
  ModuleJson init;                    ///< structure of the constructor's arguments
  std::vector<ModuleShape> shapes;    ///< in the problem's order
  std::vector<TensorSpec> state;
  std::string precision;  ///< `f64`, or `native` where the module cannot be computed in f64
  std::vector<std::string> facts, notes, trivial;
  std::vector<std::string> features;  ///< what strategies may ask for, e.g. `triton`
  bool compiles = false;              ///< torch.compile is there
  bool explains = false;              ///< it answers `explain`
};

/// What the reference says of one call.
struct ModuleCheck {
  bool ok = false;
  std::string reason;
  double right_share = 0;
  double error = 0, strict_error = 0;  ///< the largest over what is tolerated, and by the stricter bounds
  /// The largest differences from what is right; negative: it does not say.
  double absolute_error = -1, relative_error = -1;
};

/// What a candidate says after calls.
struct ModuleRan {
  std::vector<ModuleJson> places;  ///< of each call, one for each output
  std::vector<TensorSpec> layout;  ///< of the outputs, where it was asked for
  ModuleJson result;               ///< their structure
};

/// A reply that is not an object of that type and id, or of which parts are missing or absurd, is a Fault.
[[nodiscard]] Result<ModuleJson> try_module_reply(std::string_view line, std::string_view type,
                                                  std::string_view id);
/// `shapes`: how many the problem has.
[[nodiscard]] Result<ModuleDescription> try_description(const ModuleJson& reply, std::size_t shapes);
/// What models are told of the module in addition to its description, a line each.
[[nodiscard]] std::vector<std::string> explained_facts(const ModuleJson& reply);
[[nodiscard]] Result<ModuleCheck> try_check(const ModuleJson& reply);
/// `layout`: it was asked for.
[[nodiscard]] Result<ModuleRan> try_ran(const ModuleJson& reply, std::size_t calls, bool layout);
/// Why a candidate's structure of outputs is not the reference's; empty where it is.
[[nodiscard]] std::string other_structure(const ModuleShape& shape, const ModuleRan& ran);
/// Its reason where a reply refuses; empty where it does not.
[[nodiscard]] std::string refusal_of(const ModuleJson& reply);

[[nodiscard]] std::size_t aligned_module_bytes(std::size_t bytes) noexcept;
[[nodiscard]] std::string module_line(const ModuleJson& message);
/// For the reference.
[[nodiscard]] ModuleJson describe_module(const Problem& problem, std::uint64_t seed);

}  // namespace kernelsearch::external
