import { Alert, Button, Group, List, ScrollArea, Stack, Text } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { client } from '../../api/client'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { networkText } from '../../text/network'
import { routerSetupText } from '../../text/routerSetup'
import { Check, Copy } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { type Device, lookAgain } from './words'
import './network.css'

/** ScriptPart leads through the set-up of a router, and follows until the router has come up. */
export function ScriptPart({ of: d }: { of: Device }) {
  const t = useText(routerSetupText)
  return (
    <Stack gap="lg" maw={860}>
      <Stack gap={4}>
        <Text size="sm">{t.scriptWhat}</Text>
        <Text size="sm" c="dimmed">{t.afterwards}</Text>
      </Stack>
      <Standing of={d} />
      <Section title={t.stepsTitle}>
        <List type="ordered" size="sm" spacing={4}>
          {t.steps.map((step) => <List.Item key={step}>{step}</List.Item>)}
        </List>
      </Section>
      <Script id={d.id} />
    </Stack>
  )
}

/** Standing says how far the set-up is. While something is missing it looks again every few seconds. */
function Standing({ of: d }: { of: Device }) {
  const t = useText(routerSetupText)
  const words = useText(networkText)
  const queries = useQueryClient()
  const reached = d.unreachableSince === null && d.transport !== null
  const done = d.bootstrap.upToDate && reached
  useEffect(() => {
    if (done) return
    const timer = setInterval(() => {
      void queries.invalidateQueries({ queryKey: ['get', '/nas/devices/{id}', { params: { path: { id: d.id } } }] })
    }, lookAgain)
    return () => clearInterval(timer)
  }, [done, queries, d.id])
  return (
    <Section title={t.scriptState}>
      <Stack gap={2} role="status">
        <Line good={d.bootstrap.upToDate}>
          {!d.bootstrap.upToDate ? t.outdated(d.bootstrap.version)
            : d.bootstrap.reportedAt ? <>{t.ranAt} <When at={d.bootstrap.reportedAt} /></> : t.ranQuietly}
        </Line>
        <Line good={reached}>{reached ? t.connected : d.error ?? words.states.unknown}</Line>
        <Text size="sm" c="dimmed" mih={20}>{done ? '' : t.waiting}</Text>
      </Stack>
    </Section>
  )
}

function Line({ good, children }: { good: boolean; children: ReactNode }) {
  return (
    <Text component="div" size="sm" className="sentence">
      <State tone={good ? 'good' : 'attention'}>{null}</State> <span>{children}</span>
    </Text>
  )
}

/**
 * Script is shown on demand only: it has secrets, and each time is in the audit log. So it is no query that is read
 * again by itself, and it is forgotten when the page is left.
 */
function Script({ id }: { id: string }) {
  const t = useText(routerSetupText)
  const may = useMay()
  const { copy, copied } = useClipboard({ timeout: 3000 })
  const read = useMutation({
    mutationFn: async () => {
      const { data } = await client.GET('/nas/devices/{id}/bootstrap-script', { params: { path: { id } }, parseAs: 'text' })
      return data ?? ''
    },
  })
  if (!may('GET /nas/devices/{id}/bootstrap-script')) return null
  return (
    <Section
      title={t.script}
      actions={
        read.data !== undefined && (
          <>
            <Button onClick={() => copy(read.data)} leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}>
              {copied ? t.copied : t.copyScript}
            </Button>
            <Button variant="default" onClick={() => read.reset()}>{t.hideScript}</Button>
          </>
        )
      }
    >
      <Alert color="yellow" variant="light" p="sm"><Text size="sm">{t.scriptSecret}</Text></Alert>
      {read.error && <ProblemNote of={read.error} />}
      {read.data === undefined ? (
        <Group>
          <Button size="sm" loading={read.isPending} onClick={() => read.mutate()}>{t.showScript}</Button>
        </Group>
      ) : (
        <ScrollArea.Autosize mah={420} type="auto" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': t.scriptText }}>
          <pre className="script">{read.data}</pre>
        </ScrollArea.Autosize>
      )}
    </Section>
  )
}
