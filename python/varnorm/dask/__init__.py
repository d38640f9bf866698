"""Long work on many machines, by Dask: Gram matrices by blocks, fits and scores of data that fit no memory, studies.

    from dask.distributed import Client, LocalCluster
    import varnorm.dask

    client = Client(LocalCluster())
    matrix = varnorm.dask.gram("gak", X, normalize=True, layout="ntd")

Any client will do (LocalCluster, dask-jobqueue, Kubernetes); without one, Dask's current scheduler works. Results are the same
bits as those of the plain calls. Needs `pip install varnorm[dask]`.
"""

try:
    import dask as _dask  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as missing:
    raise ImportError(f"varnorm.dask needs dask and distributed ({missing}); install them with: pip install varnorm[dask]") from None

from ._fit import fit
from ._gram import gram
from ._score import score
from ._study import study

__all__ = ["fit", "gram", "score", "study"]
