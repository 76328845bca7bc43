"""Making one plain database out of a database, its write-ahead log and its rollback journal.

Only the standard library is imported here: the package is run by a child process that starts in
isolated mode (see `adf_format.container.private_copy`).
"""
