"""Scripts and languages: the parts the analyzer is composed of."""
