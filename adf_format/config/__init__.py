"""Configuration of an agent and its loops: pure functions over the decoded `config_json`."""
