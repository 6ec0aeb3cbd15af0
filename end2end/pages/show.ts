import { expect, type Locator, type Page } from '@playwright/test';
import type { Words } from '../support/words.ts';

/** A seat as the map calls it, and its number in the plan. */
export interface Seat {
  index: number;
  /** `Row C, seat 5`, without zone, price and state. */
  place: string;
}

/** A zone of places without seats: what is said of it, how many are wanted, and the button that holds them. */
export interface Standing {
  zone: Locator;
  quantity: Locator;
  hold: Locator;
}

/** One show: the map, the reader's choice beside it, and what is told above it. */
export class ShowPage {
  readonly map: Locator;
  readonly hold: Locator;
  readonly alerts: Locator;
  /** The three controls of buying without choosing. */
  readonly bestZone: Locator;
  readonly bestQuantity: Locator;
  readonly best: Locator;
  /** The controls of a standing zone. */
  readonly standing: Standing;

  constructor(
    private readonly page: Page,
    private readonly words: Words,
  ) {
    this.map = page.getByRole('grid');
    this.hold = page.getByRole('button', { name: words.hold });
    this.alerts = page.getByRole('alert');
    const best = page.getByRole('region', { name: words.chooseForMe });
    this.bestZone = best.getByRole('combobox');
    this.bestQuantity = best.getByRole('spinbutton');
    this.best = best.getByRole('button', { name: words.choose });
    const zone = page.getByRole('region', { name: words.standing });
    this.standing = {
      zone,
      quantity: zone.getByRole('spinbutton'),
      hold: zone.getByRole('button', { name: words.holdPlaces }),
    };
  }

  /** A seat whatever its state. */
  seat(index: number): Locator {
    return this.map.locator(`input[type=checkbox][value="${index}"]`);
  }

  /** The first free seats of the map, in the plan's order. */
  async freeSeats(count: number): Promise<Seat[]> {
    const free = this.map.getByRole('checkbox', { name: new RegExp(`${this.words.seat.available}$`), disabled: false });
    await expect(free.nth(count - 1), `the show has ${count} free seats`).toBeAttached();
    const found = await free.evaluateAll((inputs, most) => {
      const seats = inputs.slice(0, most) as HTMLInputElement[];
      return seats.map((input) => ({ index: Number(input.value), name: input.getAttribute('aria-label') ?? '' }));
    }, count);
    return found.map(({ index, name }) => ({ index, place: placeOf(name, this.words) }));
  }

  /** Chooses seats with the pointer. */
  async choose(seats: readonly Seat[]): Promise<void> {
    for (const seat of seats) await this.seat(seat.index).check();
  }

  /** Expects a seat's name to end with the words for a state, and the seat to be free to choose only when available. */
  async seatIs(seat: Seat, state: keyof Words['seat']): Promise<void> {
    const input = this.seat(seat.index);
    await expect(input).toHaveAccessibleName(new RegExp(`^${escaped(seat.place)}.*${this.words.seat[state]}$`));
    await (state === 'available' ? expect(input).toBeEnabled() : expect(input).toBeDisabled());
  }

  /** Expects exactly these seats to be chosen. */
  async chosenAre(seats: readonly Seat[]): Promise<void> {
    await expect(this.map.getByRole('checkbox', { checked: true })).toHaveCount(seats.length);
    for (const seat of seats) await expect(this.seat(seat.index)).toBeChecked();
  }

  /** The button beside the map that takes a seat off the choice; scripts make it. */
  takeOff(seat: Seat): Locator {
    return this.page.getByRole('button', { name: new RegExp(`${this.words.takeOff.source}${escaped(seat.place)}$`) });
  }
}

/** A seat's name has zone, price and state after its place, each after a comma. */
function placeOf(name: string, words: Words): string {
  const separator = words.seat.available.startsWith('，') ? '，' : ', ';
  return name.split(separator).slice(0, -3).join(separator);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
