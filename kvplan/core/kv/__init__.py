"""Bytes of a model's KV cache: widths, retention rules, and the three accountings of one model."""
