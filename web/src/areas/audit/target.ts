import type { Way } from '../../ui/To'
import { isolated } from '../../text/isolated'

interface Targeted {
  target: { type: string; id: string | null; name: string | null }
}

// The pages that show what was acted on.
const pages: Record<string, (id: string) => Way> = {
  subscriber: (id) => ({ to: `/customers/${id}` }),
  account: (id) => ({ to: `/customers/${id}` }),
  invoice: (id) => ({ to: `/invoices/${id}` }),
  receipt: (id) => ({ to: `/receipts/${id}` }),
  payment: (id) => ({ to: `/payments/${id}` }),
  device: (id) => ({ to: `/routers/${id}` }),
  user: (id) => ({ to: `/staff/${id}` }),
  supportrequest: (id) => ({ to: `/support/${id}` }),
  outage: (id) => ({ to: `/outages/${id}` }),
  compensation: (id) => ({ to: `/compensations/${id}` }),
  plan_move: (id) => ({ to: `/batches/${id}` }),
  plan: (id) => ({ to: `/plans/${id}` }),
  approval: (id) => ({ to: `/approvals/${id}` }),
}

const platformPages: Record<string, (id: string) => Way> = { organization: (id) => ({ to: `/orgs/${id}` }) }

/** wayTo leads to the page of what was acted on; null = it has none here. */
export function wayTo({ target }: Targeted, platform: boolean): Way | null {
  const page = (platform ? platformPages : pages)[target.type]
  return page && target.id ? page(target.id) : null
}

// What has events of its own that everybody who reads the log may read, on each kind of host.
const historied = [
  'subscriber', 'account', 'subscription', 'receipt', 'refund', 'payment', 'plan', 'device', 'cpe', 'cpeoperation', 'cpefirmware', 'cpecampaign', 'nasservice', 'addressing',
  'organization', 'dunning', 'accessdifference', 'voucher', 'voucherbatch', 'message', 'usage', 'supportrequest',
]
const platformHistoried = ['user', 'session', 'organization']

/** historyOf leads to the events of what was acted on; null = nobody reads them here. */
export function historyOf({ target }: Targeted, platform: boolean): Way | null {
  const has = (platform ? platformHistoried : historied).includes(target.type)
  return has && target.id ? { to: `/history/${target.type}/${target.id}` } : null
}

/** targetName says what was acted on: its kind, and its name or else the beginning of its id. */
export function targetName({ target }: Targeted, names: Record<string, string>): string {
  const kind = names[target.type] ?? target.type
  if (target.name) return `${kind} ${isolated(target.name)}`
  return target.id ? `${kind} ${target.id.slice(0, 8)}` : kind
}
