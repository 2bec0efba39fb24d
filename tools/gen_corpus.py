#!/usr/bin/env python3
"""Writes the seed inputs of the fuzz targets to tests/corpus/<target>/.

Its encoders are its own and share nothing with the decoders. Run from the root of the source tree;
the output is the same every time.
"""

import gzip
import json
import os
import struct
import sys
import zlib

TRACE = bytes(range(1, 17))
SPAN = bytes(range(0x11, 0x19))


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def num(field, value):
    return varint(field << 3) + varint(value)


def fixed64(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def fixed32(field, value):
    return varint(field << 3 | 5) + struct.pack("<I", value)


def sub(field, content):
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field, values):
    return sub(field, b"".join(varint(v) for v in values))


def key_value(key, value):
    return sub(1, key) + sub(2, value)


def text(value):
    return sub(1, value)


def span(name="op", extra=b""):
    return (sub(1, TRACE) + sub(2, SPAN) + sub(5, name) + fixed64(7, 10**18) + fixed64(8, 10**18 + 500)
            + extra)


def traces(*spans):
    resource = sub(1, key_value("service.name", text("shop")))
    scope = sub(1, sub(1, "lib")) + b"".join(sub(2, s) for s in spans)
    return sub(1, sub(1, resource) + sub(2, scope))


def nested_array(depth):
    value = num(3, 1)
    for _ in range(depth):
        value = sub(5, sub(1, value))
    return value


