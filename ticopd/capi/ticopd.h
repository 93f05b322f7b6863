/* ticopd's C interface: what Python stands on, and what Julia, R or Rust can stand on too.
 *
 * Functions return TC_OK or an error code, and then tc_message() has the reason. Nothing is thrown
 * and nothing is printed. Configs, tables and results are JSON in UTF-8; a `char **` result belongs
 * to the caller, who gives it back with tc_free. Loading the library starts nothing.
 *
 * A run with an objective of the caller's own never calls back: it asks. tc_run_next returns
 * TC_ASKS and a question, the caller writes the answer where the question points and calls
 * tc_run_next again. So no frame of the library is ever below the caller's code, and an exception,
 * a debugger or Ctrl-C there needs no care: a question that was not answered is asked again.
 *
 * A handle may be used by one thread at a time; a second one gets TC_USAGE. After a fork every call
 * with a handle of the parent returns TC_USAGE in the child, and the close functions do nothing. A
 * handle is a number and no address: one that was closed, or is of another kind, is TC_USAGE, too, and
 * to close it again does nothing. Another thread may close a handle that is in use: the wait there
 * ends with TC_USAGE, and what its question pointed to is gone.
 *
 * examples/c_interface.c is a whole program. */
#ifndef TICOPD_CAPI_TICOPD_H
#define TICOPD_CAPI_TICOPD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Functions and fields are only added while it stays the same: check
 * tc_abi() == TC_ABI after loading. */
#define TC_ABI 1
int tc_abi(void);
const char *tc_version(void); /* "0.2.0" */

/* What functions return. Errors have the exit codes of the command line. */
enum {
  TC_OK = 0,
  TC_ASKS = 1,           /* tc_run_next: here is a question */
  TC_WAIT = 2,           /* tc_run_next: still computing when the time was over */
  TC_USAGE = 64,         /* a call that is not allowed here */
  TC_FORMAT = 65,        /* a damaged file or payload */
  TC_UNAVAILABLE = 69,   /* a device, service or data set that is not there */
  TC_INTERNAL = 70,      /* a mistake in ticopd */
  TC_DISK = 74,          /* the disk: full, read-only, a missing folder */
  TC_INTERRUPTED = 75,   /* stopped before the end, or another rank was lost */
  TC_DIVERGED = 76,      /* the models grew without bound */
  TC_CONFIG = 78         /* a config that cannot be run */
};

/* Why the last call of this thread failed; valid until its next call. Never null. */
const char *tc_message(void);
void tc_free(void *text);

/* -- What there is ----------------------------------------------------------------------------- */

/* Algorithms, codecs, graphs, objectives, metrics and config keys with their options, defaults,
 * ranges and help. */
int tc_tables(char **json);
/* The JSON Schema of a config. */
int tc_schema(char **json);

/* -- Configs ----------------------------------------------------------------------------------- */

/* A TOML file with overrides ("codec.bits=4", may be null) as the tree of a config, unchecked:
 * {"config": {...}, "folder": "where relative paths start"}. */
int tc_config_read(const char *file, const char *const *overrides, size_t count, char **json);
/* A config with every key: checked, defaults filled in. Relative paths start at `folder`. */
int tc_config_complete(const char *config, const char *folder, char **json);
int tc_config_to_toml(const char *config, char **toml);

/* -- Rows -------------------------------------------------------------------------------------- */

enum { TC_FLOAT = 4, TC_DOUBLE = 8 }; /* precision: the size of a number */

/* Writes parts into a row, one behind the other: the gradients of a model's tensors, in one pass. A
 * null part is zeros. TC_FORMAT if a number is not finite; all are written then, too. */
int tc_gather(void *row, const void *const *parts, const size_t *counts, size_t number,
              int precision);

/* -- Codecs ------------------------------------------------------------------------------------ */

typedef struct tc_codec tc_codec;

/* `options`: the table [codec] of a config, {"kind": "qsgd", "bits": 4}. */
int tc_codec_open(const char *options, int precision, tc_codec **codec);
void tc_codec_close(tc_codec *codec);
/* The payload of v as one agent sends it at one round on one channel. `*bytes` is valid until the
 * codec's next call. TC_FORMAT if v is not finite. */
int tc_codec_encode(tc_codec *codec, const void *v, size_t d, uint64_t seed, uint32_t round,
                    uint32_t agent, uint16_t channel, const void **bytes, size_t *size);
/* The same into `bytes`, which has room for `size` bytes: exactly the "payload_bytes" of
 * tc_codec_about. TC_USAGE for a codec whose length is not fixed. */
int tc_codec_encode_into(tc_codec *codec, const void *v, size_t d, uint64_t seed, uint32_t round,
                         uint32_t agent, uint16_t channel, void *bytes, size_t size);
