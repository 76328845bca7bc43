"""Conformance suite of the `.adf` format. It shares no code with the toolkit, so that it cannot share its bugs."""
