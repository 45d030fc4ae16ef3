import { Button, Text } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client'
import type { Shape } from '../../../api/types'
import { useVersioned, type Versioned } from '../../../api/versioned'
import { useWrite } from '../../../api/write'
import { useMay } from '../../../app/person'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { inWords } from '../../../ui/edited'
import { EditedNote, type Names } from '../../../ui/EditedNote'
import { Pencil } from '../../../ui/icons'
import { later } from '../../../ui/later'
import { Loaded } from '../../../ui/Loaded'
import { Page } from '../../../ui/Page'
import { useEdited } from '../../../ui/useEdited'
import { draftOf, patchOf, type PlanDraft } from './draft'
import { PlanFacts } from './PlanFacts'
import { PlanForm } from './PlanForm'

const ArchivePlan = later(() => import('./ArchivePlan').then((m) => m.ArchivePlan))
const MovePlan = later(() => import('./MovePlan').then((m) => m.MovePlan))

type Plan = Shape<'PlanResponse'>

/** PlanPage answers: what does this plan give, and for how much? */
export default function PlanPage() {
  const t = useText(plansText)
  const may = useMay()
  const { id } = useParams({ from: '/plans/$id' })
  const { edit } = useSearch({ from: '/plans/$id' })
  const [asking, setAsking] = useState<'archive' | 'move'>()
  const plan = api.useQuery('get', '/plans/{id}', { params: { path: { id } } })
  const p = plan.data
  const editing = edit === true && may('PATCH /plans/{id}')
  const actions = p && !p.archived && !editing && (
    <>
      {may('PATCH /plans/{id}') && (
        <Button
          renderRoot={(props) => <Link {...props} to="/plans/$id" params={{ id }} search={{ edit: true }} />}
          leftSection={<Pencil size={14} aria-hidden />}
        >
          {t.edit}
        </Button>
      )}
      {may('POST /plans/{id}/move') && p.versions.some((v) => v.version !== p.version) && (
        <Button variant="default" onClick={() => setAsking('move')}>{t.move}</Button>
      )}
      {may('POST /plans/{id}/archive') && (
        <Button variant="default" onClick={() => setAsking('archive')}>{t.archive}</Button>
      )}
    </>
  )
  return (
    <Page title={p ? (editing ? t.editTitle(p.name) : p.name) : t.plan} actions={actions}>
      <Loaded read={plan} height={320}>
        {(of) => (editing ? <Change id={of.id} /> : <PlanFacts of={of} />)}
      </Loaded>
      {asking === 'move' && p && <MovePlan of={p} onClose={() => setAsking(undefined)} />}
      {asking === 'archive' && p && <ArchivePlan of={p} onClose={() => setAsking(undefined)} />}
    </Page>
  )
}

/** Change makes the next version of the plan. */
function Change({ id }: { id: string }) {
  const read = useVersioned('/plans/{id}', { params: { path: { id } } })
  return <Loaded read={read} height={320}>{(of) => <Draft of={of} reread={() => void read.refetch()} />}</Loaded>
}

function Draft({ of, reread }: { of: Versioned<Plan>; reread: () => void }) {
  const t = useText(plansText)
  const navigate = useNavigate({ from: '/plans/$id' })
  const { id, version } = of.value
  const back = () => void navigate({ to: '/plans/$id', params: { id }, search: {} })
  const write = useWrite('patch', '/plans/{id}', {
    told: (answer) => ('version' in answer ? t.saved(answer.name, answer.version) : t.accepted),
    then: back,
  })
  const edited = useEdited(of, draftOf, write.isPending || write.isSuccess)
  const patch = patchOf(of.value, edited.values)
  const same = Object.keys(patch).length === 0
  return (
    <>
      <Text size="sm" c="dimmed">{t.versionHint(version + 1)}</Text>
      <PlanForm
        draft={edited.values}
        onChange={edited.set}
        verb={t.save}
        note={same ? t.unchanged : undefined}
        waits={edited.meanwhile}
        refusal={(
          <EditedNote
            edited={edited}
            names={usePlanNames()}
            error={write.error}
            onTake={() => {
              write.reset()
              reread()
            }}
          />
        )}
        pending={write.isPending}
        problem={write.error}
        onSave={() => {
          if (!same && !edited.meanwhile) write.mutate({ params: { path: { id } }, body: patch, headers: edited.headers })
        }}
        onCancel={back}
      />
    </>
  )
}

/** usePlanNames gives what the form calls its fields. */
function usePlanNames(): Names<PlanDraft> {
  const t = useText(plansText)
  const switched = (name: string): [string, (of: object | null) => string] => [name, (of) => inWords(of)]
  return {
    code: t.code, name: t.name, kind: [t.kind, (kind) => t.kinds[kind]], mode: [t.mode, (mode) => t.modes[mode]],
    period: [t.period, (period) => t.periods[period]],
    anchor: [t.anchor, (anchor) => t.anchors(anchor)], price: t.price, down: t.down, up: t.up,
    lateRenewal: [t.late, (late) => t.lates[late]], partialPayment: [t.partial, (part) => t.partials[part]],
    billWhileSuspended: [t.suspended, (on) => t.suspendeds[on]],
    sessionLimit: t.sessions, onLimit: [t.onLimit, (on) => t.onLimits[on]],
    dunningPolicy: t.policy, pool: t.pool, ipv6Pool: t.ipv6Pool, ipv6Delegated: t.ipv6Delegated,
    burst: switched(t.burst), cap: switched(t.cap), schedule: switched(t.schedule),
  }
}
