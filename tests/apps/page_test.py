#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages of real runs in a headless Chromium: page_test.py KERNELSEARCH FOLDER [PICTURES].

Five kinds of runs are made, their pages opened from disk and from a server, clicked and brushed; a hostile store must run
nothing. Skipped (77) where there is no Chromium: Debian's package is `chromium`. With PICTURES the pages are drawn there, too."""
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
import time
import urllib.error
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests/support")]
import chromium  # noqa: E402
from fixture_model import FixtureModel  # noqa: E402

COMMAND, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PICTURES = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
FIXTURES = SOURCE / "tests/fixtures"
RULES = (SOURCE / "tests/apps/page_rules.js").read_text()
THOROUGH = os.environ.get("KERNELSEARCH_TEST_THOROUGH") == "1"  # pages of five times as many trials
failures = []
if chromium.command() is None:
    print("skipped: there is no Chromium (Debian's package `chromium`)")
    sys.exit(77)


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"), flush=True)
    if not truth:
        failures.append(what)


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
if PICTURES:
    PICTURES.mkdir(parents=True, exist_ok=True)
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}, "HOME": str(FOLDER), "XDG_CACHE_HOME": str(FOLDER), "XDG_DATA_HOME": str(FOLDER)}


def kernelsearch(*words, allowed=(0,)):
    done = subprocess.run([COMMAND, *map(str, words)], cwd=FOLDER, env=ENVIRONMENT, capture_output=True, text=True, timeout=500)
    if done.returncode not in allowed:
        raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def tune(problem, store, *more):
    return kernelsearch("tune", problem, "--store", store, "--samples", "5", "-q", "--out", "out", *more)


def small_transpose():
    """examples/host/transpose with small matrices: pages show times, and do not depend on what they are."""
    shutil.copytree(SOURCE / "examples/host/transpose", FOLDER / "transpose")
    file = FOLDER / "transpose/problem.json"
    text = file.read_text()
    for name, rows, columns in (("power", 128, 128), ("plain", 100, 140), ("tall", 256, 32)):
        text, found = re.subn(rf'("name": "{name}", "n": )\d+(, "m": )\d+', rf"\g<1>{rows}\g<2>{columns}", text)
        assert found == 1, name
    file.write_text(text)
    return file.parent


def replayed(system, *more):
    tune(FIXTURES / "problems/dot", f"{system}.db", "--system", system, "--replay-exchanges", FIXTURES / "exchanges" / system, *more)
    return f"{system}.db"


def asked(system, *more):
    """Asks a server for each reply, so that questions and replies are kept next to the store; no model is behind it."""
    model = FixtureModel()
    model.use(system)
    (FOLDER / "models.json").write_text(json.dumps(model.models()))
    tune(FIXTURES / "problems/dot", f"{system}.db", "--system", system, "--models", "models.json", *more)
    return f"{system}.db"


def page_of(store, *runs, name=None):
    out = FOLDER / f"{name or pathlib.Path(store).stem}.html"
    kernelsearch("report", *(runs or ("latest",)), "--store", store, "--out", out, "--format", "html")
    return out


# Every opened page with what must hold of each: no error, no request, rules of accessibility, pictures that show something.
PAINTED = """[...document.querySelectorAll('main canvas')].filter((c) => {
  const o = new OffscreenCanvas(c.width, c.height).getContext('2d', {willReadFrequently: true}); o.drawImage(c, 0, 0);
  const d = o.getImageData(0, 0, c.width, c.height).data; const seen = new Set();
  for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
  return seen.size < 2; }).map((c) => c.getAttribute('aria-label'))"""


