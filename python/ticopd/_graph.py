"""Graphs: who is whose neighbour."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._errors import ConfigError
from ._values import plain, whole
from ._words import not_allowed

Edge = Tuple[int, int]


class Graph:
    """Who is whose neighbour: a kind of graph, the number of agents, and options.

    Made by `ticopd.graph` or by a function for each kind, such as `ticopd.ring(8)`. `agents` may
    be left out: then a run takes it from the objective. Options of all kinds: `weights`
    ("metropolis" or "lazy_metropolis", the matrix W) and `drop` (the chance that an edge is
    inactive in a round).
    """

    __slots__ = ("_table",)

    def __init__(self, kind: str, agents: Optional[int] = None, **options: Any) -> None:
        if not isinstance(kind, str):
            raise TypeError(f"graph.kind = {kind!r}: allowed is a text such as 'ring'")
        table: Dict[str, Any] = {"kind": kind}
        if agents is not None:
            table["agents"] = whole(agents, "graph.agents")
            if table["agents"] < 1:
                raise ConfigError(f"graph.agents = {agents}: allowed is a whole number from 1")
        for key, value in options.items():
            if value is not None:
                table[key] = plain(value, f"graph.{key}")
        self._table = table

    @property
    def kind(self) -> str:
        """The name of the kind, such as "ring"."""
        return str(self._table["kind"])

    @property
    def agents(self) -> Optional[int]:
        """How many agents there are; None: as many as the objective has."""
        agents = self._table.get("agents")
        return None if agents is None else int(agents)

    @property
    def options(self) -> Dict[str, Any]:
        """The options that were given."""
        return {key: item for key, item in self._table.items() if key not in ("kind", "agents")}

    def to_config(self) -> Dict[str, Any]:
        """The table [graph] of a config."""
        return dict(self._table)

    def __repr__(self) -> str:
        parts = [repr(self.kind)]
        parts += [f"{key}={item!r}" for key, item in self._table.items() if key != "kind"]
        return f"graph({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self._table == other._table

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._table.items())))

    def __reduce__(self) -> Any:
        return _from_table, (dict(self._table),)


def _from_table(table: Dict[str, Any]) -> Graph:
    return Graph(**table)


def graph(kind: str, agents: Optional[int] = None, **options: Any) -> Graph:
    """A graph by the name of its kind.

    >>> ticopd.graph("erdos_renyi", agents=20, p=0.3)
    graph('erdos_renyi', agents=20, p=0.3)
    """
    known = table_of_graphs()
    if isinstance(kind, str) and kind not in known:
        raise ConfigError(not_allowed("graph.kind", kind, list(known)))
    return Graph(kind, agents, **options)


def table_of_graphs() -> Sequence[str]:
    from . import graphs

    return graphs.KINDS


def edges(
    pairs: Iterable[Tuple[int, int]],
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """The graph of these edges (i, j). Agents count from 0; left out: as many as are named.

    >>> ticopd.edges([(0, 1), (1, 2), (2, 0), (2, 3)]).agents
    4
    """
    seen: Dict[Edge, None] = {}
    for pair in pairs:
        try:
            first, second = pair
        except (TypeError, ValueError):
            raise TypeError(f"graph.edges: {pair!r} is no edge; an edge is a pair (i, j)") from None
        i, j = whole(first, "graph.edges"), whole(second, "graph.edges")
        if i < 0 or j < 0:
            raise ConfigError(f"graph.edges: edge ({i}, {j}): agents count from 0")
        if i == j:
            raise ConfigError(f"graph.edges: edge ({i}, {j}) is a self-loop")
        edge = (min(i, j), max(i, j))
        if edge in seen:
            raise ConfigError(f"graph.edges: edge {edge} is given twice")
        seen[edge] = None
    named = 1 + max((j for _, j in seen), default=-1)
    count = named if agents is None else whole(agents, "graph.agents")
    if count < max(1, named):
        raise ConfigError(
            f"graph.agents = {count}: the edges name agent {named - 1}"
            if named
            else "graph.edges: there are none; give at least one edge, or agents=1"
        )
    text = " ".join(f"{i}-{j}" for i, j in seen)
    return Graph("edges", count, edges=text, weights=weights, drop=drop)


def from_adjacency(matrix: Any, **options: Any) -> Graph:
    """The graph of a 0/1 adjacency matrix: symmetric, with a zero diagonal.

    >>> ticopd.from_adjacency([[0, 1], [1, 0]]).agents
    2
    """
    if hasattr(matrix, "toarray"):
        matrix = matrix.toarray()
    a = np.asarray(matrix)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.shape[0] == 0:
        raise ConfigError(f"graph: an adjacency matrix is square; given is the shape {a.shape}")
    if a.dtype.kind not in "biuf":
        raise ConfigError(f"graph: an adjacency matrix has the numbers 0 and 1, not {a.dtype}")
    wrong = np.argwhere((a != 0) & (a != 1))
    if len(wrong):
        i, j = wrong[0]
        raise ConfigError(f"graph: entry [{i}, {j}] = {a[i, j]}: allowed are 0 and 1")
    loops = np.flatnonzero(np.diagonal(a))
    if len(loops):
        raise ConfigError(
            f"graph: entry [{loops[0]}, {loops[0]}] = 1: the diagonal is zero, no agent is its own "
            "neighbour"
        )
    lopsided = np.argwhere(a != a.T)
    if len(lopsided):
        i, j = lopsided[0]
        raise ConfigError(
            f"graph: entry [{i}, {j}] = {a[i, j]} and [{j}, {i}] = {a[j, i]}: the matrix is "
            "symmetric, links go both ways"
        )
    return edges(zip(*(side.tolist() for side in np.nonzero(np.triu(a)))), len(a), **options)


def from_networkx(given: Any, **options: Any) -> Graph:
    """The graph of an undirected networkx graph.

    Nodes become agents 0, 1, ... in sorted order, or in the graph's own order if they cannot be
    sorted.
    """
    if given.is_directed():
        raise ConfigError(
            "graph: the networkx graph is directed; links go both ways: to_undirected()"
        )
    if given.is_multigraph():
        raise ConfigError("graph: the networkx graph is a multigraph; take networkx.Graph(it)")
    nodes: List[Any] = list(given.nodes)
    try:
        nodes.sort()
    except TypeError:
        pass
    agent = {node: i for i, node in enumerate(nodes)}
    return edges([(agent[a], agent[b]) for a, b in given.edges], len(nodes) or None, **options)


def as_graph(given: Any, **options: Any) -> Graph:
    """A graph from what a Run takes. `options` (weights, drop) go into graphs made here."""
    options = {key: value for key, value in options.items() if value is not None}
    if isinstance(given, Graph):
        if not options:
            return given
        table = given.to_config()
        table.update(options)
        return Graph(**table)
    if isinstance(given, str):
        kind, colon, number = given.partition(":")
        if not colon:
            return graph(kind, **options)
        try:
            agents = int(number)
        except ValueError:
            raise ConfigError(
                f'graph = "{given}": "{number}" is no number of agents; "ring:8" is a ring of 8'
            ) from None
        return graph(kind, agents, **options)
    if isinstance(given, Mapping):
        table = {"kind": "ring", **given, **options}
        return graph(**table)
    if hasattr(given, "is_directed") and hasattr(given, "nodes"):
        return from_networkx(given, **options)
    if isinstance(given, (np.ndarray, list, tuple)) or hasattr(given, "toarray"):
        return from_adjacency(given, **options)
    raise TypeError(
        f"graph: a {type(given).__name__}; allowed is one such as ticopd.ring(8), 'ring:8', a "
        "networkx graph or an adjacency matrix"
    )
