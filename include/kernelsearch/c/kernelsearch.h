/* SPDX-FileCopyrightText: The kernelsearch authors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * kernelsearch for programs that are not written in C++: C11, and whatever calls C. The guide is docs/c.md.
 *
 * ERRORS. Every function but the three that return a text or a number returns a ks_status. KS_OK is 0. After
 * anything else ks_last_error() has a sentence: what is wrong, what was given, what to do. A call that did
 * not return KS_OK has written nothing through its pointers, except the size that KS_SMALL_BUFFER asks for.
 * No exception leaves a function.
 *
 * MEMORY. Objects are opaque: `ks_X_new`, `_read`, ... make one, `ks_X_free` ends it; freeing NULL does
 * nothing. An object keeps what it needs of those it was made from, so they may be freed in any order. Texts
 * and arrays are written into the caller's buffer: nothing that this library allocates is ever freed by the
 * caller, so that the two need not share an allocator. A function that writes a text takes its buffer, the
 * buffer's capacity in bytes, and where to put the bytes that it needs with the final zero (or NULL). Where
 * they do not fit it returns KS_SMALL_BUFFER and has done nothing else; a capacity of 0 asks for the size.
 * Texts given are UTF-8, end with a zero, and are copied.
 *
 * CONFIGURATIONS. A configuration is an array of ks_space_size() numbers: for each tunable, in the order in
 * which they were added, the position of its value among the tunable's values, from 0. `length` is always the
 * number of elements of the array that is given.
 *
 * THREADS. ks_last_error() is of the calling thread. Different objects may be used from different threads at
 * the same time. ks_space, ks_policy, ks_problem, ks_evaluator, ks_plan and ks_settings do not change after
 * they are made: any number of threads may use one at the same time. ks_builder, ks_search, ks_comparison and
 * ks_run are for one thread at a time, whichever it is: a call that meets another one under way on the same
 * object returns KS_BUSY and does nothing, so a callback cannot call the object it is called from. Only
 * ks_run_request_stop() and ks_comparison_request_stop() may be called at any time, also from callbacks. No
 * object may be freed while another thread uses it.
 *
 * CALLBACKS. They must return: no exception and no longjmp may leave one. From which thread each is called
 * stands beside its type. `user` is handed on as it is and must stay valid as long as anything that was made
 * with it. Pointers that a callback gets are valid until it returns, unless said otherwise.
 *
 * VERSIONS. Symbols carry the version of the library's interface in which they came (KS_0: the shared
 * library's number is 0). Within one number functions and constants are added, never changed or taken away;
 * abi/ has the list that a test compares. Constants may be added to every enum: take unknown ones as
 * failures.
 */
#ifndef KERNELSEARCH_C_KERNELSEARCH_H
#define KERNELSEARCH_C_KERNELSEARCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#  define KS_API __attribute__((visibility("default")))
#else
#  define KS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every function that is added: what a program was compiled against. */
#define KS_API_VERSION 2

typedef enum ks_status {
  KS_OK = 0,
  KS_NOT_NOW = 1,          /* ask again after telling something: the policy waits for outcomes */
  KS_END = 2,              /* the policy has no more to propose */
  KS_NONE = 3,             /* there is no such thing, which is no error: no best yet, nothing in the plan */
  KS_BAD_ARGUMENT = 4,     /* NULL where none may be, a wrong length or position, a number that is none */
  KS_BAD_HANDLE = 5,       /* an object of another kind; often also one that was freed */
  KS_UNKNOWN_NAME = 6,     /* no such policy, tunable, option, job */
  KS_WRONG_TYPE = 7,       /* the value is of another type */
  KS_SMALL_BUFFER = 8,     /* the buffer is too small; see MEMORY */
  KS_BUSY = 9,             /* another call on the same object is under way */
  KS_CONFIG_ERROR = 10,    /* what was asked for cannot be: a malformed file, an empty space */
  KS_DEVICE_ERROR = 11,    /* a device, a sandbox or another part of the machine is gone */
  KS_STORE_ERROR = 12,     /* a store of runs cannot be read or written */
  KS_FILE_ERROR = 13,      /* a file cannot be read or written */
  KS_CALLBACK_FAILED = 14, /* a function of yours returned something else than 0, or what it may not */
  KS_NO_MEMORY = 15,
  KS_INTERNAL = 16 /* a fault of this library: please report the text */
} ks_status;

