"""Settings in one flat dictionary, as tests vary them: those of a model, of its schedule, and of a fit."""

from dataclasses import fields
from typing import Any

from franchise import HDPTopicModel, Schedule
from franchise.sampling.plan import Plan
from franchise.sampling.settings import Settings

OF_A_SCHEDULE = tuple(field.name for field in fields(Schedule))
OF_A_FIT = ("metadata", "checkpoint_dir", "callback", "time_budget", "overwrite")


def nested(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a model, with those of the schedule in a `Schedule`."""
    schedule = {name: value for name, value in settings.items() if name in OF_A_SCHEDULE}
    others = {name: value for name, value in settings.items() if name not in OF_A_SCHEDULE}
    return others | {"schedule": Schedule(**schedule)} if schedule else others


def plan_of(**settings: Any) -> Plan:
    """Return the plan of a run."""
    return Settings(**nested({"seed": 0} | settings)).plan()


def model_of(**settings: Any) -> HDPTopicModel:
    """Return an estimator."""
    return HDPTopicModel(**nested(settings))


def fit(documents: Any, **settings: Any) -> HDPTopicModel:
    """Return a fitted model."""
    of_the_fit = {name: value for name, value in settings.items() if name in OF_A_FIT}
    others = {name: value for name, value in settings.items() if name not in OF_A_FIT}
    return model_of(**others).fit(documents, **of_the_fit)
