/** chosenMark begins the part of an address behind which the choice of an organization comes: its id and a token. */
export const chosenMark = '#chosen='
