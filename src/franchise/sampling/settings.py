"""The settings of a model: one object for the estimator, the plan of its chains, and ``model.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from franchise._files import Facts
from franchise._settings import flag, is_one_of, pair, whole_number
from franchise._threads import threads
from franchise.corpus import TextOptions
from franchise.engines import GivenTopics, Start
from franchise.errors import SettingsError
from franchise.model import Priors
from franchise.model.priors import Setting
from franchise.sampling.choices import ETA_OF_TEXT
from franchise.sampling.plan import Plan, starts_of
from franchise.sampling.schedule import Schedule

_BESIDE = ("in_place", "in_use", "chosen")  # added to the settings of a model (`HDPTopicModel.settings_`)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of `HDPTopicModel`, checked, and the seed.

    Two settings differ from those that users give: `init` has topics in place of a model or a table
    (`estimator.starts`), and `engine` is a name, without the address of a cluster. When the documents are
    known, ``"auto"`` is replaced by its value (`estimator.plans.settled`).
    """

    seed: int
    eta: Setting | str = "auto"
    alpha: Setting = (1.0, 1.0)
    gamma: Setting = (1.0, 1.0)
    init: Start = "auto"
    sweeps: int = 500
    burn_in: int | None = None
    chains: int = 4
    text_options: Facts | None = None
    effective_counts: bool = True
    engine: str = "auto"
    n_jobs: int | None = -1
    schedule: Schedule = field(default_factory=Schedule)
    verbose: int = 1

    def __post_init__(self) -> None:
        """Refuse invalid settings. `Plan.check` compares them with the documents."""
        for name in ("alpha", "gamma", "eta"):
            value = getattr(self, name)
            if not is_one_of(value, ["auto"]) or name != "eta":
                object.__setattr__(self, name, _checked(name, value))
        whole_number("sweeps", self.sweeps, 1)
        flag("effective_counts", self.effective_counts)
        threads(self.n_jobs, 1)
        if not isinstance(self.verbose, bool):
            whole_number("verbose", self.verbose, 0)
        if not isinstance(self.schedule, Schedule):
            raise SettingsError(f"schedule={self.schedule!r}: give Schedule(...), or None", code="wrong-type")
        if self.text_options is not None:
            TextOptions.from_dict(self.text_options)
        self.plan()

    def plan(self) -> Plan:
        """Return the plan of the chains."""
        # Before the documents are known, "auto" is the eta of text.
        eta: Any = ETA_OF_TEXT if is_one_of(self.eta, ["auto"]) else self.eta
        timetable = self.schedule.timetable(
            self.sweeps, self.burn_in, self.init, eta_is_fixed=not isinstance(eta, tuple)
        )
        return Plan(
            priors=Priors(alpha=self.alpha, gamma=self.gamma, eta=eta),
            schedule=timetable,
            starts=starts_of(self.init, self.chains),
            seed=self.seed,
            engine=self.engine,
        )

    def to_json(self) -> Facts:
        """Return the settings for JSON; of given topics, only their number and digest."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        own = {"init": start_to_json(self.init), "schedule": asdict(self.schedule)}
        return {name: _plain(value) for name, value in (facts | own).items()}

    @classmethod
    def from_json(cls, facts: Facts) -> Settings:
        """Return the settings from the facts of `to_json`. Facts that a model adds to them are ignored."""
        if "alpha_prior" in facts:
            facts = _of_version_0_2(facts)
        given = {name: value for name, value in facts.items() if name not in _BESIDE}
        start, schedule = start_from_json(given["init"]), Schedule.from_json(given["schedule"])
        return cls(**given | {"init": start, "schedule": schedule})

    def scheduled(self, **changes: Any) -> Settings:
        """Return the same settings with changes to the schedule."""
        return replace(self, schedule=replace(self.schedule, **changes))


def _checked(name: str, value: Any) -> Setting:
    """Return the fixed value of a concentration, or the pair of its prior."""
    prior = pair(value)
    if prior is not None:
        return prior
    instead = {None: "(1.0, 1.0), the default", "sample": "(1.0, 1.0)"}
    if value is None or is_one_of(value, ["sample"]):
        raise SettingsError(
            f"{name}={value!r}: to estimate {name}, give the pair (shape, rate) of its Gamma prior: "
            f"{name}={instead[value]}",
            code="not-a-prior",
        )
    try:
        return Priors(**{name: value}).settings[("alpha", "gamma", "eta").index(name)]
    except SettingsError as error:
        if name != "eta" or error.code != "not-a-prior":
            raise
        raise SettingsError(str(error).replace("give ", "give 'auto', ", 1), code=error.code) from None


def _plain(value: Any) -> Any:
    """Return a value with Python's own numbers in place of NumPy's."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(one) for one in value)
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _of_version_0_2(facts: Facts) -> Facts:
    """Return settings written by version 0.2 under their present names."""
    facts = dict(facts)
    for name in ("alpha", "gamma"):
        prior = facts.pop(f"{name}_prior")
        facts[name] = prior if facts[name] is None else facts[name]
    if facts["eta"] == "sample":
        facts["eta"] = (1.0, 1.0)
    if facts["n_jobs"] is None:
        facts["n_jobs"] = -1
    names = ("thin", "warm_up", "merges", "split_merge")
    schedule = asdict(Schedule()) | {name: facts.pop(name) for name in names}
    return facts | {"schedule": schedule, "text_options": None}


def start_to_json(start: Start) -> Any:
    """Return the start of a chain for JSON; of given topics, only their number and digest."""
    if not isinstance(start, GivenTopics):
        return start
    return {"given": start.kind, "topics": start.n_topics, "digest": start.digest}


def start_from_json(facts: Any) -> Start:
    """Return the start from the facts of `start_to_json`, without the topics themselves."""
    if not isinstance(facts, dict):
        return facts  # type: ignore[no-any-return]
    return GivenTopics(facts["given"], None, n_topics=facts["topics"], digest=facts["digest"])
