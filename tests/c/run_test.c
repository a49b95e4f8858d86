/* SPDX-FileCopyrightText: The kernelsearch authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Problems, evaluators and runs, as a C11 program has them. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

/* What the callbacks saw. */
struct seen {
  ks_run* run;
  int judged, trials, bests, messages, ended, code, fail_at, wrong_at, stop_at, objectives;
  pthread_mutex_t mutex;
  pthread_cond_t reached;
};

static int judge(void* user, const ks_trial* trial, ks_verdict* verdict, double* seconds, char* reason,
                 size_t capacity) {
  struct seen* seen = user;
  const ks_space* space = NULL;
  uint32_t config[2];
  int64_t rows = 0, columns = 0;
  char code[64];
  ks_verdict none;
  if (ks_trial_space(trial, &space) != KS_OK || ks_trial_config(trial, config, 2) != KS_OK ||
      ks_space_integer(space, config, 2, 0, &rows) != KS_OK ||
      ks_space_integer(space, config, 2, 1, &columns) != KS_OK)
    return 1;
  EXPECT(KS_NONE, "no outcome yet", ks_trial_verdict(trial, &none));
  EXPECT(KS_NONE, "no outcome yet", ks_trial_objective(trial, "time", seconds));
  if (ks_trial_code(trial, "device", code, sizeof code, NULL) == KS_OK)
    seen->code += strcmp(code, "ROWS COLUMNS") == 0;
  ++seen->judged;
  if (seen->stop_at == seen->judged) {
    pthread_mutex_lock(&seen->mutex);
    pthread_cond_signal(&seen->reached);
    pthread_cond_wait(&seen->reached, &seen->mutex); /* until the other thread has asked to stop */
    pthread_mutex_unlock(&seen->mutex);
  }
  if (seen->fail_at == seen->judged) return 7;
  if (seen->wrong_at == seen->judged) return 0; /* no seconds set */
  if (rows * columns > 8192) {
    *verdict = KS_VERDICT_BUILD_FAILED;
    snprintf(reason, capacity, "%lld elements do not fit", (long long)(rows * columns));
    return 0;
  }
  *seconds = 1e-3 * (1.0 / (double)rows + 1.0 / (double)columns + 1e-6 * (double)(rows * columns));
  return 0;
}

static void watch(void* user, ks_event event, const ks_trial* trial, const char* text) {
  struct seen* seen = user;
  uint64_t told = 0;
  int finished = 0;
  CHECK((trial != NULL) == (event <= KS_EVENT_REVISED) && (text != NULL) == (event > KS_EVENT_REVISED));
  if (event == KS_EVENT_TRIAL) {
    ks_verdict verdict = KS_VERDICT_OK;
    double seconds = 0;
    char reason[128];
    ++seen->trials;
    OK(ks_trial_number(trial, &told));
    OK(ks_trial_verdict(trial, &verdict));
    OK(ks_trial_reason(trial, reason, sizeof reason, NULL));
    if (verdict == KS_VERDICT_OK)
      OK(ks_trial_seconds(trial, &seconds));
    else
      EXPECT(KS_NONE, "build_failed", ks_trial_seconds(trial, &seconds));
    CHECK((verdict == KS_VERDICT_OK) == (reason[0] == '\0'));
    if (seen->run != NULL) EXPECT(KS_BUSY, "under way", ks_run_step(seen->run, 1, 0, &finished));
  }
  if (trial != NULL && seen->objectives) {
    double rate = 0, seconds = 0;
    if (ks_trial_seconds(trial, &seconds) == KS_OK) {
      OK(ks_trial_objective(trial, "rate", &rate));
      CHECK(fabs(rate * seconds - 2) < 1e-9);
    } else {
      EXPECT(KS_NONE, "build_failed", ks_trial_objective(trial, "rate", &rate));
    }
  }
  seen->bests += event == KS_EVENT_BEST;
  seen->messages += event == KS_EVENT_MESSAGE;
  seen->ended += event == KS_EVENT_ENDED;
}

