"""The structure of a file is told as it is: ordinary tables, columns, indexes, by name."""

from __future__ import annotations

import apsw
import pytest

from adf_format import structure
from adf_format.structure import ActualColumn, ActualIndex


def read(*statements: str) -> structure.Structure:
    """The structure of a database made by some statements."""
    connection = apsw.Connection(":memory:")
    for statement in statements:
        connection.execute(statement)
    return structure.read(connection)


def test_columns_come_in_their_order_with_type_default_and_key() -> None:
    found = read("CREATE TABLE adf_t (k TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 7, s TEXT DEFAULT 'a''b', x)")
    assert list(found.tables["adf_t"].columns.values()) == [
        ActualColumn("k", "TEXT", False, None, True, 0),
        ActualColumn("n", "INTEGER", True, "7", False, 0),
        ActualColumn("s", "TEXT", False, "'a''b'", False, 0),
        ActualColumn("x", "", False, None, False, 0),
    ]


def test_generated_columns_are_told_apart() -> None:
    found = read("CREATE TABLE adf_t (a INTEGER, v INTEGER AS (a + 1), s INTEGER AS (a * 2) STORED)")
    assert [column.hidden for column in found.tables["adf_t"].columns.values()] == [0, 2, 3]


def test_indexes_are_told_with_their_keys_and_their_origin() -> None:
    found = read(
        "CREATE TABLE adf_t (k TEXT PRIMARY KEY, a TEXT UNIQUE, b TEXT)",
        "CREATE INDEX one ON adf_t(b, COALESCE(a, b), k)",
        "CREATE UNIQUE INDEX two ON adf_t(b) WHERE b > 'x'",
    )
    indexes = found.tables["adf_t"].indexes
    sql = "CREATE INDEX one ON adf_t(b, COALESCE(a, b), k)"
    assert indexes["one"] == ActualIndex("one", False, "c", False, ("b", None, "k"), sql)
    assert (indexes["two"].unique, indexes["two"].partial, indexes["two"].keys) == (True, True, ("b",))
    automatic = {index.origin: (index.keys, index.sql) for index in indexes.values() if index.origin != "c"}
    assert automatic == {"pk": (("k",), None), "u": (("a",), None)}


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("CREATE TABLE adf_t (id INTEGER PRIMARY KEY AUTOINCREMENT)", True),
        ("CREATE TABLE adf_t (id INTEGER PRIMARY KEY autoincrement)", True),
        ("CREATE TABLE adf_t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'AUTOINCREMENT')", False),
        ("CREATE TABLE adf_t (id INTEGER PRIMARY KEY /* AUTOINCREMENT */)", False),
        ("CREATE TABLE adf_t (id INTEGER PRIMARY KEY, -- AUTOINCREMENT\n a TEXT)", False),
        ('CREATE TABLE adf_t (id INTEGER PRIMARY KEY, "AUTOINCREMENT" TEXT)', False),
    ],
)
def test_autoincrement_is_what_the_declaration_says_and_not_a_word_in_it(sql: str, said: bool) -> None:
    assert read(sql).tables["adf_t"].autoincrement is said


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("CREATE TABLE adf_t (k TEXT PRIMARY KEY) WITHOUT ROWID", True),
        ("CREATE TABLE adf_t (k TEXT PRIMARY KEY) without /* x */\n rowid", True),
        ("CREATE TABLE adf_t (k TEXT PRIMARY KEY, d TEXT DEFAULT 'WITHOUT ROWID')", False),
        ("CREATE TABLE adf_t (without TEXT PRIMARY KEY, rowid TEXT)", False),
    ],
)
def test_without_rowid_is_what_the_declaration_says(sql: str, said: bool) -> None:
    assert read(sql).tables["adf_t"].without_rowid is said


def test_only_ordinary_tables_with_the_prefix_count() -> None:
    found = read(
        "CREATE TABLE adf_t (a TEXT)",
        "CREATE TABLE local_t (a TEXT)",
        "CREATE TABLE adfx (a TEXT)",
        "CREATE TABLE ADF_upper (a TEXT)",
        "CREATE VIEW adf_view AS SELECT * FROM adf_t",
        "CREATE VIRTUAL TABLE adf_search USING fts5(body)",
    )
    assert next(iter(found.tables)) == "adf_t"
    assert "adf_view" not in found.tables
    assert "adf_search" not in found.tables
    assert not {"local_t", "adfx", "ADF_upper"} & set(found.tables)
    assert found.virtual == ["adf_search"]


def test_every_object_is_named_in_the_order_of_the_file() -> None:
    found = read(
        "CREATE TABLE adf_t (a TEXT)",
        "CREATE INDEX i ON adf_t(a)",
        "CREATE TRIGGER g AFTER INSERT ON adf_t BEGIN SELECT 1; END",
    )
    assert [(kind, name, table) for kind, name, table, _ in found.objects] == [
        ("table", "adf_t", "adf_t"), ("index", "i", "adf_t"), ("trigger", "g", "adf_t"),
    ]  # fmt: skip


def test_equal_declarations_are_read_once_and_different_ones_are_told_apart() -> None:
    sql = "CREATE TABLE adf_equal (a TEXT)"
    assert read(sql) is read(sql)
    assert read(sql) is not read("CREATE TABLE adf_equal (a INTEGER)")
    assert read("CREATE TABLE adf_equal (a INTEGER)").tables["adf_equal"].columns["a"].type == "INTEGER"


def test_only_so_many_structures_are_remembered() -> None:
    for number in range(structure.KEPT + 5):
        read(f"CREATE TABLE adf_many_{number} (a TEXT)")
    assert len(structure._KNOWN) == structure.KEPT


def test_a_very_long_schema_is_read_and_not_remembered() -> None:
    sql = f"CREATE TABLE adf_long (a TEXT DEFAULT '{'x' * structure.LARGEST_KEPT}')"
    assert read(sql).tables["adf_long"].columns["a"].name == "a"
    assert read(sql) is not read(sql)


@pytest.mark.parametrize(
    ("sql", "tokens"),
    [
        ("a-- b\n c", ("a", "c")),
        ("'it''s' \"q\"\"q\" [b r] `t``t`", ("'it''s'", '"q""q"', "[b r]", "`t``t`")),
        ("x/* ' */=1", ("x", "=", "1")),
        ("CHECK(id=1)", ("CHECK", "(", "id", "=", "1", ")")),
    ],
)
def test_sql_text_is_split_as_sqlite_reads_it(sql: str, tokens: tuple[str, ...]) -> None:
    assert structure.tokens(sql) == tokens
