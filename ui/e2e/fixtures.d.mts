// Types of what the tests take from fixtures.mjs.
export const kOrderTrace: string;
export const kUserTrace: string;
export const kCartTrace: string;
export const kTotalsSpan: string;
export const kFindSpan: string;
export const kCartSpan: string;
