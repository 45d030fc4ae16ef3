import { useState } from 'react'
import { type Row, useRows } from '../api/rows'
import { useSending } from '../api/sending'
import { passwordFault, passwordMost, ssidFault, wifiReady } from '../areas/cpe/wifi'
import { goesOn, kindName, toneOfOperation } from '../areas/cpe/words'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalDevicesText } from '../text/portalDevices'
import { portalPagesText } from '../text/portalPages'
import { Form } from '../ui/Form'
import { State } from '../ui/State'
import { useOwn } from './accounts'
import { Button, Card, Facts, Field, Note, Page, Waiting } from './parts'

const noFilters = {}

// How often it is looked whether a device has taken a change, and how it is otherwise, in milliseconds.
const looks = 5_000
const usual = 60_000

type Device = Row<'/me/devices'>

/** Devices answers: what of the provider stands in my home, and how do I change the Wi-Fi? */
export default function Devices() {
  const t = useText(portalDevicesText)
  const { account } = useOwn()
  const list = useRows('/me/devices', noFilters, {
    every: (rows) => (rows.some((d) => d.wifiChange && goesOn(d.wifiChange)) ? looks : usual),
  })
  const own = list.rows.filter((d) => d.subscriberId === account.id)
  return (
    <Page title={t.title}>
      {list.isPending && <Waiting height={160} />}
      {!list.isPending && !list.error && own.length === 0 && <Card><p className="dim">{t.none}</p></Card>}
      {own.map((d) => <One key={d.id} of={d} />)}
      <Note of={list.error} retry={list.refetch} />
    </Page>
  )
}

/** One is one device. */
function One({ of: d }: { of: Device }) {
  const t = useText(portalDevicesText)
  const f = useFormat()
  const [changes, setChanges] = useState(false)
  const name = kindName(d) ?? t.box
  return (
    <Card title={`${name} ${d.serialNumber}`}>
      <p>
        <State tone={d.online ? 'good' : 'quiet'}>{d.online ? t.online : t.offline}</State>{' '}
        {!d.online && d.lastInform && <span className="dim">{t.lastInform(f.short(d.lastInform))}</span>}
      </p>
      <Facts of={[[t.serial, <span key="serial" className="figure">{d.serialNumber}</span>]]} />
      <p role="status">
        {d.wifiChange && <State tone={toneOfOperation(d.wifiChange)}>{t.wifi[d.wifiChange.state](f.short(d.wifiChange.endedAt ?? d.wifiChange.at))}</State>}
      </p>
      {changes
        ? (
          <Wifi id={d.id} onClose={() => setChanges(false)} />
        )
        : <Button aria-label={t.changeOf(`${name} ${d.serialNumber}`)} onClick={() => setChanges(true)}>{t.change}</Button>}
    </Card>
  )
}

/** Wifi changes name and password of a device's networks. */
function Wifi({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useText(portalDevicesText)
  const pages = useText(portalPagesText)
  const [ssid, setSsid] = useState('')
  const [password, setPassword] = useState('')
  const write = useSending('post', '/me/devices/{id}/wifi', { then: onClose })
  const name = ssidFault(ssid)
  const key = passwordFault(password)
  const ready = wifiReady(ssid, password)
  return (
    <Form busy={write.isPending} onSubmit={() => ready && write.mutate({ params: { path: { id } }, body: { ssid: ssid.trim(), password } })}>
      <p className="dim">{t.does}</p>
      <Field label={t.ssid} hint={t.ssidHint} fault={name ? t[name] : write.error?.of('ssid')} value={ssid} onType={setSsid} required maxLength={64} autoComplete="off" autoFocus />
      <Field label={t.password} hint={t.passwordHint} fault={key ? t[key] : write.error?.of('password')} value={password} onType={setPassword} required maxLength={passwordMost} autoComplete="off" />
      <Note of={write.error} />
      <Button type="submit" look="main" busy={write.isPending} disabled={!ready}>{t.save}</Button>{' '}
      <Button look="quiet" onClick={onClose}>{pages.close}</Button>
    </Form>
  )
}
