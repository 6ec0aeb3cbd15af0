/**
 * The countdown is the server's. A browser whose clock is ten minutes off, in either direction, shows what really remains of
 * the hold, and goes on counting; a payment that fails does not move the deadline.
 */

import { SCRIPT_ONLY } from '../support/tags.ts';
import { expect, test } from '../support/test.ts';

const TITLE = 'The Wrong Clock';
const HOLD_S = 900;
/** The order was placed moments ago, on a busy machine. */
const ELAPSED_S_MAX = 60;

for (const offsetMin of [10, -10]) {
  test(`a clock that is ${offsetMin} minutes off does not change what remains`, { tag: SCRIPT_ONLY }, async ({ site, showOf }) => {
    const show = await showOf(TITLE);
    await site.api.register();
    await site.page.addInitScript((offsetMs) => {
      const RealDate = Date;
      const now = () => RealDate.now() + offsetMs;
      globalThis.Date = new Proxy(RealDate, {
        construct: (target, args: unknown[]) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
        get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
      });
    }, offsetMin * 60_000);
    await site.openShow(show.id);
    const [seat] = await site.show.freeSeats(1);
    const orderNo = await site.api.placePending(show.id, [seat!.index]);
    await site.openOrder(orderNo);
    const skew = await site.page.evaluate(() => Date.now() - performance.timeOrigin - performance.now());
    expect(Math.round(skew / 60_000), "the page's clock really is off").toBe(offsetMin);

    const remaining = async () => seconds(await site.order.timer.innerText());
    const atFirst = await remaining();

    expect(atFirst).toBeLessThanOrEqual(HOLD_S);
    expect(atFirst).toBeGreaterThan(HOLD_S - ELAPSED_S_MAX);
    await expect.poll(remaining, 'it goes on counting').toBeLessThan(atFirst - 1);
  });
}

test('a failed payment does not move the deadline', async ({ site, showOf }) => {
  const show = await showOf(TITLE);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  await site.openOrder(orderNo);
  const before = await site.order.deadline.innerText();

  await site.order.pay.click();
  await site.cashier.shown();
  await site.cashier.fail.click();

  await expect(site.order.heading).toHaveText(site.words.paymentFailed);
  await expect(site.order.deadline).toHaveText(before);
});

function seconds(time: string): number {
  const [minutes = '', second = ''] = time.split(':');
  return Number(minutes) * 60 + Number(second);
}
