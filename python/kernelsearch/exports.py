# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs in the formats of other tools, each written by that tool's own package (pip install "kernelsearch[exports]").

    kernelsearch export latest --format jsonl -o run.jsonl
    python -m kernelsearch.exports optuna run.jsonl sqlite:///studies.db       # then: optuna-dashboard sqlite:///studies.db
    python -m kernelsearch.exports tensorboard run.jsonl events                # then: tensorboard --logdir events
    python -m kernelsearch.exports mlflow run.jsonl sqlite:///mlflow.db
    python -m kernelsearch.exports wandb run.jsonl offline                     # then: wandb sync offline/wandb/offline-run-*

Nothing is sent anywhere: all of them write files. The module needs no extension of the package."""
from __future__ import annotations

import argparse
import datetime
import itertools
import json
import math
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence

MOST_TEXT = 500  # of a parameter or a reason; MLflow's limit of old, and enough for people


class ExportedTrial:
    """A trial: `number`; `ok`; `objective`, what the search minimised, in seconds, and infinite for failures; `verdict`; `reason`;
    `settings` (values of tunables; lists are JSON text); `features`; `speedup` or None; `strategies` and `parents` of a move;
    `phases` in seconds; `begun` and `ended` (datetime, UTC)."""

    def __init__(self, known: dict[str, Any]):
        evaluation = known["evaluation"]
        self.number: int = known["id"]
        self.objective = float(known["objective"])
        self.verdict: str = evaluation["verdict"]
        self.ok = self.verdict == "ok" and math.isfinite(self.objective)
        self.reason: str = evaluation.get("reason", "")
        values = known.get("candidate", {}).get("values", {})
        self.settings = {name: json.dumps(value) if isinstance(value, (list, dict)) else value for name, value in values.items()}
        self.features: dict[str, float] = {name: float(value) for name, value in evaluation.get("features", {}).items()}
        speedup = evaluation.get("measurement", {}).get("speedup")
        self.speedup: float | None = None if speedup is None else float(speedup["ratio"])
        point = known.get("point")  # of a policy over a space: positions
        self.strategies: list[str] = point.get("strategies", []) if isinstance(point, dict) else []
        self.parents: list[int] = known.get("parents", [])
        self.phases: dict[str, float] = {name: float(value) for name, value in evaluation.get("phases", {}).items()}
        told = known.get("at") or "1970-01-01T00:00:00Z"
        self.ended = datetime.datetime.fromisoformat(told.replace("Z", "+00:00"))
        self.begun = self.ended - datetime.timedelta(seconds=sum(self.phases.values()))

    def metrics(self) -> dict[str, float]:
        """Everything of it that is a finite number, by name."""
        numbers = {f"phase.{name}": seconds for name, seconds in self.phases.items()}
        numbers.update((f"feature.{name}", value) for name, value in self.features.items())
        if self.ok:
            numbers["seconds"] = self.objective
        if self.speedup is not None:
            numbers["speedup"] = self.speedup
        return {name: value for name, value in numbers.items() if math.isfinite(value)}


class ExportedRun:
    """What `kernelsearch export RUN --format jsonl` wrote: `info` (problem, policy, device, ...) and `trials`, in order."""

    def __init__(self, info: dict[str, Any], trials: list[ExportedTrial]):
        self.info, self.trials = info, trials

    @property
    def name(self) -> str:
        """For people, and as the name of a study or an experiment's run."""
        what = self.info.get("name") or self.info.get("problem") or "run"
        return f"{what} {self.info['id']}" if self.info.get("id") else str(what)

    @property
    def best(self) -> ExportedTrial | None:
        """The trial with the least objective, the first of equal ones; None where nothing is right."""
        return min((t for t in self.trials if t.ok), key=lambda t: t.objective, default=None)

    def best_so_far(self) -> list[float]:
        """The least objective up to and with each trial; infinite as long as nothing is right."""
        return list(itertools.accumulate((t.objective if t.ok else math.inf for t in self.trials), min))

    def facts(self) -> dict[str, str]:
        """`info` as texts, without what is empty."""
        return {name: str(value)[:MOST_TEXT] for name, value in self.info.items() if value not in ("", None)}


