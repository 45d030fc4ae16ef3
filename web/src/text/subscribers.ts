import { catalogue } from './catalogue'

/** subscribersText has what the pages of customers, their subscriptions and plans say. */
export const subscribersText = catalogue(
  {
    name: 'Name',
    account: 'Account',
    phone: 'Phone',
    status: 'Status',
    tags: 'Tags',
    balance: 'Balance',
    since: 'Customer since',
    filter: 'Name, phone or account',
    forgotten: 'Forgotten person',
    statuses: { active: 'Active', blocked: 'Blocked', forgotten: 'Forgotten' },
    none: 'No customers yet',
    noneHint: 'A customer is a person or a house with a phone. A plan is added after that, and with it the first invoice.',
  },
  {
    name: 'Jina',
    account: 'Akaunti',
    phone: 'Simu',
    status: 'Hali',
    tags: 'Lebo',
    balance: 'Salio',
    since: 'Mteja tangu',
    filter: 'Jina, simu au akaunti',
    forgotten: 'Mtu aliyesahaulika',
    statuses: { active: 'Hai', blocked: 'Amezuiwa', forgotten: 'Amesahauliwa' },
    none: 'Hakuna wateja bado',
    noneHint: 'Mteja ni mtu au nyumba yenye simu. Kifurushi huongezwa baadaye, na pamoja nacho ankara ya kwanza.',
  },
)
