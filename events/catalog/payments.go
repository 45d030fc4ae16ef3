package catalog

// paymentsUpcasters convert old events of receipts. The added fields are absent in the older version and mean
// "not recorded".
func paymentsUpcasters() []Upcaster {
	return []Upcaster{
		{From: "payments.ReceiptRecorded.v1", To: "payments.ReceiptRecorded.v2", Up: unchanged},
		{From: "payments.ReceiptDisputed.v1", To: "payments.ReceiptDisputed.v2", Up: unchanged},
		{From: "payments.ReceiptMatched.v1", To: "payments.ReceiptMatched.v2", Up: unchanged},
		{From: "payments.ReceiptReattributed.v2", To: "payments.ReceiptReattributed.v3", Up: unchanged},
	}
}
