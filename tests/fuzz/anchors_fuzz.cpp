// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/agents/anchors.hpp"
#include "kernelsearch/agents/reply_blocks.hpp"

/// Any annotated text is the original with spans in order inside of it, or a named fault; what is filled in
/// changes nothing outside of the spans.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  static const std::string original = "void f() {\n  int a;\n  load(a);\n  store(a);\n}\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // What a planner says, and after a line of dashes what a coder does with it.
  const std::size_t cut = std::min(text.find("\n----\n"), text.size());
  const AnchoredText anchored = read_anchors(original, text.substr(0, cut));
  std::size_t last = 0;
  for (const AnchorSpan& span : anchored.spans) {
    if (span.begin < last || span.end < span.begin || span.end > original.size()) std::abort();
    last = span.end;
  }
  if (!anchored.judgement.ok()) return 0;
  const AnchoredText again = read_anchors(original, with_anchors(original, anchored.spans));
  if (!again.judgement.ok() || again.spans != anchored.spans) std::abort();
  const FilledText filled =
      fill_anchors(original, anchored.spans, text.substr(std::min(cut + 6, text.size())));
  if (!filled.judgement.ok()) return 0;
  const std::string_view before = std::string_view(original).substr(0, anchored.spans.front().begin),
                         after = std::string_view(original).substr(anchored.spans.back().end);
  if (filled.text.size() < before.size() + after.size() ||
      filled.text.compare(0, before.size(), before) != 0 ||
      filled.text.compare(filled.text.size() - after.size(), after.size(), after) != 0)
    std::abort();
  return 0;
}
