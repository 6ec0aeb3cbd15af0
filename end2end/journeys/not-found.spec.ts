/**
 * What is not there, and what is not yours. An address that leads nowhere is answered with 404 in words, with a way on; an
 * order of somebody else is answered like one that does not exist, and nothing can be done to it.
 */

import { randomUUID } from 'node:crypto';
import { expect, test } from '../support/test.ts';

const TITLE = "Somebody Else's";
/** Well formed, and no order has it. */
const NO_ORDER = '1045239877100482913';

const MISSING = [
  { path: '/shows/999999999', words: 'There is no such show' },
  { path: '/shows/abc', words: 'There is no such show' },
  { path: '/events/999999999', words: 'There is no such event' },
  { path: `/orders/${NO_ORDER}`, words: 'You have no such order' },
  { path: '/orders/12', words: 'You have no such order' },
  { path: '/nowhere', words: 'There is no such page' },
];

for (const { path, words } of MISSING) {
  test(`${path} is answered with 404 and words`, async ({ site }) => {
    await site.api.register();

    const response = await site.open(path);

    expect(response.status()).toBe(404);
    await expect(site.page.getByRole('heading', { level: 1 })).toHaveText(words);
    await site.page.getByRole('main').getByRole('link', { name: 'See what is on' }).click();
    await expect(site.page).toHaveURL((url) => url.pathname === '/');
  });
}

test('the map of an unknown show is answered with 404', async ({ request }) => {
  for (const path of ['/shows/999999999/seats', '/shows/999999999/map', '/shows/abc/seats']) {
    expect((await request.get(path)).status(), path).toBe(404);
  }
});

test("somebody else's order is not to be seen, paid or cancelled", async ({ site: owner, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  await owner.api.register();
  await owner.openShow(show.id);
  const [seat] = await owner.show.freeSeats(1);
  const orderNo = await owner.api.placePending(show.id, [seat!.index]);
  const stranger = await anotherVisitor();
  await stranger.api.register();

  const response = await stranger.open(`/orders/${orderNo}`);

  expect(response.status()).toBe(404);
  await expect(stranger.page.getByRole('heading', { level: 1 })).toHaveText('You have no such order');
  expect((await stranger.api.get(`/api/orders/order?order_no=${orderNo}`)).status()).toBe(404);
  expect((await stranger.api.post('/api/payments/start', { order_no: orderNo })).status()).toBe(404);
  expect((await stranger.api.post('/api/orders/cancel', { order_no: orderNo })).status()).toBe(404);
  expect((await owner.api.order(orderNo)).status).toBe('pending');
  await stranger.openShow(show.id);
  await stranger.show.seatIs(seat!, 'locked');
});

test('somebody who is not signed in is led to signing in, and from there to the order', async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  const account = await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  const elsewhere = await anotherVisitor();

  await elsewhere.open(`/orders/${orderNo}`);
  await elsewhere.signIn.signIn(account);

  expect(await elsewhere.order.number()).toBe(orderNo);
  await elsewhere.order.payable();
});

test('seats that cannot be had are refused by name, and nothing is held', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  const refusals = [
    { seats: [], word: 'no_seats' },
    { seats: [999_999], word: 'unknown_seat' },
    { seats: [58, 58], word: 'repeated_seat' },
    { seats: [55, 56, 57, 58, 59], word: 'limit_reached' },
  ];
  for (const { seats, word } of refusals) {
    const wish = { show_id: show.id, 'seats[]': seats, idempotency_key: randomUUID() };
    const response = await site.api.post('/api/orders/place', wish);
    expect(response.status(), word).toBeGreaterThanOrEqual(400);
    expect(response.status(), word).toBeLessThan(500);
    expect(await response.text()).toContain(word);
  }
  expect(await site.api.orders()).toEqual([]);
});
