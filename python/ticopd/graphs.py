"""The graphs, a function for each.

Made by `python -m ticopd._generate` from the tables of the library; do not edit.
"""

from __future__ import annotations

from typing import Optional

from ._graph import Graph, edges


def ring(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Every agent has two neighbours.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("ring", agents, weights=weights, drop=drop)


def path(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """A ring cut open.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("path", agents, weights=weights, drop=drop)


def star(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Agent 0 is everyone's only neighbour.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("star", agents, weights=weights, drop=drop)


def complete(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Everyone is everyone's neighbour.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("complete", agents, weights=weights, drop=drop)


def grid(
    agents: Optional[int] = None,
    *,
    rows: Optional[int] = None,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """A rectangular lattice.

    Args:
        agents: how many there are; left out: as many as the objective has.
        rows: 0: the squarest; a whole number from 0 to 1000000; left out: 0.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("grid", agents, rows=rows, weights=weights, drop=drop)


def torus(
    agents: Optional[int] = None,
    *,
    rows: Optional[int] = None,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """A grid closed in both directions.

    Args:
        agents: how many there are; left out: as many as the objective has.
        rows: 0: the squarest; a whole number from 0 to 1000000; left out: 0.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("torus", agents, rows=rows, weights=weights, drop=drop)


def hypercube(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Neighbours differ in one bit of their number; a power of two of agents.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("hypercube", agents, weights=weights, drop=drop)


def exponential(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Agent i beside i +- 2^k, undirected.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("exponential", agents, weights=weights, drop=drop)


def erdos_renyi(
    agents: Optional[int] = None,
    *,
    p: Optional[float] = None,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Each pair linked with chance p; connected, seeded.

    Args:
        agents: how many there are; left out: as many as the objective has.
        p: chance of an edge; above 0, at most 1; left out: 0.4.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("erdos_renyi", agents, p=p, weights=weights, drop=drop)


def geometric(
    agents: Optional[int] = None,
    *,
    radius: Optional[float] = None,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Points of the unit square linked up to the radius; connected, seeded.

    Args:
        agents: how many there are; left out: as many as the objective has.
        radius: in the unit square; above 0; left out: 0.5.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("geometric", agents, radius=radius, weights=weights, drop=drop)


def random_edge(
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """Everyone may meet everyone, but only one pair does each round.

    Args:
        agents: how many there are; left out: as many as the objective has.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("random_edge", agents, weights=weights, drop=drop)


def edge_list(
    path: str,
    agents: Optional[int] = None,
    *,
    weights: Optional[str] = None,
    drop: Optional[float] = None,
) -> Graph:
    """An edge list, `i j` per line; agents from 0.

    Args:
        path: the file.
        agents: how many there are; left out: as many as the file names.
        weights: W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W)
            / 2; one of "metropolis", "lazy_metropolis".
        drop: the chance that an edge is inactive in a round; both ends know it from seed and
            round; 0 to 0.99.
    """
    return Graph("file", agents, path=path, weights=weights, drop=drop)


KINDS = (
    "ring",
    "path",
    "star",
    "complete",
    "grid",
    "torus",
    "hypercube",
    "exponential",
    "erdos_renyi",
    "geometric",
    "random_edge",
    "file",
    "edges",
)

__all__ = [
    "ring",
    "path",
    "star",
    "complete",
    "grid",
    "torus",
    "hypercube",
    "exponential",
    "erdos_renyi",
    "geometric",
    "random_edge",
    "edge_list",
    "edges",
]
