"""From a Plan and its design to the lines that are bought, priced from the user's own price books."""
