/**
 * Giving paid tickets back. The order's page says until when that is possible and what is kept; the buyer chooses tickets, is told
 * what comes back for them, and asked once more. The tickets stay the buyer's until the money is back; then their seats are free
 * for others, and the page tells all of it, also what takes longer. Without scripts it is the same.
 */

import { statesOf } from '../support/seat-states.ts';
import type { Site } from '../support/site.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'Tickets Back';

/** Two paid seats of the front rows, 32.00 each; the order's page is open. */
async function twoPaid(site: Site, showId: number, switches = {}): Promise<{ orderNo: string; seats: number[] }> {
  await site.api.register();
  await site.openShow(showId);
  const seats = (await site.show.freeSeats(2)).map((seat) => seat.index);
  const orderNo = await site.api.placePending(showId, seats);
  await site.api.pay(orderNo, switches);
  await site.openOrder(orderNo);
  await site.order.paid();
  return { orderNo, seats };
}

test('one of two tickets is given back, and the page tells what became of both', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  const { orderNo, seats } = await twoPaid(site, show.id);
  await expect(site.page.getByText(/^You can give tickets back until .* \(China Standard Time\)\. 10% of each/)).toBeVisible();

  await site.order.giveTicketsBack.click();
  await site.usable();
  await site.giveBack.goOn.click();
  await site.usable();
  await expect(site.giveBack.main.getByRole('alert'), 'nobody gives back nothing').toHaveText('Choose at least one ticket.');
  await expect(site.giveBack.tickets).toHaveCount(2);
  await site.giveBack.tickets.nth(1).check();
  await site.giveBack.goOn.click();
  await site.usable();

  await expect(site.giveBack.amount('Paid for them')).toHaveText('¥32.00');
  await expect(site.giveBack.amount('Kept as fee')).toHaveText('¥3.20');
  await expect(site.giveBack.amount('Comes back to you')).toHaveText('¥28.80');
  expect((await site.api.order(orderNo)).items.map((item) => item.refund), 'being told changes nothing').toEqual([null, null]);
  await site.giveBack.yes.click();

  await site.order.number();
  await site.usable();
  await expect(site.order.refunds).toContainText('the money is back');
  await expect(site.order.refunds).toContainText('¥28.80');
  await expect(site.order.heading).toHaveText(site.words.paid);
  await expect(site.order.struckTickets).toHaveCount(1);
  await expect(site.order.fact('Tickets')).toContainText('given back');
  await expect(site.order.happenings.filter({ hasText: 'You gave a ticket back: ¥28.80 goes back, ¥3.20 is kept' })).toHaveCount(1);
  for (const moment of await site.order.happenings.all()) await expect(moment).toContainText('China Standard Time');
  await expect.poll(() => statesOf(site.page.request, show.id, seats)).toEqual(['sold', 'available']);
  await site.open('/orders');
  await expect(site.orders.entry(orderNo)).toContainText('Partly refunded');

  await site.open(`/orders/${orderNo}/give-back`);
  await expect(site.giveBack.tickets, 'a ticket is given back once').toHaveCount(1);
});

test('an order whose tickets are all given back is refunded and says how much', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  const { orderNo, seats } = await twoPaid(site, show.id);
  await site.open(`/orders/${orderNo}/give-back?items=0&items=1`);
  await site.giveBack.yes.click();

  await site.order.number();
  await site.usable();
  await expect(site.order.heading).toHaveText('Refunded');
  await expect(site.order.story).toContainText('¥57.60 went back to where you paid from, and ¥6.40 was kept as a fee.');
  await expect(site.order.giveTicketsBack).toBeHidden();
  await expect.poll(() => statesOf(site.page.request, show.id, seats)).toEqual(['available', 'available']);
});

test('a refund that the bank refuses at first is told, the tickets stay, and it is done by itself', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  // The tries are a half, 1, 2, 4 and 8 seconds apart: a slow browser sees the order before the last of them, too.
  const { orderNo, seats } = await twoPaid(site, show.id, { refund_answer: 'refuse', refund_times: 5 });
  await site.open(`/orders/${orderNo}/give-back?items=0`);
  await site.giveBack.yes.click();

  await site.order.number();
  await expect(site.order.refunds).toContainText('taking longer: we keep trying, and our staff see it');
  await expect(site.order.heading).toHaveText(site.words.paid);
  expect(await statesOf(site.page.request, show.id, seats)).toEqual(['sold', 'sold']);
  await expect(site.order.refunds).toContainText('the money is back', { timeout: 60_000 });
  await expect(site.order.happenings.filter({ hasText: 'could not be given back yet' })).toHaveCount(1);
  await expect.poll(() => statesOf(site.page.request, show.id, seats)).toEqual(['available', 'sold']);
});

test('past the deadline the page says so, and no address leads around it', async ({ site, showOf }) => {
  const show = await showOf('Too Late to Give Back');
  const { orderNo } = await twoPaid(site, show.id);
  const late = /^Tickets could be given back until .* \(China Standard Time\)\. That has passed\.$/;
  await expect(site.page.getByText(late)).toBeVisible();
  await expect(site.order.giveTicketsBack).toBeHidden();

  await site.open(`/orders/${orderNo}/give-back?items=0`);
  await expect(site.page.getByText(late)).toBeVisible();
  await expect(site.giveBack.yes).toBeHidden();
  const refused = await site.api.post('/api/orders/refund', { order_no: orderNo, 'items[]': [0], idempotency_key: 'past-the-deadline' });
  expect([refused.status(), (await refused.json()).kind]).toEqual([409, 'refund_closed']);
});
