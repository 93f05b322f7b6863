# The fuzz targets, and the files that some of them need beside fuzz_NAME.cpp.
set(fuzz_targets checkpoint decode frame levels messages mirror read session site_checkpoint)
set(more_of_checkpoint checkpoint_edits.cpp script.cpp)
set(more_of_messages script.cpp)
set(more_of_read read_data.cpp read_runs.cpp read_sites.cpp)
set(more_of_session script.cpp)
set(more_of_site_checkpoint site_edits.cpp script.cpp)
# Those of which hammer_NAME makes many runs.
set(hammer_targets checkpoint messages read session site_checkpoint)
