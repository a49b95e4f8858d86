/* SPDX-FileCopyrightText: The kernelsearch authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Spaces, policies, searches, plans and comparisons, as a C11 program has them. */
#include <math.h>
#include <stdlib.h>

#include "check.h"

static ks_space* tile_space(void) {
  ks_builder* builder = NULL;
  ks_space* space = NULL;
  const char* const layouts[] = {"row", "column"};
  const double shares[] = {0.25, 0.5};
  OK(ks_builder_new(&builder));
  OK(ks_builder_add_powers_of_two(builder, "block", 32, 256));
  OK(ks_builder_add_range(builder, "tile", 1, 8, 1));
  OK(ks_builder_add_boolean(builder, "pad"));
  OK(ks_builder_add_texts(builder, "layout", layouts, 2));
  OK(ks_builder_add_reals(builder, "share", shares, 2));
  OK(ks_builder_add_orders(builder, "order", 3));
  OK(ks_builder_set_default(builder, "block", 1));
  OK(ks_builder_set_condition(builder, "share", "pad"));
  OK(ks_builder_require(builder, "block * tile <= 512"));
  OK(ks_builder_build(builder, &space));
  OK(ks_builder_free(builder));
  return space;
}

static double seconds_of(const ks_space* space, const uint32_t* config) {
  int64_t block = 0, tile = 0;
  int pad = 0;
  OK(ks_space_integer(space, config, 6, 0, &block));
  OK(ks_space_integer(space, config, 6, 1, &tile));
  OK(ks_space_boolean(space, config, 6, 2, &pad));
  return 1.0 + fabs((double)block - 128) / 128 + fabs((double)tile - 4) / 8 + (pad ? 0.0 : 0.25) +
         0.01 * config[5];
}

static void spaces(const char* folder) {
  ks_space *space = tile_space(), *other = NULL;
  uint32_t config[6] = {9, 9, 9, 9, 9, 9}, back[6] = {0};
  char text[256];
  size_t needed = 0, at = 0;
  int64_t items[3];
  double share = 0;
  int flag = -1;
  ks_kind kind = KS_KIND_TEXT;

  OK(ks_space_size(space, &at));
  CHECK(at == 6);
  /* (8 + 8 + 4 + 2) pairs of block and tile, 2 layouts, 6 orders, and share counts only with pad: 2 + 1 */
  OK(ks_space_count(space, text, sizeof text, &needed));
  CHECK(strcmp(text, "792") == 0 && needed == 4);
  OK(ks_space_default(space, config, 6));
  CHECK(config[0] == 1 && config[1] == 0 && config[5] == 0);
  OK(ks_space_find(space, "order", &at));
  CHECK(at == 5);
  OK(ks_space_name(space, 3, text, sizeof text, NULL));
  CHECK(strcmp(text, "layout") == 0);
  OK(ks_space_values(space, 5, &at));
  CHECK(at == 6);
  static const ks_kind kinds[] = {KS_KIND_INTEGER, KS_KIND_INTEGER, KS_KIND_BOOLEAN,
                                  KS_KIND_TEXT,    KS_KIND_REAL,    KS_KIND_ORDER};
  for (size_t i = 0; i < 6; ++i) {
    OK(ks_space_kind(space, i, &kind));
    CHECK(kind == kinds[i]);
  }

  const uint32_t chosen[6] = {2, 3, 1, 1, 1, 4};
  OK(ks_space_encode(space, chosen, 6, text, sizeof text, NULL));
  CHECK(strcmp(text,
               "{\"block\":128,\"tile\":4,\"pad\":true,\"layout\":\"column\",\"share\":0.5,"
               "\"order\":[2,0,1]}") == 0);
  OK(ks_space_decode(space, text, back, 6));
  CHECK(memcmp(back, chosen, sizeof back) == 0);
  OK(ks_space_text(space, chosen, 6, 3, text, sizeof text, NULL));
  CHECK(strcmp(text, "column") == 0);
  OK(ks_space_real(space, chosen, 6, 4, &share));
  CHECK(share == 0.5);
  OK(ks_space_real(space, chosen, 6, 1, &share));
  CHECK(share == 4.0);
  OK(ks_space_order(space, chosen, 6, 5, items, 3, &at));
  CHECK(at == 3 && items[0] == 2 && items[1] == 0 && items[2] == 1);
  OK(ks_space_contains(space, chosen, 6, &flag));
  CHECK(flag == 1);
  const uint32_t invalid[6] = {3, 7, 0, 0, 0, 0};
  OK(ks_space_contains(space, invalid, 6, &flag));
  CHECK(flag == 0);

  /* ranks are a numbering of the valid configurations */
  for (int rank = 0; rank < 792; ++rank) {
    char digits[8], again[8];
    snprintf(digits, sizeof digits, "%d", rank);
    OK(ks_space_unrank(space, digits, back, 6));
    OK(ks_space_rank(space, back, 6, again, sizeof again, NULL));
    CHECK(strcmp(digits, again) == 0);
  }

  OK(
      ks_space_parse("{\"tunables\": {\"a\": {\"range\": [0, 1000000]}, \"b\": {\"range\": [0, 1000000]},"
                     "\"c\": {\"range\": [0, 1000000]}, \"d\": {\"range\": [0, 1000000]}}}",
                     &other));
  OK(ks_space_count(other, text, sizeof text, NULL));
  CHECK(strcmp(text, "1000000000000000000000000") == 0); /* beyond 64 bits */
  OK(ks_space_unrank(other, "999999999999999999999999", back, 4));
  CHECK(back[0] == 999999 && back[3] == 999999);
  EXPECT(KS_BAD_ARGUMENT, "too large", ks_space_unrank(other, "1000000000000000000000000", back, 4));
  OK(ks_space_free(other));

  char file[512];
  snprintf(file, sizeof file, "%s/t1.json", folder);
  FILE* t1 = fopen(file, "w");
  fputs(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Type\": \"int\", \"Values\": "
      "\"[1, 2, 3]\", "
      "\"Default\": 2}], \"Conditions\": [{\"Expression\": \"x < 3\", \"Parameters\": [\"x\"]}]}}",
      t1);
  fclose(t1);
  OK(ks_space_read_t1(file, &other));
  OK(ks_space_count(other, text, sizeof text, NULL));
  OK(ks_space_default(other, back, 1));
  CHECK(strcmp(text, "2") == 0 && back[0] == 1);
  OK(ks_space_free(other));
  remove(file);
  OK(ks_space_free(space));
}

