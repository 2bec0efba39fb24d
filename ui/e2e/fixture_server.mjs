// Serves dist/ and hand-made API answers on loopback, with the headers of the real server:
//   node e2e/fixture_server.mjs [--port 41730] [--empty]
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { answer } from './fixtures.mjs';

const dist = resolve(import.meta.dirname, '..', 'dist');
const args = process.argv.slice(2);
const at = args.indexOf('--port');
const port = at >= 0 ? Number(args[at + 1]) : 41730;
const empty = args.includes('--empty');

const kTypes = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const kPolicy =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'";

const sendFile = (response, path) => {
  response.writeHead(200, {
    'content-type': kTypes[extname(path)] ?? 'application/octet-stream',
    'content-security-policy': kPolicy,
    'x-content-type-options': 'nosniff',
  });
  createReadStream(path).pipe(response);
};

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://fixture');
  if (url.pathname.startsWith('/api/')) {
    const { status, body } = answer(url, empty || url.searchParams.get('service') === 'nobody');
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
    return;
  }
  const path = join(dist, normalize(url.pathname));
  if (path.startsWith(dist) && existsSync(path) && statSync(path).isFile())
    sendFile(response, path);
  else if (extname(url.pathname) === '') sendFile(response, join(dist, 'index.html'));
  else response.writeHead(404).end('not found');
});

server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
