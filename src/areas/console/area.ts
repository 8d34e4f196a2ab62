// SPDX-License-Identifier: Apache-2.0
// The door of the console: a program for browsers, made of files that need no credentials and hold nothing of any account.
// What it shows it asks of the API; signing in is with the members, in the accounts area.
import type { Area } from '../../platform/area.ts'
import { consoleHooks } from './files.ts'

export const consoleArea: Area = { name: 'console', routes: [], hooks: consoleHooks }
