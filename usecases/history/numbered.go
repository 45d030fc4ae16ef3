package historycases

import (
	"reflect"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
)

// numbered gives words to the states that are numbers in memory; "" = none yet. A number without a word is shown as it
// is.
var numbered = map[reflect.Type][]string{
	reflect.TypeFor[billing.RunState](): {
		billing.RunRequested: "requested", billing.RunHeld: "held", billing.RunBegan: "began",
		billing.RunFinished: "finished",
	},
	reflect.TypeFor[payments.Standing](): {
		payments.StandingRecorded: "recorded", payments.StandingHeld: "suspense", payments.StandingMatched: "matched",
		payments.StandingAbsorbed: "absorbed", payments.StandingReversed: "reversed",
		payments.StandingRefunded: "refunded",
	},
	reflect.TypeFor[payments.Stage](): {
		payments.StageCreated: "created", payments.StageSent: "sent", payments.StageAwaiting: "awaiting",
		payments.StageInDoubt: "in_doubt", payments.StageCancelled: "cancelled", payments.StageFailed: "failed",
		payments.StageExpired: "expired", payments.StageSucceeded: "succeeded",
	},
	reflect.TypeFor[payments.RefundState](): {
		payments.RefundRequested: "requested", payments.RefundApproved: "approved",
		payments.RefundCompleted: "completed", payments.RefundFailed: "failed", payments.RefundSubmitted: "submitted",
		payments.RefundInDoubt: "in_doubt",
	},
	reflect.TypeFor[payments.ReconciliationState](): {
		payments.ReconciliationComparing: "comparing", payments.ReconciliationCompared: "compared",
		payments.ReconciliationAdopting: "adopting", payments.ReconciliationFailed: "failed",
	},
}

// wordOf is the word of a numbered state.
func wordOf(x reflect.Value) (word string, has bool) {
	words, known := numbered[x.Type()]
	if !known || x.Uint() >= uint64(len(words)) {
		return "", false
	}
	return words[x.Uint()], true
}
