import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** channels are the ways on which messages go. */
const channels = ['sms', 'email', 'whatsapp'] as const

/** messageStates are the values of the filter state. */
const messageStates = ['queued', 'sending', 'sent', 'delivered', 'undelivered', 'in_doubt', 'failed', 'dropped'] as const

/** messageTemplates are the values of the filter template. */
const messageTemplates = [
  'reminder_before', 'reminder_due', 'reminder_overdue', 'walled_garden', 'suspended', 'restored', 'cap_warned', 'cap_throttled',
  'cap_stopped', 'outage', 'outage_over', 'support_answer', 'invoice_signed', 'invoice', 'receipt',
] as const

const messages = createRoute({
  getParentRoute: () => rootRoute,
  path: '/messages',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      channel: p.oneOf('channel', channels),
      state: p.oneOf('state', messageStates),
      subscriberId: p.text('subscriberId'),
      outageId: p.text('outageId'),
      template: p.oneOf('template', messageTemplates),
      from: p.date('from'),
      to: p.date('to'),
    })
  },
  component: page('GET /messages', () => import('./MessagesPage')),
})

const texts = createRoute({
  getParentRoute: () => rootRoute,
  path: '/message-texts',
  component: page('GET /settings/messages', () => import('./TextsPage')),
})

const text = createRoute({
  getParentRoute: () => rootRoute,
  path: '/message-texts/$message',
  component: page('GET /settings/messages', () => import('./TextPage')),
})

const costs = createRoute({
  getParentRoute: () => rootRoute,
  path: '/message-costs',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ from: p.date('from'), to: p.date('to') })
  },
  component: page('GET /reports/messages', () => import('./MessageCostsPage')),
})

export const messagingRoutes = [messages, texts, text, costs] as const
