"""Where the files of a workspace lie (MEM-001, MEM-002)."""

MEMORY, ACTIVE, TASKS = "MEMORY.md", "memory/active_context.md", "memory/pending_tasks.json"
STATE, OLD_STATE = "memory/distillation-state.json", "memory/heartbeat-state.json"
CHANNELS = "memory/channel_context"
