/**
 * Failing, then succeeding. A payment that the bank declines costs nothing and loses nothing: the order still awaits payment,
 * the page says so, and trying again makes a new attempt at a cashier's address of its own, which can succeed.
 */

import { statesOf } from '../support/seat-states.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Declined Once';

test('after a declined payment the order still awaits payment, and a second attempt pays it', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const seats = await site.show.freeSeats(2);
  const indexes = seats.map((seat) => seat.index);
  await site.show.choose(seats);
  await site.show.hold.click();
  const orderNo = await site.order.number();
  await site.order.payable();

  await site.order.pay.click();
  const firstAttempt = await site.cashier.shown();
  await site.cashier.fail.click();

  await expect(site.order.heading).toHaveText(site.words.paymentFailed);
  await expect(site.order.story).toContainText('Nothing was charged, and your tickets are still held. You can try again until');
  expect((await site.api.order(orderNo)).status).toBe('pending');
  expect(await statesOf(site.page.request, show.id, indexes)).toEqual(['locked', 'locked']);

  await site.usable();
  await site.order.pay.click();
  const secondAttempt = await site.cashier.shown();
  expect(secondAttempt, 'the second attempt is a real one').not.toBe(firstAttempt);
  await site.cashier.pay.click();

  await site.order.paid();
  await expect.poll(() => statesOf(site.page.request, show.id, indexes)).toEqual(['sold', 'sold']);
});

test('an attempt that is still open is gone back to, and never doubled', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);

  await site.openOrder(orderNo);
  await site.order.pay.click();
  const attempt = await site.cashier.shown();
  await site.openOrder(orderNo);

  await expect(site.order.heading).toHaveText(site.words.processing);
  await expect(site.order.pay, 'nobody is led into paying twice').toBeHidden();
  await site.order.backToCashier.click();
  expect(await site.cashier.shown()).toBe(attempt);
  await site.cashier.pay.click();
  await site.order.paid();
});

test('while the bank says “failed” and a success is on its way, nobody is led into paying twice', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  await site.openOrder(orderNo);
  await site.order.pay.click();
  await site.cashier.shown();
  await site.cashier.turnOn(/^This page says “failed”/);
  // Long enough for a slow browser to be back at the shop before the success is.
  await site.cashier.delay.fill('15');

  await site.cashier.pay.click();
  await expect(site.page.getByRole('heading', { name: 'Payment failed' })).toBeVisible();
  await site.cashier.back.click();

  await expect(site.order.heading).toHaveText(site.words.processing);
  await expect(site.order.pay).toBeHidden();
  await site.order.paid();
});
