// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/external_policy.hpp"
#include "kernelsearch/external/policy_plugin.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "new_name.hpp"

namespace kernelsearch {
namespace {

constexpr const char* how = "build it as docs/extending.md#a-policy-as-a-plug-in says";

class Collected final : public PolicyRegistrar {
 public:
  explicit Collected(std::string file) : file_(std::move(file)) {}

  void add(std::string name, std::string summary,
           std::function<AnyPolicy<Config>(const PolicySetup&)> make) override {
    for (const ExternalPolicy& policy : policies)
      if (policy.name == name)
        detail::raise<ConfigError>("the plug-in registers two policies of one name", name + " in " + file_,
                                   "name them otherwise");
    if (name.empty() || !make)
      detail::raise<ConfigError>("the plug-in registers a policy without a name or a maker", file_, how);
    external::check_new_name(name, "name it otherwise in " + file_);
    policies.push_back({std::move(name), std::move(summary), file_, std::move(make), false});
  }

  void add(const ConfigPolicyEntry& entry) override {
    if (entry.maker == nullptr || entry.reader == nullptr)
      detail::raise<ConfigError>("the plug-in registers a policy without a name or a maker", file_, how);
    const auto kept = std::make_shared<const ConfigPolicyEntry>(entry);
    add(std::string(entry.name), std::string(entry.summary),
        [kept](const PolicySetup& setup) { return kept->make(setup); });
    policies.back().entry = kept;
  }

  std::vector<ExternalPolicy> policies;

 private:
  std::string file_;
};

void* symbol(void* library, const char* name, const std::string& file) {
  void* found = dlsym(library, name);
  if (found == nullptr)
    detail::raise<ConfigError>("the shared library is not a plug-in with policies",
                               file + " has no " + std::string(name), how);
  return found;
}

}  // namespace

ExternalPolicy with_options(ExternalPolicy policy, std::string_view text) {
  PolicyText read = detail::value_or_raise(try_parse_policy_text(text));
  if (read.options.empty()) return policy;
  if (!policy.entry)
    detail::raise<ConfigError>("the policy takes no options", std::string(text),
                               "name it alone: " + policy.name);
  PolicyChoice choice(*policy.entry);
  for (auto& [name, value] : read.options)
    if (const Result<void> set = choice.try_set(name, std::move(value)); !set)
      detail::raise_config_error(set.error());
  policy.name = choice.text();
  policy.make = [choice, kept = policy.entry](const PolicySetup& setup) { return choice.make(setup); };
  return policy;
}

std::vector<ExternalPolicy> load_policy_plugin(const std::filesystem::path& given) {
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::absolute(given, failed);
  if (!std::filesystem::is_regular_file(file, failed))
    detail::raise<ConfigError>("there is no such plug-in", given.string(), "give a shared library");
  // An absolute path, or the loader would look in its own folders. Never unloaded: policies are its code.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    detail::raise<ConfigError>("the plug-in cannot be loaded", why != nullptr ? why : file.string(), how);
  }
  const auto abi = reinterpret_cast<const char* (*)()>(symbol(library, "kernelsearch_plugin_abi", file));
  const std::string theirs = abi(), ours = detail::plugin_abi();
  if (theirs != ours)
    detail::raise<ConfigError>("the plug-in was built for another library or by another compiler",
                               file.string() + " is for " + theirs,
                               "build it with the headers and the compiler of this one: " + ours);
  const auto add =
      reinterpret_cast<void (*)(PolicyRegistrar*)>(symbol(library, "kernelsearch_register_policies", file));
  Collected collected(file.string());
  try {
    add(&collected);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    detail::raise<ConfigError>("the plug-in failed to register its policies",
                               file.string() + ": " + error.what(), how);
  }
  if (collected.policies.empty())
    detail::raise<ConfigError>("the plug-in registers no policy", file.string(), how);
  return std::move(collected.policies);
}

}  // namespace kernelsearch
