package directory

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// TestGuests_ASignInThatWasOvertakenChangesNothing: somebody proves a password on the device between the question of
// its MAC and the answer.
func TestGuests_ASignInThatWasOvertakenChangesNothing(t *testing.T) {
	t.Parallel()
	d := New(Config{})
	nas, v := &radius.NAS{Org: id.New[id.Organization](), ID: id.New[id.Device]()}, &verdict{limit: 1}
	request := &radius.Request{Service: radius.ServiceHotspot, MAC: radius.MAC{2, 0, 0, 0, 0, 1}, At: time.Now()}
	key := device{nas.Org, request.MAC}
	proves := func() (*service, *guest) {
		s := &service{org: nas.Org}
		d.welcome(radius.Question{NAS: nas, Request: request, Credential: &radius.Credential{Subject: s}}, s, v)
		return s, d.guests.of[key]
	}
	first, overtaken := proves()
	second, now := proves()
	d.welcome(radius.Question{NAS: nas, Request: request, Credential: overtaken.byMAC}, first, v)
	if d.guests.of[key] != now || overtaken.back || len(first.guests) > 0 ||
		!slices.Equal(second.guests, []radius.MAC{request.MAC}) {
		t.Errorf("%+v, %+v", first.guests, second.guests)
	}
}
