"""The report of a Plan as one HTML page or as Markdown, both from one arrangement of blocks."""
