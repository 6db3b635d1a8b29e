"""Dated, sourced tables behind the numbers, and their loader.

The tables are `<table>.yaml` files, or folders `<table>/*.yaml`, beside this module; `kvplan.catalogue.loader`
reads them.
"""
