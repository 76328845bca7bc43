"""What the configuration says about archiving, under the name by which it was known first."""

from adf_format.config.auditing import SOURCES, audit_policy

__all__ = ["SOURCES", "audit_policy"]
