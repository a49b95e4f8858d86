// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a folder of recorded exchanges or of scripted replies holds: any text is used or refused with a
// ConfigError.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/exchange_folder.hpp"
#include "kernelsearch/llm/scripted_replies.hpp"

namespace {

using namespace kernelsearch;
namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "kernelsearch-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

ChatRequest question() {
  ChatRequest request;
  request.role = "coder";
  request.model = "m";
  request.messages = {{Speaker::user, "What?"}};
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const Folder folder;
  static const ChatRequest asked = question();
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    std::ofstream(folder.path / "script.json", std::ios::binary) << text;
    try {
      (void)ScriptedReplies(folder.path.string()).chat(asked);
    } catch (const ConfigError&) {
    }
    return 0;
  }
  static const ExchangeFolder exchanges((folder.path / "exchanges").string());
  static const ExchangeFolder::Asked digested = exchanges.asked(asked);
  const fs::path file =
      fs::path(exchanges.folder()) / digested.digest.substr(0, 2) / (digested.digest + ".json");
  fs::create_directories(file.parent_path());
  // An answer to just this question, which no fuzzer would guess: QUESTION stands for it.
  if (const std::size_t at = text.find("QUESTION"); at != std::string::npos)
    text.replace(at, 8, digested.canonical);
  std::ofstream(file, std::ios::binary) << text;
  try {
    if (const auto found = exchanges.find(digested); found && *found && !found->reply->replayed) std::abort();
  } catch (const ConfigError&) {
  }
  exchanges.each([](const std::string&, const std::string&, const ChatResult&) {});
  return 0;
}
