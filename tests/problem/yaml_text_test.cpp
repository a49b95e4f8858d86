// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/yaml_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/check_has.hpp"

using namespace kernelsearch;
using detail::YamlEntry;

namespace {

/// The texts behind the one key `k`.
std::vector<std::string> yaml_texts(const std::string& behind,
                                    YamlEntry::Kind kind = YamlEntry::Kind::scalar) {
  const auto entries = detail::try_yaml("k:" + behind);
  CAPTURE(behind);
  REQUIRE(entries);
  REQUIRE(entries->size() == 1);
  CHECK(entries->front().key == "k");
  CHECK(entries->front().kind == kind);
  return entries->front().texts;
}

std::string yaml_fault(const std::string& text) {
  const auto entries = detail::try_yaml(text);
  return entries ? "" : entries.error();
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("yaml: scalars of every style, folded as YAML folds them") {
  CHECK(yaml_texts(" plain words # a comment\n") == Texts{"plain words"});
  CHECK(yaml_texts(" a#b\n") == Texts{"a#b"});
  CHECK(yaml_texts(" over\n  two lines\n") == Texts{"over two lines"});
  CHECK(yaml_texts("\n  on the next\n") == Texts{"on the next"});
  CHECK(yaml_texts(" null\n").empty());
  CHECK(yaml_texts(" ~\n").empty());
  CHECK(yaml_texts("\n").empty());
  CHECK(yaml_texts(" 'it''s: # one'\n") == Texts{"it's: # one"});
  CHECK(yaml_texts(R"( "a \"b\" \\ \t")") == Texts{"a \"b\" \\ \t"});
  CHECK(yaml_texts(" \"one\n  two\n\n  three\"\n") == Texts{"one two\nthree"});
  CHECK(yaml_texts(" \"one \\\n  \\ two\"\n") == Texts{"one  two"});
  CHECK(yaml_texts(" |\n  a: b\n    c\n\n  d # e\n") == Texts{"a: b\n  c\n\nd # e"});
  CHECK(yaml_texts(" >-\n  a\n  b\n") == Texts{"a b"});
}

TEST_CASE("yaml: lists of scalars, and what is nested is only skipped") {
  const auto list = YamlEntry::Kind::list, other = YamlEntry::Kind::other;
  CHECK(yaml_texts("\n- a\n- b c\n", list) == Texts{"a", "b c"});
  CHECK(yaml_texts("\n  - python3 -c \"import x; print('ok')\"\n  -\n", list) ==
        Texts{"python3 -c \"import x; print('ok')\"", ""});
  CHECK(yaml_texts("\n- pytest -k \"not a\n  and b\" --x\n- 'c'\n", list) ==
        Texts{"pytest -k \"not a and b\" --x", "c"});
  CHECK(yaml_texts("\n- |\n  set -e\n  run\n- last\n", list) == Texts{"set -e\nrun", "last"});
  CHECK(yaml_texts(" []\n", list).empty());
  CHECK(yaml_texts(" [a b, \"c, d\", 'e'] \n", list) == Texts{"a b", "c, d", "e"});
  CHECK(yaml_texts(" [[1, 2]]\n", other).empty());
  CHECK(yaml_texts(" {a: 1}\n", other).empty());
  CHECK(yaml_texts("\n  a: 1\n  b:\n  - 2\n", other).empty());
  CHECK(yaml_texts("\n- a: 1\n- b\n", other).empty());
  const auto several = detail::try_yaml("---\n# first\na: 1\nb: # none\n\nc:\n- x\nd.e-f: y\n");
  REQUIRE(several);
  REQUIRE(several->size() == 4);
  CHECK(several->at(1).texts.empty());
  CHECK(several->at(2).texts == Texts{"x"});
  CHECK(several->at(3).key == "d.e-f");
}

TEST_CASE("yaml: what it cannot read is said with its line") {
  check_has(yaml_fault("a: 1\nb\n"), "");
  CHECK(yaml_fault("- a\n") == "line 1 is not `key: value` at the beginning of a line");
  CHECK(yaml_fault("a: \"open\nb: 1\n") == "line 1 has a quote that is not closed");
  CHECK(yaml_fault("a: \"x\" y\n") == "line 1 goes on behind a closing quote");
  CHECK(yaml_fault("a: 'x'\n  y\n") == "line 1 goes on behind a closing quote");
  CHECK(yaml_fault("a: [x\n") == "line 1 has a list that is not closed");
  CHECK(yaml_fault("a: !!str x\n") == "line 1 has a tag, an anchor or an alias");
  CHECK(yaml_fault("a:\n- *b\n") == "line 2 has a tag, an anchor or an alias");
  CHECK(yaml_fault("a: 1\na: 2\n") == "line 2 has the key `a` a second time");
  CHECK(yaml_fault("a:\n  - b\n    - c\n - d\n") == "line 4 is not indented as the list that it is in");
  CHECK(yaml_fault("") == "");
}
