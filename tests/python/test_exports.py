# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs in the formats of other tools, read back by these tools; each is skipped where its package is not installed."""
import io
import json
import subprocess
import sys
import time

import pytest

import kernelsearch as ks
from kernelsearch import exports


def line(number, seconds, **more):
    """A trial as docs/formats/exports.md has it; `seconds` None: it failed."""
    trial = {
        "id": number, "objective": "Infinity" if seconds is None else seconds, "at": f"2026-11-27T10:00:{number:02}.500Z", "position": number,
        "candidate": {"values": {"block": 16 << number % 3, "order": [1, 0], "fast": number % 2 == 0}, "key": str(number)},
        "evaluation": {"verdict": "crashed" if seconds is None else "ok", "features": {"load.core": 0.25, "odd": "Infinity"},
                       "measurement": {} if seconds is None else {"seconds": seconds, "speedup": {"ratio": 2.0 / seconds, "interval": [1, 2], "pairs": 9}},
                       "phases": {"build": 0.25, "check": 0.125, "measure": 0.125}},
        "run": {"id": 7, "problem": "dot", "policy": "random", "name": "", "device": "a <b>device</b>"}}
    if seconds is None:
        trial["evaluation"]["reason"] = "x" * 2000
    return json.dumps({**trial, **more})


LINES = [line(0, 4.0), line(1, None), line(2, 2.0, point={"kind": "rewrite", "strategies": ["tiling", "unrolling"]}, parents=[0]), line(3, 3.0, point=[0, 1])]


@pytest.fixture
def run():
    return exports.read(LINES)


def test_what_is_read(run):
    assert run.name == "dot 7" and [t.ok for t in run.trials] == [True, False, True, True]
    assert run.best is run.trials[2] and run.best.strategies == ["tiling", "unrolling"] and run.best.parents == [0]
    assert run.trials[0].settings == {"block": 16, "order": "[1, 0]", "fast": True}
    assert (run.trials[0].ended - run.trials[0].begun).total_seconds() == 0.5
    assert run.trials[0].metrics() == {"phase.build": 0.25, "phase.check": 0.125, "phase.measure": 0.125, "feature.load.core": 0.25, "seconds": 4.0, "speedup": 0.5}
    assert "seconds" not in run.trials[1].metrics()
    for bad, told in ((["{}"], "line 1"), ([LINES[0], "[]"], "line 2"), (["no"], "line 1"), ([], "no trial"), ([LINES[0], '{"id": 1}'], "line 2")):
        with pytest.raises(ValueError, match=told):
            exports.read(bad)


def test_a_recording_is_read(tmp_path):
    space = ks.Space({"block": [16, 32, 64], "order": [(0, 1), (1, 0)]})
    ks.Recording.of("made_up", space, [(c, c["block"] * 1e-6) for c in space]).write(str(tmp_path / "made_up.jsonl"))
    known = exports.read(tmp_path / "made_up.jsonl")
    assert len(known.trials) == 6 and known.best.objective == 16e-6 and known.best.settings["block"] == 16


def test_optuna(run, tmp_path):
    optuna = pytest.importorskip("optuna")
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    name = exports.to_optuna(run, storage)
    study = optuna.load_study(study_name=name, storage=storage)
    assert study.best_value == 2.0 and study.best_trial.number == 2
    assert study.best_params == {"block": 64, "order": "[1, 0]", "fast": True}
    assert [t.state.name for t in study.trials] == ["COMPLETE", "FAIL", "COMPLETE", "COMPLETE"]
    assert study.best_trial.user_attrs["strategies"] == "tiling, unrolling" and study.best_trial.user_attrs["parents"] == [0]
    assert len(study.trials[1].user_attrs["reason"]) == exports.MOST_TEXT and study.trials[0].duration.total_seconds() == 0.5
    assert study.user_attrs["device"] == "a <b>device</b>" and study.user_attrs["problem"] == "dot"
    with pytest.raises(ValueError, match="name another one"):
        exports.to_optuna(run, storage)
    assert exports.to_optuna(run, storage, "again") == "again"

    dashboard = pytest.importorskip("optuna_dashboard")
    application = dashboard.wsgi(optuna.storages.RDBStorage(storage))

    def asked(path):
        said = []
        environment = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": "", "SERVER_NAME": "here", "SERVER_PORT": "80", "wsgi.input": io.BytesIO(),
                       "wsgi.errors": sys.stderr, "wsgi.url_scheme": "http"}
        body = b"".join(application(environment, lambda status, headers, info=None: said.append(status)))
        assert said[0].startswith("200"), (said, body)
        return json.loads(body)

    studies = asked("/api/studies")["study_summaries"]
    assert {one["study_name"] for one in studies} == {name, "again"}
    shown = asked(f"/api/studies/{studies[0]['study_id']}")
    assert len(shown["trials"]) == 4 and shown["trials"][2]["values"] == [2.0]


