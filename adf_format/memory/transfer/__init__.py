"""Between the two forms: a workspace into an `.adf` and back, lossless for originals (MEM-180 to MEM-190)."""
