// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "page_frame.hpp"
#include "run_title.hpp"
#include "xml_text.hpp"

namespace kernelsearch {
namespace detail {

/// data/page, compiled in.
std::string_view page_script() noexcept;
std::string_view page_style() noexcept;

}  // namespace detail

namespace {

/// The frame of a page: `connect` is what its script may connect to, `body` is HTML, `script` may be empty.
/// The nonce is a digest of all that is in the page, so no text in it can name it.
std::string page(const std::string& title, const std::string& body, std::string_view connect,
                 std::string_view more, std::string_view script) {
  const std::string nonce = sha256(body + std::string(more) + std::string(script));
  const std::string own =
      script.empty() ? "" : fmt::format("<script nonce=\"{}\">\n{}</script>\n", nonce, script);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {6}; "
      "style-src 'nonce-{0}'; connect-src {1}; img-src 'none'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{2}</title>\n<style nonce=\"{0}\">\n{3}</style>\n</head>\n<body>\n{4}"
      "{5}</body>\n</html>\n",
      nonce, connect, html_text(title), detail::page_style(), body, own,
      script.empty() ? "'none'" : "'nonce-" + nonce + "'");
}

}  // namespace

std::string detail::page_without_script(const std::string& title, const std::string& body) {
  return page(title, body, "'none'", title, "");
}

std::string report_html(std::span<const ReportModel> reports) {
  std::string title, summaries;
  for (const ReportModel& report : reports) {
    title += (title.empty() ? "" : ", ") + run_title(report.run);
    summaries += "<pre class=\"summary\">" + html_text(clean_text(report.summary)) + "</pre>\n";
  }
  const std::string body = fmt::format(
      "<main id=\"page\"><h1>{}</h1>\n<div id=\"summaries\">{}</div></main>\n"
      "<noscript><p>The pictures and tables of this page are drawn by its script.</p></noscript>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n",
      html_text(title), summaries, report_json(reports));
  return page(title + " - kernelsearch", body, "'none'", title, detail::page_script());
}

std::string live_page(const std::string& token, bool control) {
  const std::string body = fmt::format(
      "<main id=\"page\"><h1>kernelsearch</h1></main>\n"
      "<script type=\"application/json\" id=\"live\">{{\"control\": {}}}</script>\n",
      control ? "true" : "false");
  return page("kernelsearch", body, "'self'", token, detail::page_script());
}

}  // namespace kernelsearch
