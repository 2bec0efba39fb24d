// API answers of a small shop, made by hand: an order whose totals are slow in code, a repository that
// asks once per user, a service whose profiles carry no span ids, and a trace that failed.

const kCpu = 'process_cpu:cpu:nanoseconds:cpu:nanoseconds';
const kOffCpu = 'off_cpu:time:nanoseconds:time:nanoseconds';
const kPeriod = 10_309_278;
const kMs = 1_000_000;
const kStart = 1_795_262_400_000_000_000n;
const ns = (offset) => (kStart + BigInt(Math.round(offset))).toString();

export const kOrderTrace = '4bf92f3577b34da6a3ce929d0e0e4736';
export const kUserTrace = '9a1c33e0d27f4b15a6b0c2d4e6f80112';
export const kCartTrace = 'c0ffee00d27f4b15a6b0c2d4e6f80113';
export const kTotalsSpan = '00f067aa0ba902b7';
export const kFindSpan = 'b7ad6b7169203331';
export const kCartSpan = 'ca7ad6b716920001';

const wilson = (hits, n) => {
  const z2 = 1.959964 ** 2;
  const p = hits / n;
  const middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (1.959964 / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
};

/** `f(name, place, self samples, children)`: a call tree with samples at its frames. */
const f = (name, place, self, children = []) => ({ name, place, self, children });
const samplesOf = (node) => node.self + node.children.reduce((sum, c) => sum + samplesOf(c), 0);

const profileOf = (
  tree,
  { type = kCpu, tier = 'span', mode = 'self', scale = 1, note = '' } = {},
) => {
  const names = [];
  const indexOf = (name) => {
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  };
  const levels = [];
  const ends = [];
  const functions = new Map();
  const walk = (node, level, x, above) => {
    const total = samplesOf(node) * scale * kPeriod;
    const self = node.self * scale * kPeriod;
    levels[level] ??= [];
    levels[level].push(x - (ends[level] ?? 0), total, self, indexOf(node.name));
    ends[level] = x + total;
    const [file, line] = (node.place ?? '').split(':');
    const known = functions.get(node.name) ?? {
      file: file ?? '',
      line: Number(line ?? 0),
      self: 0,
      total: 0,
    };
    known.self += self;
    if (!above.includes(node.name)) known.total += total;
    functions.set(node.name, known);
    let at = x;
    for (const child of node.children) {
      walk(child, level + 1, at, [...above, node.name]);
      at += samplesOf(child) * scale * kPeriod;
    }
  };
  walk(f('total', '', 0, [tree]), 0, 0, []);
  const samples = samplesOf(tree) * scale;
  const total = samples * kPeriod;
  functions.delete('total');
  const top = [...functions.entries()]
    .map(([name, of]) => {
      const hits = Math.round(of.total / kPeriod);
      const { low, high } = wilson(hits, samples);
      return {
        function: name,
        file: of.file,
        line: of.line,
        self: of.self,
        total: of.total,
        share: of.total / total,
        share_low: low,
        share_high: high,
        samples: hits,
        lines:
          of.file === ''
            ? []
            : [
                { line: of.line + 3, self: of.self * 0.25, total: of.total * 0.25 },
                { line: of.line + 7, self: of.self * 0.75, total: of.total * 0.75 },
              ],
      };
    })
    .sort((a, b) => b.self - a.self);
  return {
    type,
    tier,
    mode,
    samples,
    period_ns: kPeriod,
    total,
    window: { start_ns: ns(-30_000 * kMs), end_ns: ns(30_000 * kMs) },
    agents: ['libhotspan/0.1.0'],
    note,
    flame: { names, levels, total, max_self: Math.max(...top.map((t) => t.self)) },
    top,
  };
};

const server = (child) =>
  f('start_thread', '', 0, [
    f('http::Worker::Run()', 'demo/http/worker.cc:88', 0, [
      f('http::Router::Dispatch(http::Request const&)', 'demo/http/router.cc:41', 0, [child]),
    ]),
  ]);

const orderTree = server(
  f('order::ProcessOrder(http::Request const&)', 'demo/order/process_order.cc:61', 0, [
    f('order::calculateTotals(Order const&)', 'demo/order/totals.cc:120', 0, [
      f('order::validateLineItems(Order const&)', 'demo/order/validate.cc:33', 1, [
        f('order::checkPriceRules(LineItem const&)', 'demo/order/price_rules.cc:72', 2, [
          f('regex::match(pricePattern)', 'demo/order/price_rules.cc:58', 1, [
            f(
              'std::__detail::_Executor<char const*, std::regex_traits<char>, true>::_M_dfs(int)',
              '/usr/include/c++/12/bits/regex_executor.tcc:410',
              8,
            ),
          ]),
        ]),
        f('order::calculateTax(LineItem const&)', 'demo/order/tax.cc:19', 6),
      ]),
      f('order::applyDiscounts(Order&)', 'demo/order/discounts.cc:44', 0, [
        f('order::loadDiscountRules()', 'demo/order/discounts.cc:92', 3, [
          f('json::parse(rulesConfig)', 'demo/json/parse.cc:210', 4, [
            f('json::Lexer::NextToken()', 'demo/json/lexer.cc:77', 3),
          ]),
        ]),
        f('order::evaluateRules(Order const&, Rules const&)', 'demo/order/discounts.cc:140', 14),
      ]),
      f('order::formatResponse(Order const&)', 'demo/order/response.cc:25', 4, [
        f('json::serialize(orderResult)', 'demo/json/serialize.cc:61', 6, [
          f('std::string::_M_append(char const*, unsigned long)', '', 4),
        ]),
      ]),
    ]),
  ]),
);

const orderOffCpu = server(
  f('order::ProcessOrder(http::Request const&)', 'demo/order/process_order.cc:61', 0, [
    f('order::calculateTotals(Order const&)', 'demo/order/totals.cc:120', 0, [
      f('std::mutex::lock()', '', 1, [f('futex_wait', '', 2)]),
    ]),
  ]),
);

const findTree = server(
  f('userdb::UserRepository::FindByEmail(std::string const&)', 'demo/user_db/repository.cc:47', 1, [
    f('userdb::Preferences::LoadFor(long)', 'demo/user_db/preferences.cc:31', 0, [
      f('sqlite3_step', '', 3, [f('sqlite3VdbeExec', '', 5)]),
      f('sqlite3_prepare_v2', '', 2),
    ]),
  ]),
);

const span = (
  id,
  parent,
  service,
  name,
  offset,
  duration,
  self,
  critical,
  depth,
  children,
  extra = {},
) => ({
  span_id: id,
  parent_span_id: parent,
  service,
  name,
  kind: extra.kind ?? 'internal',
  status: extra.status ?? 'unset',
  status_message: extra.message ?? '',
  start_ns: ns(offset * kMs),
  offset_ns: offset * kMs,
  duration_ns: duration * kMs,
  self_ns: self * kMs,
  critical_ns: critical * kMs,
  depth,
  children,
  attributes: extra.attributes ?? {},
  resource: { 'service.name': service, 'service.version': '1.8.2', 'host.name': 'demo' },
  scope: { name: 'hotspan', version: '0.1.0' },
  events: extra.events ?? [],
  links: extra.links ?? [],
  samples: extra.samples ?? {},
  tier: extra.samples ? 'span' : '',
});

const orderTrace = () => {
  const spans = [
    span('1000000000000001', '', 'frontend', 'GET /order', 0, 812, 6, 6, 0, 1, {
      kind: 'server',
      attributes: {
        'http.request.method': 'GET',
        'url.path': '/order',
        'http.response.status_code': 200,
      },
    }),
    span(
      '1000000000000002',
      '1000000000000001',
      'order-service',
      'process_order',
      3,
      806,
      8,
      8,
      1,
      4,
      {
        kind: 'server',
        samples: { [kCpu]: 1 },
      },
    ),
    span(
      '1000000000000003',
      '1000000000000002',
      'order-service',
      'fetch_order_from_db',
      6,
      64,
      64,
      64,
      2,
      0,
      {
        kind: 'client',
        attributes: { 'db.system': 'sqlite', 'db.statement': 'SELECT * FROM orders WHERE id = ?' },
        samples: { [kCpu]: 4 },
      },
    ),
    span(
      '1000000000000004',
      '1000000000000002',
      'order-service',
      'process_payment',
      72,
      92,
      92,
      92,
      2,
      0,
      {
        events: [
          { name: 'payment.accepted', offset_ns: 90 * kMs, attributes: { provider: 'test' } },
        ],
      },
    ),
    span(
      kTotalsSpan,
      '1000000000000002',
      'order-service',
      'order.calculate_totals',
      166,
      600,
      600,
      600,
      2,
      0,
      {
        attributes: {
          'order.id': 'A-20417',
          'order.lines': 240,
          'code.function': 'order::calculateTotals',
          'code.filepath': 'demo/order/totals.cc',
          'code.lineno': 120,
        },
        samples: { [kCpu]: 56, [kOffCpu]: 3 },
      },
    ),
    span(
      '1000000000000006',
      '1000000000000002',
      'order-service',
      'update_inventory',
      768,
      38,
      38,
      36,
      2,
      0,
      {},
    ),
  ];
  return {
    trace_id: kOrderTrace,
    start_ns: ns(0),
    duration_ns: 812 * kMs,
    root_span_id: '1000000000000001',
    suggested_span_id: kTotalsSpan,
    critical_path_ns: 812 * kMs,
    truncated: false,
    services: [
      { service: 'frontend', spans: 1, self_ns: 6 * kMs },
      { service: 'order-service', spans: 5, self_ns: 802 * kMs },
    ],
    spans,
  };
};

const userTrace = () => {
  const spans = [
    span('2000000000000001', '', 'api_server', 'GET /users', 0, 612, 5, 5, 0, 1, {
      kind: 'server',
    }),
    span(
      kFindSpan,
      '2000000000000001',
      'user-db',
      'UserRepository::FindByEmail',
      4,
      600,
      118,
      118,
      1,
      58,
      {
        kind: 'server',
        samples: { [kCpu]: 11 },
        attributes: { 'code.function': 'UserRepository::FindByEmail', 'code.lineno': 47 },
      },
    ),
    span('2100000000000000', kFindSpan, 'user-db', 'SELECT users', 6, 22, 22, 22, 2, 0, {
      kind: 'client',
    }),
  ];
  for (let i = 0; i < 57; i++) {
    const id = (0x2200000000000000n + BigInt(i)).toString(16);
    spans.push(
      span(id, kFindSpan, 'user-db', 'SELECT user_preferences', 32 + i * 9.9, 8.1, 8.1, 8.1, 2, 0, {
        kind: 'client',
        attributes: { 'db.statement': 'SELECT * FROM user_preferences WHERE user_id = ?' },
      }),
    );
  }
  return {
    trace_id: kUserTrace,
    start_ns: ns(-40_000 * kMs),
    duration_ns: 612 * kMs,
    root_span_id: '2000000000000001',
    suggested_span_id: kFindSpan,
    critical_path_ns: 612 * kMs,
    truncated: false,
    services: [
      { service: 'api_server', spans: 1, self_ns: 5 * kMs },
      { service: 'user-db', spans: 59, self_ns: 602 * kMs },
    ],
    spans,
  };
};

const cartTrace = () => ({
  trace_id: kCartTrace,
  start_ns: ns(-90_000 * kMs),
  duration_ns: 240 * kMs,
  root_span_id: kCartSpan,
  suggested_span_id: kCartSpan,
  critical_path_ns: 240 * kMs,
  truncated: true,
  services: [{ service: 'legacy-cart', spans: 2, self_ns: 240 * kMs }],
  spans: [
    span(kCartSpan, '', 'legacy-cart', 'POST /cart', 0, 240, 60, 60, 0, 1, {
      kind: 'server',
      status: 'error',
      message: 'stock service timed out',
    }),
    span('ca7ad6b716920002', kCartSpan, 'legacy-cart', 'check_stock', 50, 180, 180, 180, 1, 0, {
      kind: 'client',
      status: 'error',
      message: 'deadline exceeded after 180 ms',
      events: [
        {
          name: 'exception',
          offset_ns: 180 * kMs,
          attributes: { 'exception.type': 'Timeout', 'exception.message': 'deadline exceeded' },
        },
      ],
    }),
  ],
});

const kTraces = {
  [kOrderTrace]: orderTrace(),
  [kUserTrace]: userTrace(),
  [kCartTrace]: cartTrace(),
};

const head = (trace, id) => {
  const of = trace.spans.find((item) => item.span_id === id);
  const {
    span_id,
    parent_span_id,
    service,
    name,
    kind,
    status,
    start_ns,
    duration_ns,
    attributes,
  } = of;
  return {
    span_id,
    parent_span_id,
    service,
    name,
    kind,
    status,
    start_ns,
    duration_ns,
    attributes,
  };
};

const baseline = (p50, p95, n, ratio) => ({
  p50_ns: p50 * kMs,
  p95_ns: p95 * kMs,
  n,
  window: { start_ns: ns(-3_600_000 * kMs), end_ns: ns(0) },
  ratio,
});

const part = (name, value, low, high, source, samples, hint = '') => ({
  class: name,
  ns: value * kMs,
  low_ns: low * kMs,
  high_ns: high * kMs,
  source,
  samples,
  ...(hint === '' ? {} : { hint }),
});

const finding = (
  kind,
  title,
  severity,
  saves,
  low,
  high,
  location,
  fix,
  evidence,
  pooled = true,
) => ({
  kind,
  title,
  severity,
  saves_ns: saves * kMs,
  saves_low_ns: low * kMs,
  saves_high_ns: high * kMs,
  location,
  fix,
  pooled,
  evidence,
});

const pooledQuery =
  '{ resource.service.name = "order-service" && name = "order.calculate_totals" }';

const explainTotals = (mode) => ({
  span: head(kTraces[kOrderTrace], kTotalsSpan),
  baseline: baseline(50, 71, 150, 12),
  ledger: {
    duration_ns: 600 * kMs,
    cpu_ns: 577_319_568,
    parallel_ns: 0,
    classes: [
      {
        class: 'on_cpu',
        ns: 577_319_568,
        low_ns: 551_000_000,
        high_ns: 598_000_000,
        source: 'span',
        samples: 56,
      },
      {
        class: 'lock',
        ns: 15_463_917,
        low_ns: 4_000_000,
        high_ns: 29_000_000,
        source: 'span',
        samples: 3,
      },
      {
        class: 'unobserved',
        ns: 600 * kMs - 577_319_568 - 15_463_917,
        low_ns: 0,
        high_ns: 33_000_000,
        source: 'none',
        samples: 0,
        hint: 'an off-CPU profile would show it',
      },
    ],
  },
  profiles: [profileOf(orderTree, { mode }), profileOf(orderOffCpu, { type: kOffCpu, mode })],
  pooled: { spans: 150, samples: 4088, query: pooledQuery },
  missing: [],
  findings: [
    finding(
      'hot_function',
      'json::serialize takes 18 % of order.calculate_totals',
      'high',
      108,
      101,
      116,
      {
        function: 'json::serialize(orderResult)',
        file: 'demo/json/serialize.cc',
        line: 61,
        service: 'order-service',
      },
      'Reserve the output once and write into it; send only the fields the caller reads.',
      [
        {
          text: '736 of 4,088 samples over 150 spans',
          value: 736,
          query: `/api/hotspan/v1/flame?trace_id=${kOrderTrace}`,
        },
        { text: 'serialization family, 16.8..19.3 % of the operation', value: 0.18, query: '' },
      ],
    ),
    finding(
      'hot_function',
      'Regular expression regex::match(pricePattern) takes 15 % of order.calculate_totals',
      'high',
      90,
      84,
      97,
      {
        function: 'regex::match(pricePattern)',
        file: 'demo/order/price_rules.cc',
        line: 58,
        service: 'order-service',
      },
      'Compile the pattern once and keep it; for a fixed form, parse it by hand.',
      [{ text: '613 of 4,088 samples over 150 spans', value: 613, query: '' }],
    ),
    finding(
      'repeated_work',
      'json::parse(rulesConfig) runs in every request',
      'medium',
      72,
      66,
      78,
      {
        function: 'json::parse(rulesConfig)',
        file: 'demo/json/parse.cc',
        line: 210,
        service: 'order-service',
      },
      'Parse the rules once and reload them when the file changes.',
      [{ text: 'seen in 148 of 150 spans', value: 148, query: '' }],
    ),
  ],
});

const explainFind = () => ({
  span: head(kTraces[kUserTrace], kFindSpan),
  baseline: baseline(50, 58, 42, 12),
  ledger: {
    duration_ns: 600 * kMs,
    cpu_ns: 113_402_058,
    parallel_ns: 0,
    classes: [
      part('on_cpu', 113, 71, 150, 'span', 11),
      part('child', 482, 482, 482, 'trace', 0),
      part('unobserved', 5, 0, 42, 'none', 0, 'an off-CPU profile would show it'),
    ],
  },
  profiles: [profileOf(findTree)],
  pooled: { spans: 42, samples: 460, query: '{ name = "UserRepository::FindByEmail" }' },
  missing: [],
  findings: [
    finding(
      'n_plus_one',
      '57 calls of SELECT user_preferences in a row, one per user',
      'high',
      453,
      440,
      461,
      {
        function: 'userdb::UserRepository::FindByEmail',
        file: 'demo/user_db/repository.cc',
        line: 52,
        service: 'user-db',
      },
      'Load them with one query: WHERE user_id IN (…), or a join.',
      [{ text: '57 sequential sibling spans, 461 ms together', value: 57, query: '' }],
      false,
    ),
  ],
});

const explainCart = (tier) => ({
  span: head(kTraces[kCartTrace], kCartSpan),
  ledger: {
    duration_ns: 240 * kMs,
    cpu_ns: 0,
    parallel_ns: 0,
    classes: [
      part('child', 180, 180, 180, 'trace', 0),
      part('unobserved', 60, 60, 60, 'none', 0, 'needs an on-CPU and an off-CPU profile'),
    ],
  },
  profiles: tier === 'service' ? [{ ...profileOf(findTree, { tier: 'service' }) }] : [],
  pooled: { spans: 0, samples: 0, query: '' },
  missing: [
    {
      type: kCpu,
      reason: 'not_labelled',
      detail:
        'legacy-cart sends on-CPU profiles (412 samples in this window), but they carry no span ids.',
      nearest: { before_ns: ns(-95_000 * kMs), after_ns: ns(-80_000 * kMs) },
      fix: 'Link the span to the profiler: hotspan::Profiler::Start() before the tracer, or the OTEL 4947 record.',
    },
    {
      type: kOffCpu,
      reason: 'no_profiles',
      detail: 'No off-CPU profile of legacy-cart has been received.',
      fix: 'Switch off-CPU sampling on in the agent.',
    },
  ],
  findings: [],
});

const explainOther = (trace, id) => ({
  span: head(trace, id),
  ledger: {
    duration_ns: head(trace, id).duration_ns,
    cpu_ns: 0,
    parallel_ns: 0,
    classes: [
      {
        class: 'unobserved',
        ns: head(trace, id).duration_ns,
        low_ns: 0,
        high_ns: 0,
        source: 'none',
        samples: 0,
      },
    ],
  },
  profiles: [],
  pooled: { spans: 150, samples: 310, query: '{ }' },
  missing: [
    {
      type: kCpu,
      reason: 'too_short',
      detail: 'The span expects less than one sample at a period of 10.3 ms.',
      fix: 'Look at the pooled profile of the operation.',
    },
  ],
  findings: [],
});

const summary = (trace, slowest, ageMs) => ({
  trace_id: trace.trace_id,
  root: { service: trace.spans[0].service, name: trace.spans[0].name },
  start_ns: ns(-ageMs * kMs),
  duration_ns: trace.duration_ns,
  spans: trace.spans.length,
  errors: trace.spans.filter((item) => item.status === 'error').length,
  services: trace.services.map((item) => item.service),
  slowest: (({ span_id, service, name, duration_ns, self_ns }) => ({
    span_id,
    service,
    name,
    duration_ns,
    self_ns,
  }))(trace.spans.find((item) => item.span_id === slowest)),
  matched: [],
});

const list = () => {
  const traces = [
    summary(kTraces[kOrderTrace], kTotalsSpan, 0),
    summary(kTraces[kUserTrace], kFindSpan, 40_000),
    summary(kTraces[kCartTrace], kCartSpan, 90_000),
  ];
  for (let i = 0; i < 17; i++) {
    const of = summary(kTraces[kOrderTrace], kTotalsSpan, 100_000 + i * 7_000);
    const scale = 0.28 / (1 + i * 0.22);
    traces.push({
      ...of,
      trace_id: (0x5b000000000000000000000000000000n + BigInt(i)).toString(16),
      duration_ns: of.duration_ns * scale,
      slowest: {
        ...of.slowest,
        duration_ns: of.slowest.duration_ns * scale,
        self_ns: of.slowest.self_ns * scale * 0.8,
      },
    });
  }
  return { traces, inspected: { rows: 4210, truncated: false } };
};

const service = (name, spans, errors, samples, linked) => ({
  service: name,
  spans,
  errors,
  rate: spans / 3600,
  first_ns: ns(-3_600_000 * kMs),
  last_ns: ns(0),
  profile_types: samples > 0 ? [kCpu] : [],
  samples,
  span_linked: linked,
});

const ok = (body) => ({ status: 200, body });
const error = (status, code, message, field = '') => ({
  status,
  body: { error: { code, message, ...(field === '' ? {} : { field }) } },
});

const explain = (query) => {
  const trace = kTraces[query.get('trace_id')];
  if (!trace) return error(404, 'not_found', 'no such trace');
  const id = query.get('span_id') ?? trace.suggested_span_id;
  if (!trace.spans.some((item) => item.span_id === id))
    return error(404, 'not_found', 'no such span');
  if (id === kTotalsSpan) return ok(explainTotals(query.get('mode') ?? 'self'));
  if (id === kFindSpan) return ok(explainFind());
  if (id === kCartSpan) return ok(explainCart(query.get('tier')));
  return ok(explainOther(trace, id));
};

/** The answer of the API to a request; `empty` is an installation without any data. */
export const answer = (url, empty) => {
  const path = url.pathname.replace('/api/hotspan/v1', '');
  const query = url.searchParams;
  if (path === '/services') {
    return ok({
      services: empty
        ? []
        : [
            service('frontend', 1200, 0, 2210, 2034),
            service('order-service', 6000, 3, 5120, 4903),
            service('api_server', 900, 0, 640, 612),
            service('user-db', 48_000, 0, 3300, 3102),
            service('legacy-cart', 400, 61, 412, 0),
            service('batch-mailer', 120, 0, 0, 0),
          ],
    });
  }
  if (path === '/traces') {
    if (empty) return ok({ traces: [], inspected: { rows: 0, truncated: false } });
    const filter = query.get('filter') ?? '';
    if (filter !== '' && !/^\{.*\}$/.test(filter)) {
      return error(
        400,
        'invalid_argument',
        'expected a spanset filter like { name = "x" }',
        'filter',
      );
    }
    if (filter.includes('nothing'))
      return ok({ traces: [], inspected: { rows: 4210, truncated: false } });
    const all = list();
    const wanted = query.get('service');
    if (wanted) all.traces = all.traces.filter((item) => item.services.includes(wanted));
    return ok(all);
  }
  if (path.startsWith('/traces/')) {
    const trace = kTraces[path.slice('/traces/'.length)];
    return trace ? ok(trace) : error(404, 'not_found', 'no such trace');
  }
  if (path === '/explain') return explain(query);
  if (path === '/flame') {
    return ok({ ...profileOf(orderTree, { scale: 73 }), spans: 150 });
  }
  return error(404, 'not_found', 'no such path');
};
