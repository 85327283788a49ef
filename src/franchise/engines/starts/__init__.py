"""Where chains begin: one implementation for every engine.

``starting_topics`` draws the first topic of every word; ``given_topics`` holds topics that the user gives.
The other modules find topics in the documents. ``sample`` chooses documents, ``em`` fits topics to them, and
``consensus`` finds the topics that short runs agree on. For count tables (``tables``), ``number_of_topics``
chooses the first number of topics, ``dispersion`` measures how much counts vary together, ``table_fits``
holds the fits that both need, and ``unexplained`` adds topics to a fit. The result depends on the documents,
eta and the seed, but not on the engine or threads; the order of the documents changes it only by chance.
"""
