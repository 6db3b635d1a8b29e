"""The rules that rendered configurations are judged by: read back from their text, apart from what wrote them."""
