// What only I prefer: kept in this browser, never in a link.
import { effect, type Signal, signal } from '@preact/signals';

const kPrefix = 'hotspan.';

const readNumber = (name: string): number | undefined => {
  try {
    const text = window.localStorage.getItem(kPrefix + name);
    if (text === null) return undefined;
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const numberPref = (name: string, initial: number): Signal<number> => {
  const pref = signal(readNumber(name) ?? initial);
  effect(() => {
    const value = String(pref.value);
    try {
      window.localStorage.setItem(kPrefix + name, value);
    } catch {
      // Storage may be switched off; the preference then lasts for this page only.
    }
  });
  return pref;
};

/** Share of the trace page that the waterfall takes, in percent. */
export const splitPercent = numberPref('split', 44);
