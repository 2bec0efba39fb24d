// The demo's slow order in a real browser, on the real server: list, span, flame graph, findings.
import { expect, type Page, test } from '@playwright/test';

const link = process.env.HOTSPAN_LINK ?? '/';

/** Fails the test on console errors and on requests to any other host. */
const watch = (page: Page): string[] => {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).hostname !== '127.0.0.1') problems.push(request.url());
  });
  return problems;
};

test('the list shows slow traces and leads to one', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/');
  const rows = page.getByTestId('trace-row');
  await expect(rows.first()).toBeVisible();
  expect(await rows.count()).toBeGreaterThan(3);
  await rows.first().click();
  await expect(page).toHaveURL(/\/trace\/[0-9a-f]{32}/);
  await expect(page.getByTestId('span-row').first()).toBeVisible();
  expect(problems).toEqual([]);
});

test('the link opens the slow span with its exact flame graph', async ({ page }) => {
  const problems = watch(page);
  await page.goto(link);
  const explanation = page.getByTestId('explanation');
  await expect(explanation).toContainText('order.calculate_totals');
  await expect(page.getByTestId('provenance').first()).toContainText('exact by span id');
  await expect(explanation.locator('[data-testid=ledger-class][data-class=on_cpu]')).toBeVisible();
  await expect(page.getByTestId('flame').locator('canvas').first()).toBeVisible();
  // The canvas has a tree of its own for readers: the current frame and those around it.
  expect(await page.getByTestId('flame').getByRole('treeitem').count()).toBeGreaterThan(1);
  await expect(
    page.locator('[data-testid=top-row][data-function="OrderService::evaluateRules"]'),
  ).toContainText('order_totals.cc');
  await expect(page.getByTestId('finding').first()).toBeVisible();
  for (const words of [/regular expression/i, /parsed again/i, /serializ/i]) {
    await expect(page.getByTestId('finding').filter({ hasText: words }).first()).toBeVisible();
  }
  await page.screenshot({ path: 'test-results/demo.png', fullPage: false });
  expect(problems).toEqual([]);
});
