/**
 * Standing room. Somebody buys places in front of the seats: no map is touched, the order names the zone and no seat, and what
 * is left goes down by exactly that many, for others too. Giving the order up brings the places back.
 */

import type { Locator } from '@playwright/test';
import { SCRIPT_ONLY } from '../support/tags.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'On Their Feet';

test('places of a standing zone are held, paid and counted', async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  await site.open('/login');
  await site.register();
  await site.openShow(show.id);
  const left = await placesLeft(site.show.standing.zone);

  await site.show.standing.quantity.fill('3');
  await site.show.standing.quantity.blur();
  await site.show.standing.hold.click();

  const orderNo = await site.order.number();
  await site.order.payable();
  await expect(site.order.fact('Total')).toContainText('¥75.00');
  await expect(site.order.fact('Tickets')).toContainText('Standing, 3 places');
  await expect(site.order.fact('Tickets')).toContainText('Floor');
  expect((await site.api.order(orderNo)).items.map(({ seat }) => seat), 'no seat is theirs').toEqual([null, null, null]);
  await site.payAtCashier();

  const second = await anotherVisitor();
  await second.openShow(show.id);
  expect(await placesLeft(second.show.standing.zone)).toBe(left - 3);
});

test('an order that is given up brings its places back', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const left = await placesLeft(site.show.standing.zone);

  await site.show.standing.hold.click();
  const orderNo = await site.order.number();
  await site.order.payable();
  await site.openShow(show.id);
  expect(await placesLeft(site.show.standing.zone)).toBe(left - 2);
  await site.api.cancel(orderNo);
  await site.openShow(show.id);
  expect(await placesLeft(site.show.standing.zone)).toBe(left);
});

test('what is left follows other buyers without loading the page', { tag: SCRIPT_ONLY }, async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  await site.openShow(show.id);
  const left = await placesLeft(site.show.standing.zone);
  const second = await anotherVisitor();
  await second.api.register();
  await second.openShow(show.id);
  await second.show.standing.hold.click();
  const orderNo = await second.order.number();

  await expect.poll(() => placesLeft(site.show.standing.zone)).toBe(left - 2);
  await second.order.payable();
  await second.api.cancel(orderNo);
  await expect.poll(() => placesLeft(site.show.standing.zone)).toBe(left);
});

/** What the page says is left of the show's only standing zone. */
async function placesLeft(zone: Locator): Promise<number> {
  const words = (await zone.textContent()) ?? '';
  const found = /(\d+) places? left/.exec(words);
  expect(found, `“${words}” says what is left`).not.toBeNull();
  return Number(found?.[1]);
}