def trace_inputs():
    full = span("GET /", num(6, 2) + sub(4, SPAN) + sub(3, "a=b") + fixed32(16, 0x101)
                + sub(9, key_value("http.route", text("/cart"))) + sub(9, key_value("n", num(3, -5)))
                + sub(9, key_value("list", sub(5, sub(1, text("x")) + sub(1, b""))))
                + sub(9, key_value("map", sub(6, sub(1, key_value("k", num(2, 1))))))
                + sub(9, key_value("bytes", sub(7, b"\x00\xff")))
                + sub(11, fixed64(1, 5) + sub(2, "event") + sub(3, key_value("a", text("b"))))
                + sub(13, sub(1, TRACE) + sub(2, SPAN) + fixed32(6, 1))
                + sub(15, sub(2, "bad") + num(3, 2)))
    body = traces(full)
    yield "full", body
    yield "empty", b""
    yield "several", traces(span("a"), span("b"), span("c"))
    yield "truncated", body[: len(body) // 2]
    yield "zero_ids", traces(sub(1, bytes(16)) + sub(2, bytes(8)), span())
    yield "short_ids", traces(sub(1, b"abc") + sub(2, b"d"), span())
    yield "backwards", traces(sub(1, TRACE) + sub(2, SPAN) + fixed64(7, 9) + fixed64(8, 3))
    yield "far_future", traces(sub(1, TRACE) + sub(2, SPAN) + fixed64(8, 2**64 - 1))
    yield "deep", traces(span(extra=sub(9, key_value("deep", nested_array(400)))))
    yield "bad_utf8", traces(span(b"\xff\xfe\xc0\x80", sub(9, key_value(b"\xed\xa0\x80", text(b"\xf8")))))
    yield "long_key", traces(span(extra=sub(9, key_value("k" * 3000, text("v")))))
    yield "many_empty", sub(1, b"") * 500 + sub(1, sub(2, b"") * 500)
    yield "huge_length", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
    yield "group_tag", b"\x0b\x0c"


def trace_json_inputs():
    one = {"traceId": TRACE.hex(), "spanId": SPAN.hex(), "name": "op", "kind": 2,
           "startTimeUnixNano": "5", "endTimeUnixNano": 9,
           "attributes": [{"key": "k", "value": {"intValue": "7"}},
                          {"key": "a", "value": {"arrayValue": {"values": [{}, {"doubleValue": "NaN"}]}}}],
           "status": {"code": "STATUS_CODE_ERROR"}}

    def request(*spans):
        return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()

    yield "one", request(one)
    yield "snake", request({"trace_id": TRACE.hex(), "span_id": SPAN.hex(), "end_time_unix_nano": 1})
    yield "bad_id", request(dict(one, traceId="zz"), one)
    yield "wrong_type", request(dict(one, name=5))
    yield "truncated", request(one)[:-9]
    yield "huge_number", request(dict(one, flags=2**70))
    deep = "{\"arrayValue\":{\"values\":[" * 200 + "{}" + "]}}" * 200
    yield "deep", (b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"' + TRACE.hex().encode()
                   + b'","spanId":"' + SPAN.hex().encode() + b'","attributes":[{"key":"d","value":'
                   + deep.encode() + b"}]}]}]}]}")
    yield "deeper_than_the_parser", b'{"resourceSpans":' + b"[" * 3000 + b"]" * 3000 + b"}"
    yield "bad_utf8", request(one).replace(b'"op"', b'"\xff"')


STRINGS = ["", "samples", "count", "cpu", "nanoseconds", "main", "work", "main.cc", "thread.id",
           "process.executable.build_id.gnu", "lib.so", "off_cpu"]


def dictionary(extra=b""):
    return (b"".join(sub(5, s) for s in STRINGS)
            + sub(1, b"") + sub(1, num(1, 0x1000) + num(2, 0x9000) + num(3, 0x200) + num(4, 10) + packed(5, [2]))
            + sub(3, b"") + sub(3, num(1, 5) + num(3, 7)) + sub(3, num(1, 6) + num(3, 7))
            + sub(2, b"") + sub(2, sub(3, num(1, 2) + num(2, 8)) + sub(3, num(1, 1) + num(2, 20)))
            + sub(2, num(1, 1) + num(2, 0x1040))
            + sub(7, b"") + sub(7, packed(1, [1, 2]))
            + sub(4, sub(1, bytes(16)) + sub(2, bytes(8))) + sub(4, sub(1, TRACE) + sub(2, SPAN))
            + sub(6, b"") + sub(6, num(1, 8) + sub(2, num(3, 77))) + sub(6, num(1, 9) + sub(2, text("abcd")))
            + extra)


def cpu(*samples):
    return (sub(1, num(1, 1) + num(2, 2)) + fixed64(3, 10**18) + num(4, 10**9)
            + sub(5, num(1, 3) + num(2, 4)) + num(6, 10**7) + b"".join(sub(2, s) for s in samples))


def profiles(*entries, tables=None):
    resource = sub(1, key_value("service.name", text("shop")))
    scope = sub(1, sub(1, "sampler")) + b"".join(sub(2, p) for p in entries)
    return sub(1, sub(1, resource) + sub(2, scope)) + sub(2, dictionary() if tables is None else tables)


def profile_inputs():
    timed = num(1, 1) + packed(2, [1]) + num(3, 1) + sub(5, struct.pack("<2Q", 10**18, 10**18 + 1))
    body = profiles(cpu(timed))
    yield "layout10", body
    yield "layout9", profiles(cpu(num(1, 1) + packed(2, [900]) + packed(3, [1]) + num(4, 1) + fixed64(5, 7)))
    yield "layout9_unpacked", profiles(cpu(num(1, 1) + num(2, 900) + num(3, 1)))
    yield "layout7", profiles(sub(1, b"") + sub(1, b"") + packed(3, [1]))
    yield "layout3", profiles(fixed64(2, 5) + sub(8, cpu()))
    yield "truncated", body[: len(body) - 20]
    yield "no_dictionary", profiles(cpu(timed), tables=b"")
    yield "stack_out_of_table", profiles(cpu(num(1, 99) + fixed64(5, 1)), cpu(timed))
    yield "attribute_out_of_table", profiles(cpu(num(1, 1) + packed(2, [2**63]) + fixed64(5, 1)))
    yield "link_out_of_table", profiles(cpu(num(1, 1) + num(3, -1) + fixed64(5, 1)))
    yield "string_out_of_table", profiles(cpu(timed), tables=dictionary(sub(3, num(1, 10**6)) + sub(2, sub(3, num(1, 3))) + sub(7, packed(1, [3]))))
    yield "location_out_of_table", profiles(cpu(num(1, 2) + fixed64(5, 1)), tables=dictionary(sub(7, packed(1, [55]))))
    yield "deep_stack", profiles(cpu(num(1, 2) + fixed64(5, 1)), tables=dictionary(sub(7, packed(1, [1] * 3000))))
    yield "huge_value", profiles(cpu(num(1, 1) + num(4, 2**62)))
    yield "unequal", profiles(cpu(num(1, 1) + packed(4, [1, 2]) + fixed64(5, 1)))
    yield "many_empty", sub(1, sub(2, sub(2, b"") * 300)) + sub(2, sub(7, b"") * 300)
    yield "packed_cut", profiles(cpu(num(1, 1) + sub(2, b"\xff\xff")))


def profile_json_inputs():
    request = {
        "resourceProfiles": [{"scopeProfiles": [{"profiles": [{
            "sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": "1000",
            "periodType": {"typeStrindex": 3, "unitStrindex": 4}, "period": "10",
            "samples": [{"stackIndex": 1, "attributeIndices": [1], "timestampsUnixNano": ["1001"]}]}]}]}],
        "dictionary": {"stringTable": STRINGS, "locationTable": [{}, {"lines": [{"functionIndex": 1}]}],
                       "functionTable": [{}, {"nameStrindex": 5}],
                       "attributeTable": [{}, {"keyStrindex": 8, "value": {"intValue": "9"}}],
                       "linkTable": [{}], "mappingTable": [{}], "stackTable": [{}, {"locationIndices": [1]}]}}
    body = json.dumps(request).encode()
    yield "one", body
    yield "old_names", b'{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sample":[]}]}]}]}'
    yield "truncated", body[:-30]
    yield "negative_index", body.replace(b'"stackIndex": 1', b'"stackIndex": -1')
    yield "text_index", body.replace(b'"stackIndex": 1', b'"stackIndex": "x"')


def pprof(*samples, extra=b""):
    strings = ["", "samples", "count", "cpu", "nanoseconds", "main", "main.cc", "span_id", SPAN.hex(), "abcd"]
    return (b"".join(sub(6, s) for s in strings) + sub(1, num(1, 1) + num(2, 2)) + sub(1, num(1, 3) + num(2, 4))
            + sub(11, num(1, 3) + num(2, 4)) + num(12, 10**7) + num(9, 17 * 10**17)
            + sub(3, num(1, 1) + num(2, 0x1000) + num(3, 0x2000) + num(6, 9))
            + sub(5, num(1, 1) + num(2, 5) + num(4, 6))
            + sub(4, num(1, 1) + num(2, 1) + num(3, 0x1010) + sub(4, num(1, 1) + num(2, 3)))
            + b"".join(sub(2, s) for s in samples) + extra)


def pprof_inputs():
    good = packed(1, [1]) + packed(2, [1, 10**7]) + sub(3, num(1, 7) + num(2, 8))
    body = pprof(good)
    yield "raw", body
    yield "gzip", gzip.compress(body, mtime=0)
    yield "two_members", gzip.compress(body[:40], mtime=0) + gzip.compress(body[40:], mtime=0)
    yield "truncated", body[:-7]
    yield "truncated_gzip", gzip.compress(body, mtime=0)[:-9]
    yield "bomb", gzip.compress(bytes(80 << 20), 9, mtime=0)
    yield "location_missing", pprof(packed(1, [9]) + packed(2, [1, 2]))
    yield "label_out_of_table", pprof(good + sub(3, num(1, 999)))
    yield "value_count", pprof(packed(1, [1]) + packed(2, [1]))
    yield "deep_stack", pprof(packed(1, [1] * 3000) + packed(2, [1, 2]))
    yield "sparse_ids", pprof(good, extra=sub(4, num(1, 2**63)) + sub(5, num(1, 2**40) + num(2, 5)))
    yield "zero_ids", pprof(good, extra=sub(4, b"") + sub(5, b"") + sub(3, b""))
    yield "negative_string", pprof(good, extra=sub(5, num(1, 2) + num(2, -1)))
    yield "legacy", b"heap profile: 1: 2 [3: 4] @ heap/1048576\n"
    yield "empty", b""


FOLDED = b"main;work;leaf 12\nmain;other 3\n# note\n\nmain 1.5\r\n"


def folded_inputs():
    yield "plain", FOLDED
    yield "deep", b";".join(b"f%d" % i for i in range(3000)) + b" 1\n"
    yield "overflow", b"main 99999999999999999999999\n"
    yield "bad_count", b"main;work x\n"
    yield "bad_utf8", b"\xff\xfe;\xc0\x80 4\n"
    yield "nul", b"a\0b;c 4\n"
    yield "only_separators", b";;;; 4\n ;; 1\n"
    yield "utf16", "main 1\n".encode("utf-16")


def inflate_inputs():
    body = b"abcdefgh" * 500
    zstd = bytes.fromhex("28b52ffd2403190000616263") + b"\0\0\0\0"
    yield "gzip", gzip.compress(body, mtime=0)
    yield "zlib", zlib.compress(body)
    yield "raw", zlib.compress(body)[2:-4]
    yield "two_members", gzip.compress(body, mtime=0) + gzip.compress(b"x", mtime=0)
    yield "bomb", gzip.compress(bytes(8 << 20), 9, mtime=0)
    yield "truncated", gzip.compress(body, mtime=0)[:30]
    yield "lying_trailer", gzip.compress(body, mtime=0)[:-4] + b"\xff\xff\xff\xff"
    yield "zstd_bad_checksum", zstd
    yield "zstd_stored", bytes.fromhex("28b52ffd2003190000616263")
    yield "zstd_repeat_bomb", bytes.fromhex("28b52ffd0058") + b"\x02\x00\x10a" * 20 + b"\x03\x00\x10a"
    yield "zstd_huge_window", bytes.fromhex("28b52ffd00f8010000")
    yield "empty", b""


def pyroscope_inputs():
    good = packed(1, [1]) + packed(2, [1, 10**7])
    form = (b"--b\r\nContent-Disposition: form-data; name=\"profile\"\r\n\r\n" + pprof(good)
            + b"\r\n--b\r\nContent-Disposition: form-data; name=\"sample_type_config\"\r\n\r\n{}\r\n--b--\r\n")
    yield "folded", b"name=shop.cpu{env=prod}&from=1700000000\n\n" + FOLDED
    yield "pprof", b"name=shop\nbinary/octet-stream\n" + pprof(good)
    yield "multipart", b"name=shop\nmultipart/form-data; boundary=b\n" + form
    yield "multipart_cut", b"name=shop\nmultipart/form-data; boundary=b\n" + form[:-30]
    yield "no_name", b"from=now-1h\n\n" + FOLDED
    yield "bad_name", b"name=a{b=\"c}&until=now-\n\n" + FOLDED
    yield "escapes", b"name=a%7Bk%3Dv%7D%&from=%\n\n" + FOLDED
    yield "noise", b"name=a\n\n\x01\x02\x03"


TARGETS = {
    "trace_decoder_fuzz": trace_inputs,
    "trace_json_fuzz": trace_json_inputs,
    "profile_decoder_fuzz": profile_inputs,
    "profile_json_fuzz": profile_json_inputs,
    "pprof_decoder_fuzz": pprof_inputs,
    "folded_decoder_fuzz": folded_inputs,
    "inflate_fuzz": inflate_inputs,
    "pyroscope_fuzz": pyroscope_inputs,
}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "tests/corpus"
    for target, inputs in TARGETS.items():
        folder = os.path.join(root, target)
        os.makedirs(folder, exist_ok=True)
        for name, content in inputs():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


if __name__ == "__main__":
    main()
