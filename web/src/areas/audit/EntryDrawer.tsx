import { Code, Drawer, Group, Stack, Text } from '@mantine/core'
import { api } from '../../api/client'
import { usePerson } from '../../app/person'
import { actionName } from '../../text/actionName'
import { actionText } from '../../text/actions'
import { auditText } from '../../text/audit'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { To } from '../../ui/To'
import { actorName, type Entry, outcomeTones, Whose } from './AuditPage'
import { historyOf, targetName, wayTo } from './target'

/** EntryDrawer shows one entry beside the list. One that the list has not read is read by its id. */
export function EntryDrawer({ id, shown, onClose }: {
  id: string
  shown: Entry | undefined
  onClose: () => void
}) {
  const t = useText(auditText)
  const words = useText(uiText)
  const read = api.useQuery('get', '/audit-log/{id}', { params: { path: { id } } }, { enabled: !shown })
  const entry = shown ?? read.data
  return (
    <Drawer opened onClose={onClose} title={t.entry} position="right" size="lg" closeButtonProps={{ 'aria-label': words.close }}>
      {entry ? <EntryDetail of={entry} /> : <Loaded read={read} height={300}>{(e) => <EntryDetail of={e} />}</Loaded>}
    </Drawer>
  )
}

/** EntryDetail is all that the log knows of an entry, and the ways to others like it. */
function EntryDetail({ of: e }: { of: Entry }) {
  const t = useText(auditText)
  const actions = useText(actionText)
  const words = useText(uiText)
  const f = useFormat()
  const { platform } = usePerson()
  const d = e.detail
  const way = wayTo(e, platform)
  const history = historyOf(e, platform)
  const target = e.target.id ? `${e.target.type}:${e.target.id}` : e.target.type
  return (
    <Stack gap="md">
      <div>
        <Text fw={600}>{actionName(e.action, actions)}</Text>
        <Text size="sm">{actorName(e, t)}, {f.exact(e.at)}</Text>
      </div>
      <Facts
        of={[
          [t.outcome, <State key="o" tone={outcomeTones[e.outcome]}>{t.outcomes[e.outcome]}</State>],
          [t.reason, d.reason],
          [t.routerSays, d.message],
          [t.code, d.code && <Code>{d.code}</Code>],
          [t.status, d.status],
          [t.count, d.count && t.refusals(d.count)],
          [t.target, way ? <To key="t" way={way}>{targetName(e, t.targets)}</To> : targetName(e, t.targets)],
          [t.ip, e.ip],
          [t.command, <Code key="c">{e.action}</Code>],
          [t.events, d.events.length > 0 && d.events.map((name) => <Code key={name} mr={4}>{name}</Code>)],
          [t.requestId, e.requestId && <CopyText key="r" text={e.requestId} />],
          [t.correlation, <CopyText key="k" text={d.correlationId} />],
          [t.organization, platform && <Whose key="g" of={e} />],
        ].map(([name, value]) => [name as string, value || null])}
      />
      {d.path && <RouterWrite of={d} />}
      <Group gap="md" fz="sm">
        <Text span inherit c="dimmed">{t.moreOf}</Text>
        {e.actor.id && <To way={{ to: '/audit', search: { actor: e.actor.id } }}>{t.ofActor}</To>}
        <To way={{ to: '/audit', search: { target } }}>{t.ofTarget}</To>
        <To way={{ to: '/audit', search: { action: e.action } }}>{t.ofAction}</To>
        {history && <To way={history}>{words.eventHistory}</To>}
        {platform && e.orgId && <To way={{ to: '/audit', search: { orgId: e.orgId } }}>{t.ofOrganization}</To>}
      </Group>
    </Stack>
  )
}

/** RouterWrite shows what a write changed on a router, side by side. */
function RouterWrite({ of: d }: { of: Entry['detail'] }) {
  const t = useText(auditText)
  const before = d.before ?? {}
  const after = d.after ?? {}
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return (
    <Section title={t.onRouter}>
      <Facts
        of={[
          [t.operation, d.operation ? t.operations[d.operation] : null],
          [t.menu, <Code key="p">/{d.path}</Code>],
          [t.resource, d.name],
        ]}
      />
      {d.found && <Text size="sm">{t.found}</Text>}
      {fields.length > 0 && (
        <div className="rows">
          <table aria-label={t.onRouter}>
            <thead>
              <tr>
                <th scope="col" style={{ width: '28%' }}>{t.field}</th>
                <th scope="col">{t.before}</th>
                <th scope="col">{t.after}</th>
              </tr>
            </thead>
            <tbody>
              {fields.map((name) => (
                <tr key={name}>
                  <td className="whole">{name}</td>
                  <td className="whole">{before[name] ?? '–'}</td>
                  <td className="whole">{after[name] ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  )
}
