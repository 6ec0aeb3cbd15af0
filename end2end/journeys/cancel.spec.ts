/**
 * Giving seats back. A buyer cancels an order that is not paid, after being asked once more; the seats are free for others at
 * once, and the order stays to be found with its story.
 */

import { readChanges, readSeats } from '../support/seat-states.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Given Back';

test('a cancelled order gives its seats back at once, and once only', async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const seats = await site.show.freeSeats(2);
  const { version } = await readSeats(site.page.request, show.id);
  const orderNo = await site.api.placePending(
    show.id,
    seats.map((seat) => seat.index),
  );
  await site.openOrder(orderNo);

  await expect(site.order.giveBack, 'one click alone cancels nothing').toBeHidden();
  await site.order.cancel.click();
  await site.order.giveBack.click();

  await expect(site.order.heading).toHaveText(site.words.cancelledByBuyer);
  await expect(site.order.story).toContainText('Nothing was charged.');
  await expect(site.order.pay).toBeHidden();
  const order = await site.api.order(orderNo);
  expect([order.status, order.cancel_reason]).toEqual(['cancelled', 'user']);
  const other = await anotherVisitor();
  await other.openShow(show.id);
  for (const seat of seats) await other.show.seatIs(seat, 'available');

  const again = await site.api.post('/api/orders/cancel', { order_no: orderNo });
  expect(again.status(), 'a second cancel changes nothing').not.toBe(500);
  const changes = await readChanges(site.page.request, show.id, version);
  for (const seat of seats) {
    const states = changes.filter((change) => change.seat === seat.index).map((change) => change.state);
    expect(states).toEqual(['locked', 'available']);
  }
  await site.open('/orders');
  await expect(site.orders.entry(orderNo)).toContainText('Cancelled');
});

test('an order that was cancelled elsewhere cannot be paid from a page that has not heard of it', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  await site.openOrder(orderNo);
  await site.order.payable();
  const release = await site.holdBack(/\/api\/orders\/order\?/);
  await site.api.cancel(orderNo);

  await site.order.pay.click();
  release();

  await expect(site.order.heading).toHaveText(site.words.cancelledByBuyer);
  await expect(site.order.pay.or(site.order.backToCashier)).toBeHidden();
  expect(new URL(site.page.url()).pathname, 'there is nothing to pay at the cashier').toBe(`/orders/${orderNo}`);
});