def read(lines: str | os.PathLike[str] | Iterable[str]) -> ExportedRun:
    """Reads a file of JSON Lines, or lines. ValueError with the line where it holds something else."""
    where = "the lines"
    if isinstance(lines, (str, os.PathLike)):
        where = os.fspath(lines)
        with open(lines, encoding="utf-8") as file:
            return _read(file, where)
    return _read(lines, where)


def _read(lines, where):
    info, trials = {}, []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            known = json.loads(line)
            trials.append(ExportedTrial(known))
            info = info or dict(known.get("run", {}))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"kernelsearch: line {number} of {where} is no trial ({type(error).__name__}: {error}); "
                "give what `kernelsearch export RUN --format jsonl` wrote"
            ) from None
    if not trials:
        raise ValueError(f"kernelsearch: there is no trial in {where}; give what `kernelsearch export RUN --format jsonl` wrote")
    return ExportedRun(info, trials)


def _package(error, name):
    return ImportError(f'kernelsearch: this needs {name}; pip install {name}, or "kernelsearch[exports]" for all ({error})')


def to_optuna(run: ExportedRun, storage: Any, study: str | None = None) -> str:
    """Writes a study into a storage of Optuna (a URL or a storage object), and returns its name: the run's, or `study`.

    Each trial is one of Optuna's with the tunables as categorical parameters, the objective as its value, and what else is known as
    user attributes; failures are FAIL. ValueError where the study is there already."""
    try:
        import optuna
    except ImportError as error:
        raise _package(error, "optuna") from None
    choices: dict[str, list] = {}
    for trial in run.trials:
        for name, value in trial.settings.items():
            known = choices.setdefault(name, [])
            if not any(one == value and type(one) is type(value) for one in known):
                known.append(value)
    distributions = {name: optuna.distributions.CategoricalDistribution(values) for name, values in choices.items()}
    name = study or run.name
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        written = optuna.create_study(storage=storage, study_name=name, direction="minimize")
    except optuna.exceptions.DuplicatedStudyError:
        raise ValueError(f"kernelsearch: the storage has a study {name!r}; name another one") from None
    finally:
        optuna.logging.set_verbosity(verbosity)
    for key, text in run.facts().items():
        written.set_user_attr(key, text)
    states = optuna.trial.TrialState
    for trial in run.trials:
        attributes = {"kernelsearch_trial": trial.number, "verdict": trial.verdict, **trial.metrics()}
        if trial.reason:
            attributes["reason"] = trial.reason[:MOST_TEXT]
        if trial.strategies:
            attributes["strategies"] = ", ".join(trial.strategies)
        if trial.parents:
            attributes["parents"] = trial.parents
        made = optuna.trial.create_trial(
            state=states.COMPLETE if trial.ok else states.FAIL, value=trial.objective if trial.ok else None, params=trial.settings,
            distributions={name: distributions[name] for name in trial.settings}, user_attrs=attributes)
        # Optuna's times are local ones without a zone.
        made.datetime_start = trial.begun.astimezone().replace(tzinfo=None)
        made.datetime_complete = trial.ended.astimezone().replace(tzinfo=None)
        written.add_trial(made)
    return name