static void searches(const char* folder) {
  ks_space* space = tile_space();
  ks_policy* policy = NULL;
  char names[2048], file[512];
  snprintf(file, sizeof file, "%s/search.jsonl", folder);
  OK(ks_policy_names(names, sizeof names, NULL));
  CHECK(strstr(names, "bayesian") != NULL && strstr(names, "\nuct") != NULL);

  /* All of the registry: half told out of order, a failure, a foreign one, saved, loaded, the same from
   * there. */
  for (char* name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n")) {
    ks_search *first = NULL, *second = NULL;
    uint64_t jobs[8], more[8], told = 0, best = 0;
    uint32_t configs[48], others[48], foreign[6] = {2, 3, 1, 0, 0, 0}, config[6];
    size_t given = 0, again = 0, pending = 0;
    double seconds = 0, now = 0;
    OK(ks_policy_named(name, "{\"budget\": 40}", &policy));
    OK(ks_search_new(space, policy, 7, &first));
    EXPECT(KS_NONE, "no best yet", ks_search_best(first, NULL, NULL, 0, NULL));
    for (int round = 0; round < 4; ++round) {
      const ks_status status = ks_search_ask(first, 4, jobs, configs, 48, &given);
      if (status == KS_NOT_NOW || status == KS_END) break;
      CHECK(status == KS_OK && given >= 1 && given <= 4);
      OK(ks_search_pending(first, more, 8, &pending));
      CHECK(pending == given && more[0] == jobs[0]);
      for (size_t k = given; k-- > 0;) {
        if (round == 1 && k == 0)
          OK(ks_search_tell(first, jobs[k], KS_VERDICT_BUILD_FAILED, 0.0, "too many registers"));
        else
          OK(ks_search_tell(first, jobs[k], KS_VERDICT_OK, seconds_of(space, configs + 6 * k), NULL));
      }
      if (round == 2) OK(ks_search_tell_foreign(first, foreign, 6, KS_VERDICT_OK, 1.125, NULL));
    }
    OK(ks_search_pending(first, more, 8, &pending));
    CHECK(pending == 0);
    OK(ks_search_told(first, &told));
    OK(ks_search_best(first, &best, config, 6, &seconds));
    now = seconds_of(space, config);
    CHECK(seconds == now || (seconds == 1.125 && memcmp(config, foreign, sizeof config) == 0));
    OK(ks_search_save(first, file));
    OK(ks_search_load(space, policy, file, &second));
    uint64_t loaded = 0;
    OK(ks_search_told(second, &loaded));
    CHECK(loaded == told);
    for (int round = 0; round < 3; ++round) {
      const ks_status one = ks_search_ask(first, 4, jobs, configs, 48, &given);
      const ks_status two = ks_search_ask(second, 4, more, others, 48, &again);
      CHECK(one == two);
      if (one != KS_OK) break;
      CHECK(given == again && memcmp(jobs, more, given * sizeof *jobs) == 0 &&
            memcmp(configs, others, 6 * given * sizeof *configs) == 0);
      for (size_t k = 0; k < given; ++k) {
        OK(ks_search_tell(first, jobs[k], KS_VERDICT_OK, seconds_of(space, configs + 6 * k), NULL));
        OK(ks_search_tell(second, more[k], KS_VERDICT_OK, seconds_of(space, configs + 6 * k), NULL));
      }
    }
    OK(ks_search_free(first));
    OK(ks_search_free(second));
    OK(ks_policy_free(policy));
  }

  /* What is saved is of one policy and one space. */
  ks_search *search = NULL, *loaded = NULL;
  ks_policy *random = NULL, *genetic = NULL;
  ks_space* small = NULL;
  uint64_t job = 0;
  uint32_t config[6];
  size_t given = 0;
  OK(ks_policy_named("random", NULL, &random));
  OK(ks_policy_named("genetic", NULL, &genetic));
  OK(ks_space_parse("{\"tunables\": {\"a\": [1, 2]}}", &small));
  OK(ks_search_new(space, random, 1, &search));
  OK(ks_search_ask(search, 1, &job, config, 6, &given));
  OK(ks_search_save(search, file));
  EXPECT(KS_CONFIG_ERROR, "another policy", ks_search_load(space, genetic, file, &loaded));
  /* The options are part of what the search is: another text is another policy, blanks apart. */
  ks_policy* first = NULL;
  ks_policy* same = NULL;
  ks_search* begun = NULL;
  OK(ks_policy_named("random(default_first=true)", "{\"try_default\": false}", &first));
  OK(ks_policy_named(" random ( default_first = true ) ", NULL, &same));
  EXPECT(KS_CONFIG_ERROR, "random, not random(default_first=true)",
         ks_search_load(space, first, file, &loaded));
  OK(ks_search_new(space, first, 1, &begun));
  OK(ks_search_ask(begun, 1, &job, config, 6, &given));
  OK(ks_search_save(begun, file));
  OK(ks_search_load(space, same, file, &loaded));
  OK(ks_search_free(loaded));
  loaded = NULL;
  OK(ks_search_save(search, file));
  OK(ks_search_free(begun));
  OK(ks_policy_free(first));
  OK(ks_policy_free(same));
  EXPECT(KS_CONFIG_ERROR, "another space", ks_search_load(small, random, file, &loaded));
  /* A file in which something else was proposed is noticed. */
  FILE* saved = fopen(file, "r");
  char text[4096];
  const size_t length = fread(text, 1, sizeof text - 1, saved);
  fclose(saved);
  text[length] = '\0';
  char* digit = strstr(text, "[[") + 2;
  *digit = *digit == '0' ? '1' : '0';
  saved = fopen(file, "w");
  fwrite(text, 1, length, saved);
  fclose(saved);
  EXPECT(KS_CONFIG_ERROR, "does not propose what it proposed", ks_search_load(space, random, file, &loaded));
  saved = fopen(file, "w");
  fputs("nonsense\n", saved);
  fclose(saved);
  EXPECT(KS_CONFIG_ERROR, ":1", ks_search_load(space, random, file, &loaded));
  EXPECT(KS_FILE_ERROR, "cannot be read", ks_search_load(space, random, "/nowhere/at/all", &loaded));
  EXPECT(KS_FILE_ERROR, "cannot be saved", ks_search_save(search, "/nowhere/at/all"));
  CHECK(loaded == NULL);

  /* A revision replaces, and the best is looked for again; of equals the first told. */
  uint64_t jobs[3], best = 9;
  uint32_t configs[18];
  double seconds = 0;
  OK(ks_search_tell(search, job, KS_VERDICT_OK, 3.0, NULL));
  OK(ks_search_ask(search, 3, jobs, configs, 18, &given));
  CHECK(given == 3);
  OK(ks_search_tell(search, jobs[2], KS_VERDICT_OK, 2.0, NULL));
  OK(ks_search_tell(search, jobs[1], KS_VERDICT_OK, 2.0, NULL));
  OK(ks_search_best(search, &best, NULL, 0, &seconds));
  CHECK(best == jobs[2] && seconds == 2.0);
  OK(ks_search_revise(search, jobs[2], KS_VERDICT_CHEATED, 0.0, "wrote outside"));
  OK(ks_search_best(search, &best, NULL, 0, &seconds));
  CHECK(best == jobs[1]);
  EXPECT(KS_UNKNOWN_NAME, "not told yet", ks_search_revise(search, jobs[0], KS_VERDICT_OK, 1.0, NULL));
  EXPECT(KS_UNKNOWN_NAME, "told before", ks_search_tell(search, jobs[1], KS_VERDICT_OK, 1.0, NULL));
  EXPECT(KS_UNKNOWN_NAME, "no such job", ks_search_tell(search, 99, KS_VERDICT_OK, 1.0, NULL));
  OK(ks_search_save(search, file));
  OK(ks_search_load(space, random, file, &loaded));
  OK(ks_search_best(loaded, &best, NULL, 0, NULL));
  CHECK(best == jobs[1]);
  OK(ks_search_free(loaded));
  OK(ks_search_free(search));

  /* To the end: NOT_NOW while something is outstanding, END after. */
  ks_policy* exhaustive = NULL;
  OK(ks_policy_named("exhaustive", NULL, &exhaustive));
  OK(ks_search_new(small, exhaustive, 0, &search));
  OK(ks_search_ask(search, 3, jobs, configs, 18, &given));
  CHECK(given == 2);
  size_t untouched = 77;
  EXPECT(KS_NOT_NOW, "2 outstanding", ks_search_ask(search, 3, jobs, configs, 18, &untouched));
  OK(ks_search_tell(search, jobs[0], KS_VERDICT_OK, 1.0, NULL));
  OK(ks_search_tell(search, jobs[1], KS_VERDICT_OK, 1.0, NULL));
  EXPECT(KS_END, "no more to propose", ks_search_ask(search, 3, jobs, configs, 18, &untouched));
  CHECK(untouched == 77);
  OK(ks_search_free(search));
  OK(ks_policy_free(exhaustive));
  OK(ks_policy_free(random));
  OK(ks_policy_free(genetic));
  OK(ks_space_free(small));
  OK(ks_space_free(space));
  remove(file);
}

