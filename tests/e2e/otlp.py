"""A small encoder of OTLP in Python, independent of the decoders under test.

Messages are written field by field with their numbers; traces also as JSON.
"""
import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def key(field, wire):
    return varint(field << 3 | wire)


def number(field, value):
    return key(field, 0) + varint(value) if value else b""


def fixed64(field, value):
    return key(field, 1) + struct.pack("<Q", value)


def data(field, value):
    if isinstance(value, str):
        value = value.encode()
    return key(field, 2) + varint(len(value)) + value


def packed(field, values):
    return data(field, b"".join(varint(v) for v in values)) if values else b""


def any_value(value):
    if isinstance(value, bool):
        return key(2, 0) + varint(int(value))
    if isinstance(value, int):
        return key(3, 0) + varint(value)
    if isinstance(value, float):
        return key(4, 1) + struct.pack("<d", value)
    if isinstance(value, bytes):
        return data(7, value)
    if isinstance(value, list):
        return data(5, b"".join(data(1, any_value(v)) for v in value))
    if isinstance(value, dict):
        return data(6, b"".join(data(1, key_value(k, v)) for k, v in value.items()))
    return data(1, value)


def key_value(name, value):
    return data(1, name) + data(2, any_value(value))


def attributes(field, values):
    return b"".join(data(field, key_value(k, v)) for k, v in values.items())


def span(trace_id, span_id, name, start, end, parent=b"", kind=1, attrs=None, events=(), links=(),
         status=None, trace_state="", flags=0):
    out = data(1, trace_id) + data(2, span_id)
    if trace_state:
        out += data(3, trace_state)
    if parent:
        out += data(4, parent)
    out += data(5, name) + number(6, kind) + fixed64(7, start) + fixed64(8, end)
    out += attributes(9, attrs or {})
    for time, event_name, event_attrs in events:
        out += data(11, fixed64(1, time) + data(2, event_name) + attributes(3, event_attrs))
    for link_trace, link_span, link_attrs in links:
        out += data(13, data(1, link_trace) + data(2, link_span) + attributes(4, link_attrs))
    if status is not None:
        code, message = status
        out += data(15, data(2, message) + number(3, code))
    if flags:
        out += key(16, 5) + struct.pack("<I", flags)
    return out


def traces(service, spans, scope="test", resource=None):
    """An ExportTraceServiceRequest of one resource and one scope."""
    described = {"service.name": service, **(resource or {})}
    scope_spans = data(1, data(1, scope) + data(2, "1.0")) + b"".join(data(2, s) for s in spans)
    return data(1, data(1, attributes(1, described)) + data(2, scope_spans))


class Profile:
    """An ExportProfilesServiceRequest in the current layout (1.10)."""

    def __init__(self, service, sample_type=("cpu", "nanoseconds"), period_type=("cpu", "nanoseconds"),
                 period=10_000_000, resource=None):
        self.service = {"service.name": service, **(resource or {})}
        self.strings = {"": 0}
        self.functions, self.locations, self.stacks, self.links = {None: 0}, {None: 0}, {None: 0}, {None: 0}
        self.sample_type, self.period_type, self.period = sample_type, period_type, period
        self.samples = []

    def text(self, value):
        return self.strings.setdefault(value, len(self.strings))

    def location(self, frame):
        name, file, line = frame
        function = self.functions.setdefault((self.text(name), self.text(file)), len(self.functions))
        return self.locations.setdefault((function, line), len(self.locations))

    def add(self, frames, values=(), times=(), link=None):
        """frames: (function, file, line), leaf first; link: (trace id, span id)."""
        stack = self.stacks.setdefault(tuple(self.location(f) for f in frames), len(self.stacks))
        self.samples.append((stack, values, times, self.links.setdefault(link, len(self.links))))
        return self

    def value_type(self, pair):
        return number(1, self.text(pair[0])) + number(2, self.text(pair[1]))

    def encode(self, start=0, duration=10**9, layout="1.10"):
        names = {"1.10": (4, 3, 5), "1.9": (2, 4, 5)}[layout]
        profile = data(1, self.value_type(self.sample_type))
        for stack, values, times, link in self.samples:
            sample = number(1, stack) + number(names[1], link) + packed(names[0], values)
            if times:
                sample += data(names[2], b"".join(struct.pack("<Q", t) for t in times))
            profile += data(2, sample)
        profile += fixed64(3, start) + number(4, duration)
        profile += data(5, self.value_type(self.period_type)) + number(6, self.period)
        tables = data(1, b"")
        for entry in self.locations:
            tables += data(2, data(3, number(1, entry[0]) + number(2, entry[1])) if entry else b"")
        for entry in self.functions:
            tables += data(3, number(1, entry[0]) + number(3, entry[1]) if entry else b"")
        for entry in self.links:
            tables += data(4, data(1, entry[0]) + data(2, entry[1]) if entry else b"")
        for entry in self.strings:
            tables += data(5, entry)
        tables += data(6, b"")
        for entry in self.stacks:
            tables += data(7, packed(1, entry) if entry else b"")
        scope = data(1, data(1, "test")) + data(2, profile)
        return data(1, data(1, attributes(1, self.service)) + data(2, scope)) + data(2, tables)
