"""The tools that a model may call, one module each, behind one door (`checks.run`)."""
