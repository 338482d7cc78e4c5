"""The names of HPCFAIR's papers (Verma et al. 2021, Yu et al. 2022), as thin aliases of `sabath`.

    >>> from hpcfair import hpcfair_model as model
    >>> from hpcfair import hpcfair_dataset as dataset
    >>> from hpcfair import modelAPI

A name whose verb SABATH does not have yet raises sabath.NotYet, which names the verb.
"""

from . import hpcfair_dataset, hpcfair_model
from .api import modelAPI

__all__ = ["hpcfair_dataset", "hpcfair_model", "modelAPI"]
