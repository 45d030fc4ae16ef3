import { catalogue } from './catalogue'

/** refusedText has what is said about sign-ins that were refused at a router. */
export const refusedText = catalogue(
  {
    title: 'Refused sign-ins',
    user: 'Username as typed',
    customer: 'Customer',
    device: 'Device',
    port: 'Port',
    why: 'Why',
    count: 'Times',
    last: 'Last',
    none: 'Nobody was refused here',
    noneHint: 'A sign-in that is refused stands here, with its username, device and port.',
    codes: {
      wrong_password: 'Wrong password', no_proof: 'No password that can be checked', bad_request: 'Broken request',
      wrong_mac: 'Device is not registered', session_limit: 'Too many devices', too_many_codes: 'Too many wrong passwords',
      unpaid: 'Not paid', blocked: 'Blocked', paused: 'Paused', not_started: 'Not started yet', ended: 'Ended',
      cap_reached: 'Traffic used up', voucher_used: 'Voucher used up', voucher_void: 'Voucher is void',
      voucher_moves: 'Voucher moved too often', voucher_moved: 'Voucher is on another device', unknown_user: 'Unknown username',
    } as Record<string, string>,
  },
  {
    title: 'Waliokataliwa kuingia',
    user: 'Jina lililoandikwa',
    customer: 'Mteja',
    device: 'Kifaa',
    port: 'Mlango',
    why: 'Sababu',
    count: 'Mara',
    last: 'Mwisho',
    none: 'Hakuna aliyekataliwa hapa',
    noneHint: 'Jaribio la kuingia lililokataliwa huonekana hapa, pamoja na jina, kifaa na mlango.',
    codes: {
      wrong_password: 'Nenosiri si sahihi', no_proof: 'Hakuna nenosiri linaloweza kukaguliwa', bad_request: 'Ombi limeharibika',
      wrong_mac: 'Kifaa hakijasajiliwa', session_limit: 'Vifaa vingi mno', too_many_codes: 'Nenosiri baya mara nyingi mno',
      unpaid: 'Hajalipa', blocked: 'Amezuiwa', paused: 'Imesitishwa', not_started: 'Haijaanza', ended: 'Imekwisha',
      cap_reached: 'Data imekwisha', voucher_used: 'Vocha imetumika', voucher_void: 'Vocha imefutwa',
      voucher_moves: 'Vocha imehamishwa mara nyingi mno', voucher_moved: 'Vocha iko kwenye kifaa kingine',
      unknown_user: 'Jina halijulikani',
    },
  },
)
