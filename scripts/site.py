#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of the documentation site, and a look at what became of them.

    site.py pages OUT [--command COMMAND] [--stub STUB]
                                   writes the pages: docs/ with a first page, references and the gallery of examples; OUT/mkdocs.yml is
                                   mkdocs.yml with the folders of its `nav` spelled out. COMMAND is kernelsearch, whose help is a page;
                                   STUB describes the extension of the Python package (_kernelsearch.pyi)
    site.py check HTML             follows every link inside of the site, ends with 1 where one leads nowhere
    site.py publish HTML FOLDER VERSION
                                   puts the site into FOLDER/VERSION, beside those of other versions; FOLDER leads to the newest

scripts/site.sh does both and builds the site between them."""
import argparse
import html.parser
import json
import pathlib
import posixpath
import re
import shutil
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = ("SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^)\s]+)\)")


class Pages:
    """The pages so far; `places` says where a file of the tree is on the site."""

    def __init__(self, out):
        self.out = out
        self.places = {"README.md": "index.md"}
        self.places.update({name: f"project/{name}" for name in PROJECT})

    def write(self, name, text):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def title_of(self, source):
        return next((line[2:].strip() for line in (ROOT / source).read_text().splitlines() if line.startswith("# ")), source)

    def place_of(self, source):
        """Where a file of the tree is on the site; it is put there where it is not yet. None: it has no place there."""
        source = posixpath.normpath(source)
        if source in self.places:
            return self.places[source]
        path = ROOT / source
        if path.is_dir():
            for inside in (f"{source}/README.md", f"{source}/problem.json"):
                if inside in self.places:
                    return self.places[inside]
            return {"docs/formats": "formats/problem.md", "docs/benchmarks": "benchmarks.md"}.get(source)
        if not path.is_file() or path.stat().st_size > 500_000:
            return None
        place = f"source/{source}.txt"
        self.places[source] = place
        (self.out / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self.out / place)
        return place

    def add(self, source, name=None):
        """The page of a Markdown file of the tree, its links turned to where things are on the site."""
        name = name or self.places[source]
        self.write(name, self.linked((ROOT / source).read_text(), source, name))

    def linked(self, text, source, name):
        folder = posixpath.dirname(source)

        def turned(match):
            label, target = match.groups()
            if re.match(r"[a-z]+:|#", target):
                return match.group(0)
            path, _, anchor = target.partition("#")
            if not (ROOT / folder / path).exists():
                return match.group(0)  # code that looks like a link
            place = self.place_of(posixpath.join(folder, path))
            if place is None:  # a folder of the sources, which is not on the site
                return label[1:-1]
            anchor = f"#{anchor}" if anchor and place.endswith(".md") else ""
            if re.fullmatch(r"\[[\w./-]+\.md\]", label):  # a file's name is for readers of the tree
                label = f"[{self.title_of(posixpath.normpath(posixpath.join(folder, path)))}]"
            return f"{label}({posixpath.relpath(place, posixpath.dirname(name) or '.')}{anchor})"

        parts = re.split(r"(^```.*?^```[^\n]*$|^    [^\n]*$)", text, flags=re.MULTILINE | re.DOTALL)
        return "".join(part if i % 2 else LINK.sub(turned, part) for i, part in enumerate(parts))


def schema_page(schema):
    """The keys of a problem, from its schema."""
    lines = ["# Reference of the problem format", "",
             "Every key of `problem.json`, from [its JSON Schema](../formats/problem.schema.json). [Problem folders](../formats/problem.md) explains them.", ""]

    def kind(part):
        if "$ref" in part:
            name = part["$ref"].rsplit("/", 1)[-1]
            return f"[{name}](#{name})"
        if "enum" in part:
            return ", ".join(f"`{json.dumps(one)}`" for one in part["enum"])
        if "const" in part:
            return f"`{json.dumps(part['const'])}`"
        for way in ("oneOf", "anyOf"):
            if way in part:
                return " or ".join(dict.fromkeys(filter(None, (kind(one) for one in part[way]))))
        told = part.get("type", "")
        told = " or ".join(told) if isinstance(told, list) else told
        if told == "array" and isinstance(part.get("items"), dict):
            inner = kind(part["items"])
            return f"array of {inner}" if inner else "array"
        if told == "object" and isinstance(part.get("additionalProperties"), dict):
            inner = kind(part["additionalProperties"])
            return f"object of {inner}" if inner else "object"
        if "pattern" in part:
            return f"{told} matching `{part['pattern']}`".replace("|", "\\|")
        limits = [f"{word} {part[key]}" for key, word in (("minimum", "at least"), ("exclusiveMinimum", "more than"), ("maximum", "at most")) if key in part]
        return ", ".join([told, *limits]).strip(", ")

    def table(part):
        required = part.get("required", [])
        rows = ["| key | value | |", "|---|---|---|"]
        for name, one in part.get("properties", {}).items():
            told = one.get("description", "") if isinstance(one, dict) else ""
            must = "**required.** " if name in required else ""
            value = kind(one) if isinstance(one, dict) else ""
            rows.append(f"| `{name}` | {value} | {must}{told} |".replace("docs/formats/problem.md", "[problem.md](../formats/problem.md)"))
        return rows

    def objects(part):
        """The forms of a definition that have keys."""
        found = [part] if "properties" in part else []
        for way in ("oneOf", "anyOf", "allOf"):
            for one in part.get(way, []):
                found += objects(one)
        return found

    lines += ["## The problem", "", *table(schema), ""]
    for name, part in schema["properties"].items():
        forms = objects(part)
        if forms:
            lines += [f"### `{name}`", ""]
        for form in forms:
            lines += [*table(form), ""]
    for name, part in sorted(schema["$defs"].items()):
        lines += [f"## {name}", ""]
        if part.get("description"):
            lines += [part["description"].replace("docs/formats/problem.md", "[problem.md](../formats/problem.md)"), ""]
        if kind(part) and kind(part) != "object":
            lines += [f"Value: {kind(part)}.", ""]
        for form in objects(part):
            lines += [*table(form), ""]
    return "\n".join(lines)


def without_comments(text):
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda match: match.group(1) or "", text, flags=re.DOTALL)


def read_problem(path):
    text = without_comments(path.read_text())
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".cu": "cuda", ".cl": "c", ".comp": "glsl", ".hlsl": "hlsl", ".py": "python", ".hip": "cpp"}


def tunable_rows(problem):
    rows = []
    tunables = problem.get("tunables", {})
    for name, what in tunables.items() if isinstance(tunables, dict) else []:
        values = what.get("values", what) if isinstance(what, dict) else what
        told = json.dumps(values) if isinstance(values, list) else json.dumps(what)
        rows.append(f"| `{name}` | `{told if len(told) < 120 else told[:117] + '...'}` |")
    return rows


# Columns of tables that say what an example is, or what was hoped for, rather than what was measured.
NOT_MEASURED = {"", "what", "limited by", "valid points", "compiler", "goal"}


def measurements(header, cells):
    """The columns of a row that were measured: (name, cell)."""
    return [(title, cell) for title, cell in list(zip(header, cells))[1:] if title not in NOT_MEASURED and re.search(r"\d", cell)]


def figures():
    """What the documents' tables say of each example, if something was measured: its folder to tables (page, heading above, columns, rows)."""
    found = {}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        heading, header, last = "", [], ""
        for line in file.read_text().splitlines():
            if line.startswith("#"):
                heading = line.lstrip("#").strip()
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]] if line.startswith("|") else []
            if re.fullmatch(r"\|[\s:|-]+\|", line):
                header = last
            elif header and len(cells) == len(header) and measurements(header, cells):
                named = re.search(r"\]\((?:\.\./)+examples/(\w+/\w+)/", cells[0])
                if named and (ROOT / "examples" / named.group(1) / "problem.json").exists():
                    tables = found.setdefault(named.group(1), [])
                    if not tables or tables[-1][:3] != (str(file.relative_to(ROOT)), heading, header):
                        tables.append((str(file.relative_to(ROOT)), heading, header, []))
                    tables[-1][3].append(cells)
            last = cells
            header = header if cells else []
    return found