/* How the judgement of a configuration ended; everything but KS_VERDICT_OK is a failure of the candidate. */
typedef enum ks_verdict {
  KS_VERDICT_OK = 0,
  KS_VERDICT_NOT_GENERATED = 1,
  KS_VERDICT_REJECTED = 2, /* invalid before building */
  KS_VERDICT_BUILD_FAILED = 3,
  KS_VERDICT_LAUNCH_FAILED = 4,
  KS_VERDICT_CRASHED = 5,
  KS_VERDICT_TIMED_OUT = 6,
  KS_VERDICT_WRONG_RESULT = 7,
  KS_VERDICT_CHEATED = 8,
  KS_VERDICT_NOT_APPLICABLE = 9
} ks_verdict;

/* The type of a tunable's values. */
typedef enum ks_kind {
  KS_KIND_BOOLEAN = 0,
  KS_KIND_INTEGER = 1,
  KS_KIND_REAL = 2,
  KS_KIND_TEXT = 3,
  KS_KIND_ORDER = 4 /* an order of 0, 1, ..., n - 1 */
} ks_kind;

typedef struct ks_builder ks_builder;       /* a space that is being put together */
typedef struct ks_space ks_space;           /* the valid configurations of tunables under constraints */
typedef struct ks_policy ks_policy;         /* how a search policy is made; makes any number of them */
typedef struct ks_search ks_search;         /* a policy at work, asked and told */
typedef struct ks_trial ks_trial;           /* a configuration and what became of it; lent to callbacks */
typedef struct ks_plan ks_plan;             /* what tuning found, to be used without searching */
typedef struct ks_settings ks_settings;     /* the values of the tunables to use */
typedef struct ks_comparison ks_comparison; /* policies against each other on recordings */
typedef struct ks_problem ks_problem;       /* what is tuned and how it is judged */
typedef struct ks_evaluator ks_evaluator;   /* your way of judging configurations */
typedef struct ks_run ks_run;               /* a search with a store, a budget and a winner */

/* ------------------------------------------------------------------------------------ versions and errors */

/* The library's version, e.g. "0.2.0". */
KS_API const char* ks_version(void);
/* KS_API_VERSION of the library that was loaded; a smaller one than the program's lacks functions. */
KS_API uint32_t ks_api_version(void);
/* Why this thread's last call that did not return KS_OK did not; never NULL, and valid until the next. */
KS_API const char* ks_last_error(void);

/* ------------------------------------------------------------------------------------------------- spaces */

KS_API ks_status ks_builder_new(ks_builder** out);
KS_API ks_status ks_builder_free(ks_builder* builder);

/* Each adds a tunable of that name. Neighbouring positions are neighbouring settings. */
KS_API ks_status ks_builder_add_integers(ks_builder* builder, const char* name, const int64_t* values,
                                         size_t count);
/* first, first + step, ... up to and with `last` where it is hit. */
KS_API ks_status ks_builder_add_range(ks_builder* builder, const char* name, int64_t first, int64_t last,
                                      int64_t step);
/* The powers of two from `first` to `last`, which are powers of two. */
KS_API ks_status ks_builder_add_powers_of_two(ks_builder* builder, const char* name, int64_t first,
                                              int64_t last);
KS_API ks_status ks_builder_add_reals(ks_builder* builder, const char* name, const double* values,
                                      size_t count);
/* Names without an order. */
KS_API ks_status ks_builder_add_texts(ks_builder* builder, const char* name, const char* const* values,
                                      size_t count);
