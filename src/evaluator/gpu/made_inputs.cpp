// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/made_inputs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kernelsearch::detail::gpu {
namespace {

// Sets of a shape that a check and the timed calls after it go back to.
constexpr std::uint64_t kept_limit = std::uint64_t{2} << 30;
constexpr double upload_seconds = 60;

std::uint64_t size_of(const Contents& contents) {
  std::uint64_t bytes = 0;
  for (const auto& one : contents) bytes += one.size();
  return bytes;
}

}  // namespace

bool is_made(const Argument& argument) noexcept {
  if (!argument.is_input()) return false;
  switch (argument.initialisation) {
    case Initialisation::sorted:
    case Initialisation::offsets:
    case Initialisation::file:
    case Initialisation::generator:
      return true;
    default:
      // The device's own kernels draw neither small floats nor what shares a byte.
      return argument.structure || argument.edge || argument.is_in_quantised() ||
             is_small_float(argument.type) || is_packed(argument.type);
  }
}

HostOptions host_options(const GpuOptions& options) {
  HostOptions host;
  host.sandbox = options.sandbox;
  host.cache_directory = options.cache_directory;
  return host;
}

MadeInputs::MadeInputs(const Problem& problem, const std::vector<ShapePlan>& shapes,
                       const GpuOptions& options)
    : problem_(problem), shapes_(shapes), generator_(problem, host_options(options)) {
  for (const Argument& argument : problem.arguments) made_.push_back(is_made(argument));
  any_ = std::find(made_.begin(), made_.end(), true) != made_.end();
}

std::uint64_t MadeInputs::bytes(std::size_t shape) const {
  std::uint64_t bytes = 0;
  for (std::size_t a = 0; a < made_.size(); ++a)
    if (made_[a]) bytes += shapes_[shape].arguments[a].count * problem_.arguments[a].element_bytes();
  return bytes;
}

Contents MadeInputs::drawn(std::size_t shape, std::uint64_t seed) {
  const ShapePlan& plan = shapes_[shape];
  std::vector<std::size_t> counts;
  for (const PlannedArgument& argument : plan.arguments) counts.push_back(argument.count);
  Fresh& fresh = fresh_[shape];
  if (fresh.counts != counts) fresh = {counts, FreshInputs(problem_, plan, secret_seed())};
  std::vector<bool> others = made_;
  for (std::size_t a = 0; a < others.size(); ++a) others[a] = made_[a] && fresh.inputs.others()[a];
  Contents contents = generator_.contents(plan, InputFlavour::declared, seed, others);
  for (std::size_t a = 0; a < others.size(); ++a) {
    if (!made_[a] || !fresh.inputs.draws(a)) continue;
    contents[a].resize(plan.arguments[a].count * problem_.arguments[a].element_bytes());
    fresh.inputs.draw(a, plan.arguments[a].count, Rng::stream(seed, problem_.arguments[a].name)(),
                      contents[a].data());
  }
  fresh.inputs.quantise_into(contents, seed);
  return contents;
}

std::shared_ptr<const Contents> MadeInputs::of(std::size_t shape, std::uint64_t seed, InputFlavour flavour) {
  const Key key{shape, seed, flavour};
  const auto known =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().contents;
  }
  auto contents = std::make_shared<const Contents>(
      flavour == InputFlavour::declared ? drawn(shape, seed)
                                        : generator_.contents(shapes_[shape], flavour, seed, made_));
  kept_bytes_ += size_of(*contents);
  kept_.push_front({key, contents});
  while (kept_.size() > 1 && kept_bytes_ > kept_limit) {
    kept_bytes_ -= size_of(*kept_.back().contents);
    kept_.pop_back();
  }
  return contents;
}

std::optional<WorkerError> upload(GpuWorkerClient& worker, const Arena& shared, BufferId buffer,
                                  const std::vector<std::byte>& contents) {
  for (std::uint64_t done = 0; done < contents.size();) {
    const std::uint64_t piece = std::min<std::uint64_t>(contents.size() - done, shared.size());
    std::memcpy(shared.data(), contents.data() + done, piece);
    Act::Reply reply;
    if (auto error = worker.act({CopyIn{buffer, 0, piece, done}}, upload_seconds, reply)) return error;
    done += piece;
  }
  return std::nullopt;
}

}  // namespace kernelsearch::detail::gpu