def anchor_of(heading):
    """Where a heading is on its page (the slugs of mkdocs.yml)."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"\s", "-", re.sub(r"[^\w\- ]", "", text.lower()))


def figure_of(measured, name):
    """The first row of an example's figures in a few words, for the list."""
    if not measured:
        return ""
    _, _, header, rows = measured[0]
    said = "; ".join(f"{title}: {cell}" for title, cell in measurements(header, rows[0])[-2:])
    return f"[{said}]({name}#figures)"


def gallery(pages):
    """A page of each problem folder among the examples, and a page that lists them."""
    known = figures()
    folders = sorted(file.parent for file in (ROOT / "examples").glob("*/*/problem.json"))
    for folder in folders:
        source = str(folder.relative_to(ROOT))
        name = f"gallery/{folder.parent.name}/{folder.name}.md"
        pages.places[f"{source}/README.md" if (folder / "README.md").exists() else f"{source}/problem.json"] = name
        pages.places.setdefault(f"{source}/problem.json", name)
    # What is said of them elsewhere: the tables of docs/examples.md and docs/benchmarks.md.
    lines = ["# Gallery", "", "Problem folders that tune as they are: `kernelsearch tune examples/NAME`. With the Python wheel, "
             "`python -m kernelsearch.examples NAME` copies one. The page of an example has what was measured of it, from [Examples](examples.md) and "
             "[Benchmarks](benchmarks.md), which name the machine and the date.", ""]
    by_backend = {}
    for folder in folders:
        by_backend.setdefault(folder.parent.name, []).append(folder)
    for backend, members in by_backend.items():
        lines += [f"## {backend}", "", "| example | function | tunables | shapes | figures |", "|---|---|--:|--:|---|"]
        for folder in members:
            problem = read_problem(folder / "problem.json")
            source = str(folder.relative_to(ROOT))
            name = f"gallery/{folder.parent.name}/{folder.name}.md"
            tunables = tunable_rows(problem)
            measured = known.get(f"{folder.parent.name}/{folder.name}", [])
            lines.append(f"| [{folder.name}]({name}) | `{problem.get('function', '')}` | {len(tunables)} | {len(problem.get('shapes', []))} | {figure_of(measured, name)} |")
            if (folder / "README.md").exists():
                page = [pages.linked((folder / "README.md").read_text(), f"{source}/README.md", name), ""]
            else:
                page = [f"# {folder.name}", "", problem.get("description", ""), ""]
            page += ["```sh", f"kernelsearch tune {source} --budget 60s", "```", ""]
            if tunables:
                page += ["## Tunables of the search", "", "| tunable | values |", "|---|---|", *tunables, ""]
            if measured:
                page += ["## Figures", ""]
            for document, heading, header, rows in measured:
                place = posixpath.relpath(pages.places[document], posixpath.dirname(name))
                page += [f"From [{heading}]({place}#{anchor_of(heading)}), which says where and when they were taken:", "", "| " + " | ".join(header) + " |",
                         "|" + "---|" * len(header)]
                page += [pages.linked("| " + " | ".join(row) + " |", document, name) for row in rows] + [""]
            page += ["## Files", ""]
            for file in sorted(folder.iterdir()):
                if file.suffix in (*LANGUAGES, ".json") and file.stat().st_size < 60_000:
                    language = LANGUAGES.get(file.suffix, "json")
                    text = file.read_text().rstrip().replace("\n", "\n    ")
                    page += [f'??? note "{file.name}"', "", f"    ````{language}", f"    {text}", "    ````", ""]
            pages.write(name, "\n".join(page))
        lines.append("")
    pages.write("gallery.md", "\n".join(lines))
    return [f"gallery/{folder.parent.name}/{folder.name}.md" for folder in folders]


