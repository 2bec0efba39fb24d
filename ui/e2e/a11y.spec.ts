// Every page in both themes and two widths through axe, with nothing left out.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from '@playwright/test';
import { kCartTrace, kOrderTrace, kTotalsSpan, kUserTrace } from './fixtures.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const pages = {
  traces: '/traces',
  'wrong filter': '/traces?q=name',
  'no match': '/traces?q=%7B+name+%3D+%22nothing%22+%7D',
  order: `/trace/${kOrderTrace}?span=${kTotalsSpan}&find=regex`,
  table: `/trace/${kOrderTrace}?span=${kTotalsSpan}&view=table`,
  users: `/trace/${kUserTrace}`,
  missing: `/trace/${kCartTrace}`,
  'no such trace': '/trace/0123456789abcdef0123456789abcdef',
  unknown: '/nowhere',
};

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

test.use({ bypassCSP: true });

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1440, 390]) {
    test(`axe finds nothing, ${colorScheme}, ${width} px`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 900 });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await page.waitForLoadState('networkidle');
        await page.evaluate(axe);
        const result = await page.evaluate<AxeResult>(
          'axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })',
        );
        const found = result.violations.map((violation) => ({
          id: violation.id,
          nodes: violation.nodes
            .slice(0, 3)
            .map((node) => `${node.html} ${node.failureSummary ?? ''}`),
        }));
        expect(found, name).toEqual([]);
      }
    });
  }
}
