// SPDX-License-Identifier: Apache-2.0
// Queue of a bind: one-time passwords first, bulk last, and inside a class one part of each account in turn, or as many
// as its weight. Bounded per class and shared between its accounts, so that none keeps another out.
import { mayHold, Turns } from '../../../kernel/turns.ts'
import { type Priority, priorities } from '../message.ts'

export interface Queued {
  readonly priority: Priority
  readonly account: string
  readonly weight: number
}

export class FairQueue<Item extends Queued> {
  readonly #capacity: number
  /** Queues in the order of their priorities. */
  readonly #classes: ReadonlyMap<Priority, Turns<Item>> = new Map(priorities.map((priority) => [priority, new Turns()]))

  /** `capacity`: how many may wait in one class. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    let size = 0
    for (const turns of this.#classes.values()) size += turns.size
    return size
  }

  hasRoom({ priority, account }: Pick<Queued, 'priority' | 'account'>, count: number): boolean {
    const turns = this.#turns(priority)
    return mayHold(turns.lengthOf(account), count, this.#capacity - turns.size)
  }

  add(item: Item): void {
    this.#turns(item.priority).add(item.account, item, item.weight)
  }

  /** Puts back a part that could not be sent: it is the next of its account. */
  giveBack(item: Item): void {
    this.#turns(item.priority).giveBack(item.account, item, item.weight)
  }

  take(): Item | undefined {
    for (const turns of this.#classes.values()) if (turns.size > 0) return turns.take()
    return undefined
  }

  takeAll(): Item[] {
    return [...this.#classes.values()].flatMap((turns) => turns.takeAll())
  }

  #turns(priority: Priority): Turns<Item> {
    const turns = this.#classes.get(priority)
    if (!turns) throw new Error(`there is no class ${priority}`)
    return turns
  }
}
