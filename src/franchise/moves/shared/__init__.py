"""Shared by the moves: working memory, anchors and allocation of split-merge, seating."""
