// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/run_page.hpp"

#include <doctest/doctest.h>

#include "run/support.hpp"

using namespace run_test;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("run_page: every trial, the winner's code, and nothing that a kernel could put into a browser") {
  Place place;
  RunManager book(*place.store, place.options());
  RunRequest request;
  request.problem = "twice";
  request.options.policy = "submit";
  request.options.suggest = "none";
  const RunId run = *book.start(request, {});
  Submission hostile;
  hostile.device = code_with("fast </pre><script>alert(\"1\")</script> &amp;");
  (void)book.submit(run, hostile, {});
  hostile.device = code_with("broken");
  (void)book.submit(run, hostile, {});
  const std::string page = run_page(*place.store, run);
  CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(count(page, "<tr") == 4);
  CHECK(count(page, "<tr class=\"best\"><td class=\"n\">1</td><td>ok</td>") == 1);
  CHECK(count(page, "<script") == 0);
  CHECK(count(page, "&lt;script&gt;alert(&quot;1&quot;)") == 1);
  CHECK(count(page, "<polyline") == 1);
  CHECK(count(page, "error: broken") == 2);  // of the trial, and in the summary
  CHECK(count(page, "NaN") + count(page, "nan") + count(page, "inf") == 0);
}

TEST_CASE("run_page: a run without trials, or without a right one") {
  Place place;
  RunInfo info;
  info.problem = "a<b";
  const RunId run = place.store->begin_run(info);
  const std::string page = run_page(*place.store, run);
  CHECK(page.find("a&lt;b") != std::string::npos);
  CHECK(count(page, "<tr") == 1);
  CHECK(count(page, "<polyline") == 0);
}
