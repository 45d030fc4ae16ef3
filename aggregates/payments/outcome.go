package payments

// Outcome is the meaning of a provider's result code for a payment.
type Outcome uint8

// The outcomes. Pending means that the customer may still pay.
const (
	OutcomePending Outcome = iota
	OutcomeSuccess
	OutcomeCancelled
	OutcomeFailed
)

// outcomes lists the codes that are not plain failures. Source: docs/rules/payments.md#result-codes.
var outcomes = map[string]Outcome{
	"0":            OutcomeSuccess,
	"1032":         OutcomeCancelled,
	"1019":         OutcomePending,
	"1025":         OutcomePending,
	"1037":         OutcomePending,
	"4999":         OutcomePending,
	"500.001.1001": OutcomePending,
}

// OutcomeOf maps a result code of a callback or a status query. An unknown code is a failure.
func OutcomeOf(code string) Outcome {
	if o, ok := outcomes[code]; ok {
		return o
	}
	return OutcomeFailed
}
