"""This library compared with other programs: one interface, one score, CPU seconds of own work."""
