import { useWrite } from '../../api/write'
import { api } from '../../api/client'
import { Confirm } from '../../ui/Confirm'
import { useFocusBack } from '../../ui/useFocusBack'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { Disconnect } from '../access/Disconnect'
import { LiftHold, PlaceHold } from '../access/Holds'
import { WriteOff } from '../billing/WriteOff'
import { AddExtra } from './AddExtra'
import { AddService } from './AddService'
import { Addresses } from './Addresses'
import { ChangePlan } from './ChangePlan'
import { Credentials, NewCredentials } from './Credentials'
import type { Doing } from './doing'
import { EditCustomer } from './EditCustomer'
import { EndService } from './EndService'
import { Forget } from './Forget'
import { NewInvoice } from './NewInvoice'
import { PersonalData } from './PersonalData'
import { PortalAccess } from './PortalAccess'
import { RemoveExtra } from './RemoveExtra'
import { TakePayment } from './TakePayment'
import { TopUp } from './TopUp'
import { type Customer, nameOf } from './words'

/** CustomerDialogs shows the dialog of what was begun. */
export function CustomerDialogs({ doing, of: c, onClose }: { doing: Doing; of: Customer; onClose: () => void }) {
  const words = useText(subscribersText)
  useFocusBack()
  switch (doing.act) {
    case 'take_payment':
      return <TakePayment of={c} onClose={onClose} />
    case 'edit':
      return <EditCustomer id={c.id} onClose={onClose} />
    case 'block':
    case 'unblock':
      return <Block act={doing.act} of={c} onClose={onClose} />
    case 'add_service':
      return <AddService id={c.id} onClose={onClose} />
    case 'invoice':
      return <NewInvoice of={c} onClose={onClose} />
    case 'write_off':
      return <WriteOff id={c.id} name={nameOf(c, words)} onClose={onClose} />
    case 'portal':
      return <PortalAccess of={c} onClose={onClose} />
    case 'personal_data':
      return <PersonalData of={c} onClose={onClose} />
    case 'forget':
      return <Forget of={c} onClose={onClose} />
    case 'disconnect':
      return <Disconnect session={doing.session} onClose={onClose} />
    default:
      return <ServiceDialogs doing={doing} of={c} onClose={onClose} />
  }
}

type OfService = Extract<Doing, { subscriptionId: string }>

/** ServiceDialogs are those about one service, with the values that it has now. */
function ServiceDialogs({ doing, of: c, onClose }: { doing: OfService; of: Customer; onClose: () => void }) {
  const { subscriptionId: id } = doing
  const service = api.useQuery('get', '/subscriptions/{id}', { params: { path: { id } } })
  const plan = service.data?.planName ?? ''
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id: c.id } } })
  const hold = access.data?.services.find((s) => s.subscriptionId === id)?.dunning?.hold
  switch (doing.act) {
    case 'credentials':
      return <Credentials id={id} plan={plan} onClose={onClose} />
    case 'new_credentials':
      return <NewCredentials id={id} plan={plan} onClose={onClose} />
    case 'top_up':
      return <TopUp id={id} plan={plan} currency={c.currency} onClose={onClose} />
    case 'place':
      return <PlaceHold of={{ subscriptionId: id, name: plan }} onClose={onClose} />
    case 'move':
      return <PlaceHold of={{ subscriptionId: id, name: plan, hold }} onClose={onClose} />
    case 'lift':
      return <LiftHold of={{ subscriptionId: id, name: plan, hold }} onClose={onClose} />
    case 'addresses':
      return <Addresses id={id} plan={plan} onClose={onClose} />
    case 'change_plan':
      return service.data ? <ChangePlan of={service.data} onClose={onClose} /> : null
    case 'extra':
      return <AddExtra id={id} plan={plan} currency={service.data?.currency ?? c.currency} onClose={onClose} />
    case 'remove_extra':
      return <RemoveExtra id={id} kind={doing.kind} of={doing.extra} onClose={onClose} />
    case 'end':
      return <EndService id={id} plan={plan} onClose={onClose} />
    default:
      return <ServiceConfirm act={doing.act} id={id} plan={plan} onClose={onClose} />
  }
}

const paths = { pause: '/subscriptions/{id}/pause', resume: '/subscriptions/{id}/resume' } as const

function ServiceConfirm({ act, id, plan, onClose }: { act: keyof typeof paths; id: string; plan: string; onClose: () => void }) {
  const t = useText(customerText)
  const write = useWrite('post', paths[act], { told: () => t.did[act], then: onClose })
  return (
    <Confirm
      title={t[act]}
      verb={t[act]}
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id } }, body: { reason } })}
      onClose={onClose}
    >
      {t.does[act](plan)}
    </Confirm>
  )
}

function Block({ act, of: c, onClose }: { act: 'block' | 'unblock'; of: Customer; onClose: () => void }) {
  const t = useText(customerText)
  const words = useText(subscribersText)
  const blocks = act === 'block'
  const write = useWrite('post', blocks ? '/subscribers/{id}/block' : '/subscribers/{id}/unblock', {
    told: () => (blocks ? t.blocked : t.unblocked),
    then: onClose,
  })
  return (
    <Confirm
      title={t[act]}
      verb={t[act]}
      danger={blocks}
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: c.id } }, body: { reason } })}
      onClose={onClose}
    >
      {(blocks ? t.blockDoes : t.unblockDoes)(nameOf(c, words))}
    </Confirm>
  )
}
