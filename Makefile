# The two commands of the README and those for developers. Each first installs missing packages.
# JOBS=N limits the build; WERROR=ON makes warnings errors (as in CI), and stays so in that build folder
# until WERROR=OFF: a switch to and fro would compile everything again.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
# Many tests wait for other processes, so a few more run at once than there are processors.
TEST_JOBS ?= $(shell expr $(JOBS) + $(JOBS) / 2)
WERROR ?= $(if $(CI),ON)
CMAKE_FLAGS = $(if $(WERROR),-DTICOPD_WERROR=$(WERROR))
.DEFAULT_GOAL := help

.PHONY: help build python demo figure test test-all asan tsan fuzz fuzz-count sanitize-cuda bench docs tidy format clean
help:
	@echo 'make demo       build, fetch MNIST, watch ten agents train (a few minutes)'
	@echo 'make test       build and run the tests'
	@echo 'make figure     draw the figure of the paper from shorter runs (about 15 minutes)'
	@echo 'make build      build the program: build/release/ticopd'
	@echo 'make python     build the Python package into a virtual environment: build/python/bin/python'
	@echo 'make test-all   also run the long tests, sanitizers and fuzzing (some hours)'
	@echo 'make bench      measure speed, relative to a named peer'

build:
	@tools/install_packages build
	@cmake --preset release $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset release --parallel $(JOBS) --target ticopd

# The environment is of this Python, and sees its packages, NumPy among them.
PYTHON ?= /usr/bin/python3
python:
	@tools/install_packages build python
	@cmake --preset release $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset release --parallel $(JOBS) --target ticopd_c ticopd
	@tools/python_environment $(PYTHON)
	@echo 'build/python/bin/python has ticopd now'

demo: build
	@build/release/ticopd demo

# ITERATIONS is the length of each of the thirteen runs. If stopped, it continues when called again.
ITERATIONS ?= 1200
figure: build
	@build/release/ticopd compare experiments/paper_figure.toml --set iterations=$(ITERATIONS) \
	  --out runs/figure-$(ITERATIONS) --resume

test:
	@tools/install_packages build test python python_test
	@cmake --preset release $(CMAKE_FLAGS) -DTICOPD_PYTHON=$(PYTHON) > /dev/null
	@cmake --build --preset release --parallel $(JOBS)
	@tools/python_environment $(PYTHON)
	@build/release/ticopd data fetch mnist > /dev/null
	@ctest --preset release --parallel $(TEST_JOBS)

test-all: test asan tsan fuzz
	@cmake --build --preset release --parallel $(JOBS) --target test_planted
	@ctest --test-dir build/release --label-regex slow --output-on-failure

asan tsan:
	@tools/install_packages build test
	@cmake --preset $@ $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset $@ --parallel $(JOBS)
	@ctest --preset $@ --parallel $(JOBS)

# Runs each target for FUZZ_SECONDS, starting from fuzz/corpus. Findings go to build/fuzz/found.
FUZZ_SECONDS ?= 120
fuzz:
	@tools/install_packages build fuzz
	@cmake --preset fuzz $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset fuzz --parallel $(JOBS)
	@fuzz/run build/fuzz $(FUZZ_SECONDS)

# What a release is measured by: so many runs of each bare decoder, of messages between sites and of each
# reader of files, without a finding. Takes three hours on two cores. Run `make fuzz` before: its inputs lead deeper.
DECODER_RUNS ?= 100000000
READER_RUNS ?= 10000000
fuzz-count:
	@tools/install_packages build test
	@cmake --preset hammer $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset hammer --parallel $(JOBS) --target hammer hammer_read hammer_checkpoint \
	  hammer_messages hammer_session hammer_site_checkpoint
	@build/hammer/tests/hammer $(DECODER_RUNS) fuzz/corpus/decode
	@fuzz/count build/hammer $(DECODER_RUNS) $(JOBS) messages session
	@fuzz/count build/hammer $(READER_RUNS) $(JOBS)

# Needs a GPU and compute-sanitizer (part of the CUDA toolkit). Takes about half an hour.
sanitize-cuda:
	@cmake --preset cuda $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset cuda --parallel $(JOBS) --target test_cuda
	@for tool in memcheck racecheck; do \
	  python3 tests/cuda/sanitize.py build/cuda/tests/test_cuda --tool $$tool || exit; done

bench: python
	@tools/install_packages build bench
	@build/release/ticopd data fetch mnist > /dev/null
	@cmake --preset bench $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset bench --parallel $(JOBS)
	@/usr/bin/python3 bench/run.py --write
	@if [ -x build/bench/bench/bench_cuda ] && nvidia-smi > /dev/null 2>&1; then \
	  python3 bench/cuda/figures.py build/bench/bench/bench_cuda $${XDG_CACHE_HOME:-$$HOME/.cache}/ticopd/mnist; \
	else echo 'CUDA figures: skipped, no GPU found'; fi

# The tables of docs/ that come from the library.
docs:
	@cmake --preset release $(CMAKE_FLAGS) > /dev/null
	@cmake --build --preset release --parallel $(JOBS) --target write_docs
	@build/release/tests/write_docs docs/configuration.md

# The checks of .clang-tidy over the library and the command line, and mypy's over the Python package.
tidy:
	@tools/install_packages build tidy python python_test
	@/usr/bin/python3 -m mypy
	@JOBS=$(JOBS) tools/tidy

format:
	@git ls-files "*.cpp" "*.hpp" "*.cu" "*.cuh" | xargs clang-format -i

clean:
	@rm -rf build
