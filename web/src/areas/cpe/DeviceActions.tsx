import { Button } from '@mantine/core'
import type { Operation } from '../../api/access'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { ActionMenu } from '../../ui/ActionMenu'
import { Activity, Download, KeyRound, Pencil, Power, Radio, Trash2, Undo2, User, Wifi } from '../../ui/icons'
import type { Act } from './DeviceDialogs'
import type { WholeDevice } from './words'

const needs: Record<Act, Operation> = {
  wifi: 'POST /cpe/devices/{id}/wifi', give: 'POST /cpe/devices/{id}/assign-subscriber', ping: 'POST /cpe/devices/{id}/ping',
  'speed-test': 'POST /cpe/devices/{id}/speed-test', 'upload-test': 'POST /cpe/devices/{id}/upload-test',
  parameters: 'POST /cpe/devices/{id}/parameters', onu: 'POST /cpe/devices/{id}/onu', reboot: 'POST /cpe/devices/{id}/reboot',
  'factory-reset': 'POST /cpe/devices/{id}/factory-reset', release: 'POST /cpe/devices/{id}/release',
  'sign-in-anew': 'POST /cpe/devices/{id}/sign-in-anew',
}

/** DeviceActions is what can be done with a device: the usual ones as buttons, the rest in a menu. */
export function DeviceActions({ of: d, onAct }: { of: WholeDevice; onAct: (act: Act) => void }) {
  const t = useText(devicesText)
  const may = useMay()
  const give = d.subscriberId ? t.giveOther : t.give
  const rest: { key: Act; label: string; icon: typeof Wifi; danger?: boolean }[] = [
    { key: 'give', label: give, icon: User },
    { key: 'ping', label: t.ping, icon: Activity },
    { key: 'speed-test', label: t.speedTest, icon: Download },
    { key: 'upload-test', label: t.uploadTest, icon: Download },
    { key: 'parameters', label: t.parameters, icon: Pencil },
    ...(d.takesOnu ? [{ key: 'onu' as const, label: d.onu ? t.onuAgain : t.onu, icon: Radio }] : []),
    ...(d.signIn?.required ? [{ key: 'sign-in-anew' as const, label: t.signInAnew, icon: KeyRound, danger: true }] : []),
    { key: 'factory-reset', label: t.factoryReset, icon: Undo2, danger: true },
    { key: 'release', label: t.release, icon: Trash2, danger: true },
  ]
  const allowed = rest.filter((a) => may(needs[a.key]))
  return (
    <>
      {may(needs.wifi) && <Button leftSection={<Wifi size={14} aria-hidden />} onClick={() => onAct('wifi')}>{t.wifi}</Button>}
      {may(needs.reboot) && <Button variant="default" leftSection={<Power size={14} aria-hidden />} onClick={() => onAct('reboot')}>{t.reboot}</Button>}
      {allowed.length > 0 && (
        <ActionMenu
          label={t.actions}
          button={{ size: 'lg', variant: 'default' }}
          actions={allowed.map((a) => ({ key: a.key, label: a.label, icon: <a.icon size={14} aria-hidden />, danger: a.danger, onClick: () => onAct(a.key) }))}
        />
      )}
    </>
  )
}
