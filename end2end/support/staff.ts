/** What staff do at a terminal: the server's own commands, as `seatflow --help` lists them. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a command of `seatflow`; gives what it printed. The environment is the server's: `cargo xtask e2e` hands it on. */
export async function seatflow(...command: string[]): Promise<string> {
  const program = process.env.SEATFLOW_PROGRAM;
  if (!program) throw new Error('SEATFLOW_PROGRAM does not name the program that serves');
  const { stdout } = await run(program, command, { timeout: 30_000 });
  return stdout;
}
