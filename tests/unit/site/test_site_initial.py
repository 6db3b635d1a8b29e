"""What `kvplan init site` writes: all that a Plan decides, and marks for the rest."""

from __future__ import annotations

import json

import pytest
import yaml
from designs import SIZES, design_for, plan_of
from sites import site_data

from kvplan.catalogue.loader import load_catalogue
from kvplan.errors import InputError
from kvplan.inputs.document import Document
from kvplan.inputs.validation import validate
from kvplan.schema.site.forms import UNFILLED
from kvplan.schema.site.site import Site
from kvplan.site.initial.assets import read_assets
from kvplan.site.initial.data import initial_data
from kvplan.site.initial.schema import site_schema_text
from kvplan.site.initial.text import site_text

SOFTWARE = load_catalogue().software("reference")


@pytest.mark.parametrize("nodes", SIZES)
def test_read_back_it_is_the_same(nodes: int) -> None:
    data = initial_data(plan_of(nodes), design_for(nodes), SOFTWARE)
    assert yaml.safe_load(site_text(data)) == data


def test_a_complete_site_survives_too() -> None:
    data = site_data(plan_of(8))
    assert yaml.safe_load(site_text(data)) == data


def test_the_only_thing_wrong_is_what_is_left_to_fill_in() -> None:
    text = site_text(initial_data(plan_of(4), design_for(4), SOFTWARE))
    with pytest.raises(InputError) as raised:
        validate(Site, Document(yaml.safe_load(text), "site.yaml", text))
    wrong = {problem.key: problem for problem in raised.value.problems}
    assert all("to be filled in" in problem.what or problem.key == "storage.memory_gib" for problem in wrong.values())
    assert len(wrong) == text.count(UNFILLED) - 1
    lines = text.splitlines()
    assert all(UNFILLED in lines[int(problem.where.split(":")[1]) - 1] for problem in wrong.values())


def test_an_asset_list_fills_in_what_it_knows() -> None:
    listed = read_assets("name,serial,bmc ip,mac mgmt1\ngpu-0001,A1,10.9.9.9,020000000001\n", "a.csv", design_for(4))
    data = initial_data(plan_of(4), design_for(4), SOFTWARE, assets=listed)
    server = next(server for server in data["servers"] if server["name"] == "gpu-0001")
    assert (server["serial"], server["bmc"]["address"]) == ("A1", "10.9.9.9")
    assert server["macs"]["mgmt1"] == "02:00:00:00:00:01"
    assert server["macs"]["nic1p0"] == UNFILLED


def test_the_schema_is_one_and_knows_every_section() -> None:
    schema = json.loads(site_schema_text())
    assert set(schema["properties"]) == set(Site.model_fields)
    assert schema["additionalProperties"] is False
