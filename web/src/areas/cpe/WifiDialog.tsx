import { Checkbox, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { FormDialog } from '../../ui/FormDialog'
import { chosenNetworks, passwordFault, passwordMost, ssidFault, wifiReady } from './wifi'

/** WifiDialog changes name and password of the Wi-Fi. The password is seen while it is typed: somebody reads it out. */
export function WifiDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useText(devicesText)
  const [ssid, setSsid] = useState('')
  const [password, setPassword] = useState('')
  const [picked, setPicked] = useState<string[] | null>(null)
  const read = api.useQuery('get', '/cpe/devices/{id}/wifi', { params: { path: { id } } }, { retry: false })
  const networks = read.data?.networks ?? []
  const chosen = picked ?? networks.filter((n) => n.kind === 'main').map((n) => n.path)
  const write = useWrite('post', '/cpe/devices/{id}/wifi', { told: () => t.asked, then: onClose })
  const name = ssidFault(ssid)
  const key = passwordFault(password)
  return (
    <FormDialog
      title={t.wifi}
      hint={t.wifiHint}
      verb={t.wifi}
      ready={wifiReady(ssid, password) && (networks.length === 0 || chosen.length > 0)}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { id } }, body: { ssid: ssid.trim(), password, networks: chosenNetworks(networks, chosen) } })}
      onClose={onClose}
    >
      <TextInput
        label={t.ssid} description={t.ssidHint} value={ssid} onChange={(e) => setSsid(e.currentTarget.value)}
        error={name ? t[name] : write.error?.of('ssid')} maxLength={64} autoComplete="off" spellCheck={false} data-autofocus
      />
      <TextInput
        label={t.password} description={t.passwordHint} value={password} onChange={(e) => setPassword(e.currentTarget.value)}
        error={key ? t[key] : write.error?.of('password')} maxLength={passwordMost} autoComplete="off" spellCheck={false}
      />
      {networks.length > 0 && (
        <Checkbox.Group label={t.networks} value={chosen} onChange={setPicked} error={write.error?.of('networks')}>
          <Stack gap={4} mt={4}>
            {networks.map((n) => (
              <Checkbox
                key={n.path} value={n.path}
                label={t.networkName(n.name, n.enabled ? t.networkKinds[n.kind] : `${t.networkKinds[n.kind]}, ${t.networkOff}`)}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </FormDialog>
  )
}
