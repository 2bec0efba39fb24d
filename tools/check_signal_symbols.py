#!/usr/bin/env python3
"""Checks that what runs in signal handlers calls nothing that is not safe there.

usage: check_signal_symbols.py ARCHIVE...   the libraries of agent/signal and agent/unwind
"""

import os
import re
import subprocess
import sys

# Safe in a handler, by POSIX or because it is a plain copy or a vDSO read.
ALLOWED = {
    "memcpy", "memset", "memmove", "clock_gettime", "__errno_location", "_GLOBAL_OFFSET_TABLE_",
    # Called when the handler is installed, never in it.
    "sigaction", "__libc_current_sigrtmin", "__libc_current_sigrtmax",
    # Line counters of coverage builds.
    "__gcov_init", "__gcov_exit", "__gcov_merge_add",
}
OWN = re.compile(r"^_ZN\w*7hotspan|^otel_thread_ctx_v1$|^_ZTHN\w*7hotspan|^_ZTWN\w*7hotspan")
# A dynamic TLS access may allocate; initial-exec has none of these.
FORBIDDEN = re.compile(r"__tls_get_addr|^_Znw|^_Znam|^_ZdlPv|malloc|free|pthread_|__cxa_|_Unwind|"
                       r"__gxx_personality|__stack_chk_fail|__asan|__tsan|__ubsan")


def undefined(archive):
    text = subprocess.run(["nm", "-u", archive], check=True, capture_output=True, text=True).stdout
    found = {}
    source = os.path.basename(archive)
    for line in text.splitlines():
        if line.endswith(":"):
            source = line[:-1]
            continue
        words = line.split()
        if len(words) == 2 and words[0] in ("U", "w", "v"):
            found.setdefault(words[1].split("@")[0], source)
    return found


def main(archives):
    bad = []
    for archive in archives:
        for symbol, source in sorted(undefined(archive).items()):
            if FORBIDDEN.search(symbol) or not (symbol in ALLOWED or OWN.search(symbol)):
                bad.append(f"{os.path.basename(archive)}({source}): {symbol}")
    for line in bad:
        print("not allowed in a signal handler:", line)
    return 1 if bad or not archives else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
