"""Near terms: which terms of a dictionary an unknown word may have meant."""
