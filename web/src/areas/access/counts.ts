import { api } from '../../api/client'
import { useMay } from '../../app/person'

/** useCounts gives how many subscriptions are at each step of dunning, and how many differences there are of a kind. */
export function useCounts(): { dunning: Record<string, number>; differences: Record<string, number> } {
  const may = useMay()
  const { data } = api.useQuery('get', '/reports/today', {}, { enabled: may('GET /reports/today') })
  if (!data) return { dunning: {}, differences: {} }
  const { reminding, walledGarden, suspended, writtenOff } = data.subscriptions
  return {
    dunning: { reminding, walled_garden: walledGarden, suspended, written_off: writtenOff },
    differences: Object.fromEntries(data.differences.byKind.map((k) => [k.kind, k.count])),
  }
}
