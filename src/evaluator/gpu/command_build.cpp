// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device code that a command of the problem's makes, instead of a compiler that we know.
#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/built_image.hpp"
#include "evaluator/gpu/kept_file.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/digest.hpp"

namespace kernelsearch::detail::gpu {
namespace {

/// An error's words without the program's name, which belongs at the beginning of a line only.
std::string words_of(const Error& error) {
  constexpr std::string_view name = "kernelsearch: ";
  const std::string text = error.what();
  return clean_text(text.starts_with(name) ? text.substr(name.size()) : text);
}

/// What a command made as code to load; failed where a driver would not take it or its description is wrong.
Built built_of(GpuBackend backend, CommandOutput output, const std::vector<std::string>& kernels) {
  Built built;
  built.verdict = output.verdict;
  built.reason = std::move(output.reason);
  if (built.verdict != Verdict::ok) return built;
  built.log = output.said;
  const auto failed = [&](const std::string& what) {
    built.verdict = Verdict::build_failed;
    built.reason = command_failed(what, output.said);
    return built;
  };
  if (const auto unfit = unfit_image(backend, output.file)) return failed("made " + *unfit);
  built.functions = kernels;
  constexpr std::size_t longest_description = std::size_t{1} << 20;
  if (output.description.size() > longest_description)
    return failed("says more than 1 MiB about launching in ${LIBRARY}.json");
  if (output.is_described) {
    try {
      LaunchDescription description = read_launch_description(output.description, kernels);
      built.functions = std::move(description.functions);
      built.launches = std::move(description.launches);
    } catch (const ConfigError& error) {
      return failed("says of the launch what cannot be used: " + words_of(error));
    }
  }
  if (backend == GpuBackend::cuda && is_ptx(output.file)) output.file += '\0';
  const auto* bytes = reinterpret_cast<const std::byte*>(output.file.data());
  built.image = std::make_shared<const std::vector<std::byte>>(bytes, bytes + output.file.size());
  return built;
}

}  // namespace

CompileCache& BuilderPool::commands() {
  const std::scoped_lock lock(mutex_);
  if (!commands_)
    commands_ = std::make_unique<CompileCache>(command_options_, host_machine().id(), std::vector<int>());
  return *commands_;
}

std::string BuilderPool::command_identity(const BuildCommand& by) {
  return commands().identity(by);
}

Built BuilderPool::build_by_command(const BuildCommand& by, const std::vector<std::string>& kernels,
                                    const std::stop_token& stop) {
  // Lengths before the parts: no part can pass for two.
  std::string content = "command 1\n" + std::string(to_string(backend_)) + "\n";
  const auto add = [&content](const std::string& part) {
    content += std::to_string(part.size()) + ":" + part + "\n";
  };
  add(command_identity(by));
  for (const auto* words : {&by.argv, &kernels}) {
    add(std::to_string(words->size()));
    for (const std::string& word : *words) add(word);
  }
  add(by.source.path);
  const std::filesystem::path target = place_of(content + sha256(by.source.text));
  if (auto found = kept(target)) return std::move(*found);
  const Turn turn(*this);
  Built built = built_of(backend_, commands().make(by, stop), kernels);
  if (built.verdict == Verdict::ok) keep_built(target, built);
  return built;
}

}  // namespace kernelsearch::detail::gpu
