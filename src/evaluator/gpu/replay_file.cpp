// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/replay_file.hpp"

#include <algorithm>
#include <fstream>

#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/protocol.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail::gpu {

std::optional<std::vector<std::vector<std::byte>>> read_frames(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return std::nullopt;
  auto left = static_cast<std::uint64_t>(in.tellg());
  in.seekg(0);
  std::vector<std::vector<std::byte>> frames;
  while (left > 0) {
    std::uint64_t size = 0;
    if (left < sizeof size || !in.read(reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
    left -= sizeof size;
    if (size > left || size > longest_frame) return std::nullopt;
    frames.emplace_back(static_cast<std::size_t>(size));
    if (!in.read(reinterpret_cast<char*>(frames.back().data()), static_cast<std::streamsize>(size)))
      return std::nullopt;
    left -= size;
  }
  return frames;
}

ReplayFile::ReplayFile(const Problem& problem, const Candidate& candidate, const ReplayModule& candidate_code,
                       const ReplayModule& services, const ReplayCall& call) {
  constexpr ModuleId candidate_module{1};
  constexpr ProgramId program{1};
  if (call.shape >= problem.shapes.size())
    raise<ConfigError>("there is no such shape", std::to_string(call.shape),
                       "the problem has " + std::to_string(problem.shapes.size()));
  const Shape& shape = problem.shapes[call.shape];
  if (!is_valid(problem, shape, candidate)) {
    problem_ = "`valid` is false for shape " + shape.name;
    return;
  }
  const CallPlan plan = plan_call(problem, candidate, call.shape, candidate_module,
                                  launched_kernels(problem, candidate), problem_, candidate_code.launches);
  if (!problem_.empty()) return;
  launches_ = static_cast<std::size_t>(
      std::count_if(plan.program.steps.begin(), plan.program.steps.end(),
                    [](const Step& step) { return std::holds_alternative<LaunchKernel>(step); }));
  const auto add = [this](const Command& command) { frames_.push_back(frame_of(command)); };
  add(Hello{});
  add(LoadModule{service_module, *services.image, services.functions});
  if (candidate_code.library)
    add(LoadLibrary{candidate_module, *candidate_code.image});
  else
    add(LoadModule{candidate_module, *candidate_code.image, candidate_code.functions});
  add(DefineProgram{program, plan.program});
  IdSource<BufferId> ids;
  AllocateBuffers buffers;
  CallProgram one{program, false, {}};
  std::vector<Action> prepare;
  std::vector<std::pair<BufferId, const std::vector<std::byte>*>> stored;
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const PlannedArgument& planned = plan.arguments.arguments[a];
    one.bindings.emplace_back();
    if (!planned.is_array) continue;
    const BufferId buffer = ids.next();
    one.bindings.back() = buffer;
    buffers.buffers.push_back({buffer, bytes_of(planned)});
    if (planned.is_input() && call.made && !(*call.made)[a].empty()) {
      const BufferId source = ids.next();
      buffers.buffers.push_back({source, bytes_of(planned)});
      stored.emplace_back(source, &(*call.made)[a]);
      prepare.emplace_back(RotateArray{source, buffer, 0, bytes_of(planned)});
    } else if (planned.is_input())
      prepare.emplace_back(fill_action(at_shape(problem.arguments[a], shape), planned, buffer, call.seed,
                                       InputFlavour::declared, false));
    else if (call.poison && planned.role == Role::out)
      prepare.emplace_back(
          FillPattern{buffer, poison_word(planned, Storage::native, call.seed), bytes_of(planned)});
  }
  add(buffers);
  constexpr std::size_t piece = std::size_t{64} << 20;  // of a frame
  for (const auto& [buffer, bytes] : stored)
    for (std::size_t done = 0; done < bytes->size(); done += piece) {
      const auto from = bytes->begin() + static_cast<std::ptrdiff_t>(done);
      const auto count = static_cast<std::ptrdiff_t>(std::min(piece, bytes->size() - done));
      add(Act{{StoreBytes{buffer, done, {from, from + count}}}});
    }
  std::vector<Action> actions = prepare;
  actions.insert(actions.end(), call.warm_up, one);
  if (call.warm_up > 0) add(Act{std::move(actions)});
  // What the warm-up left in an inout array is not what the call is to find.
  prepare.emplace_back(std::move(one));
  add(Act{std::move(prepare)});
}

void ReplayFile::write(const std::filesystem::path& file) const {
  std::ofstream out(file, std::ios::binary);
  for (const std::vector<std::byte>& frame : frames_) {
    const std::uint64_t size = frame.size();
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
  }
  if (!out.flush())
    raise<DeviceError>("the commands of a replay cannot be written", file.string(),
                       "make room in the folder for temporary files");
}

}  // namespace kernelsearch::detail::gpu
