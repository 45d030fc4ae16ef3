import { Button, Checkbox, Group, NativeSelect, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client'
import type { Shape } from '../../../api/types'
import { useWrite } from '../../../api/write'
import { usePerson } from '../../../app/person'
import { apiKeysText } from '../../../text/apiKeys'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { instantOf } from '../../../text/instant'
import { Form } from '../../../ui/Form'
import { InstantField } from '../../../ui/InstantField'
import { Loaded } from '../../../ui/Loaded'
import { Page, Section } from '../../../ui/Page'
import { ProblemNote } from '../../../ui/ProblemNote'
import { KeyShown } from './KeyShown'
import { type Chosen, linesOf, type Resource, resourcesOf, scopesOf } from './scopes'
import './keys.css'

type Role = Shape<'ApiKeyRequest'>['role']

const nothing = { name: '', role: 'support' as Role, some: true, chosen: {} as Chosen, expires: '', from: '' }

/** NewKeyPage makes a key, and shows its text once. */
export default function NewKeyPage() {
  const t = useText(apiKeysText)
  const { zone: { timezone } } = useFormat()
  const navigate = useNavigate()
  const { role: own } = usePerson()
  const read = api.useQuery('get', '/api-key-scopes', {})
  const [typed, setTyped] = useState(nothing)
  const set = (part: Partial<typeof nothing>) => setTyped((v) => ({ ...v, ...part }))
  const [made, setMade] = useState<Shape<'NewAPIKeyResponse'> | null>(null)
  const write = useWrite('post', '/api-keys', {
    told: () => t.made(typed.name.trim()),
    then: (k) => ('key' in k ? setMade(k) : void navigate({ to: '/api-keys' })),
  })
  const resources = resourcesOf(read.data?.data ?? [], typed.role)
  const scopes = scopesOf(typed.chosen, resources)
  const ready = typed.name.trim() !== '' && (!typed.some || scopes.length > 0)
  const from = linesOf(typed.from)
  const body: Shape<'ApiKeyRequest'> = {
    name: typed.name.trim(), role: typed.role,
    ...(typed.some && { scopes }),
    ...(typed.expires && { expiresAt: instantOf(typed.expires, timezone).toISOString() }),
    ...(from.length > 0 && { allowedAddresses: from }),
  }
  const of = (name: string) => write.error?.of(name)
  return (
    <Page title={t.make}>
      <Text size="sm" c="dimmed">{t.hint}</Text>
      <Form
        busy={write.isPending || made !== null}
        onSubmit={() => {
          if (ready) write.mutate({ body })
        }}
      >
        <Stack gap="md">
          <TextInput
            label={t.name} description={t.nameHint} value={typed.name} onChange={(e) => set({ name: e.currentTarget.value })}
            error={of('name')} required withAsterisk={false} maxLength={100} maw={400} autoComplete="off" data-autofocus
          />
          <NativeSelect
            label={t.role} value={typed.role} onChange={(e) => set({ role: e.currentTarget.value as Role })} error={of('role')} maw={400}
            data={(own === 'support' ? ['support' as const] : ['support' as const, 'admin' as const]).map((r) => ({ value: r, label: t.roles[r] }))}
          />
          <Radio.Group label={t.may} value={typed.some ? 'some' : 'all'} onChange={(v) => set({ some: v === 'some' })} error={of('scopes')}>
            <Stack gap="xs" mt={4}>
              <Radio value="some" label={t.some} />
              <Radio value="all" label={t.allOf[typed.role]} description={t.allHint} />
            </Stack>
          </Radio.Group>
          {typed.some && (
            <Section title={t.scopes}>
              <Loaded read={read} height={400}>
                {() => <Scopes of={resources} chosen={typed.chosen} onChange={(chosen) => set({ chosen })} />}
              </Loaded>
            </Section>
          )}
          <InstantField label={t.expires} description={t.expiresHint} value={typed.expires} error={of('expiresAt')} onChange={(expires) => set({ expires })} />
          <Textarea
            label={t.from} description={t.fromHint} value={typed.from} onChange={(e) => set({ from: e.currentTarget.value })}
            error={of('allowedAddresses')} autosize minRows={2} maw={400} spellCheck={false}
          />
          {write.error && <ProblemNote of={write.error} />}
          <Group gap="xs">
            <Button type="submit" size="sm" loading={write.isPending} disabled={!ready}>{t.make}</Button>
            {!ready && typed.name.trim() !== '' && <Text size="sm" c="dimmed" role="status">{t.chooseOne}</Text>}
          </Group>
        </Stack>
      </Form>
      {made && <KeyShown of={made} onClose={() => void navigate({ to: '/api-keys/$id', params: { id: made.id } })} />}
    </Page>
  )
}

/** Scopes are a line for each resource, with what a key can be allowed of it. */
function Scopes({ of, chosen, onChange }: { of: Resource[]; chosen: Chosen; onChange: (next: Chosen) => void }) {
  const t = useText(apiKeysText)
  const named = of.map((r) => ({ ...r, what: t.resources[r.name] ?? r.name })).sort((a, b) => a.what.localeCompare(b.what))
  const put = (name: string, way: 'read' | 'write' | undefined) => {
    const { [name]: _, ...others } = chosen
    onChange(way ? { ...others, [name]: way } : others)
  }
  return (
    <>
      <Text size="sm" c="dimmed">{t.writeReads}</Text>
      <ul className="scopes">
        {named.map(({ name, what, read, write }) => {
          const way = chosen[name]
          return (
            <li key={name}>
              <Text span size="sm">{what}</Text>
              {read ? (
                <Checkbox
                  label={t.read} aria-label={t.readOf(what)} checked={way !== undefined} disabled={write && way === 'write'}
                  onChange={(e) => put(name, e.currentTarget.checked ? 'read' : undefined)}
                />
              ) : <span />}
              {write ? (
                <Checkbox
                  label={t.write} aria-label={t.writeOf(what)} checked={way === 'write'}
                  onChange={(e) => put(name, e.currentTarget.checked ? 'write' : read ? 'read' : undefined)}
                />
              ) : <span />}
            </li>
          )
        })}
      </ul>
    </>
  )
}
