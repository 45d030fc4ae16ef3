package personscases

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// known has the traces of a customer with hostile and with ordinary words.
func known(refs ...string) traces {
	t := newTraces()
	for _, ref := range refs {
		t.details(events.SubscriberDetails{ExternalRef: personal.Of(ref)})
	}
	t.details(events.SubscriberDetails{
		FirstName: personal.Of("Amina"), LastName: personal.Of("Otieno"), Phone: personal.Of("+254711000077"),
		Email: personal.Of("amina@home.test"), AccountAliases: personal.OfAll([]string{"10023", "AA7788"}),
	})
	t.receipt("SJK4X7Q2P9", "600777")
	t.checkout("ws_CO_77")
	return t
}

// TestTraces_FindWholeValuesAlone: in the rows of the own organization. What an administrator typed never fits within
// another word, nor the names of fields, whatever it is.
func TestTraces_FindWholeValuesAlone(t *testing.T) {
	t.Parallel()
	subscriber := id.New[id.Subscriber]()
	of := known(`"id":"`, "transid", "receipt no.", "@gmail.com", "status")
	of.id(subscriber)
	for text, want := range map[string]bool{
		`{"id":"1","status":"active"}`:                            false,
		`{"transid":"SJK4X7Q2P0","amount":10023}`:                 false,
		`{"email":"brian@gmail.com"}`:                             false,
		`{"amount":"10023.00","other":"ACME-10023","x":"210023"}`: false,
		`{"a":"xamina@home.test","b":"b.amina@home.test"}`:        false,
		`{"at":"20260711000077","id":"711000077abc"}`:             false,
		`{"BillRefNumber":"10023"}`:                               true,
		`{"text":"Paid for AA7788."}`:                             true,
		`{"name":"AMINA OTIENO"}`:                                 true,
		`{"name":"Amina \u004ftieno"}`:                            true,
		`{"email":"amina@home.test"}`:                             true,
		`{"MSISDN":254711000077}`:                                 true,
		`{"note":"call 0711-000 077 please"}`:                     true,
		`{"note":"2026-03-03 +254 (0) 711 000 077"}`:              true,
		`{"list":[{"id":"` + subscriber.String() + `"}]}`:         true,
		`{"` + subscriber.String() + `":{"ok":true}}`:             true,
		"Receipt No.,Details\nSJK4X7Q2P0,10023.00\n":              true, // the words of the file's own header
		"Number,Details\nSJK4X7Q2P0,110023\n":                     false,
		"Number,Details\nSJK4X7Q2P9,500.00\n":                     true,
		"Number,Details\nSJK4X7Q2P0,AA7788,500\n":                 true,
		"phone\n0711 000 077\n":                                   true,
		"phone\n0711 000 078,0 77\n":                              false,
		"":                                                        false,
		`"10023"`:                                                 true,
		`10023`:                                                   false,
		`{"deep":[[{"a":null,"b":[true,"x"]},"ws_co_77"]]}`:       true,
		`{"name":"Aminaotieno","other":"amina otienos"}`:          false,
	} {
		if got := of.names([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestTraces_InRowsOfNobodyOnlyWhatWasGivenCounts: ids of ours, the provider's ids of prompts, and numbers of receipts
// on the shortcode that took the money. A number that an organization wrote into a statement of its own opens nothing.
func TestTraces_InRowsOfNobodyOnlyWhatWasGivenCounts(t *testing.T) {
	t.Parallel()
	subscriber := id.New[id.Subscriber]()
	of := known("600777", "transid")
	of.id(subscriber)
	for _, c := range []struct {
		text, shortcode string
		want            bool
	}{
		{`{"TransID":"SJK4X7Q2P9","BusinessShortCode":"600777"}`, "600777", true},
		{`{"TransID":"SJK4X7Q2P9","BusinessShortCode":"600777"}`, "", true},
		{`{"TransID":"SJK4X7Q2P9","BusinessShortCode":600777}`, "", true},
		{`{"TransID":"SJK4X7Q2P9","BusinessShortCode":"600888"}`, "600888", false},
		{`{"TransID":"SJK4X7Q2P9","BusinessShortCode":"600888"}`, "", false},
		{`{"TransID":"SJK4X7Q2P9","BillRefNumber":"600777"}`, "600888", false},
		{"Receipt No.,Details\nSJK4X7Q2P9,Pay\n", "600777", true},
		{"Receipt No.,Details\nSJK4X7Q2P9,Pay\n", "600888", false},
		{`{"TransID":"XSJK4X7Q2P9"}`, "600777", false},
		{`{"CheckoutRequestID":"ws_CO_77"}`, "", true},
		{`{"id":"` + subscriber.String() + `"}`, "", true},
		{`{"MSISDN":"254711000077","FirstName":"Amina Otieno"}`, "600777", false},
		{`{"BillRefNumber":"10023"}`, "600777", false},
		{`{"email":"amina@home.test"}`, "", false},
	} {
		if got := of.namesShared([]byte(c.text), c.shortcode); got != c.want {
			t.Errorf("%s on %q: %v", c.text, c.shortcode, got)
		}
	}
}
