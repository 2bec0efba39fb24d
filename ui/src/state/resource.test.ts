import { describe, expect, test } from 'vitest';
import type { ApiResult, Request } from '../api/client';
import { fail, ok } from '../base/result';
import { Cache } from './resource';

interface Pending {
  readonly request: Request<string>;
  readonly settle: (result: ApiResult<string>) => Promise<void>;
  readonly signals: AbortSignal[];
}

const pending = (key: string): Pending => {
  const waiting: ((result: ApiResult<string>) => void)[] = [];
  const signals: AbortSignal[] = [];
  return {
    request: {
      key,
      load: (signal) => {
        signals.push(signal);
        return new Promise((resolve) => waiting.push(resolve));
      },
    },
    settle: async (result) => {
      waiting.at(-1)?.(result);
      await Promise.resolve();
      await Promise.resolve();
    },
    signals,
  };
};

const error = { status: 500, code: 'internal', message: 'no', field: '' };

describe('cache', () => {
  test('asks once and gives the answer to all', async () => {
    const cache = new Cache<string>(1000);
    const asked = pending('a');
    const state = cache.get(asked.request);
    expect(cache.get(asked.request)).toBe(state);
    expect(asked.signals).toHaveLength(1);
    expect(state.value).toEqual({ value: undefined, error: undefined, loading: true });
    await asked.settle(ok('x'));
    expect(state.value).toEqual({ value: 'x', error: undefined, loading: false });
  });

  test('an old answer stays while a new one is fetched', async () => {
    let now = 0;
    const cache = new Cache<string>(1000, 24, () => now);
    const asked = pending('a');
    const state = cache.get(asked.request);
    await asked.settle(ok('old'));
    now = 1500;
    cache.get(asked.request);
    expect(asked.signals).toHaveLength(2);
    expect(state.value.value).toBe('old');
    await asked.settle(ok('new'));
    expect(state.value.value).toBe('new');
  });

  test('a failed reload keeps the value and names the error', async () => {
    const cache = new Cache<string>(1000);
    const asked = pending('a');
    const state = cache.get(asked.request);
    await asked.settle(ok('x'));
    cache.reload(asked.request);
    expect(state.value.loading).toBe(true);
    await asked.settle(fail(error));
    expect(state.value).toEqual({ value: 'x', error, loading: false });
  });

  test('the least recently used answer goes first, its request is given up', () => {
    const cache = new Cache<string>(1000, 2);
    const [a, b, c] = [pending('a'), pending('b'), pending('c')];
    cache.get(a.request);
    cache.get(b.request);
    cache.get(a.request);
    cache.get(c.request);
    expect(a.signals[0]?.aborted).toBe(false);
    expect(b.signals[0]?.aborted).toBe(true);
  });
});
