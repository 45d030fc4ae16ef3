import { useCallback } from 'react'
import type { Shape } from '../api/types'
import { catalogue, useText } from './catalogue'

type Option = Shape<'InterfaceOption'>

interface Words {
  /** reserved says why no service may use an interface, behind a colon. */
  reserved: Record<NonNullable<Option['reasonCode']>, (of: string) => string>
  /** warns says why a service on it would not work now. */
  warns: Record<NonNullable<Option['warningCode']>, (of: string) => string>
}

const en: Words = {
  reserved: {
    always: () => 'always kept free',
    bridge_member: (of) => `part of ${of}`,
    dhcp_client: () => 'gets its address by DHCP',
    default_route: () => 'the way to the internet goes through it',
    list_member: (of) => `in the interface list ${of}`,
    client: (of) => `dials out by ${of}`,
    service_bridge: () => 'bridge of a service',
    bond_port: (of) => `port of the bond ${of}`,
    uplink_carrier: (of) => `carries the uplink ${of}`,
    other_port: () => 'port of another interface',
  },
  warns: {
    disabled: () => 'is switched off',
    port: () => 'is a port of another interface',
    carrier_disabled: (of) => `is carried by ${of}, which is switched off`,
    inactive: () => 'is inactive',
    no_link: () => 'has no link',
    foreign_dhcp_server: (of) => `in use: has a DHCP server of yours (${of})`,
    foreign_dhcp_relay: (of) => `in use: has a DHCP relay of yours (${of})`,
    foreign_hotspot: (of) => `in use: has a hotspot of yours (${of})`,
    foreign_pppoe_server: (of) => `in use: has a PPPoE server of yours (${of})`,
  },
}

const sw: Words = {
  reserved: {
    always: () => 'huachwa wazi daima',
    bridge_member: (of) => `sehemu ya ${of}`,
    dhcp_client: () => 'hupata anwani yake kwa DHCP',
    default_route: () => 'njia ya kwenda mtandaoni hupitia hapa',
    list_member: (of) => `kimo kwenye orodha ${of}`,
    client: (of) => `huunganisha nje kwa ${of}`,
    service_bridge: () => 'daraja la huduma',
    bond_port: (of) => `mlango wa bond ${of}`,
    uplink_carrier: (of) => `hubeba njia ya juu ${of}`,
    other_port: () => 'mlango wa kiolesura kingine',
  },
  warns: {
    disabled: () => 'kimezimwa',
    port: () => 'ni mlango wa kiolesura kingine',
    carrier_disabled: (of) => `hubebwa na ${of}, ambayo imezimwa`,
    inactive: () => 'hakifanyi kazi',
    no_link: () => 'hakina kiungo',
    foreign_dhcp_server: (of) => `kinatumika: kina seva yako ya DHCP (${of})`,
    foreign_dhcp_relay: (of) => `kinatumika: kina relay yako ya DHCP (${of})`,
    foreign_hotspot: (of) => `kinatumika: kina hotspot yako (${of})`,
    foreign_pppoe_server: (of) => `kinatumika: kina seva yako ya PPPoE (${of})`,
  },
}

/** obstaclesText says what keeps a service from an interface. A code without words stops the build. */
const obstaclesText = catalogue(en, sw)

/** useObstacles gives what says, in the person's language, why an interface is reserved, and why a service on it would not work. */
export function useObstacles(): { reserved: (o: Option) => string; warns: (o: Option) => string } {
  const words = useText(obstaclesText)
  const say = (all: Partial<Record<string, (of: string) => string>>, code: string | null, of: string | null, api: string | null) =>
    (code !== null && all[code]?.(of ?? '')) || (api ?? '')
  return {
    reserved: useCallback((o) => say(words.reserved, o.reasonCode, o.reasonOf, o.reason), [words]),
    warns: useCallback((o) => say(words.warns, o.warningCode, o.warningOf, o.warning), [words]),
  }
}
