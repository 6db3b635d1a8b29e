"""The first form of a Site: everything that a Plan decides, and marks where a person must fill something in."""
