import type { Operation } from '../../api/access'
import type { homeText } from '../../text/home'
import type { Fault } from './today'

type Texts = Pick<(typeof homeText)['en'], 'help' | 'helpAsked'>

// The call without which somebody cannot do what helps.
const ableTo: Partial<Record<Fault['kind'], Operation>> = {
  router_down: 'GET /nas/devices/{id}', provider_down: 'POST /payments/cash', gateway_unregistered: 'GET /settings/payment-gateway',
  service_failed: 'GET /nas/services/{id}', service_degraded: 'GET /nas/services/{id}', router_drifted: 'GET /nas/devices/{id}',
}

/** helpWordsOf says what helps against a fault; who may not do it is told whom to ask. */
export function helpWordsOf(kind: Fault['kind'], t: Texts, may: (operation: Operation) => boolean): string | undefined {
  const needs = ableTo[kind]
  return (needs && !may(needs) && t.helpAsked[kind]) || t.help[kind]
}
