package paymentsviews

// WaitingByDaySQL is the statement of ReceiptsQuery.WaitingByDay.
const WaitingByDaySQL = waitingByDaySQL

// ReceiptListSQL lets tests outside of the package explain the statement of a list.
var ReceiptListSQL = receiptListSQL
