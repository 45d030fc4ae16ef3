/** commaOrPoint lets a number that is no amount have its decimals behind either sign. In an amount a comma stands between thousands. */
export const commaOrPoint = ['.', ',']