/* false, then true. */
KS_API ks_status ks_builder_add_boolean(ks_builder* builder, const char* name);
/* Every order of 0, 1, ..., n - 1, n at most 8, the identity first. */
KS_API ks_status ks_builder_add_orders(ks_builder* builder, const char* name, size_t n);

/* The default of the tunable of that name, as a position; without it the first value. */
KS_API ks_status ks_builder_set_default(ks_builder* builder, const char* name, size_t position);
/* Where the expression of other tunables is false, the tunable has no effect and is pinned to its default. */
KS_API ks_status ks_builder_set_condition(ks_builder* builder, const char* name, const char* expression);
/* A condition that valid configurations meet: docs/formats/expressions.md, e.g. "block * tile <= 2048". */
KS_API ks_status ks_builder_require(ks_builder* builder, const char* expression);
/* KS_CONFIG_ERROR for repeated or unknown names, and where nothing is valid. The builder stays usable. */
KS_API ks_status ks_builder_build(ks_builder* builder, ks_space** out);

/* A JSON object with "tunables", "constraints", "default" as in a problem.json: docs/formats/problem.md. */
KS_API ks_status ks_space_parse(const char* json, ks_space** out);
/* That of a problem's kernel. */
KS_API ks_status ks_space_of_problem(const ks_problem* problem, ks_space** out);
/* That of a T1 file (the JSON of auto-tuning benchmarks). */
KS_API ks_status ks_space_read_t1(const char* file, ks_space** out);
KS_API ks_status ks_space_free(ks_space* space);

/* The number of tunables: the length of a configuration. */
KS_API ks_status ks_space_size(const ks_space* space, size_t* size);
/* The number of valid configurations in decimal digits, which may exceed 64 bits. */
KS_API ks_status ks_space_count(const ks_space* space, char* text, size_t capacity, size_t* needed);
/* The tunable of that name; KS_UNKNOWN_NAME where there is none. */
KS_API ks_status ks_space_find(const ks_space* space, const char* name, size_t* tunable);
KS_API ks_status ks_space_name(const ks_space* space, size_t tunable, char* text, size_t capacity,
                               size_t* needed);
KS_API ks_status ks_space_kind(const ks_space* space, size_t tunable, ks_kind* kind);
/* How many values the tunable has. */
KS_API ks_status ks_space_values(const ks_space* space, size_t tunable, size_t* count);

/* The declared default where it is valid, else the configuration nearest to it. */
KS_API ks_status ks_space_default(const ks_space* space, uint32_t* config, size_t length);
/* 1 where the configuration is valid, 0 where it is not. */
KS_API ks_status ks_space_contains(const ks_space* space, const uint32_t* config, size_t length,
                                   int* contains);
/* The configuration of a rank below ks_space_count(), in decimal digits, and back. */
KS_API ks_status ks_space_unrank(const ks_space* space, const char* rank, uint32_t* config, size_t length);
KS_API ks_status ks_space_rank(const ks_space* space, const uint32_t* config, size_t length, char* text,
                               size_t capacity, size_t* needed);
/* {"NAME": value, ...}, and back; decoding needs a value of each tunable, and the result may be invalid. */
KS_API ks_status ks_space_encode(const ks_space* space, const uint32_t* config, size_t length, char* json,
                                 size_t capacity, size_t* needed);
KS_API ks_status ks_space_decode(const ks_space* space, const char* json, uint32_t* config, size_t length);

/* A tunable's value in a configuration; KS_WRONG_TYPE where it is of another type, but that an integer is
 * taken as a real, too. */
KS_API ks_status ks_space_boolean(const ks_space* space, const uint32_t* config, size_t length,
                                  size_t tunable, int* value);
KS_API ks_status ks_space_integer(const ks_space* space, const uint32_t* config, size_t length,
                                  size_t tunable, int64_t* value);
KS_API ks_status ks_space_real(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                               double* value);
KS_API ks_status ks_space_text(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                               char* text, size_t capacity, size_t* needed);
/* `count` gets the number of items; KS_SMALL_BUFFER where `capacity` items are fewer. */
KS_API ks_status ks_space_order(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                                int64_t* items, size_t capacity, size_t* count);

