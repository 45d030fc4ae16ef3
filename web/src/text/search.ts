import { catalogue, plural } from './catalogue'

/** searchText has what the search says. */
export const searchText = catalogue(
  {
    platformHint: 'Organization, or the number of a receipt',
    results: 'Found',
    lastOpened: 'Opened last',
    found: (n: number) => (n === 0 ? 'Nothing found' : plural('en', n, '# result', '# results')),
    types: {
      organization: 'Organization',
      subscriber: 'Customer',
      subscription: 'Subscription',
      session: 'Session',
      voucher: 'Voucher',
      invoice: 'Invoice',
      receipt: 'Receipt',
      device: 'Router',
    },
  },
  {
    platformHint: 'Shirika, au namba ya risiti',
    results: 'Zilizopatikana',
    lastOpened: 'Zilizofunguliwa karibuni',
    found: (n) => (n === 0 ? 'Hakuna kilichopatikana' : plural('sw', n, 'tokeo #', 'matokeo #')),
    types: {
      organization: 'Shirika',
      subscriber: 'Mteja',
      subscription: 'Usajili',
      session: 'Kikao',
      voucher: 'Vocha',
      invoice: 'Ankara',
      receipt: 'Risiti',
      device: 'Ruta',
    },
  },
)