/* A policy of one's own: the configurations by rank, each once. */
struct walk {
  const ks_space* space;
  uint64_t next, step;
  int *alive, told, foreign;
  double best;
};
static int walk_make(void* user, const ks_space* space, uint64_t seed, void** state) {
  struct walk* walk = calloc(1, sizeof *walk);
  walk->space = space;
  walk->next = seed < 1000 ? seed : 0; /* comparisons draw theirs */
  walk->alive = user;
  walk->best = 1e300;
  ++*walk->alive;
  *state = walk;
  return 0;
}
static int walk_ask(void* state, size_t wanted, uint32_t* configs, size_t* given) {
  struct walk* walk = state;
  size_t size = 0;
  if (ks_space_size(walk->space, &size) != KS_OK) return 1;
  for (*given = 0; *given < wanted; ++*given) {
    char rank[24];
    snprintf(rank, sizeof rank, "%llu", (unsigned long long)walk->next);
    if (ks_space_unrank(walk->space, rank, configs + size * *given, size) != KS_OK) break;
    ++walk->next;
  }
  return 0;
}
static int walk_tell(void* state, const ks_trial* trial) {
  struct walk* walk = state;
  ks_verdict verdict = KS_VERDICT_OK;
  int foreign = 0;
  double seconds = 0;
  if (ks_trial_verdict(trial, &verdict) != KS_OK || ks_trial_foreign(trial, &foreign) != KS_OK) return 1;
  if (verdict == KS_VERDICT_OK && (ks_trial_seconds(trial, &seconds) != KS_OK || seconds <= 0)) return 2;
  if (verdict == KS_VERDICT_REJECTED) return 42;
  ++walk->told;
  walk->foreign += foreign;
  return 0;
}
static int foreign_told; /* to the policy that was released last */
static void walk_release(void* state) {
  struct walk* walk = state;
  foreign_told = walk->foreign;
  --*walk->alive;
  free(walk);
}

