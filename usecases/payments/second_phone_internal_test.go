package paymentscases

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// TestPrompt_TheSecondPhoneIsTheCustomersOwn: a customer is asked on either phone, and on no other.
func TestPrompt_TheSecondPhoneIsTheCustomersOwn(t *testing.T) {
	t.Parallel()
	both := subscribers.Subscriber{Details: events.SubscriberDetails{
		Phone: personal.Of("+254712345678"), SecondPhone: personal.Of("+254733000111"),
	}}
	one := subscribers.Subscriber{Details: events.SubscriberDetails{Phone: personal.Of("+254712345678")}}
	for name, c := range map[string]struct {
		of          subscribers.Subscriber
		given, want string // want "" = refused
	}{
		"none given": {both, "", "254712345678"}, "the first": {both, "0712345678", "254712345678"},
		"the second": {both, "0733000111", "254733000111"}, "a stranger's": {both, "0733000112", ""},
		"without a second one": {one, "0733000111", ""},
	} {
		got, err := PromptInput{Phone: personal.Of(c.given), Customer: &Customer{}}.phone(c.of)
		if got.Reveal() != c.want || (c.want == "") != (failure.CodeOf(err) == "phone_not_yours") {
			t.Errorf("%s: %s, %v", name, got.Reveal(), err)
		}
	}
}
