// SPDX-License-Identifier: Apache-2.0
// The rows of every provider of mobile money, by its name: a line each.
import type { ProviderRows } from './provider-rows.ts'
import { airtelRows } from './rows/airtel-money.ts'
import { ecocashRows } from './rows/ecocash.ts'
import { mpesaRows } from './rows/mpesa.ts'
import { momoRows } from './rows/mtn-momo.ts'
import { orangeMoneyRows } from './rows/orange-money.ts'
import { telebirrRows } from './rows/telebirr.ts'
import { mpesaOpenRows } from './rows/vodacom-mpesa.ts'
import { waveRows } from './rows/wave.ts'

export const rowsOf: Readonly<Record<string, ProviderRows>> = {
  mpesa: mpesaRows,
  mtn_momo: momoRows,
  airtel_money: airtelRows,
  orange_money: orangeMoneyRows,
  wave: waveRows,
  telebirr: telebirrRows,
  vodacom_mpesa: mpesaOpenRows,
  ecocash: ecocashRows,
}
