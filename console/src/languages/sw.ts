// SPDX-License-Identifier: Apache-2.0
export const book: Readonly<Record<string, string>> = {}
