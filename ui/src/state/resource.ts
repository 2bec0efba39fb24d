// Answers of the server by address: one request at a time for each, kept for the next look, shown while
// they are being fetched anew.
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ApiError, Request } from '../api/client';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
}

interface Entry<T> {
  readonly state: Signal<Loaded<T>>;
  abort: AbortController;
  fetchedAt: number;
}

export class Cache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly maxAgeMs: number,
    private readonly capacity = 24,
    private readonly now: () => number = Date.now,
  ) {}

  /** The answer's state; starts the request when there is none or it is too old. */
  get(request: Request<T>): ReadonlySignal<Loaded<T>> {
    const known = this.entries.get(request.key);
    if (known) {
      this.entries.delete(request.key);
      this.entries.set(request.key, known);
      if (this.now() - known.fetchedAt > this.maxAgeMs) this.fetch(request, known);
      return known.state;
    }
    const entry: Entry<T> = {
      state: signal<Loaded<T>>({ value: undefined, error: undefined, loading: true }),
      abort: new AbortController(),
      fetchedAt: 0,
    };
    this.entries.set(request.key, entry);
    this.fetch(request, entry);
    this.evict();
    return entry.state;
  }

  /** Fetches again and keeps the old answer on the screen until the new one is there. */
  reload(request: Request<T>): void {
    const entry = this.entries.get(request.key);
    if (!entry) return;
    entry.state.value = { ...entry.state.peek(), loading: true };
    this.fetch(request, entry);
  }

  private fetch(request: Request<T>, entry: Entry<T>): void {
    entry.abort.abort();
    const abort = new AbortController();
    entry.abort = abort;
    entry.fetchedAt = this.now();
    void request.load(abort.signal).then((result) => {
      if (abort.signal.aborted) return;
      entry.state.value = result.ok
        ? { value: result.value, error: undefined, loading: false }
        : { value: entry.state.peek().value, error: result.error, loading: false };
    });
  }

  private evict(): void {
    for (const [key, entry] of this.entries) {
      if (this.entries.size <= this.capacity) return;
      entry.abort.abort();
      this.entries.delete(key);
    }
  }
}
