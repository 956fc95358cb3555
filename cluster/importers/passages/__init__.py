"""Folders of documents to passages: read, cut by sections, named so that an edit changes what it touches."""
