/**
 * A show that is withdrawn. Whoever has paid gets all of the money back without doing anything; whoever was about to pay is told and
 * owes nothing; nobody can buy any more. Each hears it on the order's page, and on the show's.
 */

import { readSeats } from '../support/seat-states.ts';
import { seatflow } from '../support/staff.ts';
import { expect, test } from '../support/test.ts';

test('a withdrawn show gives its buyers their money back and sells nothing more', async ({ site, anotherVisitor, showOf }) => {
  const show = await showOf('Called Off');
  const late = await anotherVisitor();
  await site.api.register();
  await late.api.register();
  await site.openShow(show.id);
  const [first, second, third] = (await site.show.freeSeats(3)).map((seat) => seat.index);
  const paid = await site.api.placePending(show.id, [first!, second!]);
  await site.api.pay(paid);
  await site.openOrder(paid);
  await site.order.paid();
  const waiting = await late.api.placePending(show.id, [third!]);
  await late.openOrder(waiting);
  await late.order.payable();

  expect(await seatflow('show', 'withdraw', String(show.id))).toContain(`Show ${show.id} was withdrawn`);

  // A server that works on withdrawals at this moment does it instead of the command, and may still be at it.
  await expect.poll(async () => (await late.api.order(waiting)).status).toBe('cancelled');
  // A page that runs scripts hears of it by itself, within the quarter of a minute at which it asks.
  if (!late.runsScripts) await late.openOrder(waiting);
  await expect(late.order.heading).toHaveText('The show was withdrawn', { timeout: 25_000 });
  await expect(late.order.story).toContainText('Nothing was charged.');
  await expect(late.order.pay.or(late.order.backToCashier).or(late.order.cancel)).toBeHidden();
  expect((await late.api.order(waiting)).cancel_reason).toBe('show_withdrawn');

  await expect.poll(async () => (await site.api.order(paid)).status).toBe('refunded');
  await site.openOrder(paid);
  await expect(site.order.heading).toHaveText('Refunded');
  await expect(site.order.story).toContainText('The show does not take place as planned.');
  await expect(site.order.refunds).toContainText('the money is back');
  await expect(site.order.giveTicketsBack).toBeHidden();

  // What is known of a show is kept for seconds.
  await expect(async () => {
    await late.openShow(show.id);
    await expect(late.page.getByRole('main')).toContainText('This show is not offered any more.', { timeout: 500 });
  }).toPass();
  await expect(late.page.getByRole('form').or(late.page.getByRole('checkbox'))).toHaveCount(0);
  await expect(late.show.hold).toBeHidden();
  const refused = await late.api.post('/api/orders/place', {
    show_id: show.id,
    'seats[]': [third!],
    idempotency_key: '0123456789abcdef-withdrawn',
  });
  expect(refused.status()).toBe(409);
  const locked = async () => (await readSeats(late.page.request, show.id)).states.filter((state) => state === 'locked');
  await expect.poll(locked).toEqual([]);
});
