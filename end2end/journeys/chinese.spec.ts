/**
 * In Chinese. A browser that asks for Chinese gets every page in Chinese, from the list to the paid order; the switch leads to
 * the same page in the other language, with what was chosen on it, and is remembered.
 */

import { ZH_CN } from '../support/words.ts';
import { expect, test } from '../support/test.ts';

const TITLE = { en: 'In Two Languages', zh: '两种语言' };
/** Words that would show a text that was not translated. Times, prices, names of seats and codes are left. */
const ENGLISH = /\b(the|your|seats?|pay|order|show|hold|free|sold|please|time)\b/i;

test('a whole purchase is in Chinese for a browser that asks for it', async ({ anotherVisitor, showOf }) => {
  const show = await showOf(TITLE.en);
  const site = await anotherVisitor({ locale: 'zh-CN', words: ZH_CN });
  const isChinese = async () => {
    await expect(site.page.locator('html')).toHaveAttribute('lang', 'zh-CN');
    expect(await site.page.getByRole('main').innerText()).not.toMatch(ENGLISH);
  };

  await site.open('/');
  await isChinese();
  await site.home.day(1).click();
  await site.home.eventLink(TITLE.zh).click();
  await expect(site.event.title(TITLE.zh)).toBeVisible();
  await isChinese();
  await site.event.show(show.id).click();
  await site.usable();
  const seats = await site.show.freeSeats(2);
  expect(seats[0]?.place).toMatch(/^[A-F] 排 \d+ 座$/);
  await isChinese();
  await site.show.choose(seats);
  await site.show.hold.click();
  await expect(site.signIn.keepsChoice).toBeVisible();
  await isChinese();
  await site.register();
  await site.show.chosenAre(seats);
  await site.usable();
  await site.show.hold.click();
  await site.order.payable();
  await isChinese();
  await expect(site.order.fact('总价')).toContainText('¥64.00');
  await site.payAtCashier();
  await isChinese();
});

test('the switch keeps the page and the choice, and is remembered', async ({ site, showOf }) => {
  const show = await showOf(TITLE.en);
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  await site.open(`/shows/${show.id}?seats=${seat!.index}`);

  await site.page.getByRole('link', { name: '中文' }).click();

  await expect(site.page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(site.page.getByRole('heading', { level: 1, name: TITLE.zh })).toBeVisible();
  expect(new URL(site.page.url()).pathname).toBe(`/shows/${show.id}`);
  await site.show.chosenAre([seat!]);

  await site.usable();
  await site.open('/');
  await expect(site.page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await site.page.getByRole('link', { name: 'English' }).click();
  await expect(site.page.locator('html')).toHaveAttribute('lang', 'en');
});

test('the cashier speaks the language that was chosen on the site', async ({ site, showOf }) => {
  const show = await showOf(TITLE.en);
  await site.api.register();
  await site.openShow(show.id);
  const [seat] = await site.show.freeSeats(1);
  const orderNo = await site.api.placePending(show.id, [seat!.index]);
  await site.open(`/language?to=zh-CN&next=/orders/${orderNo}`);

  await site.page.getByRole('button', { name: ZH_CN.pay }).click();

  await site.page.waitForURL(/\/gateway\/cashier\//);
  await expect(site.page.locator('html')).toHaveAttribute('lang', 'zh-CN');
});
