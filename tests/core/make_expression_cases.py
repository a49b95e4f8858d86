# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes expression_cases.inc: random expressions with CPython's own results. Run: python3 make_expression_cases.py"""
import ast
import random
import re
import warnings

warnings.simplefilter("ignore")
random.seed(20240501)
ENVIRONMENTS = [
    dict(a=7, b=-3, c=0, x=2.5, s="row", l=[1, 2, 4]),
    dict(a=64, b=5, c=1, x=-0.75, s="", l=[3]),
]
BIG = 2**63


def leaf():
    return random.choice(
        ["a", "b", "c", "x", "a", "b", str(random.randint(0, 20)), str(random.randint(0, 4)), "0.5", "True", "1e2"])


def sequence(depth):
    kind = random.randrange(6)
    if kind == 0:
        return "l"
    if kind == 1:
        return "[" + ", ".join(tree(depth - 1) for _ in range(random.randint(0, 3))) + "]"
    if kind == 2:
        return f"list(range({random.randint(-3, 3)}, {random.randint(0, 9)}, {random.choice([1, 2, 3, -1])}))"
    if kind == 3:
        v = random.choice("ij")
        condition = f" if {v} % {random.randint(1, 3)} == {random.randint(0, 1)}" if random.random() < 0.5 else ""
        return f"[{v} {random.choice('*+-')} {tree(depth - 2)} for {v} in range({random.randint(0, 6)}){condition}]"
    if kind == 4:
        return f"({sequence(depth - 1)} + {sequence(depth - 1)})"
    return f"[i * j for i in l for j in range({random.randint(0, 3)})]"


def tree(depth):
    if depth <= 0:
        return leaf()
    kind = random.randrange(20)
    if kind < 8:
        op = random.choice(["+", "-", "*", "/", "//", "%"])
        return f"({tree(depth - 1)} {op} {tree(depth - 1)})"
    if kind < 10:
        ops = ["<", "<=", ">", ">=", "==", "!="]
        if random.random() < 0.4:
            return f"({tree(depth - 1)} {random.choice(ops)} {tree(depth - 1)} {random.choice(ops)} {tree(depth - 1)})"
        return f"({tree(depth - 1)} {random.choice(ops)} {tree(depth - 1)})"
    if kind < 12:
        return f"({tree(depth - 1)} {random.choice(['and', 'or'])} {tree(depth - 1)})"
    if kind == 12:
        return f"(not {tree(depth - 1)})"
    if kind == 13:
        return f"(-{tree(depth - 1)})"
    if kind == 14:
        return f"({tree(depth - 1)} if {tree(depth - 1)} else {tree(depth - 1)})"
    if kind == 15:
        return f"{random.choice(['min', 'max'])}({tree(depth - 1)}, {tree(depth - 1)})"
    if kind == 16:
        return f"{random.choice(['len', 'sum', 'max', 'min'])}({sequence(depth - 1)})"
    if kind == 17:
        return f"{random.choice(['abs', 'int', 'float', 'round'])}({tree(depth - 1)})"
    if kind == 18:
        return f"({tree(depth - 1)} {random.choice(['in', 'not in'])} {sequence(depth - 1)})"
    return random.choice([f"{sequence(depth - 1)}[{random.randint(-3, 3)}]", f"({leaf()} ** {random.randint(0, 3)})",
                          f"(s == '{random.choice(['row', 'col'])}')", f"(s + 'w')"])






def oversized(text, environment):
    """True where some subexpression alone gives an integer beyond 64 bits or a complex number."""
    for node in ast.walk(ast.parse(text, mode="eval")):
        if not isinstance(node, ast.expr):
            continue
        try:
            value = eval(compile(ast.Expression(node), "", "eval"), {}, dict(environment, i=3, j=2))
        except Exception:
            continue
        if isinstance(value, complex) or (isinstance(value, int) and not -BIG <= value < BIG):
            return True
        if isinstance(value, float) and abs(value) > 1e15:
            return True
    return False


def spell(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "int " + str(value)
    if isinstance(value, float):
        return "float " + repr(value)
    if isinstance(value, str):
        return "string " + value
    return None


rows = []
while len(rows) < 1500:
    text = tree(random.randint(1, 4))
    # drop needless outer brackets now and then, so that precedence is tested too
    if random.random() < 0.7 and text.count("(") < 12:
        candidate = text.replace("(", "", 1)
        at = candidate.rfind(")")
        candidate = candidate[:at] + candidate[at + 1:] if at >= 0 else text
        try:
            ast.parse(candidate, mode="eval")
            text = candidate
        except SyntaxError:
            pass
    # a function's name used as a value is outside the language
    if len(text) > 160 or re.search(r"\b(len|sum|max|min|abs|int|float|round|list|range)\b(?!\()", text):
        continue
    index = random.randrange(2)
    environment = ENVIRONMENTS[index]
    if oversized(text, environment):
        continue
    try:
        result = spell(eval(text, {}, dict(environment)))
    except Exception as error:
        if type(error).__name__ in ("SyntaxError", "NameError"):
            continue
        if random.random() < 0.5:
            continue
        result = "error"
    if result is None:
        continue
    rows.append(f'{{{index}, "{text}", "{result}"}},')

with open("expression_cases.inc", "w") as file:
    file.write("// SPDX-FileCopyrightText: The kernelsearch authors\n"
               "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
               "// Written by make_expression_cases.py: environment, expression, result of CPython 3.11.\n")
    file.write("\n".join(dict.fromkeys(rows)) + "\n")
