"""A Design for people and for other tools: tables, drawings, cabling topology and import files, all from one object."""
