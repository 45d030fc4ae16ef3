import type { Row } from '../api/rows'
import { catalogue, plural } from './catalogue'

type Entry = Row<'/nas/devices/{id}/history'>
type Kind = Entry['kind']
type Facts = Entry['facts']

const en: Record<Kind, string> = {
  requested: 'Service asked for',
  changed: 'Service changed',
  recreation_confirmed: 'Making anew confirmed',
  torn_down: 'Old parts removed from the router',
  reconcile_requested: 'Repair asked for',
  repaired: 'Difference repaired',
  applied: 'The router is as it should be',
  failed: 'The router refused',
  drift_detected: 'A difference was found',
  drift_cleared: 'The difference went away',
  removal_requested: 'Removal asked for',
  removed: 'Service removed',
  subnet_left: 'Former addresses are held',
  subnets_kept: 'Former addresses are still in use',
  subnets_retired: 'Former addresses are gone',
  written: 'Written to the router',
  write_refused: 'The router refused a write',
  reconcile_finished: 'Repair ended',
  setup_applied: 'The setup is as it should be',
  setup_drift_detected: 'The setup differs',
  setup_drift_cleared: 'The setup no longer differs',
  drift_unchecked: 'It could not be compared',
  drift_checked: 'It is compared again',
  unreachable: 'It stopped answering',
  recovered: 'It answers again',
  bootstrap_reported: 'The script ran',
  secrets_rotated: 'New secrets: it needs the script',
  credentials_replaced: 'Another login is in use',
  bootstrap_shown: 'The script was shown',
  customers_read: 'Its own users were read, with their passwords',
  reboot_requested: 'Reboot asked for',
  reboot_confirmed: 'Rebooted',
  reboot_failed: 'The reboot failed',
}

const sw: Record<Kind, string> = {
  requested: 'Huduma iliombwa',
  changed: 'Huduma ilibadilishwa',
  recreation_confirmed: 'Kutengenezwa upya kulithibitishwa',
  torn_down: 'Sehemu za zamani ziliondolewa kwenye ruta',
  reconcile_requested: 'Urekebishaji uliombwa',
  repaired: 'Tofauti ilirekebishwa',
  applied: 'Ruta iko inavyotakiwa',
  failed: 'Ruta ilikataa',
  drift_detected: 'Tofauti ilipatikana',
  drift_cleared: 'Tofauti iliondoka yenyewe',
  removal_requested: 'Kuondolewa kuliombwa',
  removed: 'Huduma iliondolewa',
  subnet_left: 'Anwani za zamani zinahifadhiwa',
  subnets_kept: 'Anwani za zamani bado zinatumika',
  subnets_retired: 'Anwani za zamani zimeondolewa',
  written: 'Iliandikwa kwenye ruta',
  write_refused: 'Ruta ilikataa kuandikiwa',
  reconcile_finished: 'Urekebishaji uliisha',
  setup_applied: 'Mipangilio iko inavyotakiwa',
  setup_drift_detected: 'Mipangilio inatofautiana',
  setup_drift_cleared: 'Mipangilio haitofautiani tena',
  drift_unchecked: 'Haikuweza kulinganishwa',
  drift_checked: 'Inalinganishwa tena',
  unreachable: 'Iliacha kujibu',
  recovered: 'Inajibu tena',
  bootstrap_reported: 'Hati iliendeshwa',
  secrets_rotated: 'Siri mpya: inahitaji hati',
  credentials_replaced: 'Kuingia kwingine kunatumika',
  bootstrap_shown: 'Hati ilionyeshwa',
  customers_read: 'Watumiaji wake walisomwa, pamoja na nywila zao',
  reboot_requested: 'Kuwashwa upya kuliombwa',
  reboot_confirmed: 'Imewashwa upya',
  reboot_failed: 'Kuwashwa upya kulishindikana',
}

/** Told is what the details of an entry are about; texts are empty and counts 0 where it has none. */
interface Told {
  /** place is where a service is: "PPPoE on ether4, VLAN 20". */
  place: string
  subnet: string
  domains: number
  addresses: number
  sessions: number
  resources: number
  /** row is the row of the router that was written: "/ip/pool/pool-svc-1". */
  row: string
  /** said is the router's own text behind a colon. */
  said: string
  message: string
  outcome: string
  writes: number
  script: number
  credential: string
  abandoned: boolean
}

interface Details {
  types: Record<NonNullable<Facts['service']>, string>
  place: (type: string, of: string, vlan: number) => string
  operations: Record<string, string>
  outcomes: Record<string, string>
  credentials: Record<NonNullable<Facts['credential']>, string>
  says: Record<Kind, (s: Told) => string>
}

const nothing = () => ''

// What says all by its title, in every language.
const quiet = {
  torn_down: nothing, reconcile_requested: nothing, repaired: nothing, applied: nothing, drift_cleared: nothing,
  subnets_kept: nothing, subnets_retired: nothing, setup_applied: nothing, setup_drift_cleared: nothing,
  drift_checked: nothing, recovered: nothing, secrets_rotated: nothing, bootstrap_shown: nothing, customers_read: nothing,
  reboot_requested: nothing, reboot_confirmed: nothing,
}

