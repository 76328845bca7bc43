"""From daily notes to long-term memory: when it is due, what is gathered, what may be committed (MEM-090 to 100)."""
