package payments

// Outcome is what a result code means for the payment.
type Outcome uint8

// The outcomes.
const (
	OutcomePending Outcome = iota
	OutcomeSuccess
	OutcomeCancelled
	OutcomeFailed
)

// outcomes of the codes that are not plain failures. Source: docs/rules/payments.md#result-codes.
var outcomes = map[string]Outcome{
	"0":            OutcomeSuccess,
	"1032":         OutcomeCancelled,
	"1019":         OutcomePending,
	"1025":         OutcomePending,
	"1037":         OutcomePending,
	"4999":         OutcomePending,
	"500.001.1001": OutcomePending,
}

// OutcomeOf maps a result code of a callback or a status query; every code not listed is a failure.
func OutcomeOf(code string) Outcome {
	if o, ok := outcomes[code]; ok {
		return o
	}
	return OutcomeFailed
}
