// The way from a list of slow traces to the code, in a real browser, on hand-made answers.
import { expect, type Page, test } from '@playwright/test';
import { kCartTrace, kOrderTrace, kTotalsSpan, kUserTrace } from './fixtures.mjs';

const orderPage = `/trace/${kOrderTrace}?span=${kTotalsSpan}`;

/** Fails the test on console errors, broken policy, and requests to any other host. */
const watch = (page: Page): string[] => {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).hostname !== '127.0.0.1') problems.push(request.url());
  });
  return problems;
};

/** Number of different colours of the flame canvas: one of a blank page, many of a graph. */
const coloursDrawn = (page: Page): Promise<number> =>
  page
    .locator('[data-testid=flame] canvas')
    .first()
    .evaluate((element) => {
      if (!(element instanceof HTMLCanvasElement)) return 0;
      const data = element.getContext('2d')?.getImageData(0, 0, element.width, element.height).data;
      const seen = new Set<string>();
      for (let i = 0; data && i < data.length; i += 4 * 37) {
        seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
      }
      return seen.size;
    });

test('from the list to the code in one click', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/');
  const first = page.getByTestId('trace-row').first();
  await expect(first).toContainText('GET /order');
  await expect(first).toContainText('order.calculate_totals');
  await first.click();
  await expect(page).toHaveURL(orderPage);

  const explanation = page.getByTestId('explanation');
  await expect(page.getByTestId('baseline')).toHaveText('600 ms, 12 times the usual 50 ms');
  await expect(explanation.locator('[data-testid=ledger-class][data-class=on_cpu]')).toContainText(
    '577 ms',
  );
  await expect(page.getByTestId('finding')).toHaveCount(3);
  await expect(page.locator('[data-testid=finding][data-kind=repeated_work]')).toContainText(
    'json::parse(rulesConfig)',
  );
  await expect(page.getByTestId('provenance')).toContainText('exact by span id · 56 samples');
  await expect.poll(() => coloursDrawn(page)).toBeGreaterThan(8);
  const shadow = page.getByTestId('flame').getByRole('treeitem');
  await expect(shadow.filter({ hasText: 'order::evaluateRules' })).toContainText('25.0 %');
  await expect(
    page.locator('[data-testid=top-row][data-function="json::parse(rulesConfig)"]'),
  ).toContainText('parse.cc:210');
  expect(problems).toEqual([]);
});

test('search highlights, counts once, and stands in the link', async ({ page }) => {
  const problems = watch(page);
  await page.goto(orderPage);
  await page.getByLabel('Find in flame graph').fill('regex');
  await expect(page.getByTestId('find-result')).toHaveText('2 frames, 16.1 % (9 samples)');
  await expect(page).toHaveURL(/find=regex/);
  await expect(page.getByTestId('flame-detail')).toContainText('regex::match(pricePattern)');
  await page.getByTestId('finding').last().getByRole('button').first().click();
  await expect(page.getByTestId('flame-detail')).toContainText('json::parse(rulesConfig)');
  expect(problems).toEqual([]);
});

test('keys walk and zoom the flame graph', async ({ page }) => {
  await page.goto(orderPage);
  const flame = page.getByTestId('flame');
  const detail = page.getByTestId('flame-detail');
  await flame.focus();
  await page.keyboard.press('ArrowUp');
  await expect(detail).toContainText('order::applyDiscounts');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/zoom=/);
  await expect(page.getByLabel('Zoomed frames')).toContainText('order::applyDiscounts');
  const link = page.url();
  await page.keyboard.press('Escape');
  await page.goto(link);
  await expect(page.getByLabel('Zoomed frames')).toContainText('order::applyDiscounts');
  await page.goBack();
  await page.goto(`${orderPage}&view=flame&mode=operation`);
  await expect(page.getByTestId('provenance')).toContainText('pooled over 150 spans');
});

test('repeated siblings are one row that opens', async ({ page }) => {
  await page.goto(`/trace/${kUserTrace}`);
  const group = page.getByTestId('group-row');
  await expect(group).toContainText('× 57');
  await expect(page.getByTestId('span-row')).toHaveCount(3);
  await expect(page.locator('[data-testid=finding][data-kind=n_plus_one]')).toContainText(
    '57 calls',
  );
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(group).toHaveAttribute('aria-expanded', 'true');
  await expect(page.getByRole('treegrid')).toHaveAttribute('aria-rowcount', '62');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/span=2200000000000000/);
  await expect(page.getByTestId('missing')).toContainText('Shorter than the sampling period');
});

test('what is missing is said with its reason and its fix', async ({ page }) => {
  await page.goto(`/trace/${kCartTrace}`);
  await expect(page.getByTestId('missing')).toHaveCount(2);
  await expect(page.getByTestId('missing').first()).toContainText('carry no span ids');
  await page.getByRole('button', { name: /contains other requests/ }).click();
  await expect(page.getByTestId('provenance')).toContainText('by time window of the service');
  await expect(page).toHaveURL(/tier=service/);
});

test('errors and empty lists say what to do', async ({ page }) => {
  await page.goto('/traces?q=name');
  await expect(page.getByRole('alert')).toContainText('expected a spanset filter');
  await page.goto(`/traces?q=${encodeURIComponent('{ name = "nothing" }')}`);
  await expect(page.getByText('No trace matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect(page.getByTestId('trace-row').first()).toBeVisible();
  await page.goto('/trace/0123456789abcdef0123456789abcdef');
  await expect(page.getByText('No such trace')).toBeVisible();
});

test('an empty installation shows how to send the first span', async ({ page }) => {
  await page.route('**/api/**', (route) => route.fulfill({ json: { services: [], traces: [] } }));
  await page.goto('/');
  await expect(page.getByTestId('onboarding')).toContainText(
    'OTEL_EXPORTER_OTLP_ENDPOINT=http://127',
  );
});

test('nothing is wider than a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ['/traces', orderPage, `/trace/${kUserTrace}`, `/trace/${kCartTrace}`]) {
    await page.goto(path);
    await page.waitForLoadState('networkidle');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, path).toBeLessThanOrEqual(390);
  }
});
