/** patience bounds each wait of a flow, in ms. It is so long that only a fault reaches it, not a slow machine. */
export const patience = 300_000
