// Fails when a page of dist/ is heavier than budget.json allows (KiB after gzip -9; fonts as they are).
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = resolve(import.meta.dirname, '..');
const assets = join(root, 'dist', 'assets');
const budget = JSON.parse(readFileSync(join(root, 'budget.json'), 'utf8'));
const kib = (bytes) => bytes / 1024;

const files = readdirSync(assets);
const size = (name) => kib(gzipSync(readFileSync(join(assets, name)), { level: 9 }).length);
const scripts = files.filter((name) => name.endsWith('.js'));
const styles = files.filter((name) => name.endsWith('.css'));
const fonts = files.filter((name) => name.endsWith('.woff2'));

const staticImports = (name, seen = new Set()) => {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(assets, name), 'utf8');
  for (const match of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
    staticImports(match[1], seen);
  }
  return seen;
};

const sum = (names) => [...names].reduce((total, name) => total + size(name), 0);
const entry = scripts.find((name) => name.startsWith('index-'));
const page = (prefix) => {
  const chunk = scripts.find((name) => name.startsWith(`${prefix}-`));
  if (!entry || !chunk) throw new Error(`dist has no chunk for ${prefix}: run the build first`);
  return sum(new Set([...staticImports(entry), ...staticImports(chunk), ...styles]));
};

const lines = [
  ['traces', page('traces_page')],
  ['trace', page('trace_page')],
  ['all', sum([...scripts, ...styles])],
  ['chunk', Math.max(...scripts.map(size))],
  ['fonts', kib(fonts.reduce((total, name) => total + readFileSync(join(assets, name)).length, 0))],
];
let failed = false;
for (const [name, value] of lines) {
  const over = value > budget[name];
  failed ||= over;
  console.log(`${name}: ${value.toFixed(1)} of ${budget[name]} KiB${over ? '  TOO MUCH' : ''}`);
}
if (failed) process.exit(1);
