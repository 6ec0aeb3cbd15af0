/** What the seat map's binary answers say. The format is described at `MapUpdate::encode` in `app/src/domain/seat.rs`. */

import { expect, type APIRequestContext } from '@playwright/test';

/** The states by their two bits. */
export const STATES = ['available', 'locked', 'sold', 'blocked'] as const;
export type SeatState = (typeof STATES)[number];

export interface SeatChange {
  seat: number;
  state: SeatState;
}

/** Every seat's state, and the version to ask for changes from: `epoch.version`. */
export interface WholeMap {
  version: string;
  states: SeatState[];
}

const WHOLE = 0;
const CHANGES = 1;
/** Kind, epoch and version. */
const HEAD_BYTES = 1 + 4 + 8;

/** Every seat's state at this moment. */
export async function readSeats(request: APIRequestContext, showId: number): Promise<WholeMap> {
  const body = await poll(request, `/shows/${showId}/seats`);
  expect(body.readUInt8(0), 'a reader without a version gets the whole map').toBe(WHOLE);
  const count = body.readUInt32BE(HEAD_BYTES);
  const bits = body.subarray(HEAD_BYTES + 4);
  const states = Array.from({ length: count }, (_, seat) => stateOf(((bits[seat >> 2] ?? 0) >> (6 - 2 * (seat % 4))) & 3));
  return { version: `${body.readUInt32BE(1)}.${body.readBigUInt64BE(5)}`, states };
}

/** What changed since `version`, oldest first. */
export async function readChanges(request: APIRequestContext, showId: number, version: string): Promise<SeatChange[]> {
  const body = await poll(request, `/shows/${showId}/seats?since=${version}`);
  expect(body.readUInt8(0), 'a reader that is not far behind gets changes').toBe(CHANGES);
  const changes: SeatChange[] = [];
  for (let at = HEAD_BYTES; at < body.length; at += 4) {
    const packed = body.readUInt32BE(at);
    changes.push({ seat: packed >>> 2, state: stateOf(packed & 3) });
  }
  return changes;
}

/** The states of some seats, in their order. */
export async function statesOf(request: APIRequestContext, showId: number, seats: readonly number[]): Promise<SeatState[]> {
  const { states } = await readSeats(request, showId);
  return seats.map((seat) => {
    const state = states[seat];
    if (!state) throw new Error(`show ${showId} has no seat ${seat}`);
    return state;
  });
}

function stateOf(bits: number): SeatState {
  const state = STATES[bits];
  if (!state) throw new Error(`${bits} is no seat state`);
  return state;
}

async function poll(request: APIRequestContext, address: string): Promise<Buffer> {
  const response = await request.get(address);
  expect(response.status(), address).toBe(200);
  return response.body();
}
