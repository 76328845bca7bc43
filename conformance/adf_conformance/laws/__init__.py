"""Laws: judges that are not bound to one machine.

Importing this package registers the judges `reader`, `validator`, `migrator` (what must be answered about a file) and
`file-laws` (what must be true of every file of a running agent, whatever happened).
"""

from adf_conformance.laws import file_laws, migrator, reader, validator

__all__ = ["file_laws", "migrator", "reader", "validator"]
