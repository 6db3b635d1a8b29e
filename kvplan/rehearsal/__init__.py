"""A deployment rehearsed: the same playbooks over the same connections, on a rack of one machine's namespaces."""
