// What fits into a bar, and which module a function belongs to.
import { bucketOf } from '../../base/hash';

export const kModuleColours = 12;

/** Name without template arguments and parameter list, as far as they are balanced. */
const bare = (name: string): string => {
  let depth = 0;
  let result = '';
  for (const char of name) {
    if (char === '<' || char === '(') depth++;
    if (depth === 0) result += char;
    if ((char === '>' || char === ')') && depth > 0) depth--;
  }
  return result.trim() === '' ? name : result;
};

/** `std::regex_match` → `std`; `checkout.Cart.price` → `checkout.Cart`; a bare name is its own module. */
export const moduleOf = (name: string): string => {
  const text = bare(name);
  const scope = text.indexOf('::');
  if (scope > 0) return text.slice(0, scope);
  const slash = text.lastIndexOf('/');
  const dot = text.indexOf('.', slash + 1);
  if (dot > 0) return text.slice(0, dot);
  return text;
};

export const colourOf = (name: string): number => bucketOf(moduleOf(name), kModuleColours);

/**
 * The label for a bar of `chars` characters: whole, else without package path and arguments, else cut
 * with an ellipsis; nothing when fewer than three characters fit.
 */
export const fitLabel = (name: string, chars: number): string => {
  if (chars < 3) return '';
  if (name.length <= chars) return name;
  const short = bare(name);
  if (short.length <= chars) return short;
  const last = short.slice(Math.max(short.lastIndexOf('::') + 1, short.lastIndexOf('/')) + 1);
  if (last !== '' && last.length <= chars) return last;
  return `${(last === '' ? short : last).slice(0, chars - 1)}…`;
};
