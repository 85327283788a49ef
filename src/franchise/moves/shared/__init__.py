"""What the moves share: working memory, anchors and allocation of split-merge, the index of tables."""