def opened(browser, name, path, parts, absent=(), dark=False):
    page = chromium.Page(browser, dark=dark)
    page.open(path.as_uri())
    time.sleep(0.3)  # sizes of canvases are observed after the layout
    there = page.run("[...document.querySelectorAll('main section')].map((s) => s.id)")
    check(f"{name}: has {', '.join(parts)}", set(parts) <= set(there), there)
    check(f"{name}: has no empty part", not set(absent) & set(there), there)
    check(f"{name}: each picture shows something", page.run(PAINTED) == [], page.run(PAINTED))
    check(f"{name}: rules of accessibility", (broken := page.run(RULES)) == [], broken[:8])
    check(f"{name}: nothing in its console", page.errors() == [], page.errors()[:3])
    asked = [url for url in page.asked_for() if not url.startswith("file:")]
    check(f"{name}: asks for nothing", asked == [], asked)
    for width in (400, 2500):
        page.size(width, 900)
        time.sleep(0.2)
        check(f"{name}: fits {width} pixels", page.run("document.documentElement.scrollWidth <= innerWidth"))
    page.size(1280, 900)
    if PICTURES:
        time.sleep(0.3)
        page.picture(PICTURES / f"{name}.png", (0, 0, 1280, min(5000, page.run("document.documentElement.scrollHeight"))))
    return page


