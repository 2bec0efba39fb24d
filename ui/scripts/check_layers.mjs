// Fails when a folder of src imports one that layers.txt does not allow, when a cast stands outside
// api/ and base/, or when fetch is called outside api/client.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const src = join(root, 'src');

const allowed = new Map();
for (const line of readFileSync(join(root, 'layers.txt'), 'utf8').split('\n')) {
  if (line.startsWith('#') || !line.includes(':')) continue;
  const [name, list] = line.split(':');
  allowed.set(name.trim(), new Set((list ?? '').trim().split(/\s+/).filter(Boolean)));
}

const layerOf = (path) =>
  relative(src, path)
    .split('/')[0]
    .replace(/\.tsx?$/, '');
const failures = [];

for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const where = relative(root, path);
  const layer = layerOf(path);
  const text = readFileSync(path, 'utf8');
  if (!allowed.has(layer)) failures.push(`${where}: folder ${layer} is not in layers.txt`);
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = layerOf(resolve(dirname(path), match[1]));
    if (target !== layer && !allowed.get(layer)?.has(target)) {
      failures.push(`${where}: ${layer} must not import ${target} (${match[1]})`);
    }
  }
  const code = text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*(import|export) [^;]*;/gm, (line) => (line.includes(' from ') ? '' : line))
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replace(/\/\/.*$/gm, '');
  const cast = code.match(
    /^.*\bas (?!const\b)(?:unknown|string|number|never|any|typeof|[A-Z{([]).*$/m,
  );
  if (layer !== 'api' && layer !== 'base' && cast) {
    failures.push(`${where}: cast outside api/ and base/: ${cast[0].trim()}`);
  }
  if (
    where !== 'src/api/client.ts' &&
    /(?<![.\w])fetch\(/.test(code.replace(/private fetch\(/g, ''))
  ) {
    failures.push(`${where}: fetch outside api/client.ts`);
  }
}

for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exit(1);
console.log('layers: ok');