/* ------------------------------------------------------------------------------------------------- trials */

/* The trial's number in its search or run, from 0. */
KS_API ks_status ks_trial_number(const ks_trial* trial, uint64_t* number);
/* The space of its configuration, lent as the trial is. KS_NONE where there was no candidate. */
KS_API ks_status ks_trial_space(const ks_trial* trial, const ks_space** space);
KS_API ks_status ks_trial_config(const ks_trial* trial, uint32_t* config, size_t length);
/* KS_NONE while it is being judged. */
KS_API ks_status ks_trial_verdict(const ks_trial* trial, ks_verdict* verdict);
/* Seconds of one call, or whatever you told: lower is better. KS_NONE where the verdict is not ok. */
KS_API ks_status ks_trial_seconds(const ks_trial* trial, double* seconds);
/* Its value in the objective of that name, in the objective's own unit and direction (docs/objectives.md);
 * "time" is always there, in seconds. KS_UNKNOWN_NAME where the run has no such objective, and in searches
 * and comparisons, which have the time alone; KS_NONE where the verdict is not ok. Since KS_API_VERSION 2. */
KS_API ks_status ks_trial_objective(const ks_trial* trial, const char* name, double* value);
/* Why it failed; empty where it did not. */
KS_API ks_status ks_trial_reason(const ks_trial* trial, char* text, size_t capacity, size_t* needed);
/* 1 where the policy that is told of it never proposed it. */
KS_API ks_status ks_trial_foreign(const ks_trial* trial, int* foreign);
/* The kernel's text, of the region "device", "host" or "macros". KS_NONE in searches and comparisons. */
KS_API ks_status ks_trial_code(const ks_trial* trial, const char* region, char* text, size_t capacity,
                               size_t* needed);

/* ----------------------------------------------------------------------------------------------- policies */

/* The names of this library's policies, one a line. */
KS_API ks_status ks_policy_names(char* text, size_t capacity, size_t* needed);
/* The policy of that text: a name, or a name with options of the policy, "genetic(population=40, crossover=0.2)".
 * docs/policies.md lists the options. KS_UNKNOWN_NAME for an unknown policy; KS_CONFIG_ERROR for a text that does
 * not read so, an option that the policy does not have, and a value that the option cannot have. Searches,
 * comparisons and runs call the policy by its text. `options`: NULL, or a JSON object of
 *   "budget"       trials that will be made, where that is known: some policies plan with it
 *   "try_default"  false: the space's default is nobody's choice, so it is not tried first
 *   "learn_from"   list of recordings (docs/formats/recordings.md) of the same tunables to learn from */
KS_API ks_status ks_policy_named(const char* name, const char* options, ks_policy** out);

/* A policy of yours. Each returns 0; anything else ends the call that needed it with KS_CALLBACK_FAILED. What
 * a policy promises: docs/extending.md. Same seed, same calls, same proposals, or nothing can be loaded.
 * All calls for one `state` are made by one thread at a time; in comparisons with several threads `make` and
 * different states are called at the same time. `space` stays valid until `release`. */
typedef int (*ks_policy_make)(void* user, const ks_space* space, uint64_t seed, void** state);
/* Writes at most `wanted` configurations, one after another, and how many: 0 is "not now", and the end where
 * nothing is outstanding. Every one is valid and none is one that is outstanding. */
typedef int (*ks_policy_ask)(void* state, size_t wanted, uint32_t* configs, size_t* given);
/* What became of a configuration, also of foreign ones; a number told again replaces what was told before. */
typedef int (*ks_policy_tell)(void* state, const ks_trial* trial);
/* The search is over. */
typedef void (*ks_policy_release)(void* state);
/* `release` may be NULL. */
KS_API ks_status ks_policy_own(const char* name, ks_policy_make make, ks_policy_ask ask, ks_policy_tell tell,
                               ks_policy_release release, void* user, ks_policy** out);
KS_API ks_status ks_policy_free(ks_policy* policy);

