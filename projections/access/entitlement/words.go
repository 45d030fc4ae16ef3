package entitlement

import (
	"maps"
	"slices"
)

// words are the codes as people say them where a session was changed, behind a colon.
var words = map[Code]string{
	CodeBlocked:         "the customer is blocked",
	CodeNoSubscription:  "the customer has no subscription",
	CodeEnded:           "the subscription has ended",
	CodePaused:          "the service is paused",
	CodeNotStarted:      "the service has not begun",
	CodeAwaitingPayment: "the first period is not paid",
	CodeExpired:         "the paid time is over",
	CodePaid:            "the service is paid",
	CodePostpaid:        "the service is paid later, by invoice",
	CodeGrace:           "the days of grace run",
	CodeOverdue:         "it was not paid in time, and only the payment page is left",
	CodeSuspended:       "it was not paid, and the service is suspended",
	CodeCapThrottled:    "the traffic of the plan is used up",
	CodeCapStopped:      "the traffic of the plan is used up",
	CodeSchedule:        "the plan has another speed at this hour",
}

// Words gives a code as people say it where a session was changed; "" for one that is not known.
func (c Code) Words() string { return words[c] }

// Texts implements httpapi.Enumerated: all codes, by the alphabet.
func (Code) Texts() []string {
	var out []string
	for _, c := range slices.Sorted(maps.Keys(words)) {
		out = append(out, string(c))
	}
	return out
}
