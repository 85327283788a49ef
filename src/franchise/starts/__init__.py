"""Where chains begin: topics found in the documents, one implementation for every engine.

``sample`` chooses documents, ``em`` fits topics to them. All of it follows from the documents, eta and the
seed; nothing depends on the engine, on threads, or on more than chance in the order of the documents.
"""

from franchise.starts.em import first_topics

__all__ = ["first_topics"]
