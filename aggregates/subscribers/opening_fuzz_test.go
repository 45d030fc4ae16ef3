package subscribers_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
)

// FuzzSubscriptionOpening checks that a stored opening of a subscription is either a state that the next closing writes
// unchanged, or a clear stop.
func FuzzSubscriptionOpening(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `{"form":2}`, `{"form":3,"org":"0195a000-0000-7000-8000-000000000001","base":{"begun":"x"}}`,
		`{"form":1,"timezone":"nowhere"}`,
		`{"form":2,"subscription":"0195a000-0000-7000-8000-000000000011","timezone":"Africa/Nairobi","terms":{},` +
			`"org":"0195a000-0000-7000-8000-000000000001",` +
			`"periods":[{"n":1,"begins":"2026-03-02T09:00:00Z","anchor":31},{"n":2,"state":"due"}],` +
			`"gaps":[{"from":"2026-03-02T09:00:00Z","to":"2026-03-03T09:00:00Z"}]}`,
	} {
		f.Add([]byte(seed))
	}
	subscriptions := subscribers.Subscriptions()
	through := func(opening []byte) (out []byte, stopped string) {
		state, err := subscriptions.Reopen(events.SubscriptionPeriodClosed{Opening: opening})
		if err != nil {
			return nil, err.Error()
		}
		closed, _ := subscriptions.Close(state).(events.SubscriptionPeriodClosed)
		return closed.Opening, ""
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, stopped := through(body)
		if stopped != "" {
			if !strings.Contains(stopped, "opening") {
				t.Fatalf("%s stops with %s", body, stopped)
			}
			return
		}
		if second, stopped := through(first); stopped != "" || !bytes.Equal(first, second) {
			t.Fatalf("%s is written as %s, and then as %s %s", body, first, second, stopped)
		}
	})
}
