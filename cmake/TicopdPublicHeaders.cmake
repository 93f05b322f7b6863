# The headers that are installed: what programs may include, and what those headers include in turn.
# All others are private. tests/floors holds the list closed under #include, and the command line and the
# examples to it; tests/install compiles each alone.
set(TICOPD_PUBLIC_HEADERS
  algorithms/all.hpp algorithms/any_run.hpp algorithms/compatibility.hpp
  algorithms/parameter.hpp algorithms/registry.hpp algorithms/run_factory.hpp algorithms/table.hpp
  bytes.hpp error.hpp option.hpp plugin.hpp table.hpp ticopd.hpp
  codecs/bit_stream.hpp codecs/codec.hpp codecs/source.hpp codecs/table.hpp
  cuda/cuda.hpp cuda/gradients/problem.hpp
  data/dataset.hpp data/fetch.hpp data/layout_bytes.hpp data/reading.hpp data/source.hpp
  data/table.hpp
  experiment/agent_history.hpp experiment/analysis.hpp experiment/audit.hpp experiment/byte_counts.hpp
  experiment/claim.hpp
  experiment/config.hpp experiment/experiment.hpp experiment/folder.hpp experiment/prepare.hpp
  experiment/recording.hpp experiment/run_set.hpp experiment/schema.hpp experiment/session.hpp
  graph/graph.hpp graph/link_schedule.hpp graph/mixing.hpp
  kernels/activation.hpp kernels/gemm.hpp kernels/kernel.hpp kernels/lanes.hpp
  live/live_page.hpp
  network/any_network.hpp network/channel_noise.hpp network/cpu.hpp network/field.hpp
  network/ledger.hpp network/metric_scope.hpp network/mirror.hpp network/network.hpp
  network/operand.hpp network/placement.hpp network/routes.hpp network/row_metrics.hpp
  numeric/noise.hpp numeric/parse_number.hpp numeric/seed.hpp
  objectives/external.hpp objectives/linear.hpp objectives/model.hpp objectives/objective.hpp
  objectives/options.hpp objectives/registry.hpp
  objectives/sample_problem.hpp objectives/shards.hpp
  report/groups.hpp report/line.hpp report/report.hpp report/series.hpp report/text.hpp
  run/log_rounds.hpp run/machine.hpp run/measure.hpp run/metrics.hpp run/own_metrics.hpp run/run.hpp run/setup.hpp
  run/solve.hpp
  sim/faults.hpp sim/play.hpp site/network.hpp site/shared_bytes.hpp site/world.hpp
  studies/comparison.hpp studies/search.hpp studies/simulation.hpp
  system/clock.hpp system/cores.hpp system/descriptor.hpp system/file.hpp system/json.hpp system/plugins.hpp
  system/pool.hpp system/program.hpp system/stopping.hpp system/text.hpp system/widest_vectors.hpp
  theory/contraction.hpp theory/theorem.hpp
  transport/collective.hpp transport/frame.hpp transport/mpi.hpp transport/peer.hpp
  transport/plugin.hpp transport/processes.hpp transport/table.hpp transport/traffic.hpp transport/transport.hpp
  tune/axes.hpp tune/halving.hpp tune/space.hpp tune/tune.hpp)

# An algorithm of the table is public: a new one needs no line here.
file(STRINGS ${PROJECT_SOURCE_DIR}/ticopd/algorithms/all.hpp lines REGEX "^#include \"ticopd/algorithms/")
list(TRANSFORM lines REPLACE "#include \"ticopd/(.*)\"" "\\1")
list(APPEND TICOPD_PUBLIC_HEADERS ${lines})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ticopd/algorithms/all.hpp)
