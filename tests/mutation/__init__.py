"""Every single-fault mutation of a valid file is caught, or tolerated on purpose."""
