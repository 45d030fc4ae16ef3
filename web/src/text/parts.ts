import { catalogue } from './catalogue'

/** guide names the section of docs/operations.md about each part of the program. */
export const guide: Record<string, string> = {
  eventstore: 'The event store is away', postgres: 'The database takes no writes', writes: 'The database takes no writes',
  identity_directory: 'Nobody can sign in', access_directory: 'Sign-ins get no answer', accounting: 'First look',
  callbacks: 'Callbacks wait', jobs: 'Jobs fail',
}

/** partsText has what the parts of the program are called, and what is said of one that is down. */
export const partsText = catalogue(
  {
    names: {
      eventstore: 'Event store', postgres: 'Database', writes: 'Writes to the database', identity_directory: 'Who may enter',
      access_directory: 'Sign-ins of customers', accounting: 'Reports of routers', callbacks: 'Callbacks about money', jobs: 'Jobs',
    } as Record<string, string>,
    down: {
      eventstore: 'The event store does not answer, so that nothing can be saved',
      postgres: 'The database does not answer',
      writes: 'The database takes no writes, so that nothing can be saved',
      identity_directory: 'It is not known whether what the program knows of persons and organizations is new',
      access_directory: 'It is not known whether sign-ins of customers are answered by what is true now',
      accounting: 'Reports of routers can be kept neither in the database nor on the disk',
      callbacks: 'Callbacks about money wait on the disk',
      jobs: 'Jobs wait, and no program works on them',
    } as Record<string, string>,
    otherDown: (name: string) => `The part ${name} is down`,
    steps: {
      eventstore: 'Nothing that was saved is lost. See whether its server runs and can be reached; all else goes on by itself then.',
      postgres: 'Nothing that was saved is lost. See whether its server runs and can be reached; all else goes on by itself then.',
      writes: 'Nothing that was saved is lost. Make room on its disk, or let it write again; all else goes on by itself then.',
      identity_directory: 'The log of the program names the event that it cannot read: install a version that can. Without one, restart the program.',
      access_directory: 'The log of the program names the event that it cannot read: install a version that can. Without one, look at the database and the event store, or restart the program.',
      accounting: 'Make room on the disk of the program, or bring the database back; routers send their reports again.',
      callbacks: 'They are handled as soon as the database takes them. The log of the program says why it does not.',
      jobs: 'Start a program with the role jobs, or restart the one whose jobs hang.',
    } as Record<string, string>,
    comesBack: 'It comes back with the event store and the database. Do not restart the program: it waits for them before it opens anything.',
    more: (section: string) => `More in the guide of operations: “${section}”.`,
  },
  {
    names: {
      eventstore: 'Hifadhi ya matukio', postgres: 'Hifadhidata', writes: 'Kuandika kwenye hifadhidata',
      identity_directory: 'Wanaoruhusiwa kuingia', access_directory: 'Kuingia kwa wateja', accounting: 'Ripoti za ruta',
      callbacks: 'Majibu kuhusu pesa', jobs: 'Kazi za nje',
    },
    down: {
      eventstore: 'Hifadhi ya matukio haijibu, kwa hiyo hakuna kinachoweza kuhifadhiwa',
      postgres: 'Hifadhidata haijibu',
      writes: 'Hifadhidata haipokei mabadiliko, kwa hiyo hakuna kinachoweza kuhifadhiwa',
      identity_directory: 'Haijulikani kama programu inachojua kuhusu watu na mashirika ni cha sasa',
      access_directory: 'Haijulikani kama wateja wanaoingia wanajibiwa kwa hali ya sasa',
      accounting: 'Ripoti za ruta haziwezi kuwekwa kwenye hifadhidata wala kwenye diski',
      callbacks: 'Majibu kuhusu pesa yanasubiri kwenye diski',
      jobs: 'Kazi za nje zinasubiri, na hakuna programu inayozifanya',
    },
    otherDown: (name) => `Sehemu ${name} ya programu haifanyi kazi`,
    steps: {
      eventstore: 'Hakuna kilichohifadhiwa kinachopotea. Angalia kama seva yake inafanya kazi na inafikika; mengine yote yataendelea yenyewe.',
      postgres: 'Hakuna kilichohifadhiwa kinachopotea. Angalia kama seva yake inafanya kazi na inafikika; mengine yote yataendelea yenyewe.',
      writes: 'Hakuna kilichohifadhiwa kinachopotea. Ongeza nafasi kwenye diski yake, au iruhusu kuandika tena; mengine yote yataendelea yenyewe.',
      identity_directory: 'Kumbukumbu ya programu inataja tukio ambalo haiwezi kulisoma: weka toleo linaloweza. Kama halitajwi, iwashe programu upya.',
      access_directory: 'Kumbukumbu ya programu inataja tukio ambalo haiwezi kulisoma: weka toleo linaloweza. Kama halitajwi, angalia hifadhidata na hifadhi ya matukio, au iwashe programu upya.',
      accounting: 'Ongeza nafasi kwenye diski ya programu, au irudishe hifadhidata; ruta zitatuma ripoti zao tena.',
      callbacks: 'Yatashughulikiwa mara hifadhidata itakapoyapokea. Kumbukumbu ya programu inasema kwa nini haiyapokei.',
      jobs: 'Washa programu yenye jukumu la jobs, au iwashe upya ile ambayo kazi zake zimekwama.',
    },
    comesBack: 'Itarudi pamoja na hifadhi ya matukio na hifadhidata. Usiwashe programu upya: haitafungua chochote kabla hazijarudi.',
    more: (section) => `Zaidi kwenye mwongozo wa uendeshaji: “${section}”.`,
  },
)

/** partHelp is the step that helps against a part that is down, which may wait for another one, and where more of it stands. */
export function partHelp(part: string, t: (typeof partsText)['en'], waits = false): string {
  if (waits) return [t.comesBack, t.more(guide.eventstore!)].join(' ')
  const section = guide[part]
  return [t.steps[part], t.more(section ?? 'First look')].filter(Boolean).join(' ')
}
