"""The charts and the chart library that the package ships are those that `tools/report_assets.py` builds."""

import json

import pytest

from franchise.report.render import charts

pytest.importorskip("altair", reason="altair, which the charts are built with, is not installed")
report_assets = pytest.importorskip("tools.report_assets")


def shipped(name):
    return (report_assets.FOLDER / name).read_text(encoding="utf-8")


def test_charts_are_up_to_date():
    there, built = json.loads(shipped("charts.json")), json.loads(json.dumps(report_assets.charts()))
    if there["map"]["$schema"] != built["map"]["$schema"]:
        pytest.skip("the charts were built with another version of altair")
    assert there == built


def test_library_is_up_to_date_and_has_its_notices():
    vl_convert = pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    notices, library = shipped("licences.txt"), shipped("vega.min.js")
    assert library.startswith(f"/*!\n{notices}*/\n")
    versions = f"Vega {vl_convert.get_vega_version()} ", f"Vega-Embed {vl_convert.get_vega_embed_version()}\n"
    if not all(version in notices for version in versions):
        pytest.skip(f"the library was built with another vl-convert than {vl_convert.__version__}")
    assert library == report_assets.library()


def test_chains_are_filled_in():
    names = [f'chain "{i}"' for i in range(9)]
    scales = charts(names)["by_draw"]["layer"][0]["encoding"]
    assert scales["color"]["scale"]["domain"] == scales["strokeDash"]["scale"]["domain"] == names
    assert scales["color"]["scale"]["range"][6:] == ["var(--c6)", "var(--c0)", "var(--c1)"]
    assert scales["strokeDash"]["scale"]["range"][6:] == [[1, 0], [6, 2], [6, 2]]
    assert "$" not in json.dumps(charts(names)).replace("$schema", "")
