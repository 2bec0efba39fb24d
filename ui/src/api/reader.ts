// Reads unknown JSON into typed values: a missing or wrong field becomes its neutral value, so that an
// older or newer server never breaks the page; a body that is no object at all is an error.

export class Reader {
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.fields =
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? (value as Record<string, unknown>)
        : {};
  }

  text(name: string): string {
    const value = this.fields[name];
    if (typeof value === 'string') return value;
    return typeof value === 'number' ? String(value) : '';
  }

  number(name: string, fallback = 0): number {
    const value = this.fields[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value === 'string' && value !== '' && Number.isFinite(Number(value))) {
      return Number(value);
    }
    return fallback;
  }

  flag(name: string): boolean {
    return this.fields[name] === true;
  }

  /** Nanoseconds since the epoch, a decimal string on the wire. */
  time(name: string): bigint | undefined {
    const text = this.text(name);
    return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  }

  object(name: string): Reader {
    return new Reader(this.fields[name]);
  }

  has(name: string): boolean {
    const value = this.fields[name];
    return value !== undefined && value !== null;
  }

  list<T>(name: string, read: (item: Reader) => T | undefined): T[] {
    const value = this.fields[name];
    if (!Array.isArray(value)) return [];
    const result: T[] = [];
    for (const item of value) {
      const one = read(new Reader(item));
      if (one !== undefined) result.push(one);
    }
    return result;
  }

  texts(name: string): string[] {
    const value = this.fields[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }

  numberLists(name: string): number[][] {
    const value = this.fields[name];
    if (!Array.isArray(value)) return [];
    return value.map((row) =>
      Array.isArray(row) ? row.map((item) => (typeof item === 'number' ? item : 0)) : [],
    );
  }

  /** An object as name → printable value. */
  map(name: string): Map<string, string> {
    const value = this.fields[name];
    const result = new Map<string, string>();
    if (typeof value !== 'object' || value === null) return result;
    for (const [key, item] of Object.entries(value)) {
      result.set(key, typeof item === 'string' ? item : JSON.stringify(item));
    }
    return result;
  }

  numbers(name: string): Map<string, number> {
    const value = this.fields[name];
    const result = new Map<string, number>();
    if (typeof value !== 'object' || value === null) return result;
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'number') result.set(key, item);
    }
    return result;
  }
}