/* ----------------------------------------------------------------------------------------------- searches */

KS_API ks_status ks_search_new(const ks_space* space, const ks_policy* policy, uint64_t seed,
                               ks_search** out);
KS_API ks_status ks_search_free(ks_search* search);

/* Asks for at most `wanted` configurations (at least 1): `jobs` gets their numbers, `configs` the
 * configurations one after another, `given` how many. `length` is the elements of `configs`, at least
 * `wanted` times ks_space_size(). KS_NOT_NOW where there are none before something is told, KS_END where
 * there are no more. */
KS_API ks_status ks_search_ask(ks_search* search, size_t wanted, uint64_t* jobs, uint32_t* configs,
                               size_t length, size_t* given);
/* What became of an outstanding job, in any order. `seconds` (or any other number, lower is better) counts
 * where the verdict is KS_VERDICT_OK, and is finite there; `reason` elsewhere, and may be NULL. */
KS_API ks_status ks_search_tell(ks_search* search, uint64_t job, ks_verdict verdict, double seconds,
                                const char* reason);
/* A valid configuration that was measured elsewhere. */
KS_API ks_status ks_search_tell_foreign(ks_search* search, const uint32_t* config, size_t length,
                                        ks_verdict verdict, double seconds, const char* reason);
/* A job, or the number of a foreign one, that was told before: the new outcome replaces the old. */
KS_API ks_status ks_search_revise(ks_search* search, uint64_t job, ks_verdict verdict, double seconds,
                                  const char* reason);
/* The jobs that were asked for and not told, ascending; `count` gets how many. */
KS_API ks_status ks_search_pending(ks_search* search, uint64_t* jobs, size_t capacity, size_t* count);
/* The configuration of a job, outstanding or told. */
KS_API ks_status ks_search_config(ks_search* search, uint64_t job, uint32_t* config, size_t length);
/* How many outcomes were told, foreign ones too, revisions not. */
KS_API ks_status ks_search_told(ks_search* search, uint64_t* trials);
/* The right one with the fewest seconds, the first told of equals; KS_NONE before there is one. `job`,
 * `config` and `seconds` may be NULL. */
KS_API ks_status ks_search_best(ks_search* search, uint64_t* job, uint32_t* config, size_t length,
                                double* seconds);

/* Writes what was asked and told, all of the file or nothing. */
KS_API ks_status ks_search_save(ks_search* search, const char* file);
/* A search as it stood when it was saved: `policy` is made again and goes through all of it. The space and
 * the policy's name are the saved ones, else KS_CONFIG_ERROR; as where the policy does not repeat itself, say
 * because its options are others. */
KS_API ks_status ks_search_load(const ks_space* space, const ks_policy* policy, const char* file,
                                ks_search** out);

/* -------------------------------------------------------------------------------------------------- plans */

/* Reads a plan (docs/formats/plan.md). A file that is not there is an empty plan. */
KS_API ks_status ks_plan_read(const char* file, ks_plan** out);
KS_API ks_status ks_plan_parse(const char* json, ks_plan** out);
KS_API ks_status ks_plan_free(ks_plan* plan);
/* What this machine's processor is called in plans. */
KS_API ks_status ks_processor_name(char* text, size_t capacity, size_t* needed);
/* The settings to use for a problem on a device (NULL: this machine's processor) for a shape, given by the
 * names and values of its `count` variables. KS_NONE: use the kernel's default. `kernel_digest` may be NULL;
 * it is needed where the plan has several kernels of the problem. */
KS_API ks_status ks_plan_best(const ks_plan* plan, const char* problem, const char* device,
                              const char* const* names, const int64_t* values, size_t count,
                              const char* kernel_digest, ks_settings** out);

