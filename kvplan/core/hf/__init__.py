"""Hugging Face configurations: from the keys of a `config.json` to layer groups and parameter counts."""
