import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** paymentStatuses are the values of the filter status. */
const paymentStatuses = ['PENDING', 'SUCCESS', 'CANCELLED', 'FAILED'] as const

/** receiptStates are the values of the filter state. */
const receiptStates = [
  'recorded', 'matched', 'allocated', 'attributed', 'suspense', 'absorbed', 'reversed', 'refunded',
] as const

/** receiptChannels are the values of the filter channel. */
export const receiptChannels = ['stk', 'c2b', 'cash', 'bill_manager'] as const

const payments = createRoute({
  getParentRoute: () => rootRoute,
  path: '/payments',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      status: p.oneOf('status', paymentStatuses),
      subscriberId: p.text('subscriberId'),
      from: p.text('from'),
      to: p.text('to'),
    })
  },
  component: page('GET /receipts', () => import('./PaymentsPage')),
})

const payment = createRoute({
  getParentRoute: () => rootRoute,
  path: '/payments/$id',
  component: page('GET /receipts', () => import('./PaymentPage')),
})

const receipts = createRoute({
  getParentRoute: () => rootRoute,
  path: '/receipts',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      state: p.oneOf('state', receiptStates),
      receiptNumber: p.text('receiptNumber'),
      unclaimed: p.flag('unclaimed') || undefined,
      channel: p.oneOf('channel', receiptChannels),
      takenBy: p.text('takenBy'),
      subscriberId: p.text('subscriberId'),
      from: p.text('from'),
      to: p.text('to'),
    })
  },
  component: page('GET /receipts', () => import('./ReceiptsPage')),
})

const receipt = createRoute({
  getParentRoute: () => rootRoute,
  path: '/receipts/$id',
  component: page('GET /receipts/{id}', () => import('./ReceiptPage')),
})

const proof = createRoute({
  getParentRoute: () => rootRoute,
  path: '/receipts/$id/proof',
  component: page('GET /receipts/{id}/proof', () => import('./ProofPage')),
})

/** refundStates are the values of the filter state of refunds. */
const refundStates = ['requested', 'approved', 'submitted', 'in_doubt', 'completed', 'failed'] as const

const refunds = createRoute({
  getParentRoute: () => rootRoute,
  path: '/refunds',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      state: p.oneOf('state', refundStates),
      open: p.flag('open') || undefined,
      subscriberId: p.text('subscriberId'),
      receiptId: p.text('receiptId'),
    })
  },
  component: page('GET /refunds', () => import('./RefundsPage')),
})

const suspense = createRoute({
  getParentRoute: () => rootRoute,
  path: '/suspense',
  validateSearch: (raw) => given({ receipt: new Params(raw).text('receipt') }),
  component: page('GET /receipts', () => import('./SuspensePage')),
})

const reconciliations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reconciliations',
  component: page('GET /reconciliations', () => import('./ReconciliationsPage')),
})

const reconciliation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reconciliations/$id',
  component: page('GET /reconciliations/{id}', () => import('./ReconciliationPage')),
})

const bills = createRoute({
  getParentRoute: () => rootRoute,
  path: '/bills',
  component: page('GET /bill-manager/invoices', () => import('./BillsPage')),
})

const failedCallbacks = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failed-callbacks',
  validateSearch: (raw) => given({ verified: new Params(raw).flag('verified') }),
  component: page('GET /failed-callbacks', () => import('./FailedCallbacksPage')),
})

export const paymentsRoutes = [
  payments, bills, payment, receipts, receipt, proof, refunds, suspense, reconciliations, reconciliation,
  failedCallbacks,
] as const
