"""Validation: rules look at the rows of a file and report findings."""
