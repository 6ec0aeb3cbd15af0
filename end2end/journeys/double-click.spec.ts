/**
 * Impatient hands. A button that is pressed twice, a page that is loaded again and a wish that is sent twice make one order and
 * one payment.
 */

import { expect, test } from '../support/test.ts';

const TITLE = 'Clicked Twice';

test('pressing Hold twice makes one order', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  await site.show.choose(await site.show.freeSeats(2));

  await site.show.hold.dblclick();

  const orderNo = await site.order.number();
  await site.order.payable();
  const orders = await site.api.orders();
  expect(orders.map((order) => order.order_no)).toEqual([orderNo]);
  expect(orders[0]?.items).toHaveLength(2);
});

test('pressing Pay twice opens one payment', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  await site.openOrder(orderNo);
  await site.order.payable();

  await site.order.pay.dblclick();

  const cashier = await site.cashier.shown();
  expect(await site.api.startPayment(orderNo), 'whoever asks is led to the same attempt').toBe(cashier);
  await site.cashier.pay.click();
  await site.order.paid();
});

test('a second tab of the same order leads to the same attempt', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);

  const cashiers = await Promise.all([1, 2, 3, 4].map(() => site.api.startPayment(orderNo)));

  expect(new Set(cashiers).size).toBe(1);
});