/* A policy without a state, so with nothing to release. */
static int idle_make(void* user, const ks_space* space, uint64_t seed, void** state) {
  *state = user;
  return space == NULL || seed != 5;
}
static int idle_ask(void* state, size_t wanted, uint32_t* configs, size_t* given) {
  (void)configs;
  *given = 0;
  return state == NULL && wanted > 0 ? 0 : 1;
}

static ks_search* called_from_within;
static int wrong_ask(void* state, size_t wanted, uint32_t* configs, size_t* given) {
  (void)wanted;
  const struct walk* walk = state;
  *given = 1;
  memset(configs, 0, 6 * sizeof *configs);
  if (walk->next == 1) *given = wanted + 1;            /* more than wanted */
  if (walk->next == 2) configs[1] = 1000;              /* no such position */
  if (walk->next == 3) configs[0] = 3, configs[1] = 7; /* not valid */
  if (walk->next == 4) {
    uint64_t told = 0;
    EXPECT(KS_BUSY, "under way", ks_search_told(called_from_within, &told));
    EXPECT(KS_BUSY, "cannot be freed", ks_search_free(called_from_within));
  }
  return walk->next == 5 ? -3 : 0;
}

static void own_policies(void) {
  ks_space* space = tile_space();
  ks_policy* policy = NULL;
  ks_search* search = NULL;
  int alive = 0;
  uint64_t jobs[4];
  uint32_t configs[24], config[6];
  size_t given = 0;
  OK(ks_policy_own("walk", walk_make, walk_ask, walk_tell, walk_release, &alive, &policy));
  OK(ks_search_new(space, policy, 100, &search));
  CHECK(alive == 1);
  OK(ks_policy_free(policy)); /* the search keeps what it needs */
  OK(ks_search_ask(search, 4, jobs, configs, 24, &given));
  OK(ks_space_unrank(space, "102", config, 6));
  CHECK(given == 4 && memcmp(configs + 12, config, sizeof config) == 0);
  OK(ks_search_tell(search, jobs[3], KS_VERDICT_OK, 1.0, NULL));
  OK(ks_search_tell(search, jobs[0], KS_VERDICT_TIMED_OUT, 0.0, "10 s"));
  OK(ks_search_tell_foreign(search, config, 6, KS_VERDICT_OK, 2.0, NULL));
  /* What a callback refuses is not told: the job stays outstanding. */
  EXPECT(KS_CALLBACK_FAILED, "tell returned 42",
         ks_search_tell(search, jobs[1], KS_VERDICT_REJECTED, 0.0, NULL));
  size_t pending = 0;
  (void)ks_search_pending(search, NULL, 0, &pending);
  CHECK(pending == 2);
  OK(ks_search_free(search));
  CHECK(alive == 0 && foreign_told == 1);

  OK(ks_policy_own("idle", idle_make, idle_ask, walk_tell, NULL, NULL, &policy));
  EXPECT(KS_CALLBACK_FAILED, "make returned 1", ks_search_new(space, policy, 6, &search));
  OK(ks_search_new(space, policy, 5, &search));
  EXPECT(KS_END, "0 trials", ks_search_ask(search, 4, jobs, configs, 24, &given));
  OK(ks_search_free(search));
  OK(ks_policy_free(policy));

  /* More than any memory holds is a status, too. */
  OK(ks_policy_own("walk", walk_make, walk_ask, walk_tell, walk_release, &alive, &policy));
  OK(ks_search_new(space, policy, 0, &search));
  EXPECT(KS_NO_MEMORY, "no more memory",
         ks_search_ask(search, SIZE_MAX / 8, jobs, configs, SIZE_MAX, &given));
  OK(ks_search_free(search));
  OK(ks_policy_free(policy));

  static const char* const says[] = {"more configurations", "does not have", "not valid", NULL,
                                     "ask returned -3"};
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    OK(ks_policy_own("wrong", walk_make, wrong_ask, walk_tell, walk_release, &alive, &policy));
    OK(ks_search_new(space, policy, seed, &search));
    called_from_within = search;
    const ks_status status = ks_search_ask(search, 2, jobs, configs, 24, &given);
    if (seed == 4)
      CHECK(status == KS_OK);
    else
      EXPECT(KS_CALLBACK_FAILED, says[seed - 1], status);
    OK(ks_search_free(search));
    OK(ks_policy_free(policy));
  }
  CHECK(alive == 0);
  OK(ks_space_free(space));
}