def tuned(browser):
    tune(small_transpose(), "tuned.db", "--budget", "24", "--seed", "1")
    page = opened(browser, "tuned", page_of("tuned.db"), ["overview", "best", "tunables", "time", "trials"], ["kernels", "exchanges", "compare"])
    best = page.run("document.querySelector('.tile b').textContent")
    check("tuned: the best is the summary's", best in kernelsearch("best", "--store", "tuned.db"), best)
    check("tuned: importance of tunables", page.run("document.querySelectorAll('.bars .fill').length") > 1 or
          page.run("document.querySelector('#tunables').textContent.includes('too little to say')"))
    check("tuned: what it waited for", page.run("document.querySelector('#causes .stack').getAttribute('aria-label').includes('measuring')"))
    check("tuned: a timeline with a lane for waiting", page.run("[...document.querySelectorAll('#time canvas')].some((c) => c.getAttribute('aria-label').includes('of waiting'))"))
    lanes = page.run("document.querySelector('#timeline canvas').getAttribute('aria-label')")
    check("tuned: builds, the core and finalists have lanes", all(re.search(lane, lanes) for lane in (r"\bbuild 1\b", r"\bcore \d", r"\bfinalists\b")), lanes)
    check("tuned: no cost without models", page.run("document.getElementById('x-time') !== null && document.getElementById('x-tokens') === null"))
    # A map of two tunables, which can be chosen.
    before = page.run("document.getElementById('map-x').closest('figure').querySelector('canvas').getAttribute('aria-label')")
    page.run("(() => { const s = document.getElementById('map-x'); s.value = [...s.options].map((o) => o.value).find((v) => v !== s.value && v !== document.getElementById('map-y').value) ?? document.getElementById('map-y').value; s.dispatchEvent(new Event('change')); })()")
    check("tuned: a map of two tunables", page.run("document.getElementById('map-x').closest('figure').querySelector('canvas').getAttribute('aria-label')") != before, before)
    # On paper: in light colours, without what can only be clicked.
    page.call("Emulation.setEmulatedMedia", media="print")
    check("tuned: prints without its bar", page.run("getComputedStyle(document.querySelector('.bar')).display") == "none")
    check("tuned: and with its pictures", page.run("[...document.querySelectorAll('main canvas')].every((c) => c.getClientRects().length > 0)"))
    page.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "light"}])
    # Brushing: the lower half of the axis of time keeps some trials and not all, and the table follows.
    page.run("document.querySelector('#tunables canvas[role=application]').scrollIntoView({block: 'center'})")
    box = page.run("(() => { const r = document.querySelector('#tunables canvas[role=application]').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
    x = box[0] + box[2] - 56
    page.drag((x, box[1] + box[3] - 14), (x, box[1] + box[3] / 2))
    told = page.run("document.getElementById('brushed').textContent")
    kept = [int(n) for n in re.findall(r"\d+", told)]
    check("tuned: brushing keeps some", len(kept) == 2 and 0 < kept[0] < kept[1], told)
    rows = page.run("document.getElementById('trial-count').textContent")
    check("tuned: the table follows the brush", rows.startswith(f"{kept[0]} of ") if kept else False, rows)
    page.click("#unbrush")
    check("tuned: the brush is removed", page.run("document.getElementById('trial-count').textContent").endswith("trials"))
    page.run("document.querySelector('#tunables canvas[role=application]').focus()")
    page.key("ArrowDown")
    check("tuned: brushing by keys", page.run("document.getElementById('brushed').textContent") != "")
    page.key("Escape")
    # The table sorts and filters, and opens a trial with its code.
    page.click("#sort-time")
    fastest = page.run("document.querySelector('#trials tbody tr td').textContent")
    check("tuned: sorted by time", page.run("document.querySelector('#trials th[aria-sort=ascending]').textContent").startswith("time"), fastest)
    page.click("#trials tbody tr td:nth-child(3)")
    page.click("#tab-code")
    check("tuned: a click opens the code", "transpose" in page.run("document.querySelector('aside pre').textContent"))
    if PICTURES:
        page.picture(PICTURES / "tuned_trial.png")
    page.key("Escape")
    check("tuned: Escape closes it", page.run("document.querySelector('aside') === null"))
    page.run("document.querySelector('#best canvas').focus()")
    page.key("ArrowRight")
    check("tuned: pictures speak to screen readers", page.run("document.querySelector('[aria-live]').textContent").startswith("trial"))
    page.key("Enter")
    check("tuned: and open by keys", page.run("document.querySelector('aside') !== null"))
    page.close()


def recorded(browser):
    out = FOLDER / "recorded.html"
    kernelsearch("report", SOURCE / "bench/landscapes/h200_matmul_tiled.t4.json.gz", "--out", out)
    page = opened(browser, "recorded", out, ["overview", "best", "tunables", "trials"], ["kernels", "exchanges", "roofline"], dark=True)
    check("recorded: all its trials", page.run("document.getElementById('trial-count').textContent") == "1,080 trials")
    first = page.run("document.querySelector('#trials tbody td').textContent")
    page.click("#page-on")
    check("recorded: the next page of the table", page.run("document.querySelector('#trials tbody td').textContent") != first)
    page.close()


def tree_of(page, name):
    nodes = page.run("document.querySelectorAll('.tree g.node').length")
    check(f"{name}: a tree of kernels", nodes > 2, nodes)
    open_ends = page.run("(() => { const run = JSON.parse(document.getElementById('data').textContent).runs[0], t = run.trials, made = new Set(t.parents.flat());"
                         " return t.id.filter((id, i) => t.verdict[i] === 0 && !made.has(id) && id !== run.winner).length; })()")
    check(f"{name}: its frontier", page.run("document.querySelectorAll('#frontier tbody tr').length") == min(20, open_ends), open_ends)
    page.click(".tree g.node:last-of-type")
    check(f"{name}: a click opens a kernel", page.run("document.querySelector('aside h2').textContent").startswith("Trial"))


def kernelband(browser):
    store = asked("kernelband", "--budget", "10", "--variant", "v1")
    ENVIRONMENT["KERNELSEARCH_MODELS"] = str(FOLDER / "models.json")
    base = sqlite3.connect(FOLDER / store)  # as a run has it that began later and may show what was learned
    base.execute("UPDATE runs SET options = json_set(options, '$.memory', (SELECT max(number) FROM changes))")
    base.commit()
    base.close()
    page = opened(browser, "kernelband", page_of(store), ["overview", "best", "strategies", "kernels", "memory", "exchanges", "trials"], ["checkpoints"])
    for axis, words in (("tokens", "tokens"), ("money", "cost")):
        page.run(f"document.getElementById('x-{axis}').click()")
        check(f"kernelband: best so far over {words}", page.run(f"document.getElementById('x-{axis}').checked") and page.run(PAINTED) == [])
    check("kernelband: what it cost", page.run("[...document.querySelectorAll('.tile')].some((t) => t.textContent.includes('prices of the model file'))"))
    check("kernelband: what earlier runs had taught", page.run("document.querySelectorAll('#memory tbody tr').length") > 0)
    tree_of(page, "kernelband")
    page.run("[...document.querySelectorAll('.tree g.node')].find((n) => n.querySelector('text.label') && !n.classList.contains('failed') && n.dataset.trial !== '0').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    page.click("#tab-parent")
    check("kernelband: what differs from the parent", page.run("document.querySelectorAll('aside .plus').length") > 0)
    check("kernelband: its question and reply", page.run("document.querySelector('#tab-asked') !== null"))
    page.click("#tab-asked")
    check("kernelband: in full", page.run("document.querySelectorAll('aside pre').length") >= 2)
    check("kernelband: rules of accessibility with a kernel open", (broken := page.run(RULES)) == [], broken[:8])
    if PICTURES:
        page.picture(PICTURES / "kernelband_trial.png")
    page.close()


def peak(browser):
    replayed("peak")
    page = opened(browser, "peak", page_of("peak.db"), ["overview", "best", "strategies", "kernels", "checkpoints", "trials"])
    tree_of(page, "peak")
    check("peak: its checkpoints", page.run("document.querySelectorAll('#checkpoints tbody tr').length") > 1)
    check("peak: where it goes on", page.run("document.querySelectorAll('#checkpoints tr.winner').length") == 1)
    page.click("#checkpoints tbody tr:last-of-type button")
    check("peak: a checkpoint opens its kernel", page.run("document.querySelector('aside h2').textContent").startswith("Trial"))
    page.close()


def skill(browser):
    shutil.copytree(FIXTURES / "skill/kernels", FOLDER / "mine")
    kernelsearch("tune", FIXTURES / "skill/problem", "--system", "cuda_skill_v2", "--methods", FIXTURES / "skill/methods", "--store", "skill.db", "-q",
                 "--out", "out", "--iterations", "1", "--from-files", "mine")
    page = opened(browser, "skill", page_of("skill.db"), ["overview", "best", "strategies", "kernels", "roofline", "trials"])
    tree_of(page, "skill")
    page.run("document.querySelector('.tree g.node[data-trial=\"0\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check("skill: machine code of a kernel", page.run("document.querySelector('aside').textContent.includes('Machine code')"))
    page.close()


def compared(browser):
    tune(FOLDER / "transpose", "tuned.db", "--budget", "12", "--seed", "2", "--policy", "random")
    page = opened(browser, "compared", page_of("tuned.db", "1", "2", name="compared"), ["compare", "overview", "best", "trials"])
    check("compared: both runs", page.run("document.querySelectorAll('#compare thead th').length") == 3)
    page.run("(() => { const s = document.getElementById('run'); s.value = '1'; s.dispatchEvent(new Event('change')); })()")
    check("compared: the other run", page.run("document.getElementById('trial-count').textContent").startswith("12 "), page.run("document.getElementById('trial-count').textContent"))
    check("compared: nothing in its console", page.errors() == [], page.errors()[:3])
    page.close()


ATTACK = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>\"'`${window.hit=1}<svg onload=window.hit=1>\u2028javascript:alert(1)"


def hostile_store():
    """A store and exchanges all of whose texts want to be run."""
    shutil.copy(FOLDER / "kernelband.db", FOLDER / "hostile.db")
    base = sqlite3.connect(FOLDER / "hostile.db")
    base.execute("PRAGMA foreign_keys = OFF")
    told = json.dumps(ATTACK)
    for column in ("name", "problem", "policy", "generator", "device", "toolchain", "reason"):
        base.execute(f"UPDATE runs SET {column} = ?", (ATTACK,))
    base.execute("UPDATE kernels SET device = device || ?, host = ?, macros = ?", (ATTACK, ATTACK, ATTACK))
    base.execute("UPDATE trials SET reason = ? WHERE verdict <> 'ok'", (ATTACK,))
    base.execute("UPDATE trials SET provenance = ?, rationale = ?, config_values = ?, features = ?",
                 (ATTACK, ATTACK, json.dumps({ATTACK: ATTACK, "__proto__": "x"}), json.dumps({ATTACK: 1, "constructor": 2})))
    base.execute("UPDATE trials SET point = json_set(point, '$.strategies', json_array(?))", (ATTACK,))
    base.execute("UPDATE changes SET problem = ?, content = json_set(content, '$.problem', ?, '$.device', ?, '$.strategies', json_array(?))", (ATTACK,) * 4)
    base.commit()
    base.close()
    started = sqlite3.connect(FOLDER / "hostile.db").execute("SELECT started FROM runs").fetchone()[0]
    (FOLDER / "hostile.db.notes").mkdir()
    (FOLDER / "hostile.db.notes/1.json").write_text(json.dumps({"started": started, "tags": [ATTACK[:60], "\x1b[2J"], "note": ATTACK}))
    folder = FOLDER / "hostile.db.exchanges/1/00"
    folder.mkdir(parents=True)
    usage = {"input": 1, "output": 1, "cached": 0, "cache_written": 0, "reasoning": 0}
    (folder / "a.json").write_text('{"kernelsearch_exchange": 1, "question": {"role": %s, "model": %s, "messages": [{"speaker": "user", "text": %s}]}, '
                                   '"reply": {"text": %s, "finish": "stop", "usage": %s, "model": %s, "seconds": 1, "attempts": 1}}'
                                   % (told, told, told, told, json.dumps(usage), told))


def ran_nothing(page, name):
    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for node in range(page.run("document.querySelectorAll('.tree g.node').length")):
        page.run(f"document.querySelectorAll('.tree g.node')[{node}].dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        for tab in range(page.run("document.querySelectorAll('aside [role=tab]').length")):
            page.run(f"document.querySelectorAll('aside [role=tab]')[{tab}].click()")
    check(f"{name}: runs nothing", page.run("window.hit === undefined"))
    check(f"{name}: no element of its making", page.run("document.querySelectorAll('img, main svg svg, script:not([nonce]):not([type])').length") == 0)
    check(f"{name}: shows it as text", page.run("document.body.textContent.includes('onerror=window.hit=1')"))
    check(f"{name}: nothing in its console", page.errors() == [], page.errors()[:3])


def hostile(browser):
    hostile_store()
    page = chromium.Page(browser)
    page.open(page_of("hostile.db").as_uri())
    ran_nothing(page, "hostile store")
    check("hostile store: asks for nothing", [url for url in page.asked_for() if not url.startswith("file:")] == [])
    page.close()


class Served:
    def __init__(self, *words):
        self.process = subprocess.Popen([COMMAND, "serve", *map(str, words)], cwd=FOLDER, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()
        self.base = self.address.split("?")[0]

    def close(self):
        self.process.terminate()
        self.process.wait(20)


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def add_trial(store, seconds):
    """As a writer in another process tells of one: the last trial again, faster."""
    base = sqlite3.connect(FOLDER / store, timeout=30)
    columns = [row[1] for row in base.execute("PRAGMA table_info(trials)")]
    row = dict(zip(columns, base.execute("SELECT * FROM trials WHERE run = 1 AND verdict = 'ok' ORDER BY position LIMIT 1").fetchone()))
    position, number = base.execute("SELECT max(position) + 1, max(id) + 1 FROM trials WHERE run = 1").fetchone()
    row.update(position=position, id=number, objective=seconds, elapsed=row["elapsed"] + position)
    base.execute(f"INSERT INTO trials({','.join(columns)}) VALUES({','.join('?' * len(columns))})", [row[c] for c in columns])
    base.commit()
    base.close()


def served(browser):
    base = sqlite3.connect(FOLDER / "tuned.db")
    base.execute("UPDATE runs SET finished = NULL WHERE id = 1")
    base.commit()
    base.close()
    kernelsearch("note", "2", "with <b>all</b> fans", "--tag", "baseline", "--tag", "cold", "--store", "tuned.db")
    kernelsearch("note", "2", "--untag", "cold", "--store", "tuned.db")
    rows = json.loads(kernelsearch("runs", "--tag", "baseline", "--store", "tuned.db", "--json"))
    check("notes: by the command", [(row["run"], row["tags"], row["note"]) for row in rows] == [(2, ["baseline"], "with <b>all</b> fans")], rows)
    server = Served(FOLDER / "tuned.db", FOLDER / "hostile.db")
    try:
        check("served: 403 without the token", status_of(server.base) == 403 and status_of(server.base + "api/runs") == 403)
        check("served: 403 with another token", status_of(server.base + "?token=0") == 403)
        page = chromium.Page(browser)
        page.open(server.address, "document.querySelectorAll('main tbody tr').length >= 3")
        check("served: a list of runs", page.run("document.getElementById('run-count').textContent") == "3 runs")
        check("served: rules of accessibility", (broken := page.run(RULES)) == [], broken[:8])
        page.run("(() => { const s = document.getElementById('search-runs'); s.value = 'transpose random'; s.dispatchEvent(new Event('input')); })()")
        check("served: search", page.run("document.getElementById('run-count').textContent") == "1 run")
        page.run("(() => { const s = document.getElementById('search-runs'); s.value = 'BASELINE fans'; s.dispatchEvent(new Event('input')); })()")
        check("served: search in tags and notes", page.run("document.getElementById('run-count').textContent") == "1 run" and
              page.run("document.querySelector('main tbody .chip').textContent") == "baseline")
        page.run("(() => { const s = document.getElementById('search-runs'); s.value = ''; s.dispatchEvent(new Event('input')); })()")
        page.until("document.getElementById('machine').textContent.startsWith('load ')")
        page.run("document.getElementById('run-0.1').click()")
        page.until("document.getElementById('trial-count') !== null")
        check("served: no control without --control", page.run("['stop', 'resume', 'pause', 'notes'].every((id) => document.getElementById(id) === null)"))
        before = page.run("document.getElementById('trial-count').textContent")
        begun = time.monotonic()
        add_trial("tuned.db", 1e-7)
        page.until(f"document.getElementById('trial-count').textContent !== {json.dumps(before)}", 30)
        print(f"        the page grew {time.monotonic() - begun:.2f} s after the trial was told")
        check("served: the page grows with a trial", page.run("document.querySelector('.tile b').textContent") == "100.0 ns",
              page.run("document.querySelector('.tile b').textContent"))
        if PICTURES:
            time.sleep(0.5)
            page.picture(PICTURES / "served.png")
        page.run("document.getElementById('all-runs').click()")
        page.run("document.getElementById('run-1.1').click()")
        page.until("document.querySelector('.tree') !== null")
        ran_nothing(page, "hostile store, served")
        elsewhere = [url for url in page.asked_for() if not url.startswith(server.base) and url != "about:blank"]
        check("served: no request leaves it", elsewhere == [], elsewhere)
        page.close()
    finally:
        server.close()


def count_of(store):
    return json.loads(kernelsearch("runs", "--store", store, "--json"))[0]["trials"]


def shown(*more, **environment):
    """What `tune` shows on a terminal of 100 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    variables = {name: value for name, value in ENVIRONMENT.items() if name not in ("LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR")}
    worker = subprocess.Popen([COMMAND, "tune", FOLDER / "transpose", "--store", "terminal.db", "--samples", "5", "--out", "out", "--budget", "4", "--seed", "1", "--no-learning", *more], cwd=FOLDER,
                              env={**variables, "TERM": "xterm", **environment}, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            got = os.read(master, 65536)
        except OSError:  # its end, as Linux says it
            break
        if not got:
            break
        text += got
    os.close(master)
    worker.wait(120)
    return text.decode()


def terminal(_browser):
    """The status line: colours, characters and width as the terminal has them."""
    text = shown(LANG="C.UTF-8")
    status = [line.split("\x1b[K")[0] for line in text.split("\r") if "/4 trials" in line]
    check("terminal: a status line", len(status) > 1, text[-300:])
    check("terminal: as wide as that", all(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) < 100 for line in status), status[-1:])
    check("terminal: colours", "\x1b[1;32mbest" in text, text[-300:])
    text = shown(LANG="C", NO_COLOR="1")
    check("terminal: none with NO_COLOR", re.search(r"\x1b\[[0-9;]*m", text) is None and "/4 trials" in text, text[-300:])
    check("terminal: ASCII where the locale is", text.isascii())


def controlled(browser):
    """A run that works is stopped by a button and resumed by another."""
    worker = subprocess.Popen([COMMAND, "tune", FOLDER / "transpose", "--store", "live.db", "--samples", "5", "-q", "--out", "out", "--budget", "100000"],
                              cwd=FOLDER, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while not (FOLDER / "live.db.working/1").exists() and time.monotonic() < end:
            time.sleep(0.2)
        server = Served(FOLDER / "live.db", "--control")
        page = chromium.Page(browser)
        page.open(server.address + "#run=0.1", "document.getElementById('stop') !== null")
        page.run("window.confirm = () => false")
        page.run("document.getElementById('stop').click()")
        check("controlled: nothing without a confirmation", worker.poll() is None)
        page.until("/left/.test(document.getElementById('now').textContent)")
        check("controlled: what it does now, and which process", f"process {worker.pid}" in page.run("document.getElementById('now').textContent"), page.run("document.getElementById('now').textContent"))
        page.until("/core \\d+: process/.test(document.getElementById('machine').textContent)", 30)
        check("controlled: rules of accessibility", (broken := page.run(RULES)) == [], broken[:8])
        # What is typed stays while the page grows.
        page.run("document.getElementById('notes').open = true")
        page.run("(() => { document.getElementById('note-tags').value = 'kept, <i>odd</i>'; document.getElementById('note-text').value = 'seen'; })()")
        seen = count_of("live.db")
        page.until(f"parseInt(document.getElementById('trial-count').textContent.replace(/,/g, '')) > {seen + 3}")
        check("controlled: what is typed stays while it grows", page.run("document.getElementById('note-tags').value") == "kept, <i>odd</i>")
        page.run("document.getElementById('note-save').click()")
        page.until("document.querySelectorAll('#controls .chip').length === 2")
        check("controlled: tags and note are kept", [json.loads(kernelsearch("runs", "--store", "live.db", "--json"))[0][key] for key in ("tags", "note")] == [["kept", "<i>odd</i>"], "seen"])
        page.run("window.confirm = () => true")
        page.run("document.getElementById('pause').click()")
        page.until("document.getElementById('now').textContent.startsWith('paused') && document.getElementById('pause').textContent === 'Continue'")
        paused, since, end = count_of("live.db"), time.monotonic(), time.monotonic() + 60
        while time.monotonic() < min(since + 4, end):  # what was under way is finished first
            time.sleep(0.2)
            if (now := count_of("live.db")) != paused:
                paused, since = now, time.monotonic()
        check("controlled: a paused run begins nothing", time.monotonic() >= since + 4 and worker.poll() is None)
        if PICTURES:
            page.picture(PICTURES / "controlled.png")
        page.run("document.getElementById('pause').click()")
        page.until("document.getElementById('pause').textContent === 'Pause'")
        end = time.monotonic() + 60
        while count_of("live.db") <= paused and time.monotonic() < end:
            time.sleep(0.1)
        check("controlled: and goes on", count_of("live.db") > paused)
        page.run("document.getElementById('stop').click()")
        worker.wait(120)
        check("controlled: the run was stopped", worker.returncode == 130, worker.returncode)
        page.until("document.getElementById('resume') !== null")
        trials = json.loads(kernelsearch("runs", "--store", "live.db", "--json"))[0]["trials"]
        page.run("window.confirm = () => true")
        page.run(f"document.getElementById('budget').value = '{trials + 2}'")
        page.run("document.getElementById('resume').click()")
        end = time.monotonic() + 120
        while (now := json.loads(kernelsearch("runs", "--store", "live.db", "--json"))[0])["trials"] < trials + 2 and time.monotonic() < end:
            time.sleep(0.5)
        check("controlled: and resumed with more budget", now["trials"] >= trials + 2, now)
        page.close()
        server.close()
    finally:
        if worker.poll() is None:
            worker.kill()
            worker.wait()


def large(browser, count=100_000 if THOROUGH else 20_000):
    """A run of 10^5 trials, written as a store would have it."""
    shutil.copy(FOLDER / "tuned.db", FOLDER / "large.db")
    base = sqlite3.connect(FOLDER / "large.db")
    columns = [row[1] for row in base.execute("PRAGMA table_info(trials)")]
    rows = [dict(zip(columns, row)) for row in base.execute("SELECT * FROM trials WHERE run = 1 AND verdict = 'ok'")]
    for row in rows:  # samples of each shape would be most of the file
        measured = json.loads(row["measurement"])
        for shape in measured["shapes"]:
            shape["samples"] = shape["samples"][:1]
        row["measurement"] = json.dumps(measured)
    base.execute("DELETE FROM trials")
    base.execute("DELETE FROM runs WHERE id <> 1")
    base.execute("UPDATE runs SET winner = NULL, finalists = NULL, finished = started, seconds = ?", (count * 0.5,))
    draw = random.Random(1)

    def made():
        for i in range(count):
            row = dict(draw.choice(rows))
            row.update(run=1, position=i, id=i, elapsed=0.5 * i)
            if draw.random() < 0.1:
                row.update(verdict="build_failed", objective=None, reason=f"error: no room for {i}")
            else:
                row["objective"] *= draw.uniform(0.9, 3)
            yield [row[c] for c in columns]
    base.executemany(f"INSERT INTO trials({','.join(columns)}) VALUES({','.join('?' * len(columns))})", made())
    base.commit()
    base.close()
    path = page_of("large.db")
    size = path.stat().st_size
    check("large: below 60 MB", size < 60e6, size)
    page = chromium.Page(browser)
    page.open(path.as_uri())
    paint = page.run("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    whole = page.run("performance.now()")
    print(f"        {count} trials: {size / 1e6:.1f} MB, first paint after {paint or 0:.0f} ms, drawn by {whole:.0f} ms")
    check("large: all its trials", page.run("document.getElementById('trial-count').textContent") == f"{count:,} trials")
    check("large: one page of them", page.run("document.querySelectorAll('#trials tbody tr').length") == 50)
    begun = time.monotonic()
    page.click("#sort-time")
    print(f"        sorted within {time.monotonic() - begun:.2f} s")
    time.sleep(0.3)
    check("large: each picture shows something", page.run(PAINTED) == [], page.run(PAINTED))
    check("large: nothing in its console", page.errors() == [], page.errors()[:3])
    if PICTURES:
        page.picture(PICTURES / "large.png", (0, 0, 1280, min(4000, page.run("document.documentElement.scrollHeight"))))
    page.close()


browser = chromium.Chromium()
try:
    for part in (tuned, recorded, kernelband, peak, skill, compared, hostile, served, controlled, terminal, large):
        part(browser)
finally:
    browser.close()
if failures:
    print(f"{len(failures)} failed: " + "; ".join(failures))
    sys.exit(1)
