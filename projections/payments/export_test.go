package paymentsviews

// ReceiptListSQL lets tests outside of the package explain the statement of a list.
var ReceiptListSQL = receiptListSQL
