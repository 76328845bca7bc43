"""Changes of a configuration by path, and what an agent may not change of its own (config.md 7). Pure."""