static void plans(const char* source) {
  char file[512], text[64];
  ks_plan *plan = NULL, *none = NULL;
  ks_settings* settings = NULL;
  const char* const names[] = {"n"};
  int64_t n = 300, tile = 0, items[1];
  double real = 0;
  int flag = 0;
  size_t needed = 0;
  snprintf(file, sizeof file, "%s/examples/programs/select_at_run_time/plan.json", source);
  OK(ks_plan_read(file, &plan));
  OK(ks_plan_best(plan, "matmul", "example processor", names, &n, 1, NULL, &settings));
  OK(ks_settings_integer(settings, "TILE_M", &tile));
  CHECK(tile == 32);
  OK(ks_settings_real(settings, "TILE_K", &real));
  CHECK(real == 64.0);
  EXPECT(KS_UNKNOWN_NAME, "did you mean TILE_M", ks_settings_integer(settings, "TILE_N", &tile));
  EXPECT(KS_WRONG_TYPE, "TILE_M = 32", ks_settings_boolean(settings, "TILE_M", &flag));
  EXPECT(KS_WRONG_TYPE, "TILE_M = 32", ks_settings_text(settings, "TILE_M", text, sizeof text, &needed));
  EXPECT(KS_WRONG_TYPE, "TILE_M = 32", ks_settings_order(settings, "TILE_M", items, 1, &needed));
  OK(ks_settings_free(settings));
  settings = NULL;
  n = 100; /* nearer to 64, where nothing beat the default */
  EXPECT(KS_NONE, "matmul on example processor",
         ks_plan_best(plan, "matmul", "example processor", names, &n, 1, NULL, &settings));
  n = 256;
  EXPECT(KS_NONE, "matmul on ", ks_plan_best(plan, "matmul", NULL, names, &n, 1, NULL, &settings));
  CHECK(settings == NULL);
  OK(ks_plan_read("/nowhere/at/all.json", &none)); /* an empty plan */
  EXPECT(KS_NONE, "default",
         ks_plan_best(none, "matmul", "example processor", names, &n, 1, NULL, &settings));
  EXPECT(KS_CONFIG_ERROR, "plan", ks_plan_parse("{", &none));
  OK(ks_processor_name(text, sizeof text, NULL));
  CHECK(strlen(text) > 0);
  OK(ks_plan_free(plan));
  OK(ks_plan_free(none));
}

static void count_runs(void* user, size_t finished, size_t runs) {
  size_t* seen = user;
  if (finished == runs) *seen = runs;
}

/* How many trials until the best of the recording is proposed. */
static int trials_to_best(const ks_policy* policy) {
  ks_space* space = NULL;
  ks_search* search = NULL;
  uint64_t job = 0;
  uint32_t config[2];
  size_t given = 0;
  int trials = 0;
  OK(ks_space_parse("{\"tunables\": {\"x\": {\"range\": [1, 9]}, \"y\": {\"range\": [1, 9]}}}", &space));
  OK(ks_search_new(space, policy, 1, &search));
  while (trials < 64) {
    ++trials;
    OK(ks_search_ask(search, 1, &job, config, 2, &given));
    if (config[0] == 4 && config[1] == 0) break;
    OK(ks_search_tell(search, job, KS_VERDICT_OK,
                      1.0 + (config[0] - 4.0) * (config[0] - 4.0) + 0.1 * config[1], NULL));
  }
  OK(ks_search_free(search));
  OK(ks_space_free(space));
  return trials;
}

