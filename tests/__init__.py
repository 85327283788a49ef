"""The tests; a package, so that `tests.reference` means this one and no other."""