def test_tensorboard(run, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(exports.to_tensorboard(run, tmp_path / "events"))
    events.Reload()
    assert {"seconds", "best_seconds", "speedup", "phase.build"} <= set(events.Tags()["scalars"])
    assert [(e.step, e.value) for e in events.Scalars("best_seconds")] == [(0, 4.0), (1, 4.0), (2, 2.0), (3, 2.0)]
    assert [e.step for e in events.Scalars("seconds")] == [0, 2, 3]
    assert events.Scalars("seconds")[0].wall_time == run.trials[0].ended.timestamp()
    assert [t.tensor_proto.string_val[0].decode() for t in events.Tensors("best_settings")] == [
        "trial 0: block=16, order=[1, 0], fast=True", "trial 2: block=64, order=[1, 0], fast=True"]


def test_mlflow(run, tmp_path):
    pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    from mlflow.tracking import MlflowClient

    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    client = MlflowClient(tracking_uri=uri)
    try:
        made = client.get_run(exports.to_mlflow(run, uri))
    except Exception as error:  # mlflow-skinny has no storage in a database
        if "alembic" not in str(error) and "skinny" not in str(error):
            raise
        pytest.skip(f"mlflow without a database: {error}")
    assert made.info.status == "FINISHED" and made.info.run_name == "dot 7" and made.data.tags["problem"] == "dot"
    assert made.data.params == {"block": "64", "order": "[1, 0]", "fast": "True"}
    assert [(m.step, m.value) for m in client.get_metric_history(made.info.run_id, "best_seconds")] == [(0, 4.0), (1, 4.0), (2, 2.0), (3, 2.0)]
    assert client.get_run(exports.to_mlflow(run, uri)).info.experiment_id == made.info.experiment_id


def test_wandb(run, tmp_path):
    pytest.importorskip("wandb")
    folder = tmp_path / "offline"
    place = exports.to_wandb(run, folder)
    assert place.startswith(str(folder))
    (written,) = list(folder.rglob("*.wandb"))
    end = time.monotonic() + 30  # W&B's own process writes it
    while b"best_seconds" not in (data := written.read_bytes()) and time.monotonic() < end:
        time.sleep(0.1)
    assert b"best_seconds" in data and b"settings.block" in data and b"dot 7" in data


def test_the_command(tmp_path):
    pytest.importorskip("optuna")
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(LINES) + "\n")

    def command(*words, given=None):
        return subprocess.run([sys.executable, "-m", "kernelsearch.exports", *words], input=given, capture_output=True, text=True, cwd=tmp_path)

    done = command("optuna", str(file), "sqlite:///a.db")
    assert (done.returncode, done.stdout) == (0, "study dot 7\n"), done.stderr
    done = command("optuna", "-", "sqlite:///a.db", "--name", "piped", given=file.read_text())
    assert (done.returncode, done.stdout) == (0, "study piped\n"), done.stderr
    done = command("optuna", str(file), "sqlite:///a.db")
    assert done.returncode == 3 and "name another one" in done.stderr
    done = command("optuna", "none.jsonl", "sqlite:///a.db")
    assert done.returncode == 3 and "none.jsonl" in done.stderr


@pytest.mark.parametrize("name, write", [("optuna", lambda run: exports.to_optuna(run, "sqlite://")), ("tensorboard", lambda run: exports.to_tensorboard(run, "x")),
                                         ("mlflow", lambda run: exports.to_mlflow(run, "sqlite://")), ("wandb", lambda run: exports.to_wandb(run, "x"))])
def test_a_package_that_is_missing_is_named(run, name, write, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for module in list(sys.modules):
        if module.split(".")[0] == name:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        write(run)
