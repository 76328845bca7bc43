"""The reference runtime: runs the agent in an `.adf`. docs/runtime.md is the way in."""
