import { Checkbox, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'
import { OnuDialog } from './OnuDialog'
import { noOwner, type Owner } from './owner'
import { OwnerFields } from './OwnerFields'
import { ParametersDialog } from './ParametersDialog'
import { WifiDialog } from './WifiDialog'
import type { WholeDevice } from './words'

/** Act is what can be done with a device. */
export type Act = 'wifi' | 'give' | 'ping' | 'speed-test' | 'upload-test' | 'parameters' | 'onu' | 'reboot' | 'factory-reset' | 'sign-in-anew' | 'release'

/** DeviceDialogs shows the dialog of what was begun. */
export function DeviceDialogs({ act, of: d, onClose }: { act: Act; of: WholeDevice; onClose: () => void }) {
  switch (act) {
    case 'wifi':
      return <WifiDialog id={d.id} onClose={onClose} />
    case 'parameters':
      return <ParametersDialog id={d.id} onClose={onClose} />
    case 'onu':
      return <OnuDialog id={d.id} last={d.onu} onClose={onClose} />
    case 'give':
      return <Give of={d} onClose={onClose} />
    case 'ping':
      return <Ping of={d} onClose={onClose} />
    case 'speed-test':
    case 'upload-test':
      return <Transfer act={act} of={d} onClose={onClose} />
    case 'sign-in-anew':
      return <SignInAnew of={d} onClose={onClose} />
    case 'release':
      return <Release of={d} onClose={onClose} />
    default:
      return <Interrupt act={act} of={d} onClose={onClose} />
  }
}

interface Props {
  of: WholeDevice
  onClose: () => void
}

function Give({ of: d, onClose }: Props) {
  const t = useText(devicesText)
  const [owner, setOwner] = useState<Owner>(noOwner)
  const [now, setNow] = useState(true)
  const write = useWrite('post', '/cpe/devices/{id}/assign-subscriber', { told: () => t.given, then: onClose })
  return (
    <FormDialog
      title={d.subscriberId ? t.giveOther : t.give}
      hint={t.giveHint}
      verb={t.give}
      ready={owner.customer !== null && owner.subscriptionId !== undefined}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => owner.customer && write.mutate({
        params: { path: { id: d.id } },
        body: { subscriberId: owner.customer.id, subscriptionId: owner.subscriptionId ?? undefined, pushNow: now },
      })}
      onClose={onClose}
    >
      <OwnerFields of={owner} onChange={setOwner} />
      <Checkbox label={t.giveNow} checked={now} onChange={(e) => setNow(e.currentTarget.checked)} />
    </FormDialog>
  )
}

function Ping({ of: d, onClose }: Props) {
  const t = useText(devicesText)
  const [host, setHost] = useState('')
  const write = useWrite('post', '/cpe/devices/{id}/ping', { told: () => t.asked, then: onClose })
  return (
    <FormDialog
      title={t.ping}
      hint={t.pingHint}
      verb={t.begin}
      ready={host.trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { id: d.id } }, body: { host: host.trim() } })}
      onClose={onClose}
    >
      <TextInput label={t.host} value={host} onChange={(e) => setHost(e.currentTarget.value)} error={write.error?.of('host')} maxLength={253} autoComplete="off" spellCheck={false} data-autofocus />
    </FormDialog>
  )
}

/** Transfer has a device load or send a file. */
function Transfer({ act, of: d, onClose }: Props & { act: 'speed-test' | 'upload-test' }) {
  const t = useText(devicesText)
  const [url, setUrl] = useState('')
  const done = { told: () => t.asked, then: onClose }
  const load = useWrite('post', '/cpe/devices/{id}/speed-test', done)
  const send = useWrite('post', '/cpe/devices/{id}/upload-test', done)
  const loads = act === 'speed-test'
  const write = loads ? load : send
  const params = { path: { id: d.id } }
  const address = url.trim()
  return (
    <FormDialog
      title={loads ? t.speedTest : t.uploadTest}
      hint={loads ? t.speedHint : t.uploadHint}
      verb={t.begin}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => (loads ? load.mutate({ params, body: address ? { downloadUrl: address } : {} }) : send.mutate({ params, body: address ? { uploadUrl: address } : {} }))}
      onClose={onClose}
    >
      <TextInput
        label={loads ? t.downloadUrl : t.uploadUrl} description={loads ? t.downloadHint : t.uploadUrlHint} value={url}
        onChange={(e) => setUrl(e.currentTarget.value)} error={write.error?.of(loads ? 'downloadUrl' : 'uploadUrl')}
        maxLength={500} autoComplete="off" spellCheck={false} inputMode="url" data-autofocus
      />
    </FormDialog>
  )
}

/** Interrupt asks before what takes the customer offline; factory settings want the serial number typed. */
function Interrupt({ act, of: d, onClose }: Props & { act: 'reboot' | 'factory-reset' }) {
  const t = useText(devicesText)
  const done = { told: () => t.asked, then: onClose }
  const reboot = useWrite('post', '/cpe/devices/{id}/reboot', done)
  const reset = useWrite('post', '/cpe/devices/{id}/factory-reset', done)
  const restarts = act === 'reboot'
  const write = restarts ? reboot : reset
  return (
    <Confirm
      title={restarts ? t.rebootTitle(d.serialNumber) : t.resetTitle(d.serialNumber)}
      verb={restarts ? t.reboot : t.factoryReset}
      danger
      typed={restarts ? undefined : d.serialNumber}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: d.id } } })}
      onClose={onClose}
    >
      {restarts ? t.rebootDoes : t.resetDoes}
    </Confirm>
  )
}

/** SignInAnew says what it risks to let a device in that does not show its password. */
function SignInAnew({ of: d, onClose }: Props) {
  const t = useText(devicesText)
  const write = useWrite('post', '/cpe/devices/{id}/sign-in-anew', { told: () => t.signsInAnew, then: onClose })
  return (
    <Confirm
      title={t.signInAnewTitle(d.serialNumber)}
      verb={t.signInAnew}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: d.id } }, body: { reason } })}
      onClose={onClose}
    >
      {t.signInAnewDoes}
    </Confirm>
  )
}

function Release({ of: d, onClose }: Props) {
  const t = useText(devicesText)
  const navigate = useNavigate()
  const write = useWrite('post', '/cpe/devices/{id}/release', {
    told: () => t.released,
    then: () => void navigate({ to: '/devices', replace: true }),
  })
  return (
    <Confirm
      title={t.releaseTitle(d.serialNumber)}
      verb={t.release}
      danger
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: d.id } } })}
      onClose={onClose}
    >
      {t.releaseDoes}
    </Confirm>
  )
}
