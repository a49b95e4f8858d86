#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference of the Python package, read off its sources and the stub of its extension.

    python_reference.py OUT.md [STUB]     STUB is _kernelsearch.pyi, which a build of the package makes; without it the classes and
                                          functions of the extension are named, without their signatures"""
import ast
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "python/kernelsearch"
EXTERNAL = PACKAGE.parents[1] / "examples/external/kernelsearch_external.py"  # which the package has as external.py


def signature(function, drop_first):
    """As a stub has it: names, types and defaults."""
    arguments = ast.arguments(**{name: list(value) if isinstance(value, list) else value for name, value in ast.iter_fields(function.args)})
    if drop_first and (arguments.posonlyargs or arguments.args):
        (arguments.posonlyargs or arguments.args).pop(0)
    returns = f" -> {ast.unparse(function.returns)}" if function.returns and ast.unparse(function.returns) != "None" else ""
    return f"{function.name}({ast.unparse(arguments)}){returns}"


def told(node):
    """The text of a docstring: what is not code in it is no markup."""
    def plain(line):
        parts = line.split("`")
        return "`".join(part if i % 2 else part.replace("<", "\\<").replace("*", "\\*") for i, part in enumerate(parts))

    return [line if line.startswith("    ") else plain(line) for line in (ast.get_docstring(node) or "").splitlines()]


def decorators(node):
    return {ast.unparse(one) for one in node.decorator_list}


def of_function(node, level, drop_first=False, kind=""):
    return [f"{'#' * level} `{node.name}`", "", "```python", kind + signature(node, drop_first), "```", "", *told(node), ""]


def of_class(node, level):
    lines = [f"{'#' * level} `{node.name}`", ""]
    bases = ", ".join(f"`{ast.unparse(base)}`" for base in node.bases)
    lines += [f"A class of {bases}.", ""] if bases else []
    lines += [*told(node), ""]
    properties, overloads = [], set()
    for member in node.body:
        if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
                properties.append((ast.unparse(member.target), ast.unparse(member.annotation), ""))
            continue
        known = decorators(member)
        if "property" in known or "functools.cached_property" in known:
            if not member.name.startswith("_"):
                properties.append((member.name, ast.unparse(member.returns) if member.returns else "", " ".join(told(member))))
        elif any(one.endswith(".setter") for one in known) or (member.name.startswith("_") and member.name != "__init__"):
            continue
        else:
            name = node.name if member.name == "__init__" else member.name
            shown = signature(member, "staticmethod" not in known).replace("__init__(", f"{node.name}(", 1)
            if member.name not in overloads:
                lines += [f"{'#' * (level + 1)} `{node.name}.{name}`" if member.name != "__init__" else f"{'#' * (level + 1)} `{name}()`", ""]
                overloads.add(member.name)
            lines += ["```python", ("@staticmethod\n" if "staticmethod" in known else "") + shown, "```", "", *told(member), ""]
    if properties:
        cells = [[f"`{name}`", f"`{kind}`".replace("|", "\\|") if kind else "", text.replace("|", "\\|")] for name, kind, text in properties]
        lines += ["| property | type | |", "|---|---|---|", *("| " + " | ".join(row) + " |" for row in cells), ""]
    return lines


def of(node, level):
    return of_class(node, level) if isinstance(node, ast.ClassDef) else of_function(node, level)


def definitions(path):
    """The classes and functions of a file, the last of those with one name."""
    tree = ast.parse(path.read_text())
    return tree, {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))}


def markdown(stub=None):
    tree, _ = definitions(PACKAGE / "__init__.py")
    names = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    known = {}
    for module in ("_optimizer", "_spaces", "_compare", "_tune"):
        known.update(definitions(PACKAGE / f"{module}.py")[1])
    extension = definitions(pathlib.Path(stub))[1] if stub else {}
    lines = ["# Reference of the Python package", "",
             "Every public name of `kernelsearch`, from its sources and the stub of its extension. [From Python](../python.md) explains them.", "", "## kernelsearch", ""]
    left_out = []
    for name in names:
        if name == "__version__":
            continue
        node = known.get(name) or extension.get(name)
        if node is None:
            left_out.append(f"`{name}`")
        else:
            lines += of(node, 3)
    if left_out:
        lines += [f"In the extension, whose stub was not there when this page was made: {', '.join(left_out)}.", ""]
    modules = {path.stem: path for path in PACKAGE.glob("[a-z]*.py")} | {"external": EXTERNAL}
    for module, path in sorted(modules.items()):
        tree, members = definitions(path)
        public = [node for name, node in members.items() if not name.startswith("_")]
        if not public or module == "modules":  # run in a process of its own, not imported
            continue
        lines += [f"## kernelsearch.{module}", "", *told(tree), ""]
        for node in public:
            lines += of(node, 3)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(markdown(*sys.argv[2:]))
