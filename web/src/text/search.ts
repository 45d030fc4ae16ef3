import { catalogue, plural } from './catalogue'

/** searchText has what the search says. */
export const searchText = catalogue(
  {
    platformHint: 'Organization, or the number of a receipt',
    results: 'Found',
    lastOpened: 'Opened last',
    searchFailed: (why: string, again: boolean) => `The search failed. ${why}${again ? ' It is tried again by itself.' : ''}`,
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
      cpe: 'Device at a customer’s',
    },
  },
  {
    platformHint: 'Shirika, au namba ya risiti',
    results: 'Zilizopatikana',
    lastOpened: 'Zilizofunguliwa karibuni',
    searchFailed: (why, again) => `Utafutaji umeshindikana. ${why}${again ? ' Utajaribiwa tena wenyewe.' : ''}`,
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
      cpe: 'Kifaa kwa mteja',
    },
  },
)
