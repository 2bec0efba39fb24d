// Small stable hashes (not cryptographic): colours by name, keys of flame nodes in links.

/** 32-bit FNV-1a over UTF-16 units, continued from `seed`. */
export const fnv1a = (text: string, seed = 0x811c9dc5): number => {
  let hash = seed >>> 0;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash;
};

/** A name's place among `count` colours. */
export const bucketOf = (text: string, count: number): number => {
  let hash = fnv1a(text);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d) >>> 0;
  hash ^= hash >>> 12;
  return (hash >>> 0) % count;
};
