"""What an agent keeps: the mind inside an `.adf`, and adaptive-memory workspaces (seeds 000 and 001)."""
