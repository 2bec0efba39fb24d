/* libhotspan, C API: spans and profiles of a program, sent to a Hotspan server by OTLP/HTTP.
 *
 * Start it once; after that every thread is sampled and each sample carries the span that is active
 * on its thread. All functions may be called from any thread, never fail loudly and do nothing
 * while the library is not started. C++ programs use hotspan.hpp.
 */
#ifndef HOTSPAN_H_
#define HOTSPAN_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HOTSPAN_EXPORT __attribute__((visibility("default")))
#else
#define HOTSPAN_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What NULL and zero stand for is taken from the environment, then from the default:
 * OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_ENDPOINT (http://127.0.0.1:4318),
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER and _ARG, HOTSPAN_CPU_HZ (97), HOTSPAN_OFF_CPU,
 * HOTSPAN_LOCKS.
 */
typedef struct hotspan_options {
  size_t size; /* sizeof(hotspan_options), so that fields can be added at the end */
  const char* service_name;
  const char* service_version;
  const char* endpoint;
  int cpu_hz;  /* samples a second of CPU time, 1 to 1000; 0: default; negative: no profile */
  int verbose; /* nonzero: one line to standard error when it starts */
} hotspan_options;

/* Starts tracing and profiling; 0, or -1 where it could not (already started counts as started). */
HOTSPAN_EXPORT int hotspan_start(const hotspan_options* options);
/* Sends what is left, for two seconds at most, and stops. Also done at exit. */
HOTSPAN_EXPORT void hotspan_stop(void);
/* Sends what has been gathered so far; 0 when the server has taken it all. */
HOTSPAN_EXPORT int hotspan_flush(int timeout_ms);

typedef struct hotspan_context {
  uint8_t trace_id[16];
  uint8_t span_id[8];
  uint8_t trace_flags; /* W3C: 1 is sampled */
} hotspan_context;

/* Makes a context the current one of this thread for samples taken from here on, without making a
 * span: for programs with a tracer of their own. Detach restores the one before. */
HOTSPAN_EXPORT void hotspan_ctx_attach(const hotspan_context* context);
HOTSPAN_EXPORT void hotspan_ctx_detach(void);
/* The context of this thread; 0 if there is none. */
HOTSPAN_EXPORT int hotspan_ctx_current(hotspan_context* context);

typedef struct hotspan_span hotspan_span;

enum {
  HOTSPAN_INTERNAL = 1,
  HOTSPAN_SERVER = 2,
  HOTSPAN_CLIENT = 3,
  HOTSPAN_PRODUCER = 4,
  HOTSPAN_CONSUMER = 5
};

/* Starts a span, as a child of the current one, and makes it current on this thread. `file`,
 * `function` and `line` say where in the code; NULL and 0 leave them out. Never NULL. */
HOTSPAN_EXPORT hotspan_span* hotspan_span_start(const char* name, int kind, const char* file,
                                                const char* function, int line);
/* The same as the child of a remote parent given by a W3C traceparent header (may be NULL). */
HOTSPAN_EXPORT hotspan_span* hotspan_span_start_remote(const char* name, int kind,
                                                       const char* traceparent,
                                                       const char* tracestate, const char* file,
                                                       const char* function, int line);
HOTSPAN_EXPORT void hotspan_span_set_string(hotspan_span* span, const char* key, const char* value,
                                            size_t size);
HOTSPAN_EXPORT void hotspan_span_set_int(hotspan_span* span, const char* key, int64_t value);
HOTSPAN_EXPORT void hotspan_span_set_double(hotspan_span* span, const char* key, double value);
HOTSPAN_EXPORT void hotspan_span_set_bool(hotspan_span* span, const char* key, int value);
HOTSPAN_EXPORT void hotspan_span_add_event(hotspan_span* span, const char* name);
HOTSPAN_EXPORT void hotspan_span_set_error(hotspan_span* span, const char* message);
/* Takes the span from this thread without ending it (to end it on another), and puts it back. */
HOTSPAN_EXPORT void hotspan_span_detach(hotspan_span* span);
HOTSPAN_EXPORT void hotspan_span_attach(hotspan_span* span);
HOTSPAN_EXPORT void hotspan_span_context(const hotspan_span* span, hotspan_context* context);
/* Ends and frees the span; it must not be used again. */
HOTSPAN_EXPORT void hotspan_span_end(hotspan_span* span);

/* Writes the current context as a W3C traceparent value (55 characters and a zero); 0 and "" if
 * there is none. */
HOTSPAN_EXPORT int hotspan_traceparent(char out[56]);

typedef struct hotspan_stats {
  uint64_t spans_ended, spans_sent, spans_dropped;
  uint64_t samples_taken, samples_sent, samples_dropped;
  uint64_t agent_cpu_ns; /* CPU time of the library's own threads */
  const char* sampler;   /* "perf", "hrtimer" or "cpu-timer"; "off" without a profile */
} hotspan_stats;
HOTSPAN_EXPORT void hotspan_get_stats(hotspan_stats* stats);

#ifdef __cplusplus
}
#endif

#endif /* HOTSPAN_H_ */
