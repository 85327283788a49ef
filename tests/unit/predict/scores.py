"""Scores of one group of draws."""

from franchise.predict.heldout import completion_densities, left_to_right_densities


def document_completion(draws, corpus, **options):
    """Score half of each document, given the other half."""
    return completion_densities([draws], corpus, **options).held_out([1.0])


def left_to_right(draws, corpus, **options):
    """Score whole documents."""
    return left_to_right_densities([draws], corpus, **options).held_out([1.0])
