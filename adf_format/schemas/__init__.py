"""The format as data: load the schema documents, resolve references, derive DDL, check values."""

from adf_format.schemas.catalog import LATEST, OLDEST, StorageVersion, storage_version
from adf_format.schemas.checker import Checker, Problem, checker
from adf_format.schemas.ddl import ddl
from adf_format.schemas.store import document, urns
from adf_format.schemas.tables import Column, Index, Table

__all__ = [
    "LATEST",
    "OLDEST",
    "Checker",
    "Column",
    "Index",
    "Problem",
    "StorageVersion",
    "Table",
    "checker",
    "ddl",
    "document",
    "storage_version",
    "urns",
]