/* The value of a tunable: KS_UNKNOWN_NAME, KS_WRONG_TYPE; an integer is taken as a real, too. */
KS_API ks_status ks_settings_boolean(const ks_settings* settings, const char* name, int* value);
KS_API ks_status ks_settings_integer(const ks_settings* settings, const char* name, int64_t* value);
KS_API ks_status ks_settings_real(const ks_settings* settings, const char* name, double* value);
KS_API ks_status ks_settings_text(const ks_settings* settings, const char* name, char* text, size_t capacity,
                                  size_t* needed);
KS_API ks_status ks_settings_order(const ks_settings* settings, const char* name, int64_t* items,
                                   size_t capacity, size_t* count);
KS_API ks_status ks_settings_free(ks_settings* settings);

/* -------------------------------------------------------------------------------------------- comparisons */

KS_API ks_status ks_comparison_new(ks_comparison** out);
KS_API ks_status ks_comparison_free(ks_comparison* comparison);
/* docs/formats/recordings.md */
KS_API ks_status ks_comparison_add_recording(ks_comparison* comparison, const char* file);
/* Names of policies must differ. */
KS_API ks_status ks_comparison_add_policy(ks_comparison* comparison, const ks_policy* policy);

/* How far it is, by one thread at a time, which need not be the one that called. */
typedef void (*ks_comparison_progress)(void* user, size_t finished, size_t runs);
/* Runs every policy on every recording and scores it. `options`: NULL, or a JSON object of
 *   "repeats" (20), "seed" (0), "budget" (evaluations a run; else what is scored of each recording),
 *   "threads" (0: every core; 1 where your policies are not to be called at the same time), "in_flight" (1),
 *   "declared_default" (false), "strict" (false: what a policy proposes twice or outside is only counted),
 *   "folder" (none: keeps finished runs there). `progress` may be NULL. */
KS_API ks_status ks_comparison_run(ks_comparison* comparison, const char* options,
                                   ks_comparison_progress progress, void* user);
/* From any thread: what is under way is given up, and ks_comparison_run() scores what is finished. It stays
 * so: make another comparison to begin again. */
KS_API ks_status ks_comparison_request_stop(ks_comparison* comparison);
/* The mean over the recordings of a policy's score: "P", "P@20", "P@40", "P@60", "P200" or "P300" (0: as
 * random search, 1: the optimum at once), with its 95 % interval, NaN where there is none. `low` and `high`
 * may be NULL. Policies have the numbers in which they were added. */
KS_API ks_status ks_comparison_score(ks_comparison* comparison, size_t policy, const char* measure,
                                     double* value, double* low, double* high);
/* What one run evaluated, in order, as positions in the recording. */
KS_API ks_status ks_comparison_evaluations(ks_comparison* comparison, size_t recording, size_t policy,
                                           size_t repeat, uint32_t* positions, size_t capacity,
                                           size_t* count);

/* ------------------------------------------------------------------------------------ problems and runs */

/* A folder with a problem.json, or such a file. */
KS_API ks_status ks_problem_read(const char* folder_or_file, ks_problem** out);
/* A problem that only an evaluator of yours can judge: a name, the text that is tuned (may be empty), and its
 * space. Text and space are its identity, under which results are kept. */
KS_API ks_status ks_problem_new(const char* name, const char* code, const ks_space* space, ks_problem** out);
KS_API ks_status ks_problem_free(ks_problem* problem);

/* Judges the configuration of a trial, on a thread of the run, one at a time. `*verdict` is KS_VERDICT_OK and
 * `*seconds` has to be set, or the verdict is set, and a reason is written to `reason`, which holds
 * `capacity` bytes. Returns 0; anything else ends the run with KS_CALLBACK_FAILED. */
typedef int (*ks_evaluate)(void* user, const ks_trial* trial, ks_verdict* verdict, double* seconds,
                           char* reason, size_t capacity);
/* `device` is what is measured on, `toolchain` what it is built with: results of others are never used. */
KS_API ks_status ks_evaluator_own(const char* device, const char* toolchain, ks_evaluate evaluate, void* user,
                                  ks_evaluator** out);
KS_API ks_status ks_evaluator_free(ks_evaluator* evaluator);

