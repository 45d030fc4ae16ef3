package identitycases

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// TestPortal_TheSecondPhoneSignsInAsTheFirst where the customer's own contact is asked for, and not beside an address
// that was named.
func TestPortal_TheSecondPhoneSignsInAsTheFirst(t *testing.T) {
	t.Parallel()
	customer := subscribers.Subscriber{ID: id.New[id.Subscriber](), Details: events.SubscriberDetails{
		FirstName: personal.Of("Wanja"), Phone: personal.Of("+254712345678"),
		SecondPhone: personal.Of("+254733000111"), Email: personal.Of("wanja@example.com"),
	}}
	for name, c := range map[string]struct {
		in   PortalAddresses
		want []string
	}{
		"own":   {PortalAddresses{}, []string{"+254712345678", "+254733000111", "wanja@example.com"}},
		"named": {PortalAddresses{Phone: personal.Of("0712345678")}, []string{"+254712345678"}},
	} {
		list, err := c.in.commands(id.New[id.Organization](), customer)
		var got []string
		for _, give := range list {
			got = append(got, give.Phone.Reveal()+give.Email.Reveal())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