/* What a policy proposes in 30 trials, as one number. */
static uint64_t sequence_of(const char* options) {
  ks_space* space = tile_space();
  ks_policy* policy = NULL;
  ks_search* search = NULL;
  uint64_t job = 0, sum = 0;
  uint32_t config[6];
  size_t given = 0;
  OK(ks_policy_named("lfbo", options, &policy));
  OK(ks_search_new(space, policy, 1, &search));
  for (int trial = 0; trial < 30; ++trial) {
    OK(ks_search_ask(search, 1, &job, config, 6, &given));
    for (int i = 0; i < 6; ++i) sum = 31 * sum + config[i];
    OK(ks_search_tell(search, job, KS_VERDICT_OK, seconds_of(space, config), NULL));
  }
  OK(ks_search_free(search));
  OK(ks_policy_free(policy));
  OK(ks_space_free(space));
  return sum;
}

static void learns(const char* recording) {
  CHECK(sequence_of(NULL) == sequence_of("{}") && sequence_of("{\"budget\": 15}") != sequence_of(NULL));

  char options[600];
  ks_policy *taught = NULL, *untaught = NULL;
  snprintf(options, sizeof options, "{\"learn_from\": [\"%s\"]}", recording);
  OK(ks_policy_named("bayesian", options, &taught));
  OK(ks_policy_named("bayesian", NULL, &untaught));
  const int with = trials_to_best(taught);
  CHECK(with <= 5 && with < trials_to_best(untaught));
  OK(ks_policy_free(taught));
  OK(ks_policy_free(untaught));
  EXPECT(KS_CONFIG_ERROR, "nowhere",
         ks_policy_named("bayesian", "{\"learn_from\": [\"/nowhere\"]}", &taught));
}

static void comparisons(const char* folder) {
  char file[512];
  snprintf(file, sizeof file, "%s/recorded.jsonl", folder);
  /* An export of a run as docs/formats/exports.md has it: what the comparison is run on. */
  FILE* out = fopen(file, "w");
  fputs("{\"name\":\"made\",\"problem\":\"made\",\"device\":\"made\"}\n", out);
  fclose(out);
  ks_comparison* comparison = NULL;
  ks_policy *policy = NULL, *own = NULL;
  int alive = 0;
  size_t seen = 0;
  double value = 0, low = 0, high = 0;
  OK(ks_comparison_new(&comparison));
  EXPECT(KS_CONFIG_ERROR, "recorded.jsonl", ks_comparison_add_recording(comparison, file));
  remove(file);
  EXPECT(KS_BAD_ARGUMENT, "needs recordings", ks_comparison_run(comparison, NULL, NULL, NULL));
  snprintf(file, sizeof file, "%s/cache.json", folder);
  out = fopen(file, "w");
  fputs(
      "{\"device_name\": \"made\", \"kernel_name\": \"made\", \"problem_size\": \"\", \"tune_params_keys\": "
      "[\"x\", "
      "\"y\"], \"tune_params\": {\"x\": [1, 2, 3, 4, 5, 6, 7, 8], \"y\": [1, 2, 3, 4, 5, 6, 7, 8]}, "
      "\"cache\": {",
      out);
  for (int x = 1; x <= 8; ++x)
    for (int y = 1; y <= 8; ++y)
      fprintf(out, "%s\"%d,%d\": {\"x\": %d, \"y\": %d, \"time\": %g, \"times\": [%g]}",
              x + y == 2 ? "" : ", ", x, y, x, y, 1.0 + (x - 5) * (x - 5) + 0.1 * y,
              1.0 + (x - 5) * (x - 5) + 0.1 * y);
  fputs("}}", out);
  fclose(out);
  OK(ks_comparison_add_recording(comparison, file));
  learns(file);
  OK(ks_policy_named("random", NULL, &policy));
  OK(ks_comparison_add_policy(comparison, policy));
  EXPECT(KS_BAD_ARGUMENT, "one name", ks_comparison_add_policy(comparison, policy));
  OK(ks_policy_own("walk", walk_make, walk_ask, walk_tell, walk_release, &alive, &own));
  OK(ks_comparison_add_policy(comparison, own));
  EXPECT(KS_NONE, "no runs yet", ks_comparison_score(comparison, 0, "P", &value, &low, &high));
  OK(ks_comparison_run(comparison, "{\"repeats\": 4, \"budget\": 20, \"threads\": 1, \"seed\": 0}",
                       count_runs, &seen));
  CHECK(seen == 8 && alive == 0);
  OK(ks_comparison_score(comparison, 1, "P@20", &value, &low, &high));
  CHECK(value < 1.0 && isfinite(value) && low <= value && value <= high);
  uint32_t positions[20];
  size_t count = 0;
  OK(ks_comparison_evaluations(comparison, 0, 1, 0, positions, 20, &count));
  CHECK(count == 20);
  uint32_t again[20], seen_twice = 0;
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < i; ++k) seen_twice += positions[i] == positions[k];
  CHECK(seen_twice == 0);
  OK(ks_comparison_evaluations(comparison, 0, 1, 1, again, 20, &count));
  CHECK(memcmp(positions, again, sizeof again) == 0); /* it draws nothing */
  OK(ks_comparison_evaluations(comparison, 0, 0, 3, positions, 20, &count));
  EXPECT(KS_NONE, "no such run", ks_comparison_evaluations(comparison, 0, 0, 4, positions, 20, &count));
  EXPECT(KS_SMALL_BUFFER, "20", ks_comparison_evaluations(comparison, 0, 0, 3, positions, 19, &count));
  EXPECT(KS_UNKNOWN_NAME, "P@60", ks_comparison_score(comparison, 0, "Q", &value, NULL, NULL));
  EXPECT(KS_BAD_ARGUMENT, "no such policy", ks_comparison_score(comparison, 2, "P", &value, NULL, NULL));
  EXPECT(KS_UNKNOWN_NAME, "did you mean \"repeats\"",
         ks_comparison_run(comparison, "{\"repeat\": 4}", NULL, NULL));
  EXPECT(KS_WRONG_TYPE, "\"strict\": 1", ks_comparison_run(comparison, "{\"strict\": 1}", NULL, NULL));
  OK(ks_comparison_free(comparison));
  OK(ks_policy_free(policy));
  OK(ks_policy_free(own));
  remove(file);
}

