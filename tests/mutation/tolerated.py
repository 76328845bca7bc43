"""Mutations that nothing reports, and why that is right: patterns of `<version>/<id>`, each with its reason.

Every mutation that a pattern names must go unnoticed, and every pattern must name one: an entry that is no longer
needed, or that says too much, fails the tests.
"""

from __future__ import annotations

UNKNOWN_KEY = "readers accept and writers keep keys that they do not know (STO-016)"
OPTIONAL_KEY = "the key is optional: runtimes of other releases, or before a first event, do not write it (STO-038)"
TURN = "nobody has to speak in turns: rows of the same role may follow each other (ROW-003, ROW-020)"
MOVED = "the row is as good in the other loop: nothing but the column says where it belongs (STO-034)"
SAME_SHAPE = "received and sent messages have the same shape, and nothing else tells them apart (AUD-025)"
PAST_LOOP = "a snapshot of a loop that was deleted is legal (CLS-007), and its rows do not name the loop (AUD-021)"
OLD_NAME = "a bare loop stands for the main loop, and may stay in a newer file (AUD-006)"

TOLERATED: dict[str, str] = {
    "*/json/*/unknown-key": UNKNOWN_KEY,
    "*/config/adapters/email/config/unknown-key": "an adapter's settings belong to the adapter (CFG 2.12)",
    "*/config/adapters/discord/config/unknown-key": "an adapter's settings belong to the adapter (CFG 2.12)",
    "*/config/adapters/slack/config/unknown-key": "an adapter's settings belong to the adapter (CFG 2.12)",
    "*/config/loops/0/model/deprecated:vision": "fresh files of every release hold it in their main model (CFG 2.2)",
    **{
        f"*/meta/removed/{key}": OPTIONAL_KEY
        for key in (
            "adf_attestations",
            "adf_clean_close",
            "adf_created_at",
            "adf_did",
            "adf_did_history",
            "adf_effective_runtime",
            "adf_handle",
            "adf_loop_tools_backfilled",
            "adf_name",
            "adf_owner_did",
            "adf_parent_did",
            "adf_runtime_did",
            "adf_runtime_turn_checkpoint",
            "adf_template_description",
            "adf_template_shipped",
            "adf_template_warning",
            "adf_updated_at",
            "context_baseline_tokens",
            "runtime_loop",
            "runtime_umbilical_next_seq",
            "status",
        )
    },
    "*/audit/source:outbox_message/inbox_message:*": SAME_SHAPE,
    "*/audit/source:inbox_message/outbox_message:*": SAME_SHAPE,
    "*/audit/source:loop:other/loop:*": PAST_LOOP,
    "*/audit/source:loop/loop:main:1": OLD_NAME,
    "2?/transcript/role-swapped:user-text/1*": TURN,
    "32/transcript/role-swapped:user-text/1[08]": TURN,
    "32/transcript/loop-moved:*:user-text/1[08]": MOVED,
    "32/transcript/loop-moved:gardener:assistant-text/19": MOVED,
    "32/transcript/loop-moved:*:context/14": MOVED,
}
