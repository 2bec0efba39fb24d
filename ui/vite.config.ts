import { defineConfig } from 'vitest/config';

// The server hands out index.html for every page path, so asset addresses are absolute.
export default defineConfig({
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/api': process.env.HOTSPAN_URL ?? 'http://127.0.0.1:4318' },
  },
  test: {
    environment: 'happy-dom',
    css: true,
    include: ['src/**/*.test.ts', 'src/**/*.test.tsx'],
  },
});
