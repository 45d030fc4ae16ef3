import { catalogue } from './catalogue'

/** portalText has what the dialog says in which staff let an address see a customer in the portal. */
export const portalText = catalogue(
  {
    action: 'Portal access',
    title: (name: string) => `Who sees ${name} in the portal`,
    hint: 'Whoever reads the codes that are sent to an address sees invoices, payments and usage of this customer, and pays. Each address is a sign-in of its own.',
    at: 'They sign in at',
    nobody: 'Nobody yet.',
    address: 'Phone or e-mail address',
    give: 'Let it in',
    given: 'The address can sign in by a code now.',
    since: 'since',
    signedIn: 'signed in last',
    never: 'never signed in',
    disabled: 'Disabled',
    end: 'End',
    endOf: (address: string) => `End what ${address} sees`,
    ended: (address: string) => `${address} does not see this customer any more.`,
  },
  {
    action: 'Ruhusa ya tovuti',
    title: (name) => `Nani anamwona ${name} kwenye tovuti ya wateja`,
    hint: 'Anayesoma namba za siri zinazotumwa kwa anwani huona ankara, malipo na matumizi ya mteja huyu, na hulipa. Kila anwani huingia peke yake.',
    at: 'Huingia kupitia',
    nobody: 'Hakuna bado.',
    address: 'Simu au barua pepe',
    give: 'Iruhusu',
    given: 'Sasa anwani hii inaweza kuingia kwa namba ya siri.',
    since: 'tangu',
    signedIn: 'iliingia mwisho',
    never: 'haijawahi kuingia',
    disabled: 'Imezuiwa',
    end: 'Ondoa',
    endOf: (address) => `Ondoa anachoona ${address}`,
    ended: (address) => `${address} haimwoni tena mteja huyu.`,
  },
)
