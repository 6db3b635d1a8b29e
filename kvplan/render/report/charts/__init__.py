"""The charts of the report, each a function from numbers to one SVG that says in words what it shows."""