/* Every status that misuse can bring about, and that nothing is written where it does. */
static void misuse(void) {
  ks_space *space = tile_space(), *other = NULL;
  ks_builder* builder = NULL;
  ks_policy* policy = NULL;
  ks_search* search = NULL;
  uint32_t config[6] = {0};
  char text[8] = "before";
  size_t needed = 0, size = 0;
  uint64_t job = 0, jobs[2];
  int64_t integer = -1;
  int flag = 5;

  EXPECT(KS_BAD_ARGUMENT, "NULL", ks_space_size(NULL, &size));
  EXPECT(KS_BAD_ARGUMENT, "size", ks_space_size(space, NULL));
  EXPECT(KS_BAD_ARGUMENT, "json", ks_space_parse(NULL, &other));
  EXPECT(KS_BAD_ARGUMENT, "out", ks_space_parse("{}", NULL));
  EXPECT(KS_BAD_ARGUMENT, "out", ks_builder_new(NULL));
  EXPECT(KS_BAD_HANDLE, "another kind", ks_search_told((ks_search*)space, &job));
  EXPECT(KS_BAD_HANDLE, "another kind", ks_policy_free((ks_policy*)space));
  OK(ks_space_free(NULL));

  EXPECT(KS_BAD_ARGUMENT, "position for each", ks_space_contains(space, config, 5, &flag));
  EXPECT(KS_BAD_ARGUMENT, "configuration's array", ks_space_contains(space, NULL, 6, &flag));
  const uint32_t beyond[6] = {0, 0, 2, 0, 0, 0};
  EXPECT(KS_BAD_ARGUMENT, "pad at 2", ks_space_contains(space, beyond, 6, &flag));
  CHECK(flag == 5);
  EXPECT(KS_BAD_ARGUMENT, "has 6", ks_space_integer(space, config, 6, 6, &integer));
  EXPECT(KS_WRONG_TYPE, "layout = row, string", ks_space_integer(space, config, 6, 3, &integer));
  EXPECT(KS_WRONG_TYPE, "block = 32", ks_space_text(space, config, 6, 0, text, sizeof text, NULL));
  CHECK(integer == -1 && strcmp(text, "before") == 0);
  EXPECT(KS_UNKNOWN_NAME, "did you mean block?", ks_space_find(space, "blok", &size));

  EXPECT(KS_SMALL_BUFFER, "give one of 6", ks_space_name(space, 5, text, 5, &needed));
  CHECK(needed == 6 && strcmp(text, "before") == 0);
  OK(ks_space_name(space, 5, text, 6, NULL));
  EXPECT(KS_SMALL_BUFFER, "", ks_space_name(space, 5, NULL, 0, &needed));
  EXPECT(KS_BAD_ARGUMENT, "NULL with a capacity", ks_space_name(space, 5, NULL, 5, &needed));
  EXPECT(KS_SMALL_BUFFER, "6 positions", ks_space_default(space, config, 5));
  EXPECT(KS_SMALL_BUFFER, "3", ks_space_order(space, config, 6, 5, &integer, 1, &needed));

  EXPECT(KS_CONFIG_ERROR, "space:1", ks_space_parse("{\"tunables\": 5}", &other));
  EXPECT(KS_CONFIG_ERROR, "did you mean \"constraints\"",
         ks_space_parse("{\"tunables\": {\"a\": [1]}, \"constraint\": []}", &other));
  EXPECT(KS_CONFIG_ERROR, "no such value", ks_space_decode(space, "{\"block\": 33}", config, 6));
  EXPECT(KS_UNKNOWN_NAME, "lacks a tunable", ks_space_decode(space, "{\"block\": 32}", config, 6));
  EXPECT(KS_CONFIG_ERROR, "not a JSON object", ks_space_decode(space, "[", config, 6));
  EXPECT(KS_BAD_ARGUMENT, "not a number", ks_space_unrank(space, "-1", config, 6));
  EXPECT(KS_BAD_ARGUMENT, "missing", ks_space_unrank(space, "", config, 6));
  EXPECT(KS_CONFIG_ERROR, "", ks_space_read_t1("/nowhere/at/all.json", &other));

  OK(ks_builder_new(&builder));
  EXPECT(KS_CONFIG_ERROR, "powers of two", ks_builder_add_powers_of_two(builder, "a", 3, 8));
  EXPECT(KS_BAD_ARGUMENT, "values", ks_builder_add_integers(builder, "a", NULL, 3));
  EXPECT(KS_BAD_ARGUMENT, "name", ks_builder_add_boolean(builder, NULL));
  OK(ks_builder_add_range(builder, "a", 0, 9, 3));
  EXPECT(KS_UNKNOWN_NAME, "tunable of that name", ks_builder_set_default(builder, "b", 0));
  EXPECT(KS_BAD_ARGUMENT, "has 4 values", ks_builder_set_default(builder, "a", 4));
  EXPECT(KS_CONFIG_ERROR, "", ks_builder_require(builder, "a +"));
  OK(ks_builder_require(builder, "a > 9"));
  EXPECT(KS_CONFIG_ERROR, "a > 9", ks_builder_build(builder, &other));
  CHECK(other == NULL);
  OK(ks_builder_free(builder));

  EXPECT(KS_UNKNOWN_NAME, "did you mean bayesian?", ks_policy_named("bayesan", NULL, &policy));
  EXPECT(KS_UNKNOWN_NAME, "did you mean genetic?", ks_policy_named("genetc(population=4)", NULL, &policy));
  EXPECT(KS_CONFIG_ERROR,
         "kernelsearch: there is no such option of genetic: poplation; did you mean population? there are "
         "default_first, population, tournament, crossover, mutations, patience",
         ks_policy_named("genetic(poplation=4)", NULL, &policy));
  EXPECT(KS_CONFIG_ERROR,
         "the option population of genetic is out of bounds: 1; give a number from 2 to 1000000",
         ks_policy_named("genetic(population=1)", NULL, &policy));
  EXPECT(KS_CONFIG_ERROR, "the options of a policy are not closed: genetic(population=4, character 21",
         ks_policy_named("genetic(population=4", NULL, &policy));
  EXPECT(KS_UNKNOWN_NAME, "did you mean \"budget\"?", ks_policy_named("random", "{\"budgt\": 1}", &policy));
  EXPECT(KS_WRONG_TYPE, "\"budget\": -1", ks_policy_named("random", "{\"budget\": -1}", &policy));
  EXPECT(KS_CONFIG_ERROR, "not a JSON object", ks_policy_named("random", "budget", &policy));
  EXPECT(KS_BAD_ARGUMENT, "no other has",
         ks_policy_own("random", walk_make, walk_ask, walk_tell, NULL, NULL, &policy));
  EXPECT(KS_BAD_ARGUMENT, "ask", ks_policy_own("mine", walk_make, NULL, walk_tell, NULL, NULL, &policy));
  CHECK(policy == NULL);
  OK(ks_policy_named("random", NULL, &policy));
  OK(ks_search_new(space, policy, 0, &search));
  EXPECT(KS_BAD_ARGUMENT, "0 of them", ks_search_ask(search, 0, jobs, config, 6, &size));
  EXPECT(KS_SMALL_BUFFER, "6 for each", ks_search_ask(search, 2, jobs, config, 11, &size));
  uint64_t told = 9;
  OK(ks_search_told(search, &told)); /* too small a buffer loses no proposal */
  OK(ks_search_pending(search, NULL, 0, &size));
  CHECK(told == 0 && size == 0);
  OK(ks_search_ask(search, 1, &job, config, 6, &size));
  EXPECT(KS_BAD_ARGUMENT, "no such verdict", ks_search_tell(search, job, (ks_verdict)10, 1.0, NULL));
  EXPECT(KS_BAD_ARGUMENT, "finite", ks_search_tell(search, job, KS_VERDICT_OK, NAN, NULL));
  const uint32_t invalid[6] = {3, 7, 0, 0, 0, 0};
  EXPECT(KS_BAD_ARGUMENT, "not valid", ks_search_tell_foreign(search, invalid, 6, KS_VERDICT_OK, 1.0, NULL));
  OK(ks_search_tell(search, job, KS_VERDICT_OK, 1.0, NULL)); /* and is still outstanding */
  OK(ks_search_free(search));
  OK(ks_policy_free(policy));
  OK(ks_space_free(space));
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  CHECK(strcmp(ks_version(), "") != 0 && ks_api_version() == KS_API_VERSION);
  spaces(arguments[2]);
  searches(arguments[2]);
  own_policies();
  plans(arguments[1]);
  comparisons(arguments[2]);
  misuse();
  return report("search_test");
}