def write_pages(out, command=None, stub=None):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    pages = Pages(out)
    documents = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md"))
    for file in sorted((ROOT / "docs").rglob("*")):
        if file.is_file():
            source = str(file.relative_to(ROOT))
            pages.places[source] = source[len("docs/"):]
            if file.suffix != ".md":
                (out / pages.places[source]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, out / pages.places[source])
    examples = gallery(pages)
    for source in (*documents, *PROJECT, "README.md"):
        pages.add(source)
    pages.write("reference/problem.md", schema_page(json.loads((ROOT / "docs/formats/problem.schema.json").read_text())))
    import python_reference

    pages.write("reference/python.md", python_reference.markdown(stub))
    # Names of tunables and keys stay in one piece, and the last column keeps a width that can be read; narrow screens scroll a table.
    (out / "site.css").write_text(".md-typeset td:first-child > code { white-space: nowrap; }\n"
                                  ".md-typeset table:not([class]) td:last-child:not(:first-child) { min-width: 9rem; }\n")
    if command:
        import command_reference

        text = command_reference.markdown(str(pathlib.Path(command).resolve()))
        pages.write("reference/command.md", text.replace("(command.md)", "(../command.md)"))

    # `nav` with its folders spelled out, and without what was not made.
    lines = []
    for line in (ROOT / "mkdocs.yml").read_text().splitlines():
        folder = re.fullmatch(r"( +)- (.+): ([a-z]+)/", line)
        if folder:
            lines.append(f"{folder.group(1)}- {folder.group(2)}:")
            lines += [f"{folder.group(1)}    - {page}" for page in sorted(str(p.relative_to(out)) for p in (out / folder.group(3)).glob("*.md"))]
        elif command or "reference/command.md" not in line:
            lines.append(line)
        if line.strip() == "- gallery.md":
            indent = line[: line.index("-")]
            lines[-1] = f"{indent}- Gallery:"
            lines.append(f"{indent}    - gallery.md")
            for backend in dict.fromkeys(page.split("/")[1] for page in examples):
                lines.append(f"{indent}    - {backend}:")
                lines += [f"{indent}        - {page}" for page in examples if page.startswith(f"gallery/{backend}/")]
    text = "\n".join(lines) + "\n"
    (out.parent / "mkdocs.yml").write_text(text.replace("build/site/pages", str(out)).replace("build/site/html", str(out.parent / "html")))


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.ids.add(attributes[name])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])