/* A policy of one's own: by rank, from the last. */
struct back {
  const ks_space* space;
  long next;
};
static int back_make(void* user, const ks_space* space, uint64_t seed, void** state) {
  char count[32];
  struct back* back = calloc(1, sizeof *back);
  (void)user;
  back->space = space;
  CHECK(seed == 3);
  if (ks_space_count(space, count, sizeof count, NULL) != KS_OK) return 1;
  back->next = atol(count);
  *state = back;
  return 0;
}
static int back_ask(void* state, size_t wanted, uint32_t* configs, size_t* given) {
  struct back* back = state;
  char rank[32];
  (void)wanted;
  if (back->next == 0) return 0;
  snprintf(rank, sizeof rank, "%ld", --back->next);
  *given = 1;
  return ks_space_unrank(back->space, rank, configs, 2) == KS_OK ? 0 : 1;
}
static int back_tell(void* state, const ks_trial* trial) {
  return state == NULL || trial == NULL;
}

static void own_evaluator(const char* folder) {
  char options[600], text[512], number[24];
  struct seen seen = {0};
  ks_space* space = NULL;
  ks_problem* problem = NULL;
  ks_evaluator* evaluator = NULL;
  ks_policy* policy = NULL;
  ks_run* run = NULL;
  int finished = 5;
  int64_t id = 0;
  uint64_t trials = 0, trial = 0;
  double seconds = 0, ratio = 0;
  uint32_t config[2];
  size_t needed = 0;
  OK(
      ks_space_parse("{\"tunables\": {\"ROWS\": {\"powers_of_two\": [1, 256]}, "
                     "\"COLUMNS\": {\"powers_of_two\": [1, 256]}}}",
                     &space));
  OK(ks_problem_new("house_matmul", "ROWS COLUMNS", space, &problem));
  OK(ks_evaluator_own("house accelerator", "house compiler 7.1", judge, &seen, &evaluator));
  snprintf(options, sizeof options,
           "{\"budget\": \"30\", \"store\": \"%s/runs.db\", \"policy\": \"genetic\", \"seed\": 3}", folder);
  OK(ks_run_start(problem, options, NULL, evaluator, watch, &seen, &run));
  seen.run = run;
  OK(ks_run_number(run, &id));
  EXPECT(KS_NONE, "not finished", ks_run_trials(run, &trials));
  OK(ks_run_step(run, 12, 0, &finished));
  CHECK(finished == 0 && seen.judged == 12 && seen.trials == 12 && seen.bests >= 1 && seen.code == 12);
  OK(ks_run_free(run));
  /* Another process goes on where it was. */
  snprintf(number, sizeof number, "%lld", (long long)id);
  snprintf(options, sizeof options, "{\"store\": \"%s/runs.db\"}", folder);
  seen.run = NULL;
  OK(ks_run_resume(number, options, problem, NULL, evaluator, watch, &seen, &run));
  OK(ks_run_to_end(run));
  OK(ks_run_finish(run));
  CHECK(seen.trials == 30 && seen.ended >= 1);
  OK(ks_run_trials(run, &trials));
  CHECK(trials == 30);
  OK(ks_run_reason(run, text, sizeof text, NULL));
  CHECK(strstr(text, "budget") != NULL);
  OK(ks_run_best(run, &trial, &seconds));
  OK(ks_run_settings(run, text, sizeof text, &needed));
  OK(ks_space_decode(space, text, config, 2));
  const double rows = pow(2, config[0]), columns = pow(2, config[1]);
  CHECK(fabs(seconds - 1e-3 * (1 / rows + 1 / columns + 1e-6 * rows * columns)) < 1e-12);
  EXPECT(KS_NONE, "not measured against", ks_run_speedup(run, &ratio, NULL, NULL));
  EXPECT(KS_NONE, "no such file", ks_run_file(run, "source", text, sizeof text, NULL));
  EXPECT(KS_SMALL_BUFFER, "", ks_run_settings(run, text, 2, &needed));
  OK(ks_run_free(run));

  /* A policy of one's own, in the space that `where` leaves. */
  OK(ks_policy_own("back", back_make, back_ask, back_tell, free, NULL, &policy));
  snprintf(options, sizeof options,
           "{\"budget\": \"50\", \"store\": \"%s/runs.db\", \"seed\": 3, \"where\": [\"ROWS * COLUMNS == "
           "64\"], \"reuse\": false}",
           folder);
  seen.trials = seen.judged = 0;
  OK(ks_run_start(problem, options, policy, evaluator, watch, &seen, &run));
  OK(ks_run_to_end(run));
  OK(ks_run_finish(run));
  OK(ks_run_best(run, NULL, &seconds));
  CHECK(seen.trials == 7 && fabs(seconds - 1e-3 * (0.25 + 64e-6)) < 1e-12); /* 8 x 8 */
  OK(ks_run_free(run));

  /* Objectives: each value by its name, in its own direction. */
  seen = (struct seen){.objectives = 1};
  double rate = 0;
  snprintf(options, sizeof options,
           "{\"budget\": \"20\", \"store\": \"%s/runs.db\", \"policy\": \"random\", \"reuse\": false, "
           "\"objectives\": \"time; maximize rate = 2 / time\"}",
           folder);
  OK(ks_run_start(problem, options, NULL, evaluator, watch, &seen, &run));
  EXPECT(KS_NONE, "not finished", ks_run_objective(run, "rate", &rate));
  OK(ks_run_to_end(run));
  OK(ks_run_finish(run));
  OK(ks_run_best(run, NULL, &seconds));
  OK(ks_run_objective(run, "rate", &rate));
  CHECK(seen.trials == 20 && fabs(rate * seconds - 2) < 1e-9);
  OK(ks_run_objective(run, "time", &rate));
  CHECK(rate == seconds);
  EXPECT(KS_UNKNOWN_NAME, "did you mean rate?", ks_run_objective(run, "rates", &rate));
  EXPECT(KS_UNKNOWN_NAME, "choose among: time, rate", ks_run_objective(run, "energy", &rate));
  EXPECT(KS_BAD_ARGUMENT, "value", ks_run_objective(run, "rate", NULL));
  EXPECT(KS_BAD_ARGUMENT, "name", ks_run_objective(run, NULL, &rate));
  CHECK(rate == seconds);
  OK(ks_run_free(run));

  /* What callbacks return that they may not ends the call. */
  seen = (struct seen){.fail_at = 3};
  snprintf(options, sizeof options,
           "{\"budget\": \"9\", \"store\": \"%s/runs.db\", \"policy\": \"random\", \"reuse\": false}",
           folder);
  OK(ks_run_start(problem, options, NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_CALLBACK_FAILED, "returned 7", ks_run_to_end(run));
  OK(ks_run_free(run));
  seen = (struct seen){.wrong_at = 2};
  OK(ks_run_start(problem, options, NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_CALLBACK_FAILED, "no seconds", ks_run_to_end(run));
  OK(ks_run_free(run));
  run = NULL;

  EXPECT(KS_UNKNOWN_NAME, "did you mean budget?",
         ks_run_start(problem, "{\"budgte\": \"9\"}", NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_WRONG_TYPE, "the option budget of a run is of another type: 9; give a string",
         ks_run_start(problem, "{\"budget\": 9}", NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_WRONG_TYPE, "out of bounds: 65; give a number from 1 to 64",
         ks_run_start(problem, "{\"proposals\": 65}", NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_CONFIG_ERROR, "the option cache of a run has no such value: cool; there are warm, cold",
         ks_run_start(problem, "{\"cache\": \"cool\"}", NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_CONFIG_ERROR, "there is no such option of stark: debgs; did you mean debugs?",
         ks_run_start(problem, "{\"system\": \"stark(debgs=2)\"}", NULL, NULL, NULL, NULL, &run));
  snprintf(options, sizeof options, "{\"budget\": \"many\", \"store\": \"%s/runs.db\"}", folder);
  EXPECT(KS_CONFIG_ERROR, "many", ks_run_start(problem, options, NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_STORE_ERROR, "",
         ks_run_start(problem, "{\"store\": \"/proc/nowhere/runs.db\"}", NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_BAD_ARGUMENT, "needs the problem",
         ks_run_resume("latest", options, NULL, NULL, evaluator, NULL, NULL, &run));
  EXPECT(KS_BAD_ARGUMENT, "needs a name", ks_problem_new("", "", space, &problem));
  CHECK(run == NULL);
  OK(ks_policy_free(policy));
  OK(ks_evaluator_free(evaluator));
  OK(ks_problem_free(problem));
  OK(ks_space_free(space));
}

static void* stopper(void* user) {
  struct seen* seen = user;
  OK(ks_run_request_stop(seen->run));
  pthread_mutex_lock(&seen->mutex);
  pthread_cond_signal(&seen->reached);
  pthread_mutex_unlock(&seen->mutex);
  return NULL;
}

static void* driver(void* user) {
  OK(ks_run_to_end(((struct seen*)user)->run));
  return NULL;
}

static void stopped(const char* folder) {
  char options[600], text[256];
  struct seen seen = {.stop_at = 5};
  ks_space* space = NULL;
  ks_problem* problem = NULL;
  ks_evaluator* evaluator = NULL;
  pthread_t thread, other;
  uint64_t trials = 0;
  pthread_mutex_init(&seen.mutex, NULL);
  pthread_cond_init(&seen.reached, NULL);
  OK(ks_space_parse(
      "{\"tunables\": {\"a\": {\"powers_of_two\": [1, 256]}, \"b\": {\"powers_of_two\": [1, 256]}}}",
      &space));
  OK(ks_problem_new("stopped", "", space, &problem));
  OK(ks_evaluator_own("d", "t", judge, &seen, &evaluator));
  snprintf(options, sizeof options,
           "{\"budget\": \"60\", \"store\": \"%s/runs.db\", \"policy\": \"exhaustive\"}", folder);
  OK(ks_run_start(problem, options, NULL, evaluator, NULL, NULL, &seen.run));
  pthread_mutex_lock(&seen.mutex);
  pthread_create(&thread, NULL, driver, &seen);
  pthread_cond_wait(&seen.reached, &seen.mutex); /* the fifth is being judged */
  pthread_mutex_unlock(&seen.mutex);
  EXPECT(KS_BUSY, "under way", ks_run_finish(seen.run));
  EXPECT(KS_BUSY, "cannot be freed", ks_run_free(seen.run));
  pthread_create(&other, NULL, stopper, &seen);
  pthread_join(other, NULL);
  pthread_join(thread, NULL);
  CHECK(seen.judged == 5);
  OK(ks_run_finish(seen.run));
  OK(ks_run_trials(seen.run, &trials));
  OK(ks_run_reason(seen.run, text, sizeof text, NULL));
  CHECK(trials == 5 || trials == 4);
  OK(ks_run_free(seen.run));
  OK(ks_evaluator_free(evaluator));
  OK(ks_problem_free(problem));
  OK(ks_space_free(space));
}

/* A kernel that is built and timed on this machine; `skipped` where it has no sandbox. */
static void this_machine(const char* source, const char* folder) {
  char options[1024], text[512];
  struct seen seen = {0};
  ks_problem* problem = NULL;
  ks_space* space = NULL;
  ks_run* run = NULL;
  double ratio = 0, low = 0, high = 0;
  snprintf(text, sizeof text, "%s/tests/fixtures/problems/dot", source);
  OK(ks_problem_read(text, &problem));
  OK(ks_space_of_problem(problem, &space));
  OK(ks_space_count(space, text, sizeof text, NULL));
  CHECK(strcmp(text, "12") == 0);
  snprintf(options, sizeof options,
           "{\"budget\": \"2\", \"store\": \"%s/runs.db\", \"out\": \"%s/out\", \"policy\": \"random\", "
           "\"samples\": 4}",
           folder, folder);
  const ks_status status = ks_run_start(problem, options, NULL, NULL, watch, &seen, &run);
  if (status == KS_CONFIG_ERROR && strstr(ks_last_error(), "sandbox") != NULL) {
    printf("skipped: %s\n", ks_last_error());
  } else {
    OK(status);
    OK(ks_run_to_end(run));
    OK(ks_run_finish(run));
    CHECK(seen.trials == 2);
    OK(ks_run_speedup(run, &ratio, &low, &high));
    CHECK(low <= ratio && ratio <= high && low > 0);
    OK(ks_run_file(run, "source", text, sizeof text, NULL));
    FILE* file = fopen(text, "r");
    CHECK(file != NULL);
    if (file != NULL) fclose(file);
    OK(ks_run_free(run));
  }
  EXPECT(KS_CONFIG_ERROR, "no problem is there", ks_problem_read("/nowhere/at/all", &problem));
  OK(ks_space_free(space));
  OK(ks_problem_free(problem));
}

/* The store of an earlier test, whose results would be taken. */
static void clear(const char* folder) {
  static const char* const parts[] = {"runs.db", "runs.db-wal", "runs.db-shm"};
  char file[600];
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    snprintf(file, sizeof file, "%s/%s", folder, parts[i]);
    (void)remove(file);
  }
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  clear(arguments[2]);
  own_evaluator(arguments[2]);
  stopped(arguments[2]);
  this_machine(arguments[1], arguments[2]);
  return report("run_test");
}