def to_tensorboard(run: ExportedRun, folder: str | os.PathLike[str]) -> str:
    """Writes a file of events into a folder, which is made, and returns the folder: `seconds`, `best_seconds`, `speedup` and the phases over
    trials, at the times when they were told, and the settings of each new best as text."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
        from tensorboard.compat.proto.tensor_pb2 import TensorProto
        from tensorboard.compat.proto.types_pb2 import DT_STRING
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise _package(error, "tensorboard") from None
    writer = EventFileWriter(os.fspath(folder))
    text = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    last = math.inf
    for step, (trial, best) in enumerate(zip(run.trials, run.best_so_far())):
        values = [Summary.Value(tag=name, simple_value=value) for name, value in trial.metrics().items() if not name.startswith("feature.")]
        if best < last:
            told = ", ".join(f"{name}={value}" for name, value in trial.settings.items()) or ", ".join(trial.strategies)
            content = TensorProto(dtype=DT_STRING, string_val=[f"trial {trial.number}: {told}".encode()])
            values.append(Summary.Value(tag="best_settings", metadata=text, tensor=content))
        last = best
        if math.isfinite(best):
            values.append(Summary.Value(tag="best_seconds", simple_value=best))
        if values:
            writer.add_event(Event(wall_time=trial.ended.timestamp(), step=step, summary=Summary(value=values)))
    writer.close()
    return os.fspath(folder)


def to_mlflow(run: ExportedRun, tracking_uri: str, experiment: str = "kernelsearch") -> str:
    """Writes a run into an experiment of MLflow, which is made where it is missing, and returns the run's id: metrics over trials, the best's
    settings as parameters, the run's facts as tags."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow.entities import Metric, Param
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise _package(error, "mlflow") from None
    client = MlflowClient(tracking_uri=tracking_uri)
    found = client.get_experiment_by_name(experiment)
    place = found.experiment_id if found else client.create_experiment(experiment)
    milliseconds = [int(trial.ended.timestamp() * 1000) for trial in run.trials]
    made = client.create_run(place, start_time=int(run.trials[0].begun.timestamp() * 1000), tags=run.facts(), run_name=run.name)
    metrics = []
    for step, (trial, best, at) in enumerate(zip(run.trials, run.best_so_far(), milliseconds)):
        numbers = {**trial.metrics(), **({"best_seconds": best} if math.isfinite(best) else {})}
        metrics += [Metric(_mlflow_name(name), value, at, step) for name, value in numbers.items()]
    for at in range(0, len(metrics), 1000):  # the most that one call takes
        client.log_batch(made.info.run_id, metrics=metrics[at:at + 1000])
    if run.best is not None:
        settings = list(run.best.settings.items())
        for at in range(0, len(settings), 100):
            client.log_batch(made.info.run_id, params=[Param(_mlflow_name(n), str(v)[:MOST_TEXT]) for n, v in settings[at:at + 100]])
    client.set_terminated(made.info.run_id, "FINISHED", end_time=milliseconds[-1])
    return made.info.run_id


def _mlflow_name(name):
    return "".join(c if c.isalnum() or c in "_-. /" else "_" for c in name)


def to_wandb(run: ExportedRun, folder: str | os.PathLike[str], project: str = "kernelsearch") -> str:
    """Writes a run of Weights & Biases for `wandb sync` into a folder, which is made, and returns the run's folder; it is not sent."""
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    try:
        import wandb
    except ImportError as error:
        raise _package(error, "wandb") from None
    os.makedirs(folder, exist_ok=True)
    made = wandb.init(
        mode="offline", dir=os.fspath(folder), project=project, name=run.name, config={"run": run.facts(), **(run.best.settings if run.best else {})},
        settings=wandb.Settings(console="off", silent=True, save_code=False, disable_git=True, x_disable_stats=True, x_disable_meta=True))
    for step, (trial, best) in enumerate(zip(run.trials, run.best_so_far())):
        row = {**trial.metrics(), "verdict": trial.verdict, **{f"settings.{name}": value for name, value in trial.settings.items()}}
        made.log({**row, **({"best_seconds": best} if math.isfinite(best) else {})}, step=step)
    place = os.path.dirname(made.dir)
    made.finish()
    return place


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `python -m kernelsearch.exports`: prints what was written where."""
    parser = argparse.ArgumentParser(prog="python -m kernelsearch.exports", description=(__doc__ or "").split("\n")[0])
    tools = parser.add_subparsers(dest="tool", required=True)
    for tool, place, told in (("optuna", "STORAGE", "URL of a storage"), ("tensorboard", "FOLDER", "for event files"),
                              ("mlflow", "URI", "of tracking"), ("wandb", "FOLDER", "for an offline run")):
        one = tools.add_parser(tool)
        one.add_argument("file", metavar="FILE", help="of `kernelsearch export RUN --format jsonl`; - for standard input")
        one.add_argument("place", metavar=place, help=told)
        if tool != "tensorboard":
            one.add_argument("--name", help="of the study, the experiment or the project")
    given = parser.parse_args(arguments)
    try:
        run = read(sys.stdin if given.file == "-" else given.file)
        if given.tool == "optuna":
            print("study", to_optuna(run, given.place, given.name))
        elif given.tool == "tensorboard":
            print("events", to_tensorboard(run, given.place))
        elif given.tool == "mlflow":
            print("run", to_mlflow(run, given.place, given.name or "kernelsearch"))
        else:
            print("run", to_wandb(run, given.place, given.name or "kernelsearch"))
    except (ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
