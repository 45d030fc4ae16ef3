import { createContext, use } from 'react'
import type { HoldAct } from '../access/holdActs'
import type { ExtraKind } from './extraKinds'

/** ServiceAct is what can be done with one service. */
export type ServiceAct = HoldAct | 'pause' | 'resume' | 'change_plan' | 'end' | 'credentials' | 'new_credentials' | 'top_up' | 'addresses' | 'extra'

/** Doing is what somebody has begun on a customer's page: one dialog at a time. */
export type Doing =
  | { act: 'take_payment' | 'edit' | 'block' | 'unblock' | 'add_service' | 'invoice' | 'write_off' | 'portal' | 'personal_data' | 'forget' }
  | { act: ServiceAct; subscriptionId: string }
  | { act: 'remove_extra'; subscriptionId: string; kind: ExtraKind; extra: { id: string; description: string } }
  | { act: 'disconnect'; session: { id: string; username: string } }

export const DoContext = createContext<(doing: Doing) => void>(() => undefined)

/** useDo gives the function that opens the dialog for something. */
export const useDo = () => use(DoContext)
