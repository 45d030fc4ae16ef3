package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// wrongedFor is how long a sign-in that was refused wrongly is told, while the customer is offline.
const wrongedFor = time.Hour

// SignIns tells where the answers of routers' questions are not what the log has.
type SignIns interface {
	// Differs says what a sign-in of a subscription gets at an instant, where that is not the access that is expected
	// and what answers is known to be old; "" otherwise.
	Differs(
		ctx context.Context, org id.Organization, s id.Subscription, expected entitlement.Access, at time.Time,
	) string
	// Wronged reports whether a refusal contradicts what the log had when it was given, in whichever program.
	Wronged(s id.Subscription, code string, refused time.Time) bool
}

// Difference is an answer to sign-ins that is not what the customer is entitled to. Both texts are for people.
type Difference struct {
	Expected string
	Actual   string
}

// differ adds the differences of the present.
func (x Explanations) differ(ctx context.Context, out *Explanation, org id.Organization) {
	if x.SignIns == nil {
		return
	}
	for i := range out.Services {
		s := &out.Services[i]
		actual := x.SignIns.Differs(ctx, org, s.SubscriptionID, s.Access, out.At)
		if actual == "" {
			actual = x.wronged(*s, out)
		}
		if actual != "" {
			s.Difference = &Difference{Expected: s.Access.String(), Actual: actual}
		}
	}
}

// wronged tells of the latest refusal of a service that is offline, where it was wrong. One without a router proves
// nothing: anybody can send such a packet in a customer's name, so it does not count.
func (x Explanations) wronged(s Service, out *Explanation) string {
	if s.Observed == Online || s.Access < entitlement.Throttled {
		return ""
	}
	for _, r := range out.Refusals {
		if r.SubscriptionID != s.SubscriptionID || r.DeviceID.IsZero() {
			continue
		}
		if out.At.Sub(r.At) > wrongedFor || !x.SignIns.Wronged(s.SubscriptionID, r.Code, r.At) {
			return ""
		}
		return "the sign-in at " + r.At.UTC().Format(time.RFC3339) + " was refused: " + r.Code
	}
	return ""
}
