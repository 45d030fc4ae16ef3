import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import { servicesText } from '../../text/services'
import { Confirm } from '../../ui/Confirm'
import { Wrench } from '../../ui/icons'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { countOf } from './difference'
import { type Difference, type Service, toneOfService } from './words'

/** ServiceAnswer says whether a service works, what the router said if not, and has the repair. */
export function ServiceAnswer({ of: s, diff }: { of: Service; diff: Difference | undefined }) {
  const t = useText(servicesText)
  const may = useMay()
  const [asks, setAsks] = useState(false)
  const differs = diff ? !diff.inSync : s.drift !== null
  // A difference that was read just now is told before the platform's own check has found it.
  const shown = { ...s, state: s.state === 'active' && differs ? 'degraded' as const : s.state }
  const now = s.removing ? 'removing' : s.working ? 'working' : shown.state
  const helps = may('POST /nas/services/{id}/reconcile') && !s.working && (s.state !== 'active' || differs || s.removing)
  return (
    <Paper withBorder p="md" className="answer" data-tone={toneOfService(shown)} component="section" aria-live="polite">
      <Group justify="space-between" align="flex-start" gap="sm" mih={56}>
        <Stack gap={4} flex={1} miw={240}>
          <Text component="div" fw={600} className="sentence">
            <State tone={toneOfService(shown)}>{null}</State> <span>{t.says[now] ?? now}</span>
          </Text>
          {s.lastError && (
            <Text size="sm" className="sentence">
              {t.routerSays} (<When at={s.lastError.at} />, {t.during(s.lastError.operation, s.lastError.path)}): <q>{s.lastError.message}</q>
            </Text>
          )}
        </Stack>
        {helps && (
          <Button size="sm" leftSection={<Wrench size={14} aria-hidden />} onClick={() => setAsks(true)}>{t.reconcile}</Button>
        )}
      </Group>
      {asks && <Reconcile of={s} diff={diff} onClose={() => setAsks(false)} />}
    </Paper>
  )
}

function Reconcile({ of: s, diff, onClose }: { of: Service; diff: Difference | undefined; onClose: () => void }) {
  const t = useText(servicesText)
  const setup = useText(routerSetupText)
  const write = useWrite('post', '/nas/services/{id}/reconcile', {
    told: (a) => ('state' in a && a.state === 'active' ? t.reconciled : t.reconcileRuns),
    then: onClose,
  })
  const resources = diff?.resources ?? s.drift?.resources ?? []
  const { missing, changed, gone } = countOf(resources)
  return (
    <Confirm
      title={t.reconcileTitle}
      verb={t.reconcile}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: s.id } } })}
      onClose={onClose}
    >
      <Text size="sm">{t.reconcileDoes}</Text>
      {resources.length > 0 && <Text size="sm">{setup.repairWrites(missing, changed, gone)}</Text>}
      <Text size="sm" c="dimmed">{setup.repairSafe}</Text>
    </Confirm>
  )
}
