"""From a Plan to devices, rack positions, ports, cables and addresses: pure and deterministic."""
