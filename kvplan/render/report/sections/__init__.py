"""The sections of the report, each a function from Plan, Design and Bom to one part."""
