"""The network: line rates, traffic of the erasure code, the stages of the read path, leaves and spines."""
