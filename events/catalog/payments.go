package catalog

// paymentsUpcasters convert old events of receipts and gateways. The added fields are absent in the older version and
// mean "not recorded"; a failed registration without one is tried again.
func paymentsUpcasters() []Upcaster {
	return []Upcaster{
		{From: "payments.GatewayRegistrationFailed.v1", To: "payments.GatewayRegistrationFailed.v2", Up: unchanged},
		{From: "payments.ReceiptRecorded.v1", To: "payments.ReceiptRecorded.v2", Up: unchanged},
		{From: "payments.ReceiptDisputed.v1", To: "payments.ReceiptDisputed.v2", Up: unchanged},
		{From: "payments.ReceiptMatched.v1", To: "payments.ReceiptMatched.v2", Up: unchanged},
		{From: "payments.ReceiptReattributed.v2", To: "payments.ReceiptReattributed.v3", Up: unchanged},
	}
}
