import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import { useObstacles } from '../../text/obstacles'
import { servicesText } from '../../text/services'
import { State } from '../../ui/State'
import { Live } from './Live'
import { useAsked } from './useAsked'
import type { Service } from './words'
import './network.css'

/** InterfacesPart shows the interfaces by group, with what each carries and why it is reserved. */
export function InterfacesPart({ id }: { id: string }) {
  const t = useText(networkText)
  const read = useAsked(id, api.useQuery('get', '/nas/devices/{id}/interfaces', { params: { path: { id } } }, { retry: false }))
  const services = api.useQuery('get', '/nas/devices/{id}/services', { params: { path: { id }, query: { limit: 100 } } })
  const on = services.data?.data ?? []
  return (
    <Live title={t.views.interfaces} read={read} height={400}>
      {({ groups }) => groups.filter((g) => g.options.length > 0).map((g) => <Group key={g.name} of={g} services={on} />)}
    </Live>
  )
}

function Group({ of: group, services }: { of: Shape<'InterfaceGroup'>; services: Service[] }) {
  const t = useText(networkText)
  const obstacles = useObstacles()
  const f = useFormat()
  return (
    <div className="rows wraps">
      <Text size="sm" fw={600} mt="xs" component="h3">{t.groups[group.name] ?? group.name}</Text>
      <table aria-label={t.groups[group.name] ?? group.name}>
        <thead>
          <tr>
            <th scope="col">{t.interface}</th>
            <th scope="col" style={{ width: 122 }}>{t.link}</th>
            <th scope="col" className="figure wide-only" style={{ width: 110 }}>{t.received}</th>
            <th scope="col" className="figure wide-only" style={{ width: 110 }}>{t.sent}</th>
            <th scope="col" className="figure wide-only" style={{ width: 100 }}>{t.linkDowns}</th>
            <th scope="col">{t.use}</th>
          </tr>
        </thead>
        <tbody>
          {group.options.map((o) => (
            <tr key={o.name}>
              <td title={o.comment ?? undefined}>
                <Text span inherit fw={500}>{o.name}</Text> {o.comment && <Text span inherit c="dimmed">{o.comment}</Text>}
              </td>
              <td><LinkState of={o} /></td>
              <td className="figure wide-only" title={t.packets(f.number(o.rxPackets))}>{f.bytes(o.rxBytes)}</td>
              <td className="figure wide-only" title={t.packets(f.number(o.txPackets))}>{f.bytes(o.txBytes)}</td>
              <td className="figure wide-only">{f.number(o.linkDowns)}</td>
              <td title={obstacles.reserved(o) || obstacles.warns(o) || undefined}>
                <Use of={o} services={services.filter((s) => s.parentInterface === o.name)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Use says what an interface carries: services of the platform, what it is reserved for, or nothing. */
function Use({ of: o, services }: { of: Shape<'InterfaceOption'>; services: Service[] }) {
  const t = useText(networkText)
  const words = useText(servicesText)
  const obstacles = useObstacles()
  if (services.length === 0) return o.reserved ? `${t.reserved}: ${obstacles.reserved(o)}` : obstacles.warns(o) || t.free
  return services.map((s, i) => (
    <span key={s.id}>
      {i > 0 && ', '}
      <Link to="/services/$id" params={{ id: s.id }}>
        {words.types[s.type] ?? s.type}{s.vlanId !== null && ` (${words.vlan(s.vlanId)})`}
      </Link>
    </span>
  ))
}

/** LinkState says whether a cable with something at its other end is plugged in. */
function LinkState({ of: o }: { of: Pick<Shape<'InterfaceOption'>, 'disabled' | 'running'> }) {
  const t = useText(networkText)
  if (o.disabled) return <State tone="quiet">{t.linkOff}</State>
  return <State tone={o.running ? 'good' : 'attention'}>{o.running ? t.linkUp : t.linkDown}</State>
}