def check(site):
    """The links of a built site that lead nowhere inside of it, one a line."""
    parsed = {}
    for file in site.rglob("*.html"):
        parsed[file.resolve()] = Links()
        parsed[file.resolve()].feed(file.read_text())
    broken, seen = [], 0
    for file, page in parsed.items():
        if file.name == "404.html":  # its links are from the root of wherever it is served
            continue
        # Doxygen 1.9.4 lists concepts of `detail` that it makes no page of, and links to a list of nested classes that it left out.
        if file.is_relative_to(site.resolve() / "reference" / "cpp"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            seen += 1
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target = target / "index.html"
            fragment = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                broken.append(f"{file.relative_to(site.resolve())}: {link}: no such page")
            elif fragment and not fragment.startswith("__") and target in parsed and fragment not in parsed[target].ids:
                broken.append(f"{file.relative_to(site.resolve())}: {link}: no such place on the page")
    return broken, seen, len(parsed)


def version_key(version):
    return [int(part) if part.isdigit() else 0 for part in re.split(r"[.-]", version)]


def publish(site, folder, version):
    """The site among those of other versions: FOLDER/VERSION, which the menu of all of them reads from FOLDER/versions.json."""
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?(-\w+)?", version):
        sys.exit(f"The version is `{version}`; write one as in 0.2.0")
    if not (site / "index.html").exists():
        sys.exit(f"{site} has no index.html: name the folder html that scripts/site.sh makes")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / version, ignore_errors=True)
    shutil.copytree(site, folder / version)
    versions = sorted((one.parent.name for one in folder.glob("*/index.html")), key=version_key, reverse=True)
    listed = [{"version": one, "title": one, "aliases": ["latest"] if one == versions[0] else []} for one in versions]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (folder / "index.html").write_text(f'<!DOCTYPE html>\n<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">\n'
                                       f'<title>kernelsearch</title><a href="{versions[0]}/index.html">kernelsearch {versions[0]}</a>\n')
    return versions


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "scripts"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    of_pages = what.add_parser("pages")
    of_pages.add_argument("out", type=pathlib.Path)
    of_pages.add_argument("--command")
    of_pages.add_argument("--stub")
    what.add_parser("check").add_argument("html", type=pathlib.Path)
    of_publish = what.add_parser("publish")
    of_publish.add_argument("html", type=pathlib.Path)
    of_publish.add_argument("folder", type=pathlib.Path)
    of_publish.add_argument("version")
    given = parser.parse_args()
    if given.what == "pages":
        write_pages(given.out.resolve(), given.command, given.stub)
    elif given.what == "publish":
        print("versions: " + ", ".join(publish(given.html, given.folder, given.version)))
    else:
        broken, seen, pages = check(given.html)
        print("\n".join(broken) or f"{seen} links on {pages} pages, none broken")
        sys.exit(1 if broken or seen == 0 else 0)
