"""The choice of a tier: from a request and the catalogue rows it names to a Plan."""
