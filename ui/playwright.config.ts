import { defineConfig } from '@playwright/test';

const port = Number(process.env.HOTSPAN_FIXTURE_PORT ?? 41730);

export default defineConfig({
  testDir: 'e2e',
  testIgnore: 'demo.spec.ts',
  outputDir: 'test-results',
  workers: 1,
  timeout: 90_000,
  reporter: 'list',
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--font-render-hinting=none', '--force-color-profile=srgb'],
    },
  },
  webServer: {
    command: `node e2e/fixture_server.mjs --port ${port}`,
    url: `http://127.0.0.1:${port}/`,
    reuseExistingServer: false,
  },
});