/* Decodes a payload to d numbers, under the message id that encoded it. TC_FORMAT if it cannot be
 * one; v is then unspecified. */
int tc_codec_decode(tc_codec *codec, const void *bytes, size_t size, uint64_t seed, uint32_t round,
                    uint32_t agent, uint16_t channel, void *v, size_t d);
/* {"payload_bytes": most bytes for d numbers, "fixed_length": bool, "paper_bits": number,
 *  "unbiased": bool, "relative_error": number, "absolute_error": number} */
int tc_codec_about(const tc_codec *codec, size_t d, char **json);

/* -- Ranks: processes that share a run (mpirun) ------------------------------------------------- */

typedef struct tc_ranks tc_ranks;

/* Joins the other processes that mpirun started. TC_UNAVAILABLE if no mpirun did. */
int tc_ranks_join(double deadline_s, tc_ranks **ranks);
int tc_ranks_size(const tc_ranks *ranks);
int tc_ranks_rank(const tc_ranks *ranks);
/* All ranks succeeded: ends the use of MPI. Every rank calls it. */
int tc_ranks_close(tc_ranks *ranks);
/* This rank failed: the others get `why` as an error of that code at their next wait. Returns after
 * all have heard it (or are lost); `*report` is what rank 0 shall print for all, else empty. Then
 * tc_ranks_leave, and the process must end without MPI: _exit. Print this rank's own error before:
 * mpirun kills all that is left when a rank has ended. */
int tc_ranks_fail(tc_ranks *ranks, int code, const char *why, char **report);
/* After tc_ranks_fail, when this rank has printed the report: rank 0 lets the other ranks end. */
int tc_ranks_leave(tc_ranks *ranks);

/* -- Runs -------------------------------------------------------------------------------------- */

/* An objective of the caller's own, for configs with problem.objective = "external". The sizes are
 * of all agents, of all ranks. Everything is copied. */
typedef struct tc_problem {
  size_t struct_size;       /* sizeof(tc_problem) */
  uint64_t dimension;       /* of a model */
  int32_t agents;
  int32_t has_values;       /* 0: values are never asked for, and losses are not measured */
  const uint64_t *samples;  /* of each agent, for batches; null: it has none */
  uint64_t test_samples;    /* above 0: full metrics ask for accuracies */
  const void *start;        /* the common start, in the run's precision; null: zeros */
  const char *const *fingerprints; /* of each agent's data, so that a resumed run can tell if they
                                      changed; null entries or null: unknown */
  const char *layout;       /* JSON: [["W1", [100, 784]], ...], the parts of a model; null: one */
  const char *const *metrics; /* names of metrics of a model that the caller computes */
  size_t metric_count;
} tc_problem;

typedef struct tc_run tc_run;

/* Makes a run from a config (JSON; relative paths start at `folder`). `problem` and `ranks` may be
 * null. The run lives on a thread of its own. Its set-up may already ask: call tc_run_next until it
 * returns TC_OK, before anything else. */
int tc_run_open(const char *config, const char *folder, const tc_problem *problem, tc_ranks *ranks,
                tc_run **run);
/* Ends the run's thread, whatever it does. */
void tc_run_close(tc_run *run);

enum {
  TC_GRADIENTS = 1, /* f_i and its gradient at the rows x */
  TC_ACCURACY = 2,  /* values[0]: the share of the test samples that the model x gets right */
  TC_METRICS = 3    /* the caller's own metrics: values[row * metric_count + metric] */
};

/* One question about `rows` agents, `first` and those behind it. Row r of x begins at
 * x + r * x_stride numbers; a stride of 0 asks about one model for all of them. */
typedef struct tc_question {
  uint64_t number; /* tc_run_next takes it back with the answer */
  int32_t kind;
  int32_t first, rows;
  uint32_t round;   /* the round that is being made; 0: the set-up */
  const void *x;    /* in the run's precision */
  size_t x_stride;
  void *g;          /* write the gradients here, all of them; null: not wanted */
  size_t g_stride;
  double *values;   /* write the losses here, one for each row; null: not wanted */
  /* The samples to use: agent first + r takes batch[batch_ends[r - 1] ... batch_ends[r] - 1]
   * (from 0 for r = 0). Null: all samples of each. */
  const uint32_t *batch;
  const uint64_t *batch_ends;
  int32_t measuring; /* 1: for a logged row or tc_run_measure; 0: for the round itself */
} tc_question;

/* These begin a piece of work; tc_run_next waits for it. A step that is not finished (a question was
 * left open, or the caller did not wait for its end) is gone on with: it then ends after `rounds`
 * rounds, the one that is being made included; 0: after that one. Other work while the thread
 * computes waits until it asks or ends; if a step has an open question, measure is TC_USAGE and save
 * writes the last snapshot (tc_run_saved_round). */
