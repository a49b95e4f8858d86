#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference of the command, read off its own help.

    command_reference.py --markdown COMMAND OUT.md      every subcommand with its options
    command_reference.py --manual COMMAND OUT.1         the manual page"""
import pathlib
import re
import subprocess
import sys


class Help:
    """The help of a command: `summary`, `usage`, `sections` (name to rows of term and text), `footer`."""

    def __init__(self, text):
        self.summary, self.usage, self.sections, self.footer = "", "", {}, []
        rows = None
        for line in text.splitlines():
            if line.startswith("Usage: "):
                self.usage = line[len("Usage: "):]
            elif not self.usage:
                self.summary = f"{self.summary} {line}".strip()
            elif re.fullmatch(r"(Positionals|Options|Subcommands|\[Option Group: .*\]|[A-Z][a-zA-Z ]*):", line) and not line.startswith("Examples"):
                rows = self.sections.setdefault(line.rstrip(":"), [])
            elif rows is not None and re.match(r"  \S", line):
                term, _, told = line[2:].partition("  ")
                rows.append([term.strip(), told.strip()])
            elif rows is not None and line.startswith("        ") and rows:
                rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
            elif line.strip():
                rows = None
                self.footer.append(line)


def read(command, words=()):
    done = subprocess.run([command, *words, "--help"], capture_output=True, text=True, check=True)
    return Help(done.stdout)


def all_commands(command):
    """Each subcommand with its words, parents first."""
    found = []

    def visit(words):
        text = read(command, words)
        found.append((words, text))
        for name, _ in text.sections.get("Subcommands", []):
            visit((*words, name))

    visit(())
    return found


def option(term):
    """Names, the kind of value, and what CLI11 says of it: `--seed UINT=0` has `--seed`, `UINT`, default 0."""
    names, _, rest = term.partition(" ")
    return names.replace(",", ", "), rest.replace(" ...", " (repeatable)").strip()


def markdown(command):
    def cell(text):
        # What is between backquotes is code and stays; elsewhere `<`, `*` and `_` are no markup here.
        parts = text.replace("|", "\\|").split("`")
        plain = [re.sub(r"([<*_\[\]])", r"\\\1", part) if i % 2 == 0 else part for i, part in enumerate(parts)]
        return "`".join(plain) if len(parts) % 2 == 1 else text.replace("|", "\\|").replace("`", "'")

    commands = all_commands(command)
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    lines = ["# Reference of the command", "", f"Every subcommand and option, as `--help` of version {version} prints them. [The command](command.md) explains them.", ""]
    for words, text in commands:
        name = " ".join(("kernelsearch", *words))
        lines += [f"{'#' * min(2 + max(0, len(words) - 1), 4)} {name}", "", cell(text.summary.rstrip(".")) + ".", "", "```text", text.usage, "```", ""]
        for section, rows in text.sections.items():
            if section == "Subcommands":
                lines += ["| subcommand | |", "|---|---|"]
                lines += [f"| [{term}](#{'-'.join(('kernelsearch', *words, term))}) | {cell(told)} |" for term, told in rows]
            else:
                lines += [f"| {'argument' if section == 'Positionals' else 'option'} | value | |", "|---|---|---|"]
                for term, told in rows:
                    names, value = option(term)
                    lines.append(f"| `{names}` | {f'`{value}`'.replace('|', chr(92) + '|') if value else ''} | {cell(told)} |")
            lines.append("")
        if text.footer and (not words or text.footer != commands[0][1].footer):
            lines += ["```text", *text.footer, "```", ""]
    return "\n".join(lines)


def manual(command):
    def plain(text):
        text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
        return "\\&" + text if text[:1] in ".'" else text

    commands = all_commands(command)
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    top = commands[0][1]
    lines = [f'.TH KERNELSEARCH 1 "" "kernelsearch {version}" "User Commands"', ".SH NAME", f"kernelsearch \\- {plain(top.summary[0].lower() + top.summary[1:].rstrip('.'))}",
             ".SH SYNOPSIS", f".B {plain(top.usage)}", ".SH DESCRIPTION",
             "Compiles candidates for a kernel, checks each against a reference, times the right ones, and keeps everything in a store of runs."]
    for words, text in commands:
        if words:
            lines += [f".SH \"{plain(' '.join(words)).upper()}\"", plain(text.summary.rstrip(".")) + ".", ".PP", f".B {plain(text.usage)}"]
        for section, rows in text.sections.items():
            if words or section != "Subcommands":
                for term, told in rows:
                    lines += [".TP", f".B {plain(term)}", plain(told) or "\\&"]
    lines += [".SH EXAMPLES AND EXIT CODES", ".nf", *(plain(line) for line in top.footer), ".fi"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("--markdown", "--manual"):
        sys.exit(__doc__)
    text = (markdown if sys.argv[1] == "--markdown" else manual)(str(pathlib.Path(sys.argv[2]).resolve()))
    pathlib.Path(sys.argv[3]).write_text(text)
