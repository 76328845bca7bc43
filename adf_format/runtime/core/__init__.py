"""The runtime as pure state machines: states are data, events go in, commands come out.

No clock, thread, file or model in here: the edge carries out what these machines say and tells them what came of it.
"""
