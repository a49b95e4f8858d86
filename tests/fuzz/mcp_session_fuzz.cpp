// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session of any client with the tools themselves, on a root with a problem, where kernels are judged by
// the words in them: nothing is thrown, every line out is JSON that commands no terminal, and nothing that
// lies outside of the root comes back or is changed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/mcp/mcp_server.hpp"
#include "kernelsearch/mcp/run_tools.hpp"
#include "run/support.hpp"

namespace {

constexpr const char* secret = "a-key-that-nobody-gave";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  using nlohmann::json;
  const run_test::Place place;
  place.gate->let_go();
  place.folder.write("secrets/key.cpp", secret);
  place.folder.write("models.json", secret);
  std::filesystem::create_symlink(place.folder / "secrets", place.folder / "root/link");
  RunManagerOptions managing = place.options();
  managing.measuring.sandbox = "none";
  RunManager manager(*place.store, managing);
  McpOptions options;
  options.progress_seconds = 0;
  const auto send = [](const std::string& line) {
    if (json::parse(line, nullptr, false).is_discarded() || clean_text(line) != line ||
        line.find('\n') != std::string::npos || line.find(secret) != std::string::npos)
      std::abort();
  };
  {
    McpServer server(run_tools(manager, {place.folder / "reports", place.folder / "data"}), send, options);
    std::string_view text(reinterpret_cast<const char*>(data), size);
    // `ROOT` stands for the folder that holds the root, whose name differs from time to time.
    std::string whole(text);
    for (std::size_t at = 0; (at = whole.find("$ROOT", at)) != std::string::npos;)
      whole.replace(at, 5, place.folder.path().string());
    text = whole;
    for (int lines = 0; !text.empty() && lines < 20; ++lines) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      server.receive(text.substr(0, end));
      if (!server.wait_idle(60)) std::abort();
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::string kept;
  std::ifstream(place.folder / "secrets/key.cpp") >> kept;
  if (kept != secret || std::filesystem::exists(place.folder / "owned")) std::abort();
  return 0;
}
