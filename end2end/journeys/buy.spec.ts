/**
 * Buying. Somebody finds a show in the list, chooses seats on its map, and is asked to sign in only when the seats are to be
 * held; the choice survives that. The seats are theirs from the hold on and sold from the payment on, on every map and in the
 * map's data. In the project `no-js` all of this happens without a script.
 */

import { readSeats, statesOf } from '../support/seat-states.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Bought and Paid';

test('somebody new goes from the list to paid seats, and the choice survives making an account', async ({
  site,
  anotherVisitor,
  showOf,
}) => {
  const show = await showOf(TITLE);

  await site.open('/');
  await site.home.day(1).click();
  await site.home.eventLink(TITLE).click();
  await expect(site.event.title(TITLE)).toBeVisible();
  await site.event.show(show.id).click();
  await site.usable();

  const seats = await site.show.freeSeats(2);
  const indexes = seats.map((seat) => seat.index);
  await site.show.choose(seats);
  await site.show.hold.click();

  await expect(site.signIn.keepsChoice).toBeVisible();
  expect(await statesOf(site.page.request, show.id, indexes), 'nothing is held for nobody').toEqual(['available', 'available']);
  await site.register();
  await site.show.chosenAre(seats);

  await site.usable();
  await site.show.hold.click();
  const orderNo = await site.order.number();
  await site.order.payable();
  await expect(site.order.fact('Tickets')).toContainText('Front rows');
  await expect(site.order.fact('Total')).toContainText('¥64.00');
  await expect(site.order.deadline).toBeVisible();
  if (site.runsScripts) await expect(site.order.timer).toHaveText(/^1[45]:\d\d$/);
  else await expect(site.order.timer, 'nothing stands still that should run').toBeHidden();
  expect(await statesOf(site.page.request, show.id, indexes)).toEqual(['locked', 'locked']);

  await site.payAtCashier();
  await expect.poll(() => statesOf(site.page.request, show.id, indexes)).toEqual(['sold', 'sold']);
  await expect(site.order.fact('Paid')).toContainText('China Standard Time');

  const other = await anotherVisitor();
  await other.openShow(show.id);
  for (const seat of seats) await other.show.seatIs(seat, 'sold');

  await site.open('/orders');
  await expect(site.orders.entry(orderNo)).toContainText('Paid');
  await expect(site.orders.entries).toHaveCount(1);
});

test('somebody with an account signs in on the way, and the choice survives that too', async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  const earlier = await anotherVisitor();
  const account = await earlier.api.register();

  await site.openShow(show.id);
  const seats = await site.show.freeSeats(3);
  const indexes = seats.map((seat) => seat.index);
  await site.show.choose(seats);
  await site.show.hold.click();
  await site.signIn.signIn(account);

  await site.show.chosenAre(seats);
  await site.usable();
  await site.show.hold.click();
  await site.order.payable();

  await site.openShow(show.id);
  for (const seat of seats) await site.show.seatIs(seat, 'mine');
  await expect(site.page.getByText('You hold 3 seats of this show until you pay or give them up.')).toBeVisible();
  await site.page.getByRole('link', { name: 'Continue to pay' }).click();
  await site.usable();
  await site.payAtCashier();
  await expect.poll(() => statesOf(site.page.request, show.id, indexes)).toEqual(['sold', 'sold', 'sold']);
});

test('nothing is held for somebody who chose nothing', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const { version } = await readSeats(site.page.request, show.id);

  await site.show.hold.click();

  await expect(site.page.getByText(/^Choose (your seats on the map|at least one seat)\./).first()).toBeVisible();
  expect(new URL(site.page.url()).pathname).toBe(`/shows/${show.id}`);
  expect((await readSeats(site.page.request, show.id)).version).toBe(version);
  expect(await site.api.orders()).toEqual([]);
});
