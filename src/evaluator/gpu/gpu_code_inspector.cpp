// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"

namespace kernelsearch {

struct GpuCodeInspector::Impl {
  explicit Impl(SassOptions chosen) : options(std::move(chosen)) {
    // It is looked for again with each image, since libraries need another one than kernels.
    there = detail::gpu::find_disassembler(options.program).has_value();
  }

  SassOptions options;
  bool there = false;
  std::mutex mutex;
  std::map<std::string, Features> known;  // by digest of image and functions
};

GpuCodeInspector::GpuCodeInspector(SassOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
GpuCodeInspector::GpuCodeInspector(GpuCodeInspector&&) noexcept = default;
GpuCodeInspector& GpuCodeInspector::operator=(GpuCodeInspector&&) noexcept = default;
GpuCodeInspector::~GpuCodeInspector() = default;

Features GpuCodeInspector::inspect(const GpuArtifact& artifact) {
  if (!impl_->there || !artifact.image || artifact.image->empty()) return {};
  std::string content(reinterpret_cast<const char*>(artifact.image->data()), artifact.image->size());
  for (const std::string& function : artifact.functions) content += "\n" + function;
  const std::string key = sha256(content);
  {
    const std::scoped_lock lock(impl_->mutex);
    if (const auto found = impl_->known.find(key); found != impl_->known.end()) return found->second;
  }
  Features features;
  try {
    std::vector<SassFunction> functions = read_sass(*artifact.image, impl_->options);
    // What a launch function launches is decided when it runs: all that its library has.
    if (!artifact.library) functions = reached_functions(std::move(functions), artifact.functions);
    features = sass_features(functions);
  } catch (const ConfigError&) {  // nothing is known, and it is not a fault of the candidate's
  }
  const std::scoped_lock lock(impl_->mutex);
  impl_->known.emplace(key, features);
  return features;
}

}  // namespace kernelsearch
