import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import { Confirm } from '../../ui/Confirm'
import { Wrench } from '../../ui/icons'
import { State } from '../../ui/State'
import { countOf } from './difference'
import { type Difference, lookAgain } from './words'

/** RepairKind is what a repair brings in line. */
export type RepairKind = 'device' | 'firewall' | 'setup'

const paths = {
  device: '/nas/devices/{id}/reconcile',
  firewall: '/nas/devices/{id}/firewall/reconcile',
  setup: '/nas/devices/{id}/setup/reconcile',
} as const

const needs = {
  device: 'POST /nas/devices/{id}/reconcile',
  firewall: 'POST /nas/devices/{id}/firewall/reconcile',
  setup: 'POST /nas/devices/{id}/setup/reconcile',
} as const

/** Repair writes what differs, after it has said what that is. Its end is shown here, also when it takes long. */
export function Repair({ id, kind, of }: { id: string; kind: RepairKind; of: Difference }) {
  const t = useText(routerSetupText)
  const may = useMay()
  const [asks, setAsks] = useState(false)
  const write = useWrite('post', paths[kind], { then: () => setAsks(false) })
  const answer = write.data
  const running = answer && 'status' in answer ? answer.id : null
  const ended = useEnd(id, running)
  const done = answer && 'writes' in answer ? answer : ended
  const { missing, changed, gone } = countOf(of.resources)
  // What could cut the platform off is written after a second word only.
  const risky = write.error?.code === 'setup_confirmation_required'
  if (!may(needs[kind])) return null
  return (
    <Stack gap="xs">
      {!of.inSync && (
        <Group>
          <Button leftSection={<Wrench size={14} aria-hidden />} loading={running !== null && !ended} onClick={() => setAsks(true)}>
            {t.repair}
          </Button>
        </Group>
      )}
      <div role="status">
        {running && !ended && <Text size="sm">{t.repairing}</Text>}
        {done && (
          <Text component="div" size="sm"><State tone={done.message ? 'attention' : 'good'}>{t.repaired(done.writes)}</State></Text>
        )}
      </div>
      {done?.message && (
        <Alert color="yellow" variant="light" p="sm" title={t.left}>
          <Text size="sm">{done.message}</Text>
          {kind === 'setup' && (
            <Button
              mt={6}
              size="compact-sm"
              variant="default"
              renderRoot={(p) => <Link {...p} to="/routers/$id" params={{ id }} search={{ view: 'script' }} />}
            >
              {t.scriptForRest}
            </Button>
          )}
        </Alert>
      )}
      {asks && (
        <Confirm
          title={t.repairTitle[kind]}
          verb={risky ? t.repairAnyway : t.repair}
          danger={risky}
          pending={write.isPending}
          error={write.error}
          onConfirm={() => write.mutate({ params: { path: { id }, query: risky ? { confirm: true } : {} } })}
          onClose={() => {
            write.reset()
            setAsks(false)
          }}
        >
          <Text size="sm">{t.repairWrites(missing, changed, gone)}</Text>
          <Text size="sm" c="dimmed">{t.repairSafe}</Text>
        </Confirm>
      )}
    </Stack>
  )
}

/** useEnd looks for the end of a run that goes on, in the history of its router. */
function useEnd(id: string, run: string | null): { writes: number; message: string | null } | null {
  const read = api.useQuery('get', '/nas/devices/{id}/history', { params: { path: { id }, query: { limit: 20 } } }, {
    enabled: run !== null,
    refetchInterval: (q) => (endOf(q.state.data?.data, run) ? false : lookAgain),
  })
  return endOf(read.data?.data, run)
}

function endOf(entries: { kind: string; detail: unknown }[] | undefined, run: string | null) {
  if (run === null) return null
  for (const e of entries ?? []) {
    const detail = e.detail as { runId?: string; writes?: number; message?: string } | null
    if (e.kind === 'reconcile_finished' && detail?.runId === run) {
      return { writes: detail.writes ?? 0, message: detail.message || null }
    }
  }
  return null
}
