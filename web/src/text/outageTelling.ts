import { catalogue, plural } from './catalogue'

/** outageTellingText has what the page of an outage says about telling its customers. */
export const outageTellingText = catalogue(
  {
    proposed: 'Nobody was told yet. The platform noticed it; customers hear of it when you tell them.',
    notYetTold: 'Nobody was told yet.',
    tellThem: 'Tell the customers',
    tellDoes: (n: number) =>
      `${plural('en', n, '# customer who has no service gets', '# customers who have no service get')} one message now, or after the quiet hours. Who is hit later while it lasts hears of it, too, and all of them hear once that it is over.`,
    tellDone: 'Customers are told.',
    tellNow: 'Tell its customers',
    tellNowHint: 'Each has one message now, and one when it is over.',
  },
  {
    proposed: 'Bado hakuna aliyeambiwa. Jukwaa limeigundua; wateja wataambiwa ukiwaambia.',
    notYetTold: 'Bado hakuna aliyeambiwa.',
    tellThem: 'Waambie wateja',
    tellDoes: (n) =>
      `${plural('sw', n, 'Mteja # asiye na huduma anapata', 'Wateja # wasio na huduma wanapata')} ujumbe mmoja sasa, au baada ya saa za utulivu. Atakayeathirika baadaye ikiendelea ataambiwa pia, na wote wataambiwa mara moja kwamba imeisha.`,
    tellDone: 'Wateja wanaambiwa.',
    tellNow: 'Waambie wateja wake',
    tellNowHint: 'Kila mmoja anapata ujumbe mmoja sasa, na mmoja ikiisha.',
  },
)
