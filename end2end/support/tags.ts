/** Marks journeys about what only a running script does; the project `no-js` leaves them out. */
export const SCRIPT_ONLY = '@script';
