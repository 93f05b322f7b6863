/* An objective in plain C: eight agents on a ring, each with five measurements of the same ten unknowns.
 * None can find them alone. The run asks for gradients, this program answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ticopd/capi/ticopd.h>

enum { AGENTS = 8, SAMPLES = 5, UNKNOWNS = 10, ROUNDS = 2000 };

static const char *const config =
    "{\"iterations\": 2000, \"precision\": \"double\","
    " \"problem\": {\"objective\": \"external\", \"name\": \"measurements\"},"
    " \"graph\": {\"kind\": \"ring\", \"agents\": 8},"
    " \"codec\": {\"kind\": \"qsgd\", \"bits\": 4},"
    " \"algorithm\": {\"name\": \"ticopd\", \"alpha\": 0.1, \"theta\": 2, \"eta\": 0.4}}";

static double a[AGENTS][SAMPLES][UNKNOWNS], b[AGENTS][SAMPLES], truth[UNKNOWNS];

static double draw(void) { /* uniform in [-1, 1) */
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 4503599627370496.0 - 1;
}

static void make_data(void) {
  int i, s, k;
  for (k = 0; k < UNKNOWNS; ++k) truth[k] = draw();
  for (i = 0; i < AGENTS; ++i)
    for (s = 0; s < SAMPLES; ++s)
      for (k = 0; k < UNKNOWNS; ++k) {
        a[i][s][k] = draw();
        b[i][s] += a[i][s][k] * truth[k];
      }
}

/* f_i(x) = 1/2 |A_i x - b_i|^2 and its gradient; g may be null. */
static double least_squares(int i, const double *x, double *g) {
  double value = 0;
  int s, k;
  if (g != NULL) memset(g, 0, UNKNOWNS * sizeof *g);
  for (s = 0; s < SAMPLES; ++s) {
    double rest = -b[i][s];
    for (k = 0; k < UNKNOWNS; ++k) rest += a[i][s][k] * x[k];
    value += rest * rest / 2;
    for (k = 0; g != NULL && k < UNKNOWNS; ++k) g[k] += rest * a[i][s][k];
  }
  return value;
}

static void answer(const tc_question *q) {
  int row;
  for (row = 0; row < q->rows; ++row) {
    const double *x = (const double *)q->x + (size_t)row * q->x_stride;
    double *g = q->g == NULL ? NULL : (double *)q->g + (size_t)row * q->g_stride;
    const double value = least_squares(q->first + row, x, g);
    if (q->values != NULL) q->values[row] = value;
  }
}

/* Answers until the work is done. */
static int work(tc_run *run) {
  tc_question question;
  uint64_t answered = 0;
  int code;
  while ((code = tc_run_next(run, answered, 1.0, &question)) == TC_ASKS || code == TC_WAIT) {
    answered = 0;
    if (code == TC_ASKS) {
      answer(&question);
      answered = question.number;
    }
  }
  return code;
}

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, tc_message());
  return 1;
}

int main(void) {
  tc_problem problem;
  tc_run *run = NULL;
  const void *x = NULL;
  char *digest = NULL;
  int32_t first, rows;
  uint64_t columns;
  double worst = 0;
  size_t k;

  if (tc_abi() != TC_ABI) {
    fprintf(stderr, "libticopd.so has another interface, %d\n", tc_abi());
    return 1;
  }
  make_data();
  memset(&problem, 0, sizeof problem);
  problem.struct_size = sizeof problem;
  problem.dimension = UNKNOWNS;
  problem.agents = AGENTS;
  problem.has_values = 1;

  if (tc_run_open(config, ".", &problem, NULL, &run) != TC_OK) return failed("open");
  if (work(run) != TC_OK) return failed("set-up"); /* the set-up may ask too */
  if (tc_run_step(run, ROUNDS) != TC_OK || work(run) != TC_OK) return failed("step");
  if (tc_run_x(run, &x, &first, &rows, &columns) != TC_OK) return failed("x");
  for (k = 0; k < (size_t)rows * columns; ++k)
    worst = fmax(worst, fabs(((const double *)x)[k] - truth[k % columns]));
  if (tc_run_digest(run, &digest) != TC_OK) return failed("digest");
  printf("%d agents, %u rounds, furthest from the truth %.1e, digest %s\n", (int)rows,
         (unsigned)tc_run_round(run), worst, digest);
  tc_free(digest);
  tc_run_close(run);
  return worst < 1e-6 ? 0 : 1;
}
