import { Button, Group, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { readUntilRead } from '../../api/again'
import { api } from '../../api/client'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { servicesText } from '../../text/services'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { Difference } from './Difference'
import { Live } from './Live'
import { ServiceAnswer } from './ServiceAnswer'
import { useAsked } from './useAsked'
import { lookAgain, moves, placeOf, type Service } from './words'

const ChangeService = later(() => import('./ChangeService').then((m) => m.ChangeService))
// What happened to it stands below what is the matter with it.
const ServiceHistory = later(() => import('./HistoryPart').then((m) => m.ServiceHistory), { height: 240 })
const DeleteService = later(() => import('./DeleteService').then((m) => m.DeleteService))

/** ServicePage answers about one service: does it work, and if not, what does the router say? */
export default function ServicePage() {
  const t = useText(servicesText)
  const may = useMay()
  const { id } = useParams({ from: '/services/$id' })
  const [asks, setAsks] = useState<'change' | 'delete' | null>(null)
  const service = api.useQuery('get', '/nas/services/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => readUntilRead(q) || (moves(q.state.data) && lookAgain),
  })
  const s = service.data
  const device = api.useQuery('get', '/nas/devices/{id}', { params: { path: { id: s?.deviceId ?? '' } } }, { enabled: s !== undefined })
  const diff = useAsked(s?.deviceId ?? '', api.useQuery('get', '/nas/services/{id}/diff', { params: { path: { id } } }, {
    retry: false, enabled: s !== undefined && !s.working && !s.removing,
  }))
  const title = s ? t.title(t.types[s.type] ?? s.type, placeOf(s, t)) : t.service
  const change = may('PATCH /nas/services/{id}') && !s?.removing
  const actions = s && (
    <>
      {change && <Button variant="default" onClick={() => setAsks('change')}>{t.change}</Button>}
      {may('DELETE /nas/services/{id}') && <Button variant="light" color="red" onClick={() => setAsks('delete')}>{t.remove}</Button>}
    </>
  )
  return (
    <Page
      title={title}
      name={s && (
        <>
          <Link to="/routers/$id" params={{ id: s.deviceId }} search={{ view: 'services' }} className="quiet-link">
            {device.data?.name ?? '…'}
          </Link>
          {' · '}
          {title}
        </>
      )}
      actions={actions}
    >
      <Loaded read={service} height={480}>
        {(s) => (
          <Stack gap="lg">
            <ServiceAnswer of={s} diff={diff.data} />
            {!s.removing && (
              <Live title={t.difference} read={diff} height={60}>{(d) => <Difference resources={d.resources} />}</Live>
            )}
            <Addresses of={s} />
            <Section title={t.history}><ServiceHistory id={id} /></Section>
          </Stack>
        )}
      </Loaded>
      {asks === 'change' && <ChangeService id={id} onClose={() => setAsks(null)} />}
      {asks === 'delete' && s && <DeleteService of={s} onClose={() => setAsks(null)} />}
    </Page>
  )
}

function Addresses({ of: s }: { of: Service }) {
  const t = useText(servicesText)
  const garden = [...s.walledGarden.domains, ...s.walledGarden.addresses]
  return (
    <Section title={t.facts}>
      <Facts
        of={[
          [t.subnet, <span key="subnet" className="figure">{s.subnet}</span>],
          [t.gateway, <span key="gateway" className="figure">{s.gateway}</span>],
          [t.pool, <span key="pool" className="figure">{s.poolStart} – {s.poolEnd}</span>],
          [t.slug, s.slug],
          [t.sessions, s.type === 'cpe-management' ? null : (
            <Link key="sessions" to="/sessions" search={{ deviceId: s.deviceId, online: true }}>{t.onNow(s.activeSessions)}</Link>
          )],
          [t.applied, <When key="applied" at={s.appliedAt} exact />],
        ]}
      />
      {s.type !== 'cpe-management' && (
        <Stack gap={0}>
          <Text size="xs" c="dimmed">{t.garden}</Text>
          <Text size="sm" className="sentence">{garden.length > 0 ? garden.join(', ') : t.gardenNone}</Text>
          <Text size="xs" c="dimmed">{t.gardenHint}</Text>
        </Stack>
      )}
      {s.formerSubnets.length > 0 && (
        <Stack gap={0}>
          <Text size="xs" c="dimmed">{t.former}</Text>
          <Text size="xs" c="dimmed">{t.formerHint}</Text>
          {s.formerSubnets.map((f) => (
            <Group key={f.subnet} gap="sm"><Text size="sm" className="figure">{f.subnet}</Text><Text size="sm"><When at={f.until} exact /></Text></Group>
          ))}
        </Stack>
      )}
    </Section>
  )
}
