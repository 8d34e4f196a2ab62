// SPDX-License-Identifier: Apache-2.0
// Part of the page that is loaded when it is first shown, so that the first load has only what most need.
import { type ComponentType, createElement } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Problem } from './kit/kit.tsx'

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function Later(props: Props) {
    const [part, setPart] = useState<{ readonly show: ComponentType<Props> } | null>(null)
    const [error, setError] = useState<Error | null>(null)
    useEffect(() => void load().then((show) => setPart({ show }), setError), [])
    if (error) return <Problem error={error} retry={() => window.location.reload()} />
    return part && createElement(part.show, props)
  }
}
