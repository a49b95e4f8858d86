// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/scripted_replies.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
using RecordedJson = nlohmann::json;

struct Rule {
  std::string role;   // empty: any
  std::string after;  // texts are looked for after its last occurrence; empty: everywhere
  std::vector<std::string> contains, lacks;
  std::optional<std::uint64_t> repetition;
  std::string text;

  [[nodiscard]] bool fits(const ChatRequest& request, const std::string& question) const {
    const std::size_t from = after.empty() ? 0 : question.rfind(after);
    const auto there = [&question, from](const std::string& part) {
      return question.find(part, from) != std::string::npos;
    };
    return from != std::string::npos && (role.empty() || role == request.role) &&
           (!repetition || *repetition == request.repetition) &&
           std::all_of(contains.begin(), contains.end(), there) &&
           std::none_of(lacks.begin(), lacks.end(), there);
  }
};

std::string read_all(const fs::path& path) {
  std::optional<std::string> text = try_whole_file(path);
  if (!text)
    detail::raise<ConfigError>("a file of a script of replies cannot be read", path.string(),
                               "check that it is there");
  return *std::move(text);
}

Rule read_rule(const RecordedJson& object, const fs::path& folder) {
  Rule rule;
  for (const auto& [key, value] : object.items()) {
    if (key == "role") {
      rule.role = value.get<std::string>();
    } else if (key == "after") {
      rule.after = value.get<std::string>();
    } else if (key == "contains") {
      rule.contains = value.get<std::vector<std::string>>();
    } else if (key == "lacks") {
      rule.lacks = value.get<std::vector<std::string>>();
    } else if (key == "repetition") {
      rule.repetition = value.get<std::uint64_t>();
    } else if (key == "text") {
      rule.text = value.get<std::string>();
    } else if (key == "file") {
      const fs::path name = value.get<std::string>();
      if (name.has_parent_path()) throw std::runtime_error("\"file\" names a file next to the script");
      rule.text = read_all(folder / name);
    } else {
      throw std::runtime_error("unknown key \"" + key + '"');
    }
  }
  if (object.contains("text") == object.contains("file"))
    throw std::runtime_error("give either \"text\" or \"file\"");
  return rule;
}

}  // namespace

struct ScriptedReplies::Rules {
  std::vector<Rule> all;
};

bool ScriptedReplies::has_script(const std::string& folder) {
  std::error_code error;
  return fs::is_regular_file(fs::path(folder) / "script.json", error);
}

ScriptedReplies::ScriptedReplies(const std::string& folder) {
  const fs::path path = fs::path(folder) / "script.json";
  const std::string text = read_all(path);
  auto rules = std::make_shared<Rules>();
  std::string where = "at its top";
  try {
    const RecordedJson document = RecordedJson::parse(text, nullptr, true, true);
    if (document.at("kernelsearch_script") != 1) throw std::runtime_error("\"kernelsearch_script\" is not 1");
    for (const RecordedJson& object : document.at("rules")) {
      where = "in rule " + std::to_string(rules->all.size() + 1);
      rules->all.push_back(read_rule(object, folder));
    }
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception& error) {
    detail::raise<ConfigError>("a script of replies cannot be used",
                               path.string() + " " + where + ": " + error.what(),
                               "see docs/formats/scripts.md");
  }
  rules_ = std::move(rules);
}

ChatResult ScriptedReplies::chat(const ChatRequest& request, std::stop_token) const {
  std::string question;
  for (const Message& message : request.messages) question += message.text + '\n';
  for (const Rule& rule : rules_->all) {
    if (!rule.fits(request, question)) continue;
    ChatResult result;
    result.reply.emplace();
    result.reply->text = rule.text;
    result.reply->model = "script";
    result.reply->usage.input = question.size() / 4;  // nobody counted: four characters a token
    result.reply->usage.output = rule.text.size() / 4;
    return result;
  }
  return ChatResult::failed(ChatFailure::not_recorded, "no rule of the script fits a question of the role " +
                                                           request.role + "; add one to script.json");
}

}  // namespace kernelsearch
