"""What all stored results share: kinds, directories that appear whole or not at all, provenance, HTML pages."""
