import { Checkbox, Stack, TextInput } from '@mantine/core'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { webhooksText } from '../../text/webhooks'

/** TypedEndpoint is what a form about an address holds. */
export interface TypedEndpoint {
  url: string
  description: string
  types: string[]
}

/** EndpointFields are the address, and what it is told of, each type with its meaning. */
export function EndpointFields({ of: v, set, problem }: {
  of: TypedEndpoint
  set: (part: Partial<TypedEndpoint>) => void
  problem: Problem | null
}) {
  const t = useText(webhooksText)
  return (
    <Stack gap="sm">
      <TextInput
        label={t.address} description={t.addressHint} value={v.url} onChange={(e) => set({ url: e.currentTarget.value })}
        error={problem?.of('url')} required withAsterisk={false} maxLength={2000} autoComplete="off" spellCheck={false} inputMode="url" data-autofocus
      />
      <TextInput
        label={t.description} description={t.descriptionHint} value={v.description} maxLength={200}
        onChange={(e) => set({ description: e.currentTarget.value })} error={problem?.of('description')}
      />
      <Checkbox.Group label={t.types} value={v.types} onChange={(types) => set({ types })} error={problem?.of('types') ?? (v.types.length === 0 && t.chooseOne)}>
        <Stack gap="xs" my={4}>
          {Object.entries(t.typeHints).map(([type, hint]) => (
            <Checkbox key={type} value={type} label={t.typeNames[type]} description={hint} />
          ))}
        </Stack>
      </Checkbox.Group>
    </Stack>
  )
}
