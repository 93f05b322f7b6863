"""The cost of going from one process to two ranks."""

from side import Side, say, take_turns
from table import cores, for_information, not_here

WEAK = "weak scaling: an iteration of 5 agents on 1 rank over one of 10 on 2 ranks, 1 thread each"
ROUND = "a round without its gradients, n = 10, d = 79,510: 2 ranks over one process with 2 threads"
FRAME = "a frame across a rank boundary over a message of that length by MPI alone"


def mpirun(build):
    """The mpirun of the MPI that the build found."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("MPIEXEC_EXECUTABLE:"):
            return line.split("=", 1)[1]
    return "mpirun"


def start(options, *arguments):
    """Ranks are not bound, since rank 0 also runs the single process for comparison, on all processors."""
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_MCA_hwloc_base_binding_policy": "none"}
    return Side("bench_ranks", [mpirun(options.build), "-n", 2, options.build / "bench/bench_ranks",
                                *arguments], environment)


def weak_scaling_row(side):
    first, second, apart, together = (side.median(q) / side.about["paper_rounds"]
                                      for q in ("first_half", "second_half", "apart", "together"))
    one = (first + second) / 2
    return for_information(WEAK, f"{one / together:.3f}",
                           f"{one:.1f} ms ({first:.1f} and {second:.1f}, either half) over {together:.1f}; "
                           f"two ranks that never speak reach {one / apart:.3f}")


def boundary_rows(side, pings):
    process, ranks = (side.median(q) / side.about["drift_rounds"] for q in ("process", "ranks"))
    message = pings.median("ping") / pings.about["messages"]
    frame = (ranks - process) / 2  # each rank sends two frames and receives two, at the same time
    return [for_information(ROUND, f"{ranks / process:.2f} x", f"{ranks:.3f} ms over {process:.3f}"),
            for_information(FRAME, f"{frame / message:.1f} x",
                            f"{1e3 * frame:.0f} us over {1e3 * message:.0f}, "
                            f"{side.about['frame_bytes']:,} bytes, {side.about['library']}, one machine")]


def ranks_figures(options):
    if not (options.build / "bench/bench_ranks").is_file():
        return [not_here(what, "", "built without MPI") for what in (WEAK, ROUND, FRAME)]
    if cores() < 2:
        return [not_here(what, "", "one core") for what in (WEAK, ROUND, FRAME)]
    say("One process and two ranks, in turns:")
    side = start(options, "--folder", options.points)
    pings = start(options, "--ping", side.about["frame_bytes"])
    take_turns([(side, q) for q in ("first_half", "apart", "together", "second_half", "process", "ranks")]
               + [(pings, "ping")], options.repeats)
    return [weak_scaling_row(side)] + boundary_rows(side, pings)
