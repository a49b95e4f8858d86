// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "kernelsearch/report/report_model.hpp"

namespace kernelsearch {

/// Reports as one JSON object, `{"runs": [...]}`, which the page is drawn from. It may stand inside a script
/// element: no `<`, `>` or `&`, and no line separators of Unicode.
[[nodiscard]] std::string report_json(std::span<const ReportModel> reports);

/// One HTML page that needs nothing from elsewhere: the summaries as text, and a script that draws the rest.
/// Names, code and replies are text and never markup; a policy of the page forbids it every connection and
/// every script but its own (docs/page.md).
[[nodiscard]] std::string report_html(std::span<const ReportModel> reports);

/// The page without data, for a server of this machine that `token` opens: its script asks for the data, and
/// may connect to nothing but that server.
[[nodiscard]] std::string live_page(const std::string& token, bool control);

/// The same in Markdown, without pictures.
[[nodiscard]] std::string report_markdown(std::span<const ReportModel> reports);

/// The best so far over trials and over time, as one SVG picture.
[[nodiscard]] std::string report_svg(std::span<const ReportModel> reports);

/// Writes a rendered report to a file, which is then the whole of it or, after a ConfigError, as it was. What
/// is not a regular file, such as /dev/stdout, is written to as it stands.
void write_report(const std::filesystem::path& file, const std::string& text);

}  // namespace kernelsearch
