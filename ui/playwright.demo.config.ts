// Runs e2e/demo.spec.ts against a server with the demo's data: HOTSPAN_URL, HOTSPAN_LINK.
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'e2e',
  testMatch: 'demo.spec.ts',
  outputDir: 'test-results',
  workers: 1,
  timeout: 90_000,
  reporter: 'list',
  use: {
    baseURL: process.env.HOTSPAN_URL ?? 'http://127.0.0.1:4040',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--font-render-hinting=none', '--force-color-profile=srgb'],
    },
  },
});
