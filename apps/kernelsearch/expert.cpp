// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "expert.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::app {
namespace {

constexpr std::string_view begins = "<<<IMPROVE BEGINS>>>", ends = "<<<IMPROVE ENDS>>>";

std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    detail::raise<ConfigError>("a file of the expert cannot be read", file.string(),
                               "name a folder with an expert.json whose files are there");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string without_ends(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  text.erase(0, std::min(text.find_first_not_of(" \n"), text.size()));
  return text;
}

/// The text behind the last line that is this heading, or empty.
std::string behind(const std::string& text, std::string_view heading) {
  const std::size_t at = text.rfind(heading);
  return at == std::string::npos ? std::string() : text.substr(at + heading.size());
}

/// `NAME` of lines ``- NAME: ...`` and ``* `NAME` ...``, and of one `Strategy: NAME`.
std::vector<std::string> named_moves(const std::string& task) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < task.size();) {
    const std::size_t end = std::min(task.find('\n', at), task.size());
    std::string line = task.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("Strategy: ")) {
      names.push_back(line.substr(10));
      continue;
    }
    if (line.starts_with("* `")) {  // a method
      names.push_back(line.substr(3, line.find('`', 3) - 3));
      continue;
    }
    if (!line.starts_with("- ")) continue;
    const std::size_t colon = line.find_first_of(": ", 2);
    if (colon != std::string::npos && colon > 2) names.push_back(line.substr(2, colon - 2));
  }
  return names;
}

std::string fenced(const std::string& code) {
  return "```cpp device\n" + code + "\n```\n";
}

}  // namespace

std::vector<ExpertKernel> read_expert(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "expert.json";
  const auto document = nlohmann::json::parse(file_text(file), nullptr, false);
  std::vector<ExpertKernel> kernels;
  try {
    for (const auto& one : document.at("kernels")) {
      ExpertKernel kernel{
          one.at("id"), one.at("problem"), one.value("from", std::string()), one.at("names"), {}};
      if (const auto defined = one.find("define"); defined != one.end())
        for (const auto& [name, value] : defined->items())
          kernel.code += "#define " + name + ' ' + std::to_string(value.get<int>()) + '\n';
      kernel.code = without_ends(kernel.code + file_text(folder / one.at("device").get<std::string>()));
      kernels.push_back(std::move(kernel));
    }
  } catch (const nlohmann::json::exception& error) {
    detail::raise<ConfigError>("the expert's table cannot be read", file.string(), error.what());
  }
  return kernels;
}

ScriptedExpert::ScriptedExpert(std::vector<ExpertKernel> kernels, std::string problem, std::string own_code)
    : kernels_(std::move(kernels)), own_code_(without_ends(std::move(own_code))) {
  std::erase_if(kernels_, [&problem](const ExpertKernel& kernel) { return kernel.problem != problem; });
}

const ExpertKernel* ScriptedExpert::shown_in(const std::string& text) const {
  const ExpertKernel* found = nullptr;
  std::size_t first = text.find(own_code_);
  for (const ExpertKernel& kernel : kernels_)
    if (const std::size_t at = text.find(kernel.code); at < first) {
      first = at;
      found = &kernel;
    }
  return found;
}

const ExpertKernel* ScriptedExpert::next(const std::vector<std::string>& names,
                                         const ExpertKernel* now) const {
  const std::string from = now == nullptr ? std::string() : now->id;
  for (const std::string& name : names)
    for (const ExpertKernel& kernel : kernels_)
      if (kernel.from == from && (name == "your_choice" || std::find(kernel.names.begin(), kernel.names.end(),
                                                                     name) != kernel.names.end()))
        return &kernel;
  return nullptr;
}

std::string ScriptedExpert::reply(const ChatRequest& request, const std::string& text) const {
  const std::string& role = request.role;
  if (role == "reflector") return "The hot loop takes most of the time.";
  if (role == "transformer") {  // PEAK: a transformation by its title, one region at a time
    const std::string task = behind(text, "# Transformation: ");
    const ExpertKernel* now = shown_in(behind(text, "\n# Kernel\n"));
    if (behind(text, "# Your edit: the ").rfind("device region", 0) != 0) return "UNCHANGED";
    const std::vector<std::string> asked = named_moves("Strategy: " + task.substr(0, task.find('\n')));
    if (now != nullptr && next(asked, nullptr) == now) return "UNCHANGED";  // a later pass of the same
    const ExpertKernel* made = next(asked, now);
    return made == nullptr ? "DOES NOT APPLY: nothing better is known for this kernel." : fenced(made->code);
  }
  const std::string shown = behind(text, "# Kernel to change\n"), task = behind(text, "\n# Task\n");
  const ExpertKernel* now = shown_in(shown);
  if (role == "coder") {  // STARK: the plan names the kernel
    for (const ExpertKernel& kernel : kernels_)
      if (text.find("Write the kernel " + kernel.id + ".") != std::string::npos)
        return "```cpp device\n" + std::string(begins) + '\n' + kernel.code + '\n' + std::string(ends) +
               "\n```\n";
    return "The plan names a kernel that is not known.";
  }
  if (task.find("Take out of this kernel") !=
      std::string::npos) {  // an ablation: back to what it was made of
    if (now == nullptr) return "DOES NOT APPLY: it is not in this kernel.";
    for (const ExpertKernel& kernel : kernels_)
      if (kernel.id == now->from) return fenced(kernel.code);
    return fenced(own_code_);
  }
  const std::vector<std::string> asked = named_moves(task);
  if (task.find("Apply all of these methods together") != std::string::npos)
    for (const std::string& name : asked)
      if (name.find('.') != std::string::npos && next({name}, now) == nullptr)
        return "DOES NOT APPLY: " + name + ": nothing better is known for this kernel.";
  const ExpertKernel* made = next(asked, now);
  if (made == nullptr)
    return asked.size() == 1 ? "DOES NOT APPLY: nothing better is known for this kernel."
                             : "Nothing better is known for this kernel.";
  if (role != "planner") return fenced(made->code);
  const std::string& code = now == nullptr ? own_code_ : now->code;
  return "```cpp device\n" + std::string(begins) + '\n' + code + '\n' + std::string(ends) +
         "\n```\n\n1. Write the kernel " + made->id + ".\n";
}

ChatResult ScriptedExpert::chat(const ChatRequest& request, std::stop_token) const {
  std::string text;
  for (const Message& message : request.messages) text += '\n' + message.text + '\n';
  ChatResult result;
  result.reply.emplace();
  result.reply->text = reply(request, text);
  result.reply->model = "scripted expert";
  result.reply->usage.input = text.size() / 4;  // as scripts count
  result.reply->usage.output = result.reply->text.size() / 4;
  return result;
}

}  // namespace kernelsearch::app
