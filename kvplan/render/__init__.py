"""Plans and other results as text; every function returns text and writes nothing."""
