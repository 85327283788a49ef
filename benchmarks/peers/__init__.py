"""This library beside other programs: one interface, one score, CPU seconds of each one's own work."""
