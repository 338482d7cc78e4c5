/* SABATH for every language: a C interface over JSON and bytes, in libsabath.so.
 *
 * A session is opened with settings, and verbs are called by their names with a request and give a record, both as JSON
 * text in UTF-8: docs/requests-and-records.md lists them. Any thread may call any function with any session; several
 * calls of one session go on side by side. Nothing is thrown, printed or read from standard input, and signals, umask,
 * locale and working directory stay the caller's.
 *
 * A function that fails returns NULL or -1, and if `error` is not NULL puts text there that says why:
 *   {"schema": 1, "error": {"kind": "offline", "message": "...", "hint": "..." or null}, "exit": 9}
 * `exit` is the exit code of the command line for that kind: docs/exit-codes.md. Texts that are returned as `char*` are
 * the caller's, who gives them back to sabath_free(). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SABATH_INTERFACE 2 /* grows when functions are added; none changes its meaning */

typedef struct sabath_session sabath_session;
typedef struct sabath_asset sabath_asset;
typedef struct sabath_file sabath_file;

/* "0.1.0"; static. */
const char* sabath_version(void);
/* ["du", "fetch", ...]: what sabath_call() knows. */
char* sabath_verbs(void);

/* `settings`: NULL or {}: those of the command line, by environment and configuration files. Its keys, all optional,
 * are those of a configuration file (docs/configuration.md: "store", "recipes", "offline", "lanes", ...), and "config"
 * and "deadline" as the options have them. What it says wins; the verb "config" without a request tells all of them. */
sabath_session* sabath_open(const char* settings, char** error);
/* Ends what is going on, waits for it, and frees the session: not from its listener, whose call it would wait for. NULL
 * is nothing. */
void sabath_close(sabath_session* session);

/* `event` is JSON text of one object, {"event": "BytesReceived", ...}, that lives until the function returns. It is
 * called by any thread, also by several at once, while verbs are called. NULL: no listener. Once sabath_listen() has
 * returned, who listened before is not called any more, unless a listener called it. */
typedef void (*sabath_listener)(void* user, const char* event);
void sabath_listen(sabath_session* session, sabath_listener listener, void* user);

/* `request`: NULL is {}. Returns the record; what failed of it (one asset of many) is said there, with "exit" not 0. */
char* sabath_call(sabath_session* session, const char* verb, const char* request, char** error);
/* The calls that go on now end soon, and what they have done is kept: with an error of the kind "interrupted", or,
 * where a record of it is of use (fetch, stage, run, serve, sample), with that record. */
void sabath_stop(sabath_session* session);
void sabath_free(char* text);

/* A verified file of an asset in the store, in a file of its own or a pack; no collection takes it while it is open. */
sabath_file* sabath_file_open(sabath_session* session, const char* asset, const char* path, char** error);
int64_t sabath_file_size(const sabath_file* file);
/* Up to `length` bytes at `offset` into `room`; how many, 0 at the end. */
int64_t sabath_file_read(const sabath_file* file, uint64_t offset, void* room, size_t length, char** error);
/* Where its bytes stand as they are, to map them: the name of the file, which lives as long as `file`, and the first
 * byte's offset there. NULL: they stand compressed, and have to be read. */
const char* sabath_file_place(const sabath_file* file, uint64_t* offset);
void sabath_file_close(sabath_file* file);

/* Since interface 2. An asset of the store, by its name or the root of its manifest, "sha256:<hex>": no collection
 * takes it while it or a file of it is open. */
sabath_asset* sabath_asset_open(sabath_session* session, const char* asset, char** error);
/* {"schema": 1, "manifest": "sha256:...", "places": ["/store/packs/...", ...],
 *  "files": [{"path", "size", "digest", "place", "offset"}, ...]}: in the order of a shard plan. `place` counts in
 * `places`: there the file's `size` bytes stand from `offset` on as they are; null: they have to be read. */
char* sabath_asset_files(const sabath_asset* asset, char** error);
sabath_file* sabath_asset_file(const sabath_asset* asset, const char* path, char** error);
void sabath_asset_close(sabath_asset* asset);

/* Since interface 2. Deals samples as `stage` deals files in shard mode (docs/staging.md). `paths`: `count` names, each
 * ended by a NUL. The share of each goes into `share_of`, in their order. Returns 0. */
int sabath_deal(const char* paths, size_t count, uint64_t seed, uint32_t shares, uint32_t* share_of, char** error);

#ifdef __cplusplus
}
#endif
