/**
 * What holds for every page: axe finds nothing, in light and in dark; on a phone nothing sticks out to the side; the page has
 * one heading of the first level, and its title says the same.
 */

import { AxeBuilder } from '@axe-core/playwright';
import type { Site } from '../support/site.ts';
import { SCRIPT_ONLY } from '../support/tags.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Looked At';
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const PHONE = { width: 390, height: 844 };

interface Visited {
  name: string;
  path: string;
}

/** Every page of a customer who has a pending, a paid and a cancelled order; the cashier is not a page of ours. */
async function pagesOf(site: Site, showId: number, eventId: number): Promise<Visited[]> {
  await site.api.register();
  await site.openShow(showId);
  const [one, two, three, four, five] = await site.show.freeSeats(5);
  const cancelled = await site.api.placePending(showId, [one!.index]);
  await site.api.cancel(cancelled);
  const pending = await site.api.placePending(showId, [one!.index, two!.index]);
  const paid = await site.api.placePending(showId, [three!.index]);
  await site.api.pay(paid);
  const refunded = await site.api.placePending(showId, [four!.index]);
  await site.api.pay(refunded, { refund_delay_s: 600 });
  await site.api.refund(refunded, [0]);
  return [
    { name: 'home', path: '/' },
    { name: 'home of a day', path: '/?city=london&date=2000-01-01' },
    { name: 'event', path: `/events/${eventId}` },
    { name: 'show', path: `/shows/${showId}?seats=${five!.index}` },
    { name: 'orders', path: '/orders' },
    { name: 'pending order', path: `/orders/${pending}` },
    { name: 'paid order', path: `/orders/${paid}` },
    { name: 'give back', path: `/orders/${paid}/give-back?chosen=yes` },
    { name: 'give back, asked once more', path: `/orders/${paid}/give-back?items=0` },
    { name: 'order with a ticket on its way back', path: `/orders/${refunded}` },
    { name: 'cancelled order', path: `/orders/${cancelled}` },
    { name: 'account', path: '/account' },
    { name: 'login', path: '/login?next=/orders' },
    { name: 'register', path: '/register' },
    { name: 'missing page', path: '/nowhere' },
  ];
}

function widthOf(site: Site): Promise<number> {
  return site.page.evaluate(() => document.documentElement.scrollWidth);
}

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds nothing on any page, ${scheme}`, { tag: SCRIPT_ONLY }, async ({ site, showOf }) => {
    test.slow();
    const show = await showOf(TITLE);
    await site.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const { name, path } of await pagesOf(site, show.id, show.eventId)) {
      await site.open(path);
      await expect(site.page.getByRole('heading', { level: 1 })).toHaveCount(1);
      const found = await new AxeBuilder({ page: site.page }).withTags(RULES).analyze();
      const faults = found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}`));
      expect.soft(faults, name).toEqual([]);
    }
  });
}

test('on a phone no page is wider than the screen', async ({ site, showOf }) => {
  test.slow();
  const show = await showOf(TITLE);
  await site.page.setViewportSize(PHONE);
  for (const { name, path } of await pagesOf(site, show.id, show.eventId)) {
    await site.open(path);
    expect.soft(await widthOf(site), name).toBeLessThanOrEqual(PHONE.width);
    if (name === 'pending order') {
      await site.order.cancel.click();
      await expect(site.order.giveBack).toBeVisible();
      expect.soft(await widthOf(site), 'the question whether to cancel').toBeLessThanOrEqual(PHONE.width);
    }
  }
});

test('every page has a title that says what it is', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  for (const { name, path } of await pagesOf(site, show.id, show.eventId)) {
    await site.open(path);
    const heading = await site.page.getByRole('heading', { level: 1 }).innerText();
    const title = name.startsWith('home') ? 'SeatFlow' : `${heading} · SeatFlow`;
    await expect.soft(site.page, name).toHaveTitle(title);
  }
});
