/** Arranging by the API: the product's own server functions, asked for JSON. They share the cookies of a browser's context. */

import { randomInt, randomUUID } from 'node:crypto';
import { expect, type APIRequestContext, type APIResponse } from '@playwright/test';

/** What an account signs in with. */
export interface Credentials {
  phone: string;
  password: string;
}

export interface OrderView {
  order_no: string;
  status: 'creating' | 'pending' | 'paid' | 'cancelled' | 'refunded' | 'ticketed' | 'discarded';
  cancel_reason: string | null;
  show_id: number;
  items: { item_no: number; seat: number | null; refund: string | null }[];
  /** The newest attempt to pay. */
  payment: { status: string; refund: string | null } | null;
}

interface Listing {
  event: { id: number; title: { en: string } };
  shows: { id: number; sale: { state: string } }[];
}

/** A show of the catalogue, and the event it is of. */
export interface Show {
  id: number;
  eventId: number;
}

/** Fresh credentials: every journey has buyers of its own, so that runs on one database don't meet. */
export function newCredentials(): Credentials {
  const digits = Array.from({ length: 10 }, () => randomInt(10)).join('');
  return { phone: `+888${digits}`, password: `pass-${randomUUID()}` };
}

export class Api {
  constructor(private readonly request: APIRequestContext) {}

  /** Makes an account and signs the context in. */
  async register(credentials: Credentials = newCredentials()): Promise<Credentials> {
    await this.done('/api/accounts/register', { ...credentials });
    return credentials;
  }

  /** Holds seats; gives the order's number. */
  async place(showId: number, seats: readonly number[]): Promise<string> {
    const response = await this.post('/api/orders/place', {
      show_id: showId,
      'seats[]': seats,
      idempotency_key: randomUUID(),
    });
    const placed = (await json(response)) as { order_no: string };
    return placed.order_no;
  }

  /** Holds seats and waits until the order is written. */
  async placePending(showId: number, seats: readonly number[]): Promise<string> {
    const orderNo = await this.place(showId, seats);
    await expect.poll(async () => (await this.order(orderNo)).status).toBe('pending');
    return orderNo;
  }

  async order(orderNo: string): Promise<OrderView> {
    return (await json(await this.get(`/api/orders/order?order_no=${orderNo}`))) as OrderView;
  }

  /** The account's orders, newest first. */
  async orders(): Promise<OrderView[]> {
    const page = (await json(await this.get('/api/orders/list'))) as { orders: OrderView[] };
    return page.orders;
  }

  /** The cashier's address: of the open attempt to pay, or of a new one. */
  async startPayment(orderNo: string): Promise<string> {
    return (await json(await this.post('/api/payments/start', { order_no: orderNo }))) as string;
  }

  /** Pays an order at the cashier, as its page's form does; `switches` make the bank misbehave. */
  async pay(orderNo: string, switches: Record<string, string | number> = {}): Promise<void> {
    const cashier = await this.startPayment(orderNo);
    const form = {
      outcome: 'succeed',
      delay_s: 0,
      copies: 1,
      faulty_attempts: 1,
      refund_answer: 'accept',
      refund_times: 1,
      refund_delay_s: 0,
      ...switches,
    };
    const response = await this.request.post(cashier, { form, maxRedirects: 0 });
    expect(response.status(), 'the cashier leads back to the shop').toBe(303);
    await expect.poll(async () => (await this.order(orderNo)).status).toMatch(/^(paid|ticketed)$/);
  }

  /** Gives tickets of a paid order back. */
  async refund(orderNo: string, items: readonly number[]): Promise<void> {
    const fields = { order_no: orderNo, 'items[]': items, idempotency_key: randomUUID() };
    const response = await this.post('/api/orders/refund', fields);
    expect(response.ok(), `${response.status()} ${await response.text()}`).toBe(true);
  }

  async cancel(orderNo: string): Promise<void> {
    await this.done('/api/orders/cancel', { order_no: orderNo });
  }

  /**
   * Shows of an event that can be bought, earliest first, from tomorrow on: those of today leave the sale one by one, and after
   * midnight at the venue the days of the seed are a day earlier than they were.
   */
  async showsOf(title: string): Promise<Show[]> {
    const home = (await json(await this.get('/api/catalogue/home?city=shanghai'))) as { days: unknown[]; date: string };
    const shows: Show[] = [];
    for (let ahead = 1; ahead < home.days.length && ahead < DAYS_SEEDED; ahead += 1) {
      const date = dayAfter(home.date, ahead);
      const day = (await json(await this.get(`/api/catalogue/home?city=shanghai&date=${date}`))) as { events: Listing[] };
      const listing = day.events.find(({ event }) => event.title.en === title);
      const open = listing?.shows.filter((show) => show.sale.state === 'on_sale') ?? [];
      shows.push(...open.map((show) => ({ id: show.id, eventId: listing?.event.id ?? 0 })));
    }
    return shows;
  }

  /** A post whose status is the test's matter. */
  post(path: string, fields: Record<string, string | number | readonly number[]>): Promise<APIResponse> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      for (const one of Array.isArray(value) ? value : [value]) body.append(name, String(one));
    }
    const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
    return this.request.post(path, { data: body.toString(), headers, maxRedirects: 0 });
  }

  /** A question whose status is the test's matter. */
  get(path: string): Promise<APIResponse> {
    return this.request.get(path, { headers: { accept: 'application/json' } });
  }

  private async done(path: string, fields: Record<string, string>): Promise<void> {
    const response = await this.post(path, fields);
    expect(response.ok(), `${path}: ${response.status()} ${await response.text()}`).toBe(true);
  }
}

/** `catalogue.json` puts shows on these first days, today included. */
const DAYS_SEEDED = 3;

function dayAfter(date: string, days: number): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + days);
  return day.toISOString().slice(0, 10);
}

async function json(response: APIResponse): Promise<unknown> {
  expect(response.ok(), `${response.url()}: ${response.status()} ${await response.text()}`).toBe(true);
  return response.json();
}