typedef enum ks_event {
  KS_EVENT_TRIAL = 0,   /* a trial ended; it is in the store */
  KS_EVENT_BEST = 1,    /* the best changed */
  KS_EVENT_REVISED = 2, /* a trial was measured again */
  KS_EVENT_MESSAGE = 3, /* a sentence for people */
  KS_EVENT_ENDED = 4    /* the run, or a step of it, ended for the reason in `text` */
} ks_event;
/* `trial` is NULL where the event is none of a trial, `text` where it has none. Called by the thread that
 * drives the run; KS_EVENT_MESSAGE by any, also while another call is under way. */
typedef void (*ks_watch)(void* user, ks_event event, const ks_trial* trial, const char* text);

/* Begins a run; nothing is searched yet. `policy` NULL: the one that the options name. `evaluator` NULL: this
 * machine's. `watch` may be NULL. `options`: NULL, or a JSON object with members by the names of docs/options.md,
 * which are those of `kernelsearch tune`, with underscores: {"budget": "200,30s", "seed": 3, "reuse": false,
 * "where": ["TILE <= 64"], "devices": [0, 1]}. KS_UNKNOWN_NAME, KS_WRONG_TYPE or KS_CONFIG_ERROR where one does
 * not fit. */
KS_API ks_status ks_run_start(const ks_problem* problem, const char* options, const ks_policy* policy,
                              const ks_evaluator* evaluator, ks_watch watch, void* user, ks_run** out);
/* Goes on with a run of the store that the options name: its number, its name, or "latest". `problem` is
 * needed where it was not read from a file; policy and evaluator where the run had its own. */
KS_API ks_status ks_run_resume(const char* run, const char* options, const ks_problem* problem,
                               const ks_policy* policy, const ks_evaluator* evaluator, ks_watch watch,
                               void* user, ks_run** out);
/* Every trial is in the store before it returns; a run that is freed before its end can be resumed. */
KS_API ks_status ks_run_free(ks_run* run);
/* The run's number in its store. */
KS_API ks_status ks_run_number(ks_run* run, int64_t* number);
/* Makes at most `trials` trials (0: no limit) in at most `seconds` (0: no limit). `finished` gets 1 where the
 * run's budget is spent or the policy has no more; it may be NULL. */
KS_API ks_status ks_run_step(ks_run* run, uint64_t trials, double seconds, int* finished);
/* Searches to the end of the budget, then compares the best few in fresh processes. */
KS_API ks_status ks_run_to_end(ks_run* run);
/* From any thread and from callbacks: ends what works on the run; what was measured stays. */
KS_API ks_status ks_run_request_stop(ks_run* run);

/* Writes what the options ask for ("out", "record"), and says what the run came to. The rest returns KS_NONE
 * before it was called. */
KS_API ks_status ks_run_finish(ks_run* run);
KS_API ks_status ks_run_reason(ks_run* run, char* text, size_t capacity, size_t* needed);
KS_API ks_status ks_run_trials(ks_run* run, uint64_t* trials);
/* The winner's number and seconds; KS_NONE where nothing was right. Both may be NULL. */
KS_API ks_status ks_run_best(ks_run* run, uint64_t* trial, double* seconds);
/* Its value in an objective of the run, as ks_trial_objective() has it; KS_NONE where nothing was right.
 * Since KS_API_VERSION 2. */
KS_API ks_status ks_run_objective(ks_run* run, const char* name, double* value);
/* Its settings as {"NAME": value, ...}, for ks_space_decode(). */
KS_API ks_status ks_run_settings(ks_run* run, char* json, size_t capacity, size_t* needed);
/* How many times faster than the reference, with the 95 % interval; KS_NONE where that was not measured. */
KS_API ks_status ks_run_speedup(ks_run* run, double* ratio, double* low, double* high);
/* Where a file was written: "source", "settings", "record", "table" or "report"; KS_NONE where it was not. */
KS_API ks_status ks_run_file(ks_run* run, const char* what, char* path, size_t capacity, size_t* needed);

#ifdef __cplusplus
}
#endif

#endif
