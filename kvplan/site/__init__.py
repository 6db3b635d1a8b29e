"""Plan and Site to files: everything that a deployment needs, as text, before it touches a machine."""