int tc_run_step(tc_run *run, uint32_t rounds);
int tc_run_measure(tc_run *run, int level); /* 0 rows, 1 local, 2 full; then tc_run_measured */
int tc_run_save(tc_run *run, const char *folder);
int tc_run_resume(tc_run *run, const char *folder); /* before the first step */

/* `answered`: the number of the question that has its answer in place, or 0. Waits up to `seconds`;
 * below 0: as long as it takes.
 * TC_ASKS and a question; TC_WAIT; TC_OK: the work is done; else how it failed. A question that was
 * not answered comes again, with the same number. */
int tc_run_next(tc_run *run, uint64_t answered, double seconds, tc_question *question);
/* The open question of a measurement cannot be answered: it ends with TC_INTERRUPTED. TC_USAGE for
 * a step, which can only go on. */
int tc_run_give_up(tc_run *run);
/* 1 while a step has an open question or computes. The state that tc_run_save then writes is that of
 * an earlier round, and tc_run_saved_round tells which. */
int tc_run_pending(const tc_run *run);
uint32_t tc_run_saved_round(const tc_run *run); /* of the last tc_run_save */

/* The state between two calls; pointers are valid until the next step. While a question is open, x
 * is as the round has left it so far, and the round is the last whole one. */
uint32_t tc_run_round(const tc_run *run); /* allowed at any time */
int tc_run_finished(const tc_run *run);
int tc_run_x(tc_run *run, const void **x, int32_t *first_agent, int32_t *rows, uint64_t *columns);
int tc_run_digest(tc_run *run, char **hex);
/* Rounds to log, before the first step: every so many. */
int tc_run_log_every(tc_run *run, uint32_t rounds);

/* The logged rows: `columns` numbers each, nan where a cell is empty. */
int tc_run_columns(const tc_run *run, char **json); /* ["iteration", "bits_paper", ...] */
size_t tc_run_logged(const tc_run *run);
int tc_run_rows(const tc_run *run, size_t first, size_t count, double *cells);
int tc_run_measured(const tc_run *run, double *cells); /* by the last tc_run_measure */

/* What run.json would have now: config, digest, ledger, inputs, seconds by phase, ... */
int tc_run_summary(tc_run *run, char **json);
/* Warnings since the last call: a JSON list of texts. */
int tc_run_warnings(tc_run *run, char **json);

/* -- Run folders, comparisons, searches --------------------------------------------------------- */

/* {"summary": run.json, "columns": [...], "metrics": [[...], ...]}; empty cells are null,
 * and numbers that are not finite the texts "nan", "inf" and "-inf". */
int tc_folder_read(const char *folder, char **json);
/* The command line's `report` over run folders ("LABEL=DIR" or "DIR") into `out`. `options`, or null:
 * {"title": "...", "targets": ["accuracy_min=0.9"], "bits": "payload"}. The result is the data of the
 * page, with "files" and "missing". */
int tc_report(const char *const *folders, size_t count, const char *out, const char *options,
              char **json);

/* A comparison, a search or an analysis: work on a thread of its own, which asks like a run if its
 * config has an external objective. */
typedef struct tc_study tc_study;

/* The command line's `compare`. `options`: {"out": DIR, "resume": bool, "threads": N, "offline": bool,
 * "set": ["key=value"], "jobs": runs at once, "memory": GiB for them}; all may be left out. In place
 * of files: "config", a tree with "run", "seeds" or "sweep". The result: {"folder", "runs": [{"label",
 * "folder", "diverged": why or "", "seconds", "group", "seed", "swept"}], "report": the data of the
 * page, "files", "missing"}. */
int tc_compare(const char *const *files, size_t count, const char *options, tc_study **study);

/* The command line's `tune`, of a TOML file or of a config (the other one is null). More options:
 * "runs", "seeds": N or a list, "metric", "budget_bits", "budget_iterations". The result: {"folder",
 * "best": the values found for the first run of the file, "searches": one object for each run,
 * "toml": the config with them, "missing"}. */
int tc_tune(const char *file, const char *config, const char *options, const tc_problem *problem,
            tc_study **study);

/* Step sizes and codec compared with the theory: the result is what `ticopd theory --json` prints. */
int tc_theory(const char *config, const char *folder, const tc_problem *problem, tc_study **study);

int tc_study_next(tc_study *study, uint64_t answered, double seconds, tc_question *question);
/* What happened since the last call, a list of {"text": "..."} and, where it is known, "done": the
 * share of the work. */
int tc_study_progress(tc_study *study, char **json);
/* Saves what there is: tc_study_next then ends with TC_INTERRUPTED. An open question need not be
 * answered. */
int tc_study_stop(tc_study *study);
int tc_study_result(tc_study *study, char **json);
void tc_study_close(tc_study *study);

#ifdef __cplusplus
}
#endif

#endif
