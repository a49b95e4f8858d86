// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/prompt_library.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

struct Replaced {
  TemporaryFolder folder;
  Replaced(const char* name, const std::string& text) {
    std::filesystem::create_directories(folder / "prompts");
    std::ofstream(folder.path() / "prompts" / name) << text;
  }
};

}  // namespace

TEST_CASE("prompt library: every template parses and renders, whichever values are empty") {
  const PromptLibrary library;
  CHECK(library.names().size() >= 9);
  for (const std::string& name : library.names()) {
    CAPTURE(name);
    const PromptTemplate& prompt = library.find(name);
    for (const bool filled : {true, false}) {
      PromptValues values;
      for (const std::string& value : prompt.names()) values[value] = filled ? "<" + value + ">" : "";
      for (const Message& message : prompt.render(values)) {
        CHECK(message.text.find("{{") == std::string::npos);
        if (filled) CHECK(message.text.find("\n\n\n") == std::string::npos);
      }
    }
    // One at a time: what is required is there, whatever else is.
    for (const std::string& needed : prompt.required()) {
      PromptValues values;
      for (const std::string& value : prompt.names()) values[value] = "";
      values[needed] = "<" + needed + ">";
      std::string all;
      for (const Message& message : prompt.render(values)) all += message.text;
      CHECK(all.find("<" + needed + ">") != std::string::npos);
    }
  }
}

TEST_CASE("prompt library: what stays the same comes first, so that providers can cache it") {
  const PromptLibrary library;
  for (const char* name : {"rewrite", "debug", "plan", "code", "reflect", "optimize"}) {
    PromptValues values;
    for (const std::string& value : library.find(name).names()) values[value] = "x";
    const auto messages = library.find(name).render(values);
    REQUIRE(messages.size() == 2);
    CHECK(messages[0].speaker == Speaker::system);
    CHECK(messages[0].stable);
    CHECK(!messages[1].stable);
  }
}

TEST_CASE("prompt library: a user's file replaces a template, and is checked against it") {
  Replaced good("correction.md", "@user\nNo: {{detail}}\n");
  const PromptLibrary library(good.folder.path()), plain;
  CHECK(library.find("correction").render({{"detail", "x"}})[0].text == "No: x");
  CHECK(library.hash() != plain.hash());
  CHECK(plain.hash() == PromptLibrary().hash());

  Replaced unknown("correction.md", "@user\n{{detial}} {{detail}}\n");
  CHECK_THROWS_WITH_AS(PromptLibrary{unknown.folder.path()}, doctest::Contains("did you mean detail?"),
                       ConfigError);
  Replaced lacking("correction.md", "@user\nNo.\n");
  CHECK_THROWS_WITH_AS(PromptLibrary{lacking.folder.path()}, doctest::Contains("lacks a name"), ConfigError);
  Replaced fresh("own.md", "@user\n{{anything}}\n");
  CHECK(PromptLibrary(fresh.folder.path()).contains("own"));
  CHECK(!plain.contains("own"));
}

TEST_CASE("prompt library: an unknown name is an error that names the nearest") {
  CHECK_THROWS_WITH_AS((void)PromptLibrary().find("rewrit"), doctest::Contains("did you mean rewrite?"),
                       ConfigError);
}
