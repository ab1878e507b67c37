"""What is near: exact retrieval over one set of passages in force.

>>> from evidence_kit.index import Index
>>> index = Index.build(["先停机，再检修", "每周加油一次"])
>>> [(hit.id, round(hit.score, 6)) for hit in index.search("怎样检修？")]
[(0, 2.120755)]
"""

from evidence_kit.index.errors import (
    DamagedIndexError,
    IndexFormatError,
    IndexInputError,
    IndexWriteError,
    MissingPackageError,
)
from evidence_kit.index.index import Hit, Index
from evidence_kit.index.weighting import Bm25, Cosine

__all__ = [
    "Bm25",
    "Cosine",
    "DamagedIndexError",
    "Hit",
    "Index",
    "IndexFormatError",
    "IndexInputError",
    "IndexWriteError",
    "MissingPackageError",
]
