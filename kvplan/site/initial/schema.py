"""The JSON schema of a Site, for editors."""

from __future__ import annotations

import json

from kvplan.schema.site.site import Site


def site_schema_text() -> str:
    """Write the JSON schema of a Site.

    Returns
    -------
    str
        JSON, with the schema's dialect named for editors.
    """
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Site.model_json_schema()}
    return json.dumps(schema, indent=1) + "\n"
