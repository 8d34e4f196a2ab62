// SPDX-License-Identifier: Apache-2.0
// The noun: status transitions of an agent, and who may take a call. Pure.
import type { agentStatuses, RequiredSkillOf, SkillOf } from '../schema.ts'

export type AgentStatus = (typeof agentStatuses)[number]

/** Statuses an agent may choose; the others follow from calls. */
export const settableStatuses = ['available', 'break', 'away', 'training', 'meeting'] as const
export type SettableStatus = (typeof settableStatuses)[number]

const mayFollow: Readonly<Record<AgentStatus, readonly AgentStatus[]>> = {
  offline: settableStatuses,
  available: ['offline', 'ringing', 'on_call', ...settableStatuses],
  ringing: ['offline', 'on_call', ...settableStatuses],
  on_call: ['offline', 'wrap_up', ...settableStatuses],
  wrap_up: ['offline', 'ringing', 'on_call', ...settableStatuses],
  break: ['offline', 'ringing', 'on_call', ...settableStatuses],
  away: ['offline', 'ringing', 'on_call', ...settableStatuses],
  training: ['offline', 'ringing', 'on_call', ...settableStatuses],
  meeting: ['offline', 'ringing', 'on_call', ...settableStatuses],
}

export function mayBecome(from: AgentStatus, to: AgentStatus): boolean {
  return mayFollow[from].includes(to)
}

export function isOnCall(status: AgentStatus): boolean {
  return status === 'ringing' || status === 'on_call'
}

export function isPaused(status: AgentStatus): boolean {
  return status === 'break' || status === 'away' || status === 'training' || status === 'meeting'
}

/** Required skill levels after a wait: one less per `relaxSeconds`, down to one. */
export function relaxed(
  required: readonly RequiredSkillOf[],
  waitedSeconds: number,
  relaxSeconds: number | null,
): RequiredSkillOf[] {
  const steps = relaxSeconds === null ? 0 : Math.floor(waitedSeconds / relaxSeconds)
  return required.flatMap(({ name, min_level = 1 }) =>
    min_level - steps < 1 ? [] : [{ name, min_level: min_level - steps }],
  )
}

export function hasSkills(skills: readonly SkillOf[], required: readonly RequiredSkillOf[]): boolean {
  return required.every(({ name, min_level = 1 }) =>
    skills.some((skill) => skill.name === name && skill.level >= min_level),
  )
}

/** Skill score of an agent: the sum of the required skills' levels. */
export function scoreOf(skills: readonly SkillOf[], required: readonly RequiredSkillOf[]): number {
  return required.reduce((sum, { name }) => sum + (skills.find((skill) => skill.name === name)?.level ?? 0), 0)
}
