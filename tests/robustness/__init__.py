"""Whatever the bytes of a file: findings or one clear refusal, never a crash, a hang or a flood."""