const enDetails: Details = {
  types: { pppoe: 'PPPoE', hotspot: 'Hotspot', 'cpe-management': 'Management of CPEs' },
  place: (type, of, vlan) => `${type && `${type} on `}${vlan ? `VLAN ${vlan} of ` : ''}${of}`,
  operations: { add: 'added', set: 'changed', remove: 'removed', move: 'moved', read: 'reading', connect: 'connecting' },
  outcomes: { done: 'done', refused: 'the router refused', unreachable: 'the router did not answer', unstable: 'the router kept changing' },
  credentials: { api: 'of the API', radius: 'of RADIUS', tunnel: 'of the tunnel', report: 'of the script' },
  says: {
    ...quiet,
    requested: (s) => s.place,
    changed: (s) => (s.subnet ? `addresses ${s.subnet}`
      : `payment page: ${plural('en', s.domains, '# domain', '# domains')}, ${plural('en', s.addresses, '# address', '# addresses')}`),
    recreation_confirmed: (s) => `${s.place}, ${plural('en', s.sessions, '# session', '# sessions')} affected`,
    failed: (s) => `${s.row}${s.said}`,
    drift_detected: (s) => plural('en', s.resources, '# place differs', '# places differ'),
    removal_requested: (s) => `${plural('en', s.sessions, '# session', '# sessions')} affected`,
    removed: (s) => (s.abandoned ? 'without reaching the router: what is left there stays there' : ''),
    subnet_left: (s) => `${s.subnet}, until no device has an address of it`,
    written: (s) => s.row,
    write_refused: (s) => `${s.row}${s.said}`,
    reconcile_finished: (s) => `${s.outcome}, ${plural('en', s.writes, '# write', '# writes')}${s.said}`,
    setup_drift_detected: (s) => plural('en', s.resources, 'in # place', 'in # places'),
    drift_unchecked: (s) => s.message,
    unreachable: (s) => s.message,
    bootstrap_reported: (s) => (s.script ? `version ${s.script}` : ''),
    credentials_replaced: (s) => s.credential,
    reboot_failed: (s) => s.message,
  },
}

const swDetails: Details = {
  types: { pppoe: 'PPPoE', hotspot: 'Hotspot', 'cpe-management': 'Usimamizi wa CPE' },
  place: (type, of, vlan) => `${type && `${type} kwenye `}${vlan ? `VLAN ${vlan} ya ` : ''}${of}`,
  operations: { add: 'iliongezwa', set: 'ilibadilishwa', remove: 'iliondolewa', move: 'ilihamishwa', read: 'kusoma', connect: 'kuunganisha' },
  outcomes: { done: 'imefanyika', refused: 'ruta ilikataa', unreachable: 'ruta haikujibu', unstable: 'ruta iliendelea kubadilika' },
  credentials: { api: 'kwa API', radius: 'kwa RADIUS', tunnel: 'kwa handaki', report: 'kwa hati' },
  says: {
    ...quiet,
    requested: (s) => s.place,
    changed: (s) => (s.subnet ? `anwani ${s.subnet}`
      : `ukurasa wa malipo: ${plural('sw', s.domains, 'kikoa #', 'vikoa #')}, ${plural('sw', s.addresses, 'anwani #', 'anwani #')}`),
    recreation_confirmed: (s) => `${s.place}, ${plural('sw', s.sessions, 'kikao # kinaathirika', 'vikao # vinaathirika')}`,
    failed: (s) => `${s.row}${s.said}`,
    drift_detected: (s) => plural('sw', s.resources, 'sehemu # inatofautiana', 'sehemu # zinatofautiana'),
    removal_requested: (s) => plural('sw', s.sessions, 'kikao # kinaathirika', 'vikao # vinaathirika'),
    removed: (s) => (s.abandoned ? 'bila kufikia ruta: kilichobaki huko kinabaki huko' : ''),
    subnet_left: (s) => `${s.subnet}, hadi kusiwe na kifaa chenye anwani yake`,
    written: (s) => s.row,
    write_refused: (s) => `${s.row}${s.said}`,
    reconcile_finished: (s) => `${s.outcome}, ${plural('sw', s.writes, 'maandishi #', 'maandishi #')}${s.said}`,
    setup_drift_detected: (s) => plural('sw', s.resources, 'sehemu #', 'sehemu #'),
    drift_unchecked: (s) => s.message,
    unreachable: (s) => s.message,
    bootstrap_reported: (s) => (s.script ? `toleo la ${s.script}` : ''),
    credentials_replaced: (s) => s.credential,
    reboot_failed: (s) => s.message,
  },
}

/** historiesText says what happened to a router or a service, and the details beside it. A kind without words stops the build. */
export const historiesText = catalogue({ kinds: en, details: enDetails }, { kinds: sw, details: swDetails })

/** historyOf says what an entry tells: its title, and the details, which may be empty. */
export function historyOf(e: Pick<Entry, 'kind' | 'facts' | 'summary'>, t: (typeof historiesText)['en']): [title: string, details: string] {
  const title = (t.kinds as Partial<typeof t.kinds>)[e.kind]
  return title === undefined ? [e.kind.replaceAll('_', ' '), e.summary] : [title, t.details.says[e.kind](toldOf(e.facts, t.details))]
}

function toldOf(v: Facts, t: Details): Told {
  const menu = [v.path, v.name].filter(Boolean).join(' ')
  return {
    place: t.place(v.service ? t.types[v.service] : '', v.interface ?? '', v.vlan ?? 0),
    subnet: v.subnet ?? '',
    domains: v.domains ?? 0,
    addresses: v.addresses ?? 0,
    sessions: v.sessions ?? 0,
    resources: v.resources ?? 0,
    row: [menu, v.operation && (t.operations[v.operation] ?? v.operation)].filter(Boolean).join(', '),
    said: v.message ? `: “${v.message}”` : '',
    message: v.message ? `“${v.message}”` : '',
    outcome: v.outcome ? (t.outcomes[v.outcome] ?? v.outcome) : '',
    writes: v.writes ?? 0,
    script: v.script ?? 0,
    credential: v.credential ? t.credentials[v.credential] : '',
    abandoned: v.abandoned ?? false,
  }
}
