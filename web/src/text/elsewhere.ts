import { catalogue } from './catalogue'

/** elsewhereText has what is said of a page that this kind of host does not have. */
export const elsewhereText = catalogue(
  {
    atOrganization: 'This page is on the address of an organization',
    atOrganizationHint: 'Customers, money and routers are shown where they belong. Choose the organization, and open its address.',
    receiptHint: 'A receipt is shown on the address of the organization that has the money. What belongs to none yet waits in Suspense.',
    atPlatform: 'This page is on the address of the platform',
    atPlatformHint: 'Whoever runs the platform opens it there.',
  },
  {
    atOrganization: 'Ukurasa huu uko kwenye anwani ya shirika',
    atOrganizationHint: 'Wateja, pesa na ruta huonyeshwa kwenye shirika lao. Chagua shirika, kisha fungua anwani yake.',
    receiptHint: 'Risiti huonyeshwa kwenye anwani ya shirika lenye pesa hizo. Zisizo za shirika lolote bado zinasubiri kwenye malipo yasiyotambulika.',
    atPlatform: 'Ukurasa huu uko kwenye anwani ya jukwaa',
    atPlatformHint: 'Anayeendesha jukwaa huufungua huko.',
  },
)
