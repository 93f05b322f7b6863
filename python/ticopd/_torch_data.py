"""Where an agent's batches come from: samples by number, or a loader of the user's."""

from __future__ import annotations

import hashlib
from typing import Any, Iterator, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset
from torch.utils.data.dataloader import default_collate

from ._session import described

Array = npt.NDArray[Any]


class Samples:
    """The samples of an agent, by number."""

    def __init__(self, data: Any, what: str) -> None:
        self.data = data
        self.tensors: Optional[Tuple[Tensor, ...]] = None
        if isinstance(data, TensorDataset):
            self.tensors = data.tensors
        elif isinstance(data, Subset) and isinstance(data.dataset, TensorDataset):
            index = torch.as_tensor(data.indices)
            self.tensors = tuple(t[index] for t in data.dataset.tensors)
        self.length = len(data)
        if self.length < 1:
            raise ValueError(f"{what}: it has no samples")

    def batch(self, numbers: Array) -> Any:
        if self.tensors is not None:
            index = torch.from_numpy(numbers)
            return [torch.index_select(t, 0, index) for t in self.tensors]
        return default_collate([self.data[int(i)] for i in numbers])

    def chunks(self, size: int) -> Iterator[Tuple[Any, int]]:
        """All samples in order, in parts, each with its number of samples."""
        for first in range(0, self.length, size):
            end = min(first + size, self.length)
            if self.tensors is not None:
                yield [t[first:end] for t in self.tensors], end - first
            else:
                yield default_collate([self.data[i] for i in range(first, end)]), end - first

    def fingerprint(self) -> Optional[str]:
        """A checksum of the samples; None if they are not plain tensors."""
        if self.tensors is None:
            return None
        checksum = hashlib.sha256()
        for t in self.tensors:
            try:
                array = t.detach().contiguous().numpy()
            except (AttributeError, TypeError, RuntimeError):  # a type that NumPy has not, sparse
                return None
            checksum.update(f"{array.dtype} {array.shape}".encode())
            if array.size:
                checksum.update(array.reshape(-1).view(np.uint8))
        return checksum.hexdigest()[:32]


class Loader:
    """A DataLoader, which makes the batches itself."""

    def __init__(self, loader: Any, what: str) -> None:
        if isinstance(loader.dataset, IterableDataset):
            raise TypeError(f"{what}: an IterableDataset has no length; use a Dataset that has one")
        self.loader = loader
        self.length = len(loader.dataset)
        if self.length < 1:
            raise ValueError(f"{what}: it has no samples")
        own = loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1
        self.batch_size = min(int(own), self.length)
        self.what = what


class Stream:
    """A loader's batches for one run, one after the other; at its end it starts anew."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._iterator: Any = None
        self._latest: Any = (None, None)  # the last round and its batch

    def batch(self, round: int) -> Any:
        """The batch of this round; the same one if it is asked for again."""
        if self._latest[0] != round:
            self._latest = (round, self._next())
        return self._latest[1]

    def _next(self) -> Any:
        for _ in range(2):
            if self._iterator is None:
                self._iterator = iter(self._loader.loader)
            batch = next(self._iterator, None)
            if batch is not None:
                return batch
            self._iterator = None
        raise ValueError(
            f"{self._loader.what}: the loader gives no batch; has it drop_last=True, and fewer "
            "samples than a batch?"
        )


Source = Union[Samples, Loader]


def samples_from(data: Any, what: str) -> Samples:
    if isinstance(data, (tuple, list)) and data and all(isinstance(t, Tensor) for t in data):
        lengths = {len(t) for t in data}
        if len(lengths) > 1:
            raise ValueError(f"{what}: tensors of {sorted(lengths)} samples; they must agree")
        data = TensorDataset(*data)
    if isinstance(data, DataLoader):
        data = data.dataset
    if isinstance(data, IterableDataset):
        raise TypeError(f"{what}: an IterableDataset has no length; use a Dataset that has one")
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__") or isinstance(data, Tensor):
        raise TypeError(
            f"{what}: {described(data)}; allowed is a Dataset with a length, or a tuple of tensors"
        )
    return Samples(data, what)


def source_of(data: Any, agent: int) -> Source:
    what = f"datasets[{agent}]"
    if isinstance(data, DataLoader):
        return Loader(data, what)
    return samples_from(data, what)


def samples_of(source: Source) -> Samples:
    return source if isinstance(source, Samples) else Samples(source.loader.dataset, "datasets")
