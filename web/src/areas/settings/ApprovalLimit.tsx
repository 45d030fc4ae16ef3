import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { approvalsText } from '../../text/approvals'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { NumberField } from '../../ui/NumberField'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'

/** ApprovalLimit says how much one person may give away in a day, and changes it. */
export function ApprovalLimit() {
  const t = useText(approvalsText)
  const read = api.useQuery('get', '/settings/approvals')
  return (
    <Section title={t.limit}>
      <Loaded read={read} height={120}>{(of) => <Limit of={of} key={String(of.limit)} />}</Loaded>
    </Section>
  )
}

function Limit({ of }: { of: Shape<'LimitResponse'> }) {
  const t = useText(approvalsText)
  const f = useFormat()
  const may = useMay()
  const [limit, setLimit] = useState<number | ''>(of.limit ?? '')
  const save = useWrite('put', '/settings/approvals', { told: () => t.limitSaved })
  if (!may('PUT /settings/approvals')) {
    return <Text size="sm">{t.limitOf}: {of.limit === null ? t.limitNone : f.money(of.limit, of.currency)}</Text>
  }
  const wanted = limit === '' ? null : limit
  return (
    <Form busy={save.isPending} onSubmit={() => save.mutate({ body: { limit: wanted } })}>
      <Stack gap="sm">
        <NumberField
          label={t.limitOf}
          description={t.limitHint}
          value={limit}
          onChange={setLimit}
          min={0}
          amountIn={of.currency}
          maw={420}
          hideControls
          error={save.error?.of('limit')}
        />
        <Text size="sm" c="dimmed">{t.limitRaise}</Text>
        {save.error && <ProblemNote of={save.error} />}
        <Group>
          <Button type="submit" variant="default" loading={save.isPending} disabled={wanted === of.limit}>{t.save}</Button>
        </Group>
      </Stack>
    </Form>
  )
}
