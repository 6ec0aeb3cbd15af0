/**
 * Letting it expire. The show of this journey holds seats for six seconds. An order that is not paid by then is cancelled by
 * the server, its page tells so without being asked, and its seats are free for others: given back once, and not once more
 * when somebody else has them. Money that arrives after the end of an order goes back by itself.
 */

import { readChanges, readSeats, statesOf } from '../support/seat-states.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Left to Expire';

test('an order that is not paid in time is cancelled, and its seats are free again, once', async ({
  site,
  anotherVisitor,
  showOf,
}) => {
  const show = await showOf(TITLE);
  await site.api.register();
  const other = await anotherVisitor();
  await other.api.register();

  await site.openShow(show.id);
  const seats = await site.show.freeSeats(2);
  const indexes = seats.map((seat) => seat.index);
  const { version } = await readSeats(site.page.request, show.id);
  const changesOf = async (seat: number) => {
    const changes = await readChanges(site.page.request, show.id, version);
    return changes.filter((change) => change.seat === seat).map((change) => change.state);
  };
  await site.show.choose(seats);
  await site.show.hold.click();
  const orderNo = await site.order.number();

  await expect(site.order.heading).toHaveText(site.words.timedOut);
  await expect(site.order.story).toContainText('Your tickets were held until');
  await expect(site.order.story).toContainText('Nothing was charged.');
  await expect(site.order.pay).toBeHidden();
  const order = await site.api.order(orderNo);
  expect([order.status, order.cancel_reason]).toEqual(['cancelled', 'timeout']);
  for (const seat of indexes) await expect.poll(() => changesOf(seat)).toEqual(['locked', 'available']);

  await other.openShow(show.id);
  for (const seat of seats) await other.show.seatIs(seat, 'available');
  const second = await other.api.place(show.id, indexes);
  expect(second).not.toBe(orderNo);
  await expect.poll(async () => (await other.api.order(second)).status).toBe('cancelled');
  for (const seat of indexes) {
    await expect.poll(() => changesOf(seat), 'each hold ends once').toEqual(['locked', 'available', 'locked', 'available']);
  }

  await site.open('/orders');
  await expect(site.orders.entry(orderNo), 'an expired order does not vanish').toContainText('Cancelled');
});

test('the seats of an expired order can be chosen again from its page', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.place(show.id, [seat!.index]);
  await site.openOrder(orderNo);
  await expect(site.order.heading).toHaveText(site.words.timedOut);
  await expect.poll(() => statesOf(site.page.request, show.id, [seat!.index])).toEqual(['available']);

  await site.order.chooseAgain.click();

  await site.usable();
  await site.show.seatIs(seat!, 'available');
  await site.show.choose([seat!]);
  await site.show.hold.click();
  expect(await site.order.number()).not.toBe(orderNo);
});

test('money that comes after the end goes back by itself, and the order tells it', async ({ site, showOf }) => {
  // Six seconds may be over before the buyer is at the cashier: this show holds seats for as long as others do.
  const show = await showOf('Paid Too Late');
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  await site.page.goto(await site.api.startPayment(orderNo));
  await site.cashier.turnOn(/^Success after close/);
  await site.cashier.pay.click();
  // Given up rather than waited for: at the deadline itself either side may be the first, and a payment that is stays paid.
  await site.api.cancel(orderNo);
  await expect.poll(async () => (await site.api.order(orderNo)).payment?.refund, { timeout: 30_000 }).toBe('succeeded');

  await site.openOrder(orderNo);
  await expect(site.order.heading).toHaveText(site.words.tooLate);
  await expect(site.order.story).toContainText('goes back to you by itself');
  await expect(site.order.story).toContainText('The money is back.');
  await expect(site.order.pay.or(site.order.backToCashier).or(site.order.chooseAgain)).toBeHidden();
  expect((await site.api.order(orderNo)).status).toBe('cancelled');
  await expect.poll(() => statesOf(site.page.request, show.id, [seat!.index])).toEqual(['available']);
});
